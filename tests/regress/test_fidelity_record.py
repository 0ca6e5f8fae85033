# SPDX-License-Identifier: Apache-2.0
"""The fidelity record: consistent as committed, and merged from good runs about these sources only."""

import ast
import copy
import json

import pytest

from beatmatch import fidelity as model
from beatmatch.config import PRESETS, Config
from tb.lockstep.evidence import _aside, evidence, fingerprint
from tb.lockstep.job import Result
from tb.regress import fidelity
from tb.regress.fidelity import RECORD, EvidenceError
from tb.toolchain import ROOT

CONFIG = PRESETS["tiny"]


def result(index, **changes):
    values = {"index": index, "cycles": 1000, "events": 5, "digests": 20, "sha256": "00" * 32, "seconds": 1.0}
    values |= {"cpu_seconds": 1.0, "model_seconds": 0.5, "transport_seconds": 0.4}
    values["notes"] = {"flags": ["load", "load.each"], "sizes": {"load.rows": index + 1}}
    return Result(**values | changes)


def part(sim="icarus", count=10, **changes):
    shown = evidence([result(index) for index in range(count)], dict.fromkeys(range(count), CONFIG))
    figures = {"kind": "regress", "sim": sim, "seed": 1, "programs": count, "configs": 1, "cycles": 1000 * count}
    return {**figures, "mismatches": 0, "trace_sha256": "ab" * 32, **shown, **changes}


def test_the_committed_record_is_consistent():
    data = json.loads(RECORD.read_text())
    assert fidelity.text(data) == RECORD.read_text(), "it is written by python -m tb.regress fidelity only"
    assert data["rule"] == fidelity.RULE
    assert sum(run["cycles"] for run in data["runs"]) == _total(data["configurations"], "cycles")
    assert sum(run["programs"] for run in data["runs"]) == _total(data["configurations"], "programs")
    for row in data["configurations"]:
        assert Config.from_dict(row["config"]).digest() == row["digest"]
    for name, row in data["features"].items():
        assert 0 < row["cycles"] <= _total(data["configurations"], "cycles"), name
    assert all(low <= high for low, high in data["ranges"].values())
    assert len({row["digest"] for row in data["configurations"]}) == len(data["configurations"])


def _total(rows, key):
    return sum(found[key] for row in rows for found in row["sims"].values())


def test_runs_are_merged_and_counted_once():
    record = fidelity.empty()
    assert fidelity.merge(record, part()) and fidelity.merge(record, part("verilator", 12))
    before = copy.deepcopy(record)
    assert not fidelity.merge(record, part()) and record == before
    (row,) = record["configurations"]
    assert row["sims"] == {
        "icarus": {"programs": 10, "cycles": 10_000},
        "verilator": {"programs": 12, "cycles": 12_000},
    }
    assert record["features"]["load.each"] == {"programs": 22, "cycles": 22_000}
    assert record["ranges"]["load.rows"] == [1, 12]
    assert json.loads(fidelity.text(record)) == record
    assert model.Record(record).config(CONFIG).exact


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mismatches": 1}, "proves nothing"),
        ({"fingerprint": "0" * 16}, "about other sources"),
        ({"steady": False}, "about other sources"),
        ({"features": None}, None),
    ],
)
def test_a_run_that_shows_nothing_is_refused(tmp_path, changes, says):
    figures = part(**changes)
    if says is None:
        del figures["features"]
        says = "lacks features"
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(figures))
    with pytest.raises(EvidenceError, match=says):
        list(fidelity.update([path], tmp_path, tmp_path / "record.json"))
    assert not (tmp_path / "record.json").exists()


def test_the_record_begins_anew_when_the_sources_change(tmp_path):
    path = tmp_path / "record.json"
    (tmp_path / "regress-icarus.json").write_text(json.dumps(part()))
    assert "10,000 cycles" in " ".join(fidelity.update([], tmp_path, path))
    data = json.loads(path.read_text())
    assert data["fingerprint"] == fingerprint() and len(data["runs"]) == 1
    path.write_text(fidelity.text({**data, "fingerprint": "0" * 16, "runs": [{"old": 1}]}))
    assert "begins anew" in " ".join(fidelity.update([], tmp_path, path))
    assert json.loads(path.read_text()) == data


def test_programs_that_differed_prove_no_feature():
    shown = evidence([result(0, divergence={"kind": "late"}), result(1)], {0: CONFIG, 1: CONFIG})
    assert shown["features"]["load"]["programs"] == 1 and shown["configurations"][0]["mismatches"] == 1


def test_what_the_stepped_machine_stands_on_is_never_aside():
    model, seen, waiting = ROOT / "model", set(), [ROOT / "model/beatmatch/machine.py"]
    while waiting:
        path = waiting.pop()
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("beatmatch"):
                base = model / node.module.replace(".", "/")
                files = [base.with_suffix(".py"), *(base / f"{name.name}.py" for name in node.names)]
                files += [] if base == model / "beatmatch" else [base / "__init__.py"]
                waiting += [file for file in files if file.exists() and file not in seen]
    assert len(seen) > 30 and not [path for path in seen if _aside(path)]
    assert _aside(model / "beatmatch/networks/read.py") and _aside(model / "beatmatch/explore/sweep.py")
