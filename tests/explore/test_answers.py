# SPDX-License-Identifier: Apache-2.0
"""Answers add up: fronts, tornado, roofline, comparison, and what the command prints and writes."""

import json
import re
import shutil
import subprocess

import pytest

from beatmatch.cli import main
from beatmatch.config import preset
from beatmatch.explore import compare, roofline, sensitivity
from beatmatch.explore.changes import parse_change
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.store import read_table
from beatmatch.explore.totals import totals
from tests.explore import studies

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
WITHOUT = "NO CHROMIUM: the page's charts were not looked at (Debian: apt-get install chromium)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("answers")


@pytest.fixture
def explore(folder, monkeypatch, capsys):
    """Run `beatmatch explore` in a folder with a network and a cache of its own."""
    monkeypatch.setenv("BEATMATCH_CACHE", str(folder))
    monkeypatch.chdir(folder)
    studies.network(folder)

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["explore", *arguments])
        return (code, *capsys.readouterr())

    return run


def fields(folder, **changes):
    study = studies.study(folder)
    return {"networks": study.networks, "base": study.base, "granularity": "layers", **changes}


def test_the_tornado_is_every_parameter_alone(folder):
    scan = sensitivity.scan(parameters=("rows", "latency", "sp_banks"), **fields(folder))
    points = scan.points()
    assert [point.label for point in points][:3] == ["base", "rows=0.25x", "rows=0.5x"] and len(points) == 1 + 3 * 4
    rows, _ = studies.run(scan, folder / "explore.sqlite")
    found = {total.point: total for total in totals(rows)}
    bars = sensitivity.tornado(scan, [*found.values()])
    assert {bar.parameter for bar in bars} == {"rows", "latency", "sp_banks"}
    assert [bar.swing for bar in bars] == sorted((bar.swing for bar in bars), reverse=True)
    for bar in bars:
        assert set(bar.ratios) | set(bar.reasons) == set(sensitivity.factors())
        for factor, ratio in bar.ratios.items():
            assert ratio == found[f"{bar.parameter}={factor}"].cycles / found["base"].cycles
    latency = next(bar for bar in bars if bar.parameter == "latency")
    assert latency.ratios["0.25x"] < 1 < latency.ratios["4x"] and latency.areas["4x"] == 1
    rows_bar = next(bar for bar in bars if bar.parameter == "rows")
    assert "power of two from 4" in rows_bar.reasons["0.5x"] and rows_bar.areas["2x"] > 1


def test_all_parameters_are_scanned_unless_told(folder):
    scan = sensitivity.scan(**fields(folder))
    points = scan.points()
    assert len(points) == 1 + 4 * len(sensitivity.PARAMETERS) and len({point.label for point in points}) == len(points)
    assert sum(point.machine is not None for point in points) > len(points) / 2


def test_no_layer_is_above_its_roof(folder):
    rows, _ = studies.run(studies.study(folder, "bandwidth=0.25x,1x"), folder / "explore.sqlite")
    found = roofline.spots(rows)
    assert len(found) == 8
    for spot, row in zip(found, rows, strict=True):
        assert 0 < spot.share <= 1 and spot.reached == row["macs"] / row["cycles"]
        reads, writes = row["read_bytes"] / row["read_bandwidth"], row["written_bytes"] / row["write_bandwidth"]
        assert spot.roof == pytest.approx(min(16, row["macs"] / max(reads, writes)))
        assert (spot.bound == "array") == (spot.roof == 16)
    assert {spot.bound for spot in found} == {"memory"}  # few rows: each weight is used a few times


def test_a_shared_port_has_the_lower_roof(folder):
    rows, _ = studies.run(studies.study(folder), folder / "explore.sqlite")
    alone, shared = (roofline.spots([{**row, "shared": flag} for row in rows]) for flag in (0, 1))
    for one, both, row in zip(alone, shared, rows, strict=True):
        assert (
            one.roof > both.roof == row["macs"] / ((row["read_bytes"] + row["written_bytes"]) / row["read_bandwidth"])
        )


def test_the_verdict_is_the_difference(folder):
    a, b = (parse_change("fifo_tiles=2x"),), (parse_change("bandwidth=0.5x"),)
    duel = compare.Duel(**fields(folder), a=a, b=b)
    rows, _ = studies.run(duel, folder / "explore.sqlite")
    (verdict,) = compare.verdicts(duel, rows)
    assert list(verdict.sides) == ["base", "A", "B", "A and B"]
    base, first, second = (verdict.sides[name] for name in ("base", "A", "B"))
    assert second.cycles > base.cycles >= first.cycles
    assert verdict.sentence.split(" (")[0].endswith("fifo_tiles=2x")
    assert f"{second.cycles / base.cycles - 1:.1%} more cycles" in verdict.sentence
    gaps = [abs(layer["A"] - layer["B"]) for layer in verdict.layers]
    assert gaps == sorted(gaps, reverse=True) and len(gaps) == 4
    assert sum(layer["B"] for layer in verdict.layers) == second.cycles


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ((), ("rows=8",), "nothing to compare"),
        (("rows=8",), ("rows=8",), "the same"),
        (("rows=3",), ("rows=8",), r"A \(rows=3\) cannot be built"),
    ],
)
def test_comparisons_that_make_no_sense(folder, a, b, says):
    with pytest.raises(ExploreError, match=says):
        sides = (tuple(map(parse_change, side)) for side in (a, b))
        compare.Duel(**fields(folder), **dict(zip("ab", sides, strict=True))).points()


def test_the_same_field_on_both_sides_is_never_combined(folder):
    duel = compare.Duel(**fields(folder), a=(parse_change("rows=8"),), b=(parse_change("rows=16"),))
    assert [point.label for point in duel.points()] == ["base", "A", "B"]


def test_run_and_pareto(explore, folder):
    sweep = ("--network", "net.csv", "--base", "tiny", "--jobs", "1", "--sweep", "array=4x4,8x8", "bandwidth=0.5x,1x")
    code, out, err = explore("run", *sweep, "--granularity", "layers", "--out", "t.parquet", "--csv", "t.csv")
    assert code == 0 and "array=8x8 bandwidth=1x" in out and "Points: 16, 12 of them distinct" in err
    assert (folder / "t.csv").read_text().count("\n") == 1 + 4
    code, out, _ = explore("pareto", "t.parquet", "--json", "--objectives", "cycles,area,bandwidth")
    data = json.loads(out)
    assert code == 0 and data["objectives"] == ["cycles", "area", "bandwidth"] and "no silicon area" in data["area"]
    points = data["points"]
    assert len(points) == 4
    for point in points:
        beaten = any(
            all(other[name] <= point[name] for name in data["objectives"])
            and any(other[name] < point[name] for name in data["objectives"])
            for other in points
        )
        assert point["front"] == (not beaten)


def test_a_table_in_text_has_the_same_front(explore, folder):
    study = ("--network", "net.csv", "--base", "tiny", "--jobs", "1", "--granularity", "layers")
    for file in ("same.parquet", "same.csv"):
        code, _, _ = explore("run", *study, "--sweep", "array=4x4,8x8", "acc_rows=48,64", "--out", file)
        assert code == 0
    assert read_table("same.csv") == read_table("same.parquet")
    assert any(row["reason"] for row in read_table("same.csv"))
    assert explore("pareto", "same.csv", "--json") == explore("pareto", "same.parquet", "--json")


def test_a_run_in_which_no_machine_works_is_no_success(explore, folder):
    study = ("--network", "net.csv", "--base", "tiny", "--jobs", "1", "--granularity", "layers")
    code, out, _ = explore("run", *study, "--sweep", "acc_rows=48")
    assert code == 1 and "acc_rows is 48" in out


def test_a_study_file_is_run(explore, folder):
    text = 'network = "net.csv"\nbase = "tiny"\ngranularity = "layers"\n[sweep]\narray = ["4x4", "8x8"]\n'
    (folder / "study.toml").write_text(text)
    code, out, _ = explore("run", "--study", "study.toml", "--json", "--jobs", "1")
    points = json.loads(out)["points"]
    assert code == 0 and [point["point"] for point in points] == ["array=4x4", "array=8x8"]
    assert all(point["cycles"] > 0 and point["granularity"] == "layers" for point in points)


def test_help_has_examples(explore, capsys):
    for question in ("run", "pareto", "sensitivity", "roofline", "compare"):
        with pytest.raises(SystemExit) as stop:
            explore(question, "--help")
        assert stop.value.code == 0 and f"beatmatch explore {question}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "--base", "tiny"), "needs a network"),
        (("run", "--network", "net.csv", "--base", "huge"), "no preset 'huge'"),
        (("run", "--network", "none", "--base", "tiny"), "No network is called 'none'"),
        (("run", "--network", "net.csv", "--sweep", "rows"), "should be name=value"),
        (("run", "--network", "net.csv", "--memory", "latency=9", "shared"), "should be name=value"),
        (("run", "--network", "net.csv", "--memory", "sdram"), "No memory is called sdram"),
        (("run", "--network", "net.csv", "--dims", "batch=x"), "must be a number"),
        (("run", "--network", "net.csv", "--jobs", "0"), "--jobs is 0"),
        (("run", "--network", "net.csv", "--out", "no/t.parquet"), "no such folder"),
        (("run", "--network", "net.csv", "--study", "s.toml"), "leave --network out"),
        (("run", "--base", "tiny", "--study", "s.toml"), "leave --base out"),
        (("run", "--granularity", "layers", "--study", "s.toml"), "leave --granularity out"),
        (("pareto", "none.parquet"), "does not exist"),
        (("pareto", "none.csv"), "does not exist"),
        (("pareto", "net.csv"), "net.csv is no table of a study: it has no column network"),
        (("pareto", "none.parquet", "--objectives", "cycles"), "at least two objectives"),
        (("compare", "--network", "net.csv", "--base", "tiny", "--a", "sp_banks=8x"), "cannot be built"),
        (("sensitivity", "--network", "net.csv", "--parameters", "clock"), "'clock' cannot be changed"),
        (("roofline", "--network", "net.csv", "--base", "tiny", "--ray", "nowhere:1"), "Ray"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(explore, arguments, says):
    code, out, err = explore(*arguments)
    assert code == 2 and out == "" and err.startswith("beatmatch: ") and says in err
    assert "Traceback" not in err


def test_a_page_needs_nothing_and_holds_the_answer(explore, folder):
    options = ("--network", "net.csv", "--base", "tiny", "--jobs", "1", "--html", "page.html", "--svg", "chart.svg")
    code, out, _ = explore("compare", *options, "--a", "fifo_tiles=2x", "--b", "bandwidth=0.5x")
    page = (folder / "page.html").read_text()
    assert code == 0 and out.split(" (")[0] in page
    outside = re.sub(r"(<script[^>]*>).*?</script>", r"\1", page, flags=re.DOTALL)
    assert outside.count("<script") == 3 and not re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=", outside)
    picture = (folder / "chart.svg").read_text()
    assert picture.startswith("<svg") and "weight stall" in picture


@pytest.mark.skipif(BROWSER is None, reason=WITHOUT)
def test_the_charts_are_drawn_in_a_browser(explore, folder):
    options = ("--network", "net.csv", "--base", "tiny", "--jobs", "1")
    explore("roofline", *options, "--html", "roof.html")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    found = subprocess.run([*command, (folder / "roof.html").as_uri()], capture_output=True, text=True, timeout=600)
    dom = found.stdout
    assert 'data-drawn="1"' in dom, found.stderr[-2000:]
    assert dom.count('aria-roledescription="circle"') == len(roofline.spots(totals_rows(folder)))


def totals_rows(folder):
    """The rows of the network on `tiny`, as the command times it."""
    rows, _ = studies.run(studies.study(folder), folder / "explore.sqlite")
    assert rows[0]["rows"] == preset("tiny").rows
    return rows
