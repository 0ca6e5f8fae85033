# SPDX-License-Identifier: Apache-2.0
"""The prover's verdicts on a module in which the fate of every mutant is known by reasoning."""

import functools
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from tb.mutation import elaborate, induction, points, schemata, triage
from tb.mutation.graph import Graph
from tb.mutation.induction import Induction
from tb.mutation.proof import Prover
from tb.mutation.sides import Sides
from tb.mutation.simulation import Simulation

TOY = Path(__file__).with_name("toy.sv")


@pytest.fixture(scope="module")
def toy():
    mutants = schemata.number(points.find(points.elaborate("toy", [TOY])))
    netlist = elaborate.netlist("toy", {"WIDTH": 4}, [TOY], mutants)
    return SimpleNamespace(netlist=netlist, mutants=mutants)


@pytest.fixture(scope="module")
def number(toy):
    def of(original: str, operator: str) -> int:
        (found,) = [m.number for m in toy.mutants if (m.original, m.operator) == (original, operator)]
        return found

    return of


@pytest.fixture(scope="module")
def prover(toy):
    return Prover(toy.netlist, seconds=20)


@pytest.mark.parametrize(
    ("original", "operator", "status"),
    [
        ("count_q == 3'd4", "to !=", "equivalent"),  # stays at 0, and only 6 and more would be seen
        ("value_q <= sum;", "left out", "open"),
        ("valid_q <= 1'b0;", "left out", "equivalent"),  # the value behind it is reset to what is shown without it
        ("valid_q", "as 1", "open"),
        ("3'd4", "plus 1", "equivalent"),  # counts modulo 6, likewise
        ("count_q >= 3'd6", "to >", "unreachable"),  # the counter stays below 5
        ("count_q >= 3'd6", "to <", "open"),
        ("value_q <= '0;", "left out", "equivalent"),  # a value is loaded before it is shown
    ],
)
def test_verdicts(prover, number, original, operator, status):
    assert prover.prove(number(original, operator)).status == status


def test_a_simulation_sees_what_cannot_be_proven_and_nothing_else(toy, prover):
    numbers = [mutant.number for mutant in toy.mutants]
    seen = Simulation(toy.netlist).seen(numbers)
    not_proven = {number for number in numbers if prover.prove(number).status == "open"}
    assert seen.keys() == not_proven and min(seen.values()) > 0


def test_induction_proves_no_mutant_that_a_simulation_sees(toy):
    numbers = [mutant.number for mutant in toy.mutants]
    prover = Induction(Sides(toy.netlist))
    proven = {number for number in numbers if prover.proves(number)}
    assert proven and not proven & Simulation(toy.netlist).seen(numbers).keys()


@pytest.mark.parametrize(
    ("original", "operator", "proven"),
    [
        ("value_q <= '0;", "left out", True),  # while valid_q is 1, both hold the same value
        ("count_q >= 3'd6", "to <", False),
        ("valid_q", "as 1", False),
        ("value_q <= sum;", "left out", False),
        ("3'd4", "plus 1", False),  # what is the same here is that both counters stay below 6, which it does not guess
    ],
)
def test_induction_guesses_when_registers_are_the_same(toy, number, original, operator, proven):
    assert Induction(Sides(toy.netlist)).proves(number(original, operator)) is proven


def test_without_a_condition_that_holds_nothing_is_proven(toy, number, monkeypatch):
    monkeypatch.setattr("tb.mutation.induction.CONTROL_WIDTH", 0)
    monkeypatch.setattr("tb.mutation.induction.BUSIEST", 0)
    assert not Induction(Sides(toy.netlist)).proves(number("value_q <= '0;", "left out"))


def test_all_rounds_share_the_work(toy, monkeypatch):
    given: list[list[int]] = []

    class Seen(induction._Step):
        def __init__(self, *arguments):
            given[-1].append(arguments[-1])
            super().__init__(*arguments)

    monkeypatch.setattr(induction, "_Step", Seen)
    monkeypatch.setattr(induction, "PROPAGATIONS", 1)  # so that every question costs something
    prover = Induction(Sides(toy.netlist))
    for mutant in toy.mutants:
        given.append([])
        prover.proves(mutant.number)
    assert max(map(len, given)) > 1
    assert all(rounds == sorted(set(rounds), reverse=True) and rounds[0] == induction.WORK for rounds in given)


def test_a_question_ends_with_its_propagations_too(monkeypatch):
    graph, wanted = Graph(), 1
    placed = [[graph.input() for _ in range(8)] for _ in range(9)]  # nine pigeons, eight holes: long to refute
    for holes in placed:
        wanted = graph.both(wanted, functools.reduce(graph.either, holes))
    for hole in range(8):
        for one, other in itertools.combinations(placed, 2):
            wanted = graph.both(wanted, graph.both(one[hole], other[hole]) ^ 1)

    def propagations(each: int) -> int:
        monkeypatch.setattr(induction, "PROPAGATIONS", each)
        step = induction._Step(graph, 20_000)
        try:
            assert not step.possible(wanted) and each > 1
        except induction._OutOfWork:
            assert each == 1
        return step._solver.accum_stats()["propagations"]

    assert propagations(1) < propagations(10_000) / 2


def test_a_mutant_leaves_nothing_in_the_graph(toy):
    sides = Sides(toy.netlist)
    size = sides.graph.size
    for mutant in toy.mutants:
        Induction(sides).proves(mutant.number)
        assert sides.graph.size == size


def test_without_work_nothing_is_proven(toy, number, monkeypatch):
    monkeypatch.setattr("tb.mutation.induction.WORK", 0)
    assert not Induction(Sides(toy.netlist)).proves(number("value_q <= '0;", "left out"))


PARTS = {
    "parts_pkg": """package parts_pkg;
  function automatic logic low(input logic [3:0] value);
    return value < 4'd8 || value == 4'd15;
  endfunction
endpackage
""",
    "part": """module part import parts_pkg::*; (
  input logic clk_i, input logic rst_ni, input logic [2:0] value_i, input logic unused_i, output logic low_o
);
  assign low_o = low({value_i, 1'b0}) & rst_ni;
endmodule
""",
    "whole": """module whole #(parameter int ROWS = 8) (
  input logic clk_i, input logic rst_ni, input logic [2:0] value_i, output logic low_o
);
  part u_part (.clk_i(clk_i), .rst_ni(rst_ni), .value_i(value_i), .unused_i(value_i[0]), .low_o(low_o));
endmodule
""",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Verdicts of a triage about a top, a station in it, and a package."""
    folder, sources = tmp_path_factory.mktemp("parts"), []
    for name, text in PARTS.items():
        sources.append(folder / f"{name}.sv")
        sources[-1].write_text(text)
    sized = SimpleNamespace(rtl_parameters=lambda: {"ROWS": 4})  # all that is asked of a configuration
    mutants = schemata.number(points.find(points.elaborate("whole", sources, sized)))
    file = folder / "proofs.jsonl"
    found, seconds = triage.explain("whole", sized, sources, mutants, 5, 1, file=file)
    lines = file.read_text()
    assert len(lines.splitlines()) == len(mutants) == len(found)
    file.write_text(lines[:-9])  # as a run that is stopped may leave it
    assert triage.explain("whole", sized, sources, mutants, 5, 1, file=file)[0] == found
    repaired = file.read_text()
    assert len(repaired.splitlines()) == len(mutants) + 1  # the one that was cut is proven again
    again, took = triage.explain("whole", sized, sources, mutants, 5, 1, file=file)
    assert again == found and 0 < took < seconds and file.read_text() == repaired

    def of(module: str, original: str, operator: str) -> str:
        (key,) = [m.key for m in mutants if (m.module, m.original, m.operator) == (module, original, operator)]
        return found[key].status

    return of


@pytest.mark.parametrize(
    ("module", "original", "operator", "status"),
    [
        ("whole", "value_i[0]", "as 1", "equivalent"),  # the station does not look at it
        ("whole", "value_i", "plus 1", "open"),
        ("parts_pkg", "value == 4'd15", "to !=", "open"),
        ("parts_pkg", "4'd15", "plus 1", "equivalent"),  # no value is odd, and 0 is low already
        ("parts_pkg", "value < 4'd8", "to <=", "open"),
    ],
)
def test_the_top_and_packages_are_proven_in_the_whole(whole, module, original, operator, status):
    assert whole(module, original, operator) == status
