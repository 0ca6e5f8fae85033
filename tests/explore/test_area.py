# SPDX-License-Identifier: Apache-2.0
"""The area proxy is what the record of synthesized configurations says, with the error that it states."""

import dataclasses
import json

import pytest

from beatmatch.config import PRESETS, Config, preset
from beatmatch.explore import area
from tb.area import fit, measure, plan
from tb.area.__main__ import main


@pytest.fixture(scope="module")
def record():
    return measure.load()


def test_the_package_holds_the_fit_of_the_record(record):
    assert fit.RESULT.read_text() == fit.text(fit.result(record))


def test_the_stated_error_is_the_largest(record):
    measured = {
        "fit": [(config, fit.totals_of(record[config.digest()])) for config in plan.fitted()],
        "held out": fit.held_out(),
    }
    for name, found in measured.items():
        stated = area.data()["error"][name]
        for count in area.COUNTS:
            shares = [abs(getattr(area.of(config), count) / true[count] - 1) for config, true in found]
            assert stated[count] == pytest.approx(max(shares), abs=1e-4)
        assert stated["configurations"] == len(found)


def test_what_is_held_out_is_in_no_fit():
    assert not {config.digest() for config in plan.held_out()} & {config.digest() for config in plan.fitted()}


def test_more_of_anything_is_not_less_area():
    base = preset("base")
    for name, factor in plan.SEEN.items():
        value = getattr(base, name) * factor
        more = dataclasses.replace(base, name="custom", **{name: value})
        before, after = area.of(base), area.of(more)
        assert all(getattr(after, count) >= getattr(before, count) for count in area.COUNTS), name
        assert after.proxy > before.proxy, name


def test_modules_add_up_to_the_whole():
    for config in PRESETS.values():
        parts, whole = area.modules(config), area.of(config)
        for count in area.COUNTS:
            assert sum(part[count] for part in parts.values()) == pytest.approx(getattr(whole, count))


def test_a_record_of_known_terms_is_fitted_exactly_and_another_is_not():
    """The fit finds coefficients that were put in, and its error says when there are none."""

    def found(gates) -> float:
        entries = [
            {"config": c.to_dict(), "rtl": "", "modules": {"bm_matmul_row": [1, gates(c), 5 * c.rows * c.cols, 1]}}
            for c in plan.fitted()
        ]
        modules = fit.fit(entries)
        return fit.errors(modules, [(Config.from_dict(e["config"]), fit.totals_of(e)) for e in entries])["gates"]

    assert found(lambda c: 7 * c.rows * c.cols) < 1e-5
    assert found(lambda c: 7 * c.rows * c.cols + 90 * (c.rows == 8)) > 0.05


def test_the_command_shows_and_checks(capsys, tmp_path, monkeypatch):
    assert main(["show", "--config", "tiny", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["area_proxy"] == round(area.of(preset("tiny")).proxy) and "no silicon area" in data["note"]
    assert main(["check"]) == 0
    stale = tmp_path / "area.json"
    stale.write_text("{}")
    monkeypatch.setattr(fit, "RESULT", stale)
    assert main(["check"]) == 1 and "stale" in capsys.readouterr().out
    assert main(["show", "--config", "nothing"]) == 2
