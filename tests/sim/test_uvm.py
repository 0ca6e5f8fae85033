# SPDX-License-Identifier: Apache-2.0
"""The pyuvm environment: its tests pass, give one trace on both simulators, and find, replay and shrink a fault."""

import json
import re
from pathlib import Path

import pytest

from beatmatch.checker import check
from beatmatch.machine import run_stepped
from beatmatch.program import Program
from tb import toolchain
from tb.lockstep import replay, runner
from tb.lockstep.job import Item
from tb.uvm import __main__ as command
from tb.uvm import directed, figures
from tb.uvm.run import run
from tb.uvm.tests import STATES
from tests.sim.faults import CONFIG, FAULTS

TESTS = tuple(command.tests_of("tb.uvm.tests"))
PAGE = toolchain.ROOT / "docs" / "verification.md"


def test_every_test_passes():
    outcome = run(CONFIG, "verilator", TESTS, seed=1, programs=4)
    assert outcome.failed == {}
    rows = {row["test"]: row for row in outcome.passed}
    assert set(rows) == set(TESTS)
    assert all(row["cycles"] and row["trace_sha256"] and row["accesses"] and row["hits"] for row in rows.values())
    assert rows["RegisterTest"]["accesses"] > 300


@pytest.mark.icarus
def test_both_simulators_give_one_trace():
    """Whatever agents add on the way, too: resets in states, register accesses."""
    names = ["ResetTest", "BusyRegisterTest", "MixTest"]
    rows = []
    for sim in ("verilator", "icarus"):
        outcome = run(CONFIG, sim, names, seed=3, programs=2)
        assert outcome.failed == {}
        rows.append({row["test"]: (row["trace_sha256"], row["cycles"], row["hits"]) for row in outcome.passed})
    assert rows[0] == rows[1]
    assert set(rows[0]) == set(names)


@pytest.mark.icarus
def test_a_fault_is_found_replayed_and_shrunk():
    """The scoreboard stops the test; the folder replays, its program fails on both simulators alike, and it shrinks."""
    fault = next(fault for fault in FAULTS if fault.name == "model_accumulator_overwrites")
    outcome = run(CONFIG, "icarus", ["MemoryTest"], seed=1, programs=2, patches=[fault.patch])
    assert "value: the RTL shows another value" in outcome.failed["MemoryTest"]
    folder = Path(outcome.failures[0]["folder"])
    figures.investigate(outcome, rounds=2)  # `test_planted` shrinks to the end
    found = outcome.failures[0]
    assert (found["kind"], found["station"]) == ("value", "accumulator")
    assert found["small_instructions"] <= len(Program.load(folder / "program.bmp").instructions) - 2
    seen, recorded, _ = replay.replay(folder)
    assert (seen.cycle, seen.kind, seen.slot) == (recorded.cycle, recorded.kind, recorded.slot)
    built = runner.build(CONFIG, "verilator")
    item = Item(0, {"file": str(folder / "program.bmp")})
    (result,) = runner.run(built, CONFIG, [item], patches=[fault.patch])
    assert (result.divergence["cycle"], result.divergence["kind"]) == (recorded.cycle, recorded.kind)


@pytest.mark.parametrize("make", [directed.weights_from_scratchpad, directed.vector_passes])
def test_directed_programs_compute_something(make):
    """Every vector instruction writes values that differ: nothing is clipped to one value."""
    program = make(CONFIG, 1)
    assert check(program) == []
    events = run_stepped(program, keep_data=True).events
    writes = [event.data["data"] for event in events if (event.station, event.kind) == ("vector", "write")]
    assert len({value for data in writes for value in data.tobytes()}) > 10


def test_resets_are_planned_in_every_kind_of_event():
    assert {"frontend.fetch", "matmul.row", "port.w", "store.retire"} < set(STATES)
    assert len(STATES) == len(set(STATES)) > 20


def test_the_page_s_example_runs(tmp_path, monkeypatch):
    """The new sequence and the new test of `docs/verification.md`, as they stand there."""
    (block,) = re.findall(r"```python\n(# my_tests\.py.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "my_tests.py").write_text(block)
    monkeypatch.syspath_prepend(str(tmp_path))
    names = list(command.tests_of("my_tests"))
    assert len(names) == 1
    outcome = run(CONFIG, "verilator", names, seed=1, module="my_tests")
    assert outcome.failed == {}
    assert outcome.passed[0]["programs"] >= 2


def test_the_command_writes_its_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "PART", tmp_path / "parts" / "uvm.json")
    monkeypatch.setattr(command, "configuration", lambda text: CONFIG)
    status = command.main(["BusyRegisterTest", "--sim", "verilator", "--json", str(tmp_path / "mine.json")])
    assert status == 0
    found = json.loads((tmp_path / "parts" / "uvm.json").read_text())
    assert found == json.loads((tmp_path / "mine.json").read_text())
    assert (found["programs"], found["mismatches"], found["failed"]) == (1, 0, 0)
    assert found["tests"][0]["name"] == "BusyRegisterTest"
    assert found["coverage"]["hit"] > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NoSuchTest"], "has no test NoSuchTest"),
        (["--config", "huge"], "no preset 'huge'"),
        (["--config", "random:x"], "random:SEED:INDEX"),
        (["--programs", "0"], "must be 1 or more"),
        (["--module", "no.such.module"], "No module named"),
    ],
)
def test_unusable_arguments_are_refused_in_a_sentence(arguments, message, capsys):
    assert command.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_different_traces_are_seen():
    rows = [
        {"name": "A", "result": "pass", "trace_sha256": "1"},
        {"name": "A", "result": "pass", "trace_sha256": "2"},
        {"name": "B", "result": "pass", "trace_sha256": "3"},
        {"name": "B", "result": "fail"},
    ]
    assert figures.different_hashes(rows) == ["A"]


def test_the_tests_are_listed(capsys):
    assert command.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in TESTS)
