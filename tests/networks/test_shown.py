# SPDX-License-Identifier: Apache-2.0
"""Terminal, CSV, trace, comparison and notebook say what the result says."""

import csv
import io
import json
import re

import pytest
from rich.console import Console

from beatmatch.networks.errors import ResultError
from beatmatch.networks.report import compare, comparison_view, trace_events, view, write_csv, write_trace
from beatmatch.networks.report.roofline import points, roof_of
from beatmatch.networks.report.sheet import COLUMNS
from beatmatch.networks.report.table import BAR, MOST_LAYERS, bar
from beatmatch.networks.report.words import ratio, short
from beatmatch.networks.result import SHARES
from tests.networks.results import CONFIG, layer, network, priced, random_network

NASTY = '[bold]<script>"it\'s & me"</script>'


def text(renderable, width=150) -> str:
    out = Console(file=io.StringIO(), width=width)
    out.print(renderable)
    return out.file.getvalue()


# ----- terminal -----


def test_the_table_holds_totals_layers_and_advice():
    result = random_network(12)
    shown = text(view(result, all_layers=True))
    assert f"{result.cycles:,}" in shown and f"{result.macs:,}" in shown and "cost the most" not in shown
    for one in result:
        assert re.search(
            rf"^{one.name} +{one.op}.*{'~' if one.fidelity == 'estimate' else ''}{one.cycles:,} ", shown, re.M
        )
    assert "What costs the most" in shown and "marks an estimate" in shown


def test_long_networks_are_shortened_to_the_longest_layers():
    result = random_network(200)
    rows = [line for line in text(view(result)).splitlines() if line.startswith("layer ") and "operator" not in line]
    longest = sorted(result, key=lambda one: -one.cycles)[:MOST_LAYERS]
    assert [line.split("  ")[0].strip() for line in rows] == [one.name for one in result if one in longest]
    rest = result.cycles - sum(one.cycles for one in longest)
    assert f"{200 - MOST_LAYERS} more layers take {rest:,} cycles" in text(view(result))
    assert "more layers" not in text(view(result, all_layers=True))


def test_nothing_to_say_is_said():
    assert "Nothing costs more than 2%" in text(view(network(lambda start: layer("full", start, rows=1000))))
    assert "Nothing ran" in text(view(network()))


def test_names_are_shown_as_they_are():
    result = network(lambda start: layer(NASTY, start, rows=10))
    assert NASTY in text(view(result), 220)


@pytest.mark.parametrize("seed", range(3))
def test_bars_are_as_long_as_the_shares_they_show(seed):
    result = random_network(30, seed)
    for one in result:
        drawn = bar(one, result).plain
        assert len(drawn) == (BAR if one.cycles else 0)
        if one.cycles:
            useful = one.shares(result.config)["useful"]
            assert drawn.count("█") == round(useful * BAR)


def test_figures_are_short_and_honest():
    assert [short(n) for n in (0, 999, 1000, 75_497_472, 999_600)] == ["0", "999", "1.00k", "75.5M", "1.00M"]
    assert [ratio(6, 4), ratio(0, 0), ratio(9, 0), ratio(9999, 1)] == ["1.50 x", "-", "no minimum", "> 999 x"]


# ----- files -----


def test_csv_has_every_figure_of_every_layer(tmp_path):
    result = random_network(25)
    write_csv(tmp_path / "a.csv", result)
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [{key: str("" if value is None else value) for key, value in row.items()} for row in result.rows()] == [
        {key: row[key] for key in result.rows()[0]} for row in rows
    ]
    assert set(result.rows()[0]) == set(COLUMNS)


def test_a_trace_has_a_slice_per_layer_and_counters_of_its_shares(tmp_path):
    result = random_network(25)
    write_trace(tmp_path / "a.json", result, result)
    events = json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    assert len(events) == 2 * len(trace_events(result)) and {event["pid"] for event in events} == {1, 2}
    events = [event for event in events if event["pid"] == 1]
    timed = [one for one in result if one.cycles]
    slices = [event for event in events if event["ph"] == "X"]
    assert [(s["name"], round(s["ts"] * 1000), round(s["dur"] * 1000)) for s in slices] == [
        (one.name, one.start, one.cycles) for one in timed
    ]
    assert [s["tid"] for s in slices] == [2 if one.fidelity == "estimate" else 1 for one in timed]
    for one, event in zip(timed, (e for e in events if e["ph"] == "C" and "cycles" in e["name"]), strict=False):
        assert sum(event["args"].values()) == pytest.approx(100, abs=0.1)
        assert event["args"]["useful"] == pytest.approx(100 * one.shares(CONFIG)["useful"], abs=0.01)
    last = [event for event in events if event["ph"] == "C"][-2:]
    assert {v for event in last for v in event["args"].values()} == {0}
    assert last[0]["ts"] * 1000 == pytest.approx(result.cycles)


@pytest.mark.parametrize("write", [write_csv, write_trace])
def test_a_file_that_cannot_be_written_is_named(tmp_path, write):
    with pytest.raises(ResultError, match=r"missing/a cannot be written"):
        write(tmp_path / "missing/a", random_network(2))


# ----- comparison -----


def test_a_comparison_matches_layers_by_name_and_its_differences_add_up():
    a = network(lambda s: layer("x", s, rows=100), lambda s: priced("y", 50, s), lambda s: layer("only a", s, rows=7))
    b = network(lambda s: layer("x", s, rows=40), lambda s: layer("y", s, rows=80), lambda s: priced("only b", 9, s))
    found = compare(a, b)
    assert [(pair.name, pair.difference) for pair in found] == [("x", -60), ("y", 30), ("only b", 9), ("only a", -7)]
    assert sum(pair.difference for pair in found) == found.difference == b.cycles - a.cycles
    assert sum(second - first for first, second in found.categories().values()) == pytest.approx(found.difference)
    data = found.to_dict()
    assert data["layers"][2] == {"name": "only b", "op": "softmax", "difference": 9, "a": None, "b": 9}
    assert data["categories"]["estimate"] == {"a": 50, "b": 9} and list(data["categories"]) == list(SHARES)
    shown = text(comparison_view(found))
    assert re.search(r"x +conv +100 +40 +-60 +0\.400", shown) and re.search(r"only a +conv +7 +- +-7 +-", shown)


def test_different_networks_are_said_to_be_different():
    a, b = (network(lambda s: layer("x", s, rows=9), name=name) for name in ("one", "two"))
    assert "different networks" in text(comparison_view(compare(a, b)))
    assert "different networks" not in text(comparison_view(compare(a, a)))


def test_results_without_a_common_layer_are_not_compared():
    with pytest.raises(ResultError, match="no layer in common"):
        compare(network(lambda s: layer("x", s, rows=1)), network(lambda s: layer("y", s, rows=1)))


# ----- roofline and notebook -----


def test_no_layer_is_above_the_arrays_roof():
    result = random_network(80)
    roof = roof_of(result)
    assert (roof.peak, roof.reads, roof.both, roof.at(1e9), roof.at(2)) == (256, 16, 32, 256, 64)
    found = points(result)
    assert len(found) == sum(1 for one in result if one.accounting and one.macs)
    assert all(0 < point.reached <= roof.peak for point in found)
    slow = network(memory={**result.memory, "read_bandwidth": [7, 2], "shared": True})
    assert (roof_of(slow).reads, roof_of(slow).both) == (3.5, 3.5)


def test_a_notebook_shows_the_headline_and_escapes_names():
    result = network(lambda s: layer(NASTY, s, rows=100), lambda s: priced("soft", 30, s), name=NASTY)
    shown = result._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown and f"{result.cycles:,}" in shown
    bars = [bar.split("</div>")[0] for bar in shown.split("display:flex")[1:]]
    assert len(bars) == 3  # the network's and two layers'
    for bar_ in bars:
        assert sum(map(float, re.findall(r"width:([\d.]+)%", bar_))) == pytest.approx(100, abs=0.01)
