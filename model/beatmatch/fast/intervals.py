# SPDX-License-Identifier: Apache-2.0
"""Events kept as intervals, and expanded when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from beatmatch.accounting import Accounting
from beatmatch.config import Config
from beatmatch.events import Event, EventLog
from beatmatch.fast.recorder import CATEGORY, PLACES, ROW, SLOTS
from beatmatch.trace import VALID, stations

CATEGORIES = ("other", "active", "weight_shift", "weight_stall", "raw_stall", "input_stall")
"""What a cycle can be, by the number in its entry."""


class Intervals:
    """Events of a run, as `events.EventLog` gives them (without data words), and the intervals they are kept as.

    Parameters
    ----------
    config : Config
    rows : numpy.ndarray of int64, [intervals, 8]
        As `fast.recorder` writes them; those of a slot in the order of time.
    cycles : int
        Cycles that they are the events of.
    totals : list of int
        Events per slot.

    Attributes
    ----------
    count, cycles : int
        Events, and cycles of the run since the initial reset.
    """

    def __init__(self, config: Config, rows: np.ndarray, cycles: int, totals: list[int]) -> None:
        self._config = config
        known = stations(config)
        self._totals = {slot: total for slot, total in zip(SLOTS, totals, strict=True) if slot[0] in known}
        self.cycles = cycles
        self.count = sum(totals)
        order = np.argsort(rows[:, 0], kind="stable")
        bounds = np.searchsorted(rows[order, 0], np.arange(PLACES + 1))
        self._rows = {
            slot: rows[order[bounds[index] : bounds[index + 1]]]
            for index, slot in enumerate(SLOTS)
            if bounds[index + 1] > bounds[index]
        }
        self._categories = rows[order[bounds[CATEGORY] :]][:, 1:]

    def __len__(self) -> int:
        return self.count

    def slots(self) -> tuple[tuple[str, str], ...]:
        """(station, kind) of every slot of events, in the order of the trace record."""
        return tuple(self._totals)

    def total(self, station: str, kind: str) -> int:
        """Events of one slot."""
        return self._totals[station, kind]

    def intervals(self, station: str, kind: str) -> np.ndarray:
        """Intervals of one slot: int64 [intervals, 7].

        Columns: first cycle, stride, count, header of the first event, its step, number of the first, its step. The
        number is the address of a burst in units of four bytes, the useful multiply-accumulates of a row, else 0.
        """
        self._known(station, kind)
        return self._rows.get((station, kind), np.zeros((0, ROW), np.int64))[:, 1:]

    def _known(self, station: str, kind: str) -> None:
        if (station, kind) not in self._totals:
            names = ", ".join(".".join(slot) for slot in self._totals)
            raise KeyError(f"There is no slot {station}.{kind}; the slots of events are {names}.")

    def _expand(self, station: str, kind: str, column: int) -> np.ndarray:
        """The values of all events: those of the column, and from event to event those of the one behind it."""
        return self._values(self.intervals(station, kind), column)

    @staticmethod
    def _values(rows: np.ndarray, column: int) -> np.ndarray:
        counts = rows[:, 2]
        first = np.repeat(rows[:, column], counts)
        step = np.repeat(rows[:, column + 1], counts)
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        return first + step * (np.arange(len(first)) - begins)

    def words(self, station: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Cycles (int64) and header words (uint32, as in the trace record) of one slot's events, in order of time."""
        return self._expand(station, kind, 0), (self._expand(station, kind, 3) | VALID).astype(np.uint32)

    def addresses(self, kind: str, station: str = "port") -> np.ndarray:
        """Byte addresses of the bursts in a port's slot ``ar`` or ``aw``, uint64."""
        return self._expand(station, kind, 5).astype(np.uint64) << np.uint64(2)

    def accounting(self, edges: Sequence[int]) -> list[Accounting]:
        """Where the cycles went, for each window of cycles from one of the ascending ``edges`` to the next.

        A run is the window from `FastResult.start` on; its windows add up to the run's accounting.
        """
        edges = np.asarray(edges, np.int64)
        changes = np.concatenate([[-1], self._values(self._categories, 0)])
        kinds = np.concatenate([[0], self._values(self._categories, 3)])
        spans = np.diff(changes, append=changes[-1:])
        at = np.searchsorted(changes, edges, "right") - 1
        counts = {}
        for kind, name in enumerate(CATEGORIES):
            before = np.cumsum(np.where(kinds == kind, spans, 0)) - np.where(kinds == kind, spans, 0)
            counts[name] = np.diff(before[at] + np.where(kinds[at] == kind, edges - changes[at], 0))
        macs = np.concatenate([[0], np.cumsum(self._expand("matmul", "row", 5))])
        counts["useful_macs"] = np.diff(macs[np.searchsorted(self._expand("matmul", "row", 0), edges)])
        counts["cycles"] = np.diff(edges)
        counts["non_matrix"] = counts.pop("other") + counts["raw_stall"] + counts["input_stall"]
        peak = self._config.peak_macs
        return [
            Accounting(**{name: int(values[window]) for name, values in counts.items()}, peak_macs=peak)
            for window in range(len(edges) - 1)
        ]

    def headers(self, station: str, kind: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Cycles (int64) and header fields (arrays by name) of one slot's events, in order of time."""
        return self.log([(station, kind)]).headers(station, kind)

    def log(self, slots: list[tuple[str, str]] | None = None) -> EventLog:
        """The events of these slots (of all) as an `EventLog`."""
        log = EventLog(self._config)
        for station, kind in self._totals if slots is None else slots:
            self._known(station, kind)
            if self._totals[station, kind]:
                log.put(station, kind, *self.words(station, kind))
        log.cycles = self.cycles
        return log

    def __iter__(self) -> Iterator[Event]:
        """All events in order of (cycle, slot)."""
        return iter(self.log())
