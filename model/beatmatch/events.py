# SPDX-License-Identifier: Apache-2.0
"""Trace records turned into events: who did what, in which cycle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from beatmatch.config import Config
from beatmatch.trace import PlacedSlot, layout, unpack


@dataclass(frozen=True)
class Event:
    """One event.

    Attributes
    ----------
    cycle : int
        Clock cycle of the run (0 is the first after reset).
    station, kind : str
        The slot of the trace record that showed it.
    fields : dict
        Header fields, by name.
    data : dict
        Data words (uint32 arrays), by name; empty unless the log keeps data.
    """

    cycle: int
    station: str
    kind: str
    fields: dict[str, int]
    data: dict[str, np.ndarray] = field(default_factory=dict)


class EventLog:
    """Events of a run, kept as arrays per slot and expanded when asked for.

    Parameters
    ----------
    config : Config
        Gives the record layout.
    keep_data : bool
        Also keep the data words of each event (memory contents, beats).
    """

    def __init__(self, config: Config, keep_data: bool = False) -> None:
        self._slots = tuple(placed for placed in layout(config).slots if placed.slot.kind == "event")
        self._keep_data = keep_data
        self._cycles: dict[tuple[str, str], list[np.ndarray]] = {}
        self._rows: dict[tuple[str, str], list[np.ndarray]] = {}
        self._offsets = np.array([placed.offset for placed in self._slots])
        self.cycles = 0
        self.count = 0

    def add(self, records: np.ndarray) -> None:
        """Append trace records, uint32 [cycles, words]."""
        valid = (records[:, self._offsets] >> 31).astype(bool)
        for index in np.flatnonzero(valid.any(axis=0)):
            placed = self._slots[index]
            hits = np.flatnonzero(valid[:, index])
            end = placed.offset + (placed.words if self._keep_data else 1)
            self._keep(placed, hits, records[hits, placed.offset : end])
            self.count += len(hits)
        self.cycles += len(records)

    def _keep(self, placed: PlacedSlot, hits: np.ndarray, rows: np.ndarray) -> None:
        key = (placed.station, placed.slot.name)
        self._cycles.setdefault(key, []).append(hits + self.cycles)
        self._rows.setdefault(key, []).append(rows)

    def put(self, station: str, kind: str, cycles: np.ndarray, headers: np.ndarray) -> None:
        """Append events of one slot (no data words): their cycles, and headers as uint32 with the valid bit."""
        self._cycles.setdefault((station, kind), []).append(cycles)
        self._rows.setdefault((station, kind), []).append(headers[:, np.newaxis])
        self.count += len(cycles)

    def headers(self, station: str, kind: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Cycles (int64) and header fields (arrays by name) of one slot's events, in order of time."""
        placed = next(p for p in self._slots if (p.station, p.slot.name) == (station, kind))
        key = (station, kind)
        if key not in self._cycles:
            return np.zeros(0, np.int64), {name: np.zeros(0, np.uint32) for name, _ in placed.slot.fields}
        headers = np.concatenate(self._rows[key])[:, 0]
        values: dict[str, np.ndarray] = {}
        shift = 0
        for name, width in placed.slot.fields:
            values[name] = (headers >> shift) & ((1 << width) - 1)
            shift += width
        return np.concatenate(self._cycles[key]), values

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Event]:
        """All events in order of (cycle, slot)."""
        order = []
        for rank, placed in enumerate(self._slots):
            key = (placed.station, placed.slot.name)
            if key in self._cycles:
                cycles = np.concatenate(self._cycles[key])
                rows = np.concatenate(self._rows[key])
                order += [(int(cycle), rank, row) for cycle, row in zip(cycles, rows, strict=True)]
        order.sort(key=lambda entry: entry[:2])
        for cycle, rank, row in order:
            placed = self._slots[rank]
            data = {}
            if self._keep_data:
                data = {
                    name: row[start - placed.offset : start - placed.offset + words]
                    for name, (start, words) in placed.data.items()
                }
            yield Event(cycle, placed.station, placed.slot.name, unpack(placed.slot, int(row[0])), data)
