# SPDX-License-Identifier: Apache-2.0
"""The comparator: two matrices of trace records, equal in every word of every cycle, or a divergence.

It needs no simulator: blocks of records come from anywhere. The first differing cycle is kept together with the
cycles around it; the kind of the divergence is decided when the window behind it is complete or the run ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beatmatch.config import Config
from beatmatch.trace import layout
from tb.lockstep.diagnose import Evidence, diagnose
from tb.lockstep.instructions import InstructionTracker
from tb.lockstep.report import Divergence

WINDOW = 256
"""Cycles looked at behind the first difference."""
HISTORY = 96
"""Cycles kept before it."""


@dataclass(frozen=True)
class Unknown:
    """Bits that the RTL drives as X or Z: in which row of a block, in which word."""

    row: int
    word: int
    mask: int


class Comparator:
    """Compares blocks of records as they come.

    Parameters
    ----------
    config : Config
        Gives the record layout.
    window, history : int
        Cycles kept after and before the first difference.

    Attributes
    ----------
    cycles, events, digests : int
        What was compared and found equal.
    """

    def __init__(self, config: Config, window: int = WINDOW, history: int = HISTORY) -> None:
        self.config = config
        self.layout = layout(config)
        self.tracker = InstructionTracker(config)
        self.cycles = self.events = 0
        self._window, self._history = window, history
        self._event_offsets = np.array([s.offset for s in self.layout.slots if s.slot.kind == "event"], dtype=np.intp)
        self._digest_slots = sum(s.slot.kind == "digest" for s in self.layout.slots)
        self._hash = hashlib.sha256()
        empty = np.zeros((0, self.layout.words), dtype=np.uint32)
        self._waiting = [empty, empty]
        self._tail = [empty, empty]  # cycles before (and, once diverged, behind) the first difference
        self._first: int | None = None
        self._unknown: dict[tuple[int, int], int] = {}
        self._seen_actual = 0

    @property
    def digests(self) -> int:
        """Digest words compared and found equal."""
        return self.cycles * self._digest_slots

    @property
    def diverged(self) -> bool:
        """A difference was found; blocks may follow until `complete`."""
        return self._first is not None

    @property
    def complete(self) -> bool:
        """A difference was found and the window behind it is full: no more blocks are needed."""
        return self._first is not None and min(map(len, self._tail)) >= self._kept_before() + self._window

    def _kept_before(self) -> int:
        return min(self._history, self._first or 0)

    def digest(self) -> str:
        """SHA-256 over the equal records so far, little endian."""
        return self._hash.hexdigest()

    def push(self, expected: np.ndarray, actual: np.ndarray, unknown: Sequence[Unknown] = ()) -> bool:
        """Compare further cycles of both sides; the two blocks may differ in length.

        Parameters
        ----------
        expected, actual : numpy.ndarray
            Records of model and RTL, uint32 [cycles, words].
        unknown : sequence of Unknown
            Bits of `actual` that are X or Z, by row of this block.

        Returns
        -------
        bool
            True when no more blocks are needed, because a divergence is complete.
        """
        for item in unknown:
            self._unknown[self._seen_actual + item.row, item.word] = item.mask
        self._seen_actual += len(actual)
        if self._first is not None:
            self._extend(expected, actual)
            return self.complete
        if len(self._waiting[0]) or len(self._waiting[1]):
            expected = np.concatenate([self._waiting[0], expected])
            actual = np.concatenate([self._waiting[1], actual])
        count = min(len(expected), len(actual))
        left, right = expected[:count], actual[:count]
        at = self._first_difference(left, right)
        self._accept(left[:at])
        if at == count:
            self._waiting = [expected[count:].copy(), actual[count:].copy()]
            return False
        self._first = self.cycles
        self._extend(expected[at:], actual[at:])
        return self.complete

    def _first_difference(self, left: np.ndarray, right: np.ndarray) -> int:
        """The first row that differs or holds unknown bits; the number of rows if none does."""
        at = len(left)
        if not np.array_equal(left, right):
            at = int(np.flatnonzero((left != right).any(axis=1))[0])
        unknown = [cycle - self.cycles for cycle, _ in self._unknown]
        return min([at, *(row for row in unknown if row < len(left))])

    def _accept(self, records: np.ndarray) -> None:
        if not len(records):
            return
        self._hash.update(np.ascontiguousarray(records, dtype="<u4"))
        self.events += int(np.count_nonzero(records[:, self._event_offsets]))
        self.tracker.add(self.cycles, records)
        self.cycles += len(records)
        if len(records) >= self._history:
            kept = records[len(records) - self._history :].copy()
        else:
            kept = np.concatenate([self._tail[0], records])[-self._history :]
        self._tail = [kept, kept]

    def _extend(self, expected: np.ndarray, actual: np.ndarray) -> None:
        if self._tail[0] is self._tail[1]:
            self.tracker.add(self.cycles, expected[:1])  # an instruction that issues just now
        self._tail = [np.concatenate([self._tail[0], expected]), np.concatenate([self._tail[1], actual])]

    def finish(self) -> Divergence | None:
        """The divergence, or None if both sides were equal to the last cycle; one side being ahead is a divergence."""
        if self._first is not None:
            return diagnose(self._evidence())
        ahead = [len(rows) for rows in self._waiting]
        if not any(ahead):
            return None
        kind = "missing" if ahead[0] else "extra"
        return Divergence(
            kind,
            self.cycles,
            self.cycles if ahead[0] else None,
            self.cycles if ahead[1] else None,
            "run",
            "length",
            "cycles",
            f"{self.cycles + ahead[0]} cycles",
            f"{self.cycles + ahead[1]} cycles",
            config=self.config.to_dict(),
        )

    def _evidence(self) -> Evidence:
        return Evidence(
            config=self.config,
            cycle=self._first,
            before=self._kept_before(),
            sides=(self._tail[0], self._tail[1]),
            unknown={word: mask for (cycle, word), mask in self._unknown.items() if cycle == self._first},
            tracker=self.tracker,
        )
