# SPDX-License-Identifier: Apache-2.0
"""Proofs that a mutant changes nothing, for every input sequence, on the netlist of one station.

Claims from strong and cheap to weak and dear; the state at power-up is arbitrary (but the same with and without
the mutant), the first cycle is a reset (of a station that has one), and everything else is free:

- *equivalent, state by state*: from every state, reachable or not, next state and outputs are the same;
- *equivalent, in sequence*: original and mutant side by side never differ in an output after the first cycle, by
  induction over conditional equalities (`induction.py`);
- *unreachable*: there may be states in which they differ, but the original never comes into one: the property is
  proven by property-directed reachability, which finds the inductive invariant;
- *equivalent, in sequence*, once more, with what ABC finds.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tb.mutation.graph import Graph, Netlist
from tb.mutation.induction import Induction
from tb.mutation.sides import Sides

SMALL = 10_000
"""Gates of the largest netlist for which ABC finds invariants within seconds; above it only time would be lost."""
_UNCHANGED = "from every state"
_INVARIANT = "the original never comes into a state in which it matters (inductive invariant found by PDR)"
_CONDITIONS = "no sequence of inputs shows it at the outputs (induction on conditional equalities)"
_SEQUENCE = "no sequence of inputs shows it at the outputs (induction on signal pairs, PDR)"


@dataclass(frozen=True)
class Verdict:
    """What was proven: `equivalent`, `unreachable`, or `open` if nothing was; and by what."""

    status: str
    reason: str


class Prover:
    """Proofs about the mutants of one netlist, each within a limit of processor time per claim, in seconds."""

    def __init__(self, netlist: Netlist, seconds: int) -> None:
        self._netlist = netlist
        self._seconds = seconds
        self._sides = Sides(netlist)
        self._induction = Induction(self._sides)

    def prove(self, mutant: int) -> Verdict:
        """The strongest claim that holds for a mutant, given its number in the netlist's selector."""
        verdict = self.state_by_state(mutant)
        if verdict.status == "open" and self._induction.proves(mutant):
            return Verdict("equivalent", _CONDITIONS)
        if verdict.status == "open" and len(self._netlist.ands) <= SMALL:
            return self.in_sequence(mutant)
        return verdict

    def state_by_state(self, mutant: int) -> Verdict:
        """The first claim alone, which takes a fraction of a second."""
        sides, netlist = self._sides, self._netlist
        sides.change(mutant, {})
        differences = sides.differences([*netlist.latches.values(), *netlist.outputs])
        holds = self._holds(sides.graph, _any(sides.graph, list(differences.values())), "iprove")
        sides.forget()
        if not holds:
            return Verdict("open", "not proven within the limits")
        return Verdict("equivalent", _UNCHANGED if differences else f"{_UNCHANGED}: the same gates")

    def in_sequence(self, mutant: int) -> Verdict:
        """What ABC finds about what happens from the first cycle on."""
        if self._holds(*self._single(mutant), "scorr; pdr"):
            return Verdict("unreachable", _INVARIANT)
        if self._holds(*self._pair(mutant), "scorr; pdr"):
            return Verdict("equivalent", _SEQUENCE)
        return Verdict("open", "not proven within the limits")

    def _inputs(self, graph: Graph, mutant: int, started: int, shared: dict[int, int]) -> dict[int, int]:
        """Inputs with the selector fixed and the first cycle a reset; the others are shared by all copies."""
        values = {literal: mutant >> bit & 1 for literal, bit in self._netlist.selectors.items()}
        for literal in self._netlist.inputs:
            if literal not in values and literal not in shared:
                shared[literal] = graph.input()
        values |= shared
        for literal in self._netlist.resets:
            values[literal] = graph.both(shared[literal], started)
        return values

    def _single(self, mutant: int) -> tuple[Graph, int]:
        """One set of registers; whether the mutant's outputs or next states differ."""
        netlist, graph, shared = self._netlist, Graph(), {}
        started = _started(graph)
        registers = {latch: graph.latch() for latch in netlist.latches}
        state = _power_up(graph, registers, started)
        original = graph.copy(netlist, self._inputs(graph, 0, started, shared) | state)
        mutated = graph.copy(netlist, self._inputs(graph, mutant, started, shared) | state)
        for latch, following in netlist.latches.items():
            graph.latches[registers[latch]] = original(following)
        followings = [graph.differ(original(item), mutated(item)) for item in netlist.latches.values()]
        outputs = [graph.differ(original(item), mutated(item)) for item in netlist.outputs]
        return graph, graph.either(_any(graph, followings), graph.both(started, _any(graph, outputs)))

    def _pair(self, mutant: int) -> tuple[Graph, int]:
        """Original and mutant side by side: two sets of those registers that the mutant may change."""
        netlist, apart = self._netlist, set()
        while True:
            graph, shared = Graph(), {}
            started = _started(graph)
            registers = {latch: graph.latch() for latch in netlist.latches}
            power_up = {latch: graph.input() for latch in netlist.latches}
            twins = {latch: graph.latch() for latch in netlist.latches if latch in apart}
            state = _power_up(graph, registers, started, power_up)
            twin_state = state | _power_up(graph, twins, started, power_up)
            original = graph.copy(netlist, self._inputs(graph, 0, started, shared) | state)
            mutated = graph.copy(netlist, self._inputs(graph, mutant, started, shared) | twin_state)
            more = {
                latch
                for latch, following in netlist.latches.items()
                if latch not in apart and original(following) != mutated(following)
            }
            if not more:
                break
            apart |= more
        for latch, following in netlist.latches.items():
            graph.latches[registers[latch]] = original(following)
            if latch in twins:
                graph.latches[twins[latch]] = mutated(following)
        differences = [graph.differ(original(item), mutated(item)) for item in netlist.outputs]
        return graph, graph.both(started, _any(graph, differences))

    def _holds(self, graph: Graph, bad: int, engine: str) -> bool:
        """Whether `bad` is never true, as far as the time limit lets the engine find out."""
        if bad == 0:
            return True
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "claim.aig"
            graph.write(path, bad)
            return _abc(path, engine, self._seconds)


def _started(graph: Graph) -> int:
    """0 in the first cycle, then 1."""
    started = graph.latch()
    graph.latches[started] = 1
    return started


def _power_up(
    graph: Graph, registers: dict[int, int], started: int, values: dict[int, int] | None = None
) -> dict[int, int]:
    """What the registers hold: in the first cycle anything."""
    values = values or {latch: graph.input() for latch in registers}
    return {latch: graph.choose(started, literal, values[latch]) for latch, literal in registers.items()}


def _any(graph: Graph, literals: list[int]) -> int:
    """Disjunction, as a balanced tree."""
    while len(literals) > 1:
        literals = [
            graph.either(*literals[i : i + 2]) if i + 1 < len(literals) else literals[i]
            for i in range(0, len(literals), 2)
        ]
    return literals[0] if literals else 0


def _abc(path: Path, engine: str, seconds: int) -> bool:
    """Run ABC on a file with one output; whether it says that the output is never true.

    If signal correspondence leaves no register, PDR has nothing to do and the combinational prover speaks.
    """
    tool = Path(find_spec("pyosys").origin).parent / "yosys-abc"
    commands = {
        "iprove": f"read_aiger {path}; strash; iprove",
        "scorr; pdr": f"read_aiger {path}; strash; scorr -C 2000; pdr; iprove",
    }
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds))
    command = [str(tool), "-q", commands[engine]]
    run = subprocess.run(command, capture_output=True, text=True, cwd=path.parent, preexec_fn=limit)
    return "Property proved" in run.stdout or "UNSATISFIABLE" in run.stdout
