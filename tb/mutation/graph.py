# SPDX-License-Identifier: Apache-2.0
"""And-inverter graphs, as far as proofs about mutants need them: read, copy with inputs replaced, and write.

Literals are those of the AIGER format: ``2 * variable``, plus 1 if inverted; 0 is false and 1 is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

SELECTOR, RESET = "selected_o", "rst_ni"


@dataclass
class Netlist:
    """A design as AIGER describes it.

    Attributes
    ----------
    inputs : dict of int to str
        Name of the input by its literal.
    latches : dict of int to int
        Literal of the next state by the literal of the latch.
    ands : list of (int, int, int)
        Left side and both operands, in topological order.
    outputs : list of int
    names : dict of int to str
        Name of the register, without those that other levels give it, by the literal of the latch.
    """

    inputs: dict[int, str]
    latches: dict[int, int]
    ands: list[tuple[int, int, int]]
    outputs: list[int]
    names: dict[int, str]

    @property
    def selectors(self) -> dict[int, int]:
        """Inputs that select the mutant, each with its bit of the number."""
        bits = {literal: name.rsplit("[", 1) for literal, name in self.inputs.items() if SELECTOR in name}
        return {literal: int(index.rstrip("]")) for literal, (_, index) in bits.items()}

    @property
    def resets(self) -> list[int]:
        """Inputs that reset the design while they are 0."""
        return [literal for literal, name in self.inputs.items() if name == RESET]


def read(path: Path) -> Netlist:
    """Read an ASCII AIGER file with symbols."""
    lines = path.read_text().splitlines()
    _, inputs, latches, outputs, ands = map(int, lines[0].split()[1:6])
    at = 1
    literals = [int(line) for line in lines[at : at + inputs]]
    at += inputs
    states = [tuple(map(int, line.split()[:2])) for line in lines[at : at + latches]]
    at += latches
    driven = [int(line) for line in lines[at : at + outputs]]
    at += outputs
    gates = [tuple(map(int, line.split())) for line in lines[at : at + ands]]
    names = {literal: f"input{index}" for index, literal in enumerate(literals)}
    registers = {}
    for line in lines[at + ands :]:
        if line.startswith("i"):
            index, name = line[1:].split(" ", 1)
            names[literals[int(index)]] = name
        elif line.startswith("l"):
            index, name = line[1:].split(" ", 1)
            registers[states[int(index)][0]] = name.split()[0]
        elif line.startswith("c"):
            break
    return Netlist(names, dict(states), gates, driven, registers)


class Graph:
    """A graph under construction: equal nodes are one node, constants disappear."""

    def __init__(self) -> None:
        self.inputs: list[int] = []
        self.latches: dict[int, int] = {}  # next state by latch; all begin as 0
        self._variables = 0
        self._known: dict[tuple[int, int], int] = {}
        self._gates: dict[int, tuple[int, int]] = {}

    def input(self) -> int:
        """A new input."""
        self.inputs.append(self._new())
        return self.inputs[-1]

    def latch(self) -> int:
        """A new latch; set its next state in `latches`."""
        literal = self._new()
        self.latches[literal] = 0
        return literal

    def _new(self) -> int:
        self._variables += 1
        return 2 * self._variables

    def both(self, left: int, right: int) -> int:
        """Conjunction."""
        if left > right:
            left, right = right, left
        if left == 0 or left ^ 1 == right:
            return 0
        if left == 1 or left == right:
            return right
        found = self._known.get((left, right))
        if found is None:
            found = self._known[left, right] = self._new()
            self._gates[found] = (left, right)
        return found

    def either(self, left: int, right: int) -> int:
        """Disjunction."""
        return self.both(left ^ 1, right ^ 1) ^ 1

    def differ(self, left: int, right: int) -> int:
        """Exclusive or."""
        return self.either(self.both(left, right ^ 1), self.both(left ^ 1, right))

    def choose(self, select: int, one: int, zero: int) -> int:
        """`one` if `select`, else `zero`."""
        return self.either(self.both(select, one), self.both(select ^ 1, zero))

    @property
    def size(self) -> int:
        """How many inputs, latches and gates it has."""
        return self._variables

    def shrink(self, size: int) -> None:
        """Forget what was made since it had this size."""
        while self._gates and next(reversed(self._gates)) > 2 * size:
            _, operands = self._gates.popitem()
            del self._known[operands]
        self.inputs = [literal for literal in self.inputs if literal <= 2 * size]
        self.latches = {latch: following for latch, following in self.latches.items() if latch <= 2 * size}
        self._variables = size

    def operands(self, literal: int) -> tuple[int, int] | None:
        """What a gate is the conjunction of; None for an input, a latch or a constant."""
        return self._gates.get(literal)

    def copy(self, netlist: Netlist, replaced: Mapping[int, int]) -> Callable[[int], int]:
        """The netlist's gates in this graph, its inputs and latches replaced; returns the map of literals."""
        values = self.values(netlist, replaced)
        return lambda literal: values[literal & ~1] ^ (literal & 1)

    def values(self, netlist: Netlist, replaced: Mapping[int, int]) -> dict[int, int]:
        """The same for even literals, as a dictionary."""
        values = dict(replaced)
        values[0] = 0
        both = self.both
        for gate, left, right in netlist.ands:
            values[gate] = both(values[left & ~1] ^ (left & 1), values[right & ~1] ^ (right & 1))
        return values

    def write(self, path: Path, output: int) -> int:
        """Write what `output` depends on as binary AIGER with this one output; returns the number of gates."""
        used, waiting = set(), [output & ~1]
        while waiting:
            literal = waiting.pop()
            if literal in used or literal == 0:
                continue
            used.add(literal)
            if literal in self._gates:
                waiting += [operand & ~1 for operand in self._gates[literal]]
            elif literal in self.latches:
                waiting.append(self.latches[literal] & ~1)
        inputs = [literal for literal in self.inputs if literal in used]
        latches = [literal for literal in self.latches if literal in used]
        gates = sorted(used & self._gates.keys())
        renamed = {0: 0} | {old: 2 * new for new, old in enumerate([*inputs, *latches, *gates], 1)}

        def literal_of(literal: int) -> int:
            return renamed[literal & ~1] ^ (literal & 1)

        head = f"aig {len(renamed) - 1} {len(inputs)} {len(latches)} 1 {len(gates)}\n"
        body = "".join(f"{literal_of(self.latches[latch])}\n" for latch in latches) + f"{literal_of(output)}\n"
        deltas = bytearray()
        for gate in gates:
            high, low = sorted(map(literal_of, self._gates[gate]), reverse=True)
            for delta in (renamed[gate] - high, high - low):
                while delta > 127:
                    deltas.append(128 | delta & 127)
                    delta >>= 7
                deltas.append(delta)
        path.write_bytes((head + body).encode() + bytes(deltas))
        return len(gates)
