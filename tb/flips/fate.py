# SPDX-License-Identifier: Apache-2.0
"""Flips and what becomes of them: how they are drawn, and how their fate is written down."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beatmatch.config import Config
from beatmatch.trace import layout
from tb.flips.state import Element


@dataclass(frozen=True)
class Flip:
    """One bit of one element, inverted at the beginning of a cycle: what the clock edge before it left is wrong."""

    element: int
    bit: int
    cycle: int


@dataclass(frozen=True)
class Golden:
    """The run without a flip: states by cycle, and the state after a reset at its end."""

    states: dict[int, np.ndarray]
    after_reset: np.ndarray


@dataclass
class Outcome:
    """What became of a flip.

    Attributes
    ----------
    fate : str
        ``flagged``: a record differed; ``masked``: none did, to the end of the program.
    latency : int
        Flagged: cycles from the flip to the first record that differs (0: the record of the flip's own cycle).
        Reconverged: cycles after which the whole state was found equal again.
    slot : str
        Slot of the first word that differed.
    how : str
        Masked: ``reconverged`` (the whole state is equal to the unflipped one again), ``ended by reset`` (equal
        after a reset at the end of the program), ``dead storage`` (what differs then is storage without a reset).
    kept, left : list of str
        Variables that differ at the end, and after the reset.
    """

    flip: Flip
    fate: str
    latency: int = -1
    slot: str = ""
    how: str = ""
    kept: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def to_dict(self, element: Element) -> dict[str, Any]:
        """For a line of results."""
        return {
            "unit": element.unit,
            "kind": element.kind,
            "variable": element.variable,
            "bit": self.flip.bit + (0 if element.words else element.low),
            "cycle": self.flip.cycle,
            "fate": self.fate,
            "latency": self.latency,
            "slot": self.slot,
            "how": self.how,
            "kept": self.kept,
            "left": self.left,
        }


def strata(state: Sequence[Element]) -> dict[tuple[str, str], list[int]]:
    """Elements by unit and kind."""
    found: dict[tuple[str, str], list[int]] = {}
    for index, element in enumerate(state):
        found.setdefault((element.unit, element.kind), []).append(index)
    return found


MEMORY_TURN = 5
"""Every so many flips one goes into a memory; the others go into registers."""


def draw(rng: random.Random, state: Sequence[Element], count: int, cycles: int) -> list[Flip]:
    """Flips of one program: units take turns from a random one on; in a unit's stratum every bit is equally likely."""
    groups = strata(state)
    units = {kind: [unit for unit, of in groups if of == kind] for kind in ("registers", "memories")}
    turn = {kind: rng.randrange(len(units[kind])) for kind in units}
    chosen = []
    for number in range(count):
        kind = "memories" if number % MEMORY_TURN == MEMORY_TURN - 1 else "registers"
        group = groups[units[kind][turn[kind] % len(units[kind])], kind]
        turn[kind] += 1
        (element,) = rng.choices(group, weights=[state[index].bits for index in group])
        chosen.append(Flip(element, rng.randrange(state[element].bits), rng.randrange(cycles)))
    return chosen


def place_of(config: Config, word: int) -> str:
    """``station.slot (kind)`` of a word of the record."""
    for placed in layout(config).slots:
        if placed.offset <= word < placed.offset + placed.words:
            return f"{placed.station}.{placed.slot.name} ({placed.slot.kind})"
    raise ValueError(f"The record has no word {word}.")
