# SPDX-License-Identifier: Apache-2.0
"""Random simulation of a netlist and its mutants side by side: what is seen to differ need not be tried to be proven.

One word holds 64 runs with their own random inputs; the columns are the original and the mutants, which all get the
same inputs. As in the proofs the state at power-up is arbitrary, the same for all, and the first cycle is a reset.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb.mutation.graph import Netlist

CYCLES, COLUMNS, SEED = 96, 32, 1
KEPT = 16
"""For so many cycles an input keeps its kind: mostly 0, mostly 1, or as often the one as the other."""
RESETS = 7
"""A run is reset in one of 2**RESETS cycles."""
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


class Simulation:
    """A netlist, ready to be simulated level by level."""

    def __init__(self, netlist: Netlist) -> None:
        self._netlist = netlist
        level = dict.fromkeys((0, *netlist.inputs, *netlist.latches), 0)
        levels: list[list[tuple[int, int, int]]] = []
        for gate in netlist.ands:
            level[gate[0]] = above = 1 + max(level[gate[1] & ~1], level[gate[2] & ~1])
            if above > len(levels):
                levels.append([])
            levels[above - 1].append(gate)
        self._place = {literal: place for place, literal in enumerate((0, *netlist.inputs, *netlist.latches))}
        self._levels = []
        for gates in levels:
            first = len(self._place)
            self._place.update((gate[0], first + index) for index, gate in enumerate(gates))
            sides = [self._read([gate[side] for gate in gates]) for side in (1, 2)]
            self._levels.append((slice(first, first + len(gates)), *sides))
        self._states = np.array([self._place[literal] for literal in netlist.latches], dtype=int)
        self._next = self._read(list(netlist.latches.values()))
        self._outputs = self._read(netlist.outputs)

    def _read(self, literals: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Where the values of literals stand, and what inverts them."""
        places = np.array([self._place[literal & ~1] for literal in literals], dtype=int)
        inverted = np.array([_ALL if literal & 1 else 0 for literal in literals], dtype=np.uint64)
        return places, inverted[:, None]

    def seen(self, mutants: Sequence[int]) -> dict[int, int]:
        """The mutants, by their numbers in the selector, that differ at an output, with the first cycle of it."""
        found: dict[int, int] = {}
        for first in range(0, len(mutants), COLUMNS):
            found |= self._some(mutants[first : first + COLUMNS])
        return found

    def _some(self, mutants: Sequence[int]) -> dict[int, int]:
        rng = np.random.default_rng(SEED)
        values = np.zeros((len(self._place), 1 + len(mutants)), dtype=np.uint64)
        selectors = self._netlist.selectors
        for literal, bit in selectors.items():
            values[self._place[literal]] = [_ALL if number >> bit & 1 else 0 for number in (0, *mutants)]
        inputs = [literal for literal in self._netlist.inputs if literal not in selectors]
        free = np.array([self._place[literal] for literal in inputs], dtype=int)
        resets = [self._place[literal] for literal in self._netlist.resets]
        values[self._states] = _words(rng, len(self._states))[:, None]
        found: dict[int, int] = {}
        for cycle in range(CYCLES):
            if cycle % KEPT == 0:
                kinds = rng.integers(0, 5, len(free))
            words = [_words(rng, len(free)) for _ in range(3)]
            rare, often = words[0] & words[1] & words[2], words[0] | words[1] | words[2]
            values[free] = np.select([kinds == 0, kinds == 1], [rare, often], words[0])[:, None]
            values[resets] = np.bitwise_or.reduce(_words(rng, RESETS)) if cycle else 0
            for gates, (left, left_inverted), (right, right_inverted) in self._levels:
                np.bitwise_and(values[left] ^ left_inverted, values[right] ^ right_inverted, out=values[gates])
            if cycle:
                outputs = values[self._outputs[0]]
                for column in np.flatnonzero((outputs != outputs[:, :1]).any(axis=0)):
                    found.setdefault(mutants[column - 1], cycle)
            values[self._states] = values[self._next[0]] ^ self._next[1]
        return found


def _words(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, 1 << 64, count, dtype=np.uint64)
