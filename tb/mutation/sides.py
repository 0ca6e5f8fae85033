# SPDX-License-Identifier: Apache-2.0
"""A netlist with and without a mutant in one graph: what the mutant does not change is there once.

A mutant changes little of a station, so the gates behind it are copied and no others, and are forgotten after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tb.mutation.graph import Graph, Netlist


class Sides:
    """The original of a netlist, its inputs and registers free, and one mutant beside it.

    Attributes
    ----------
    graph : Graph
    original : dict of int to int
        Literal of the graph by even literal of the netlist.
    """

    def __init__(self, netlist: Netlist) -> None:
        self.netlist, self.graph = netlist, Graph()
        leaves = {literal: self.graph.input() for literal in (*netlist.inputs, *netlist.latches)}
        leaves |= dict.fromkeys(netlist.selectors, 0)
        self.original = self.graph.values(netlist, leaves)
        self._changed: dict[int, int] = {}
        self._size = self.graph.size

    def change(self, mutant: int, registers: Mapping[int, int]) -> None:
        """Put a mutant, given by its number in the selector, on the other side, with registers of its own."""
        values = {literal: 1 for literal, bit in self.netlist.selectors.items() if mutant >> bit & 1} | registers
        both, original = self.graph.both, self.original
        for gate, left, right in self.netlist.ands:
            a, b = left & ~1, right & ~1
            if a in values or b in values:
                a, b = values.get(a, original[a]), values.get(b, original[b])
                value = both(a ^ (left & 1), b ^ (right & 1))
                if value != original[gate]:
                    values[gate] = value
        self._changed = values

    def forget(self) -> None:
        """Take the mutant away, and everything that was made in the graph because of it."""
        self._changed = {}
        self.graph.shrink(self._size)

    def of_original(self, literal: int) -> int:
        """What a literal of the netlist is in the graph, for the original."""
        return self.original[literal & ~1] ^ (literal & 1)

    def of_mutant(self, literal: int) -> int:
        """The same for the mutant."""
        return self._changed.get(literal & ~1, self.original[literal & ~1]) ^ (literal & 1)

    def differences(self, literals: Iterable[int]) -> dict[int, int]:
        """By literal of the netlist, the literal of the graph that says whether it differs; not where it cannot."""
        pairs = {item: (self.of_original(item), self.of_mutant(item)) for item in literals}
        return {item: self.graph.differ(*pair) for item, pair in pairs.items() if pair[0] != pair[1]}
