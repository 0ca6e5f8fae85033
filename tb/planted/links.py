# SPDX-License-Identifier: Apache-2.0
"""A transport without a simulator: what the RTL would show is the record of the unchanged model, spoiled on request."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from beatmatch.compiler import compile_gemm
from beatmatch.config import Config, preset
from beatmatch.machine import SteppedMachine
from beatmatch.program import Program
from beatmatch.trace import layout
from tb.lockstep.compare import Unknown

CONFIG: Config = preset("tiny")
SIZES = ((24, 20, 12), (8, 12, 8), (5, 9, 4))
"""Rows, depth and columns of the products; the first takes several blocks of cycles."""
Spoil = Callable[[np.ndarray], np.ndarray]
SLOT = ("port", "ar")
"""What is spoiled where an event is."""


@dataclass(frozen=True)
class Case:
    """A product, its operands, and the record of the unchanged model, uint32 [cycles, words]."""

    program: Program
    operands: tuple[np.ndarray, np.ndarray]
    stimulus: np.ndarray
    records: np.ndarray


@cache
def cases() -> tuple[Case, ...]:
    """The products; to be called before anything is planted."""
    found = []
    for seed, (m, k, n) in enumerate(SIZES):
        rng = np.random.default_rng(seed)
        a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
        program = compile_gemm(a, b, CONFIG, out="int32")
        blocks = [(rows.copy(), records.copy()) for rows, records in SteppedMachine(program).blocks()]
        stimulus, records = (np.concatenate(side) for side in zip(*blocks, strict=True))
        found.append(Case(program, (a, b), stimulus, records))
    return tuple(found)


def awaited(coroutine: Coroutine) -> Any:
    """The value of a coroutine that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("A coroutine waits for a simulator, and there is none.")


class RecordLink:
    """Stands for the simulator: knows the records by the stimulus that they belong to."""

    def __init__(self, spoil: Spoil | None = None, unknown: Sequence[Unknown] = ()) -> None:
        self.cycles = 0
        self._spoil, self._unknown = spoil, unknown
        self._records: np.ndarray | None = None
        self._at = 0

    async def reset(self) -> None:
        """The next rows begin another program."""
        self._records, self._at = None, 0

    async def exchange(self, rows: np.ndarray) -> tuple[np.ndarray, list[Unknown]]:
        """The records of these rows; the first rows after a reset say whose."""
        if self._records is None:
            alike = [case for case in cases() if np.array_equal(case.stimulus[: len(rows)], rows[: len(case.stimulus)])]
            records = (alike or cases())[0].records
            self._records = self._spoil(records.copy()) if self._spoil else records
        start, self._at = self._at, self._at + len(rows)
        self.cycles += len(rows)
        unknown = [Unknown(u.row - start, u.word, u.mask) for u in self._unknown if start <= u.row < self._at]
        return self._records[start : self._at].copy(), unknown


class AliasingLink(RecordLink):
    """Hands the model's own array back."""

    def __init__(self, machine: SteppedMachine) -> None:
        super().__init__()
        self._machine = machine

    async def exchange(self, rows: np.ndarray) -> tuple[np.ndarray, list[Unknown]]:
        """What the model has just written."""
        return self._machine.trace.records(), []


# ----- ways to spoil a record -----


def _events(records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words of the slot, and the cycles with an event: a few in the middle of the run, each followed by another."""
    placed = layout(CONFIG).slot(*SLOT)
    slot = records[:, placed.offset : placed.offset + placed.words]
    return slot, np.flatnonzero(slot[:, 0])


def _pick(records: np.ndarray) -> tuple[np.ndarray, int, int]:
    """The slot, the cycle of an event with a free cycle before and behind it, and the cycle of the next event."""
    slot, cycles = _events(records)
    gaps = np.diff(cycles)
    at = next(i for i in range(len(cycles) // 2, len(cycles) - 1) if gaps[i - 1] > 1 and gaps[i] > 1)
    return slot, int(cycles[at]), int(cycles[at + 1])


def dropped_event(records):
    """An event is lost."""
    slot, at, _ = _pick(records)
    slot[at] = 0
    return records


def duplicated_event(records):
    """An event comes a second time."""
    slot, at, _ = _pick(records)
    slot[at + 1] = slot[at]
    return records


def late_event(records):
    """An event comes a cycle late."""
    slot, at, _ = _pick(records)
    slot[at + 1], slot[at] = slot[at].copy(), 0
    return records


def early_event(records):
    """An event comes a cycle early."""
    slot, at, _ = _pick(records)
    slot[at - 1], slot[at] = slot[at].copy(), 0
    return records


def swapped_events(records):
    """Two events are exchanged."""
    slot, at, then = _pick(records)
    slot[[at, then]] = slot[[then, at]]
    return records


def changed_bit(records):
    """A bit of an event's data flips."""
    slot, at, _ = _pick(records)
    slot[at, -1] ^= np.uint32(1 << 31)
    return records


def lost_digest(records):
    """The digest word of the array is always 0."""
    records[:, layout(CONFIG).slot("matmul", "array").offset] = 0
    return records


def dropped_record(records):
    """A whole cycle is lost, and what follows moves up."""
    at = _pick(records)[1]
    return np.concatenate([records[:at], records[at + 1 :], records[-1:]])


def duplicated_record(records):
    """A whole cycle comes twice, and what follows moves back."""
    at = _pick(records)[1]
    return np.concatenate([records[: at + 1], records[at:-1]])


def late_records(records):
    """Every record is a cycle late."""
    return np.concatenate([records[:1], records[:-1]])


def lost_end(records):
    """The last cycles never come."""
    return records[:-3]


def stale_block(records):
    """The second block of cycles is the first one again."""
    records[1024 : 1024 + min(1024, len(records) - 1024)] = records[: min(1024, len(records) - 1024)]
    return records


def foreign_records(records):
    """The records are of another program."""
    other = cases()[1].records
    return np.concatenate([other, np.repeat(other[-1:], len(records), axis=0)])[: len(records)]


SPOILS = {
    item.__name__: item
    for item in (
        dropped_event, duplicated_event, late_event, early_event, swapped_events, changed_bit, lost_digest,
        dropped_record, duplicated_record, late_records, lost_end, stale_block, foreign_records,
    )
}  # fmt: skip
