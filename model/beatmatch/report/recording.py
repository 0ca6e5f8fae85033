# SPDX-License-Identifier: Apache-2.0
"""What a report needs of every clock cycle of a run, kept small: events, the host's status, read beats."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.events import EventLog
from beatmatch.machine import SteppedResult, run_stepped
from beatmatch.program import Program
from beatmatch.stimulus import SHIFT
from beatmatch.trace import STATIONS, layout

READERS = ("fetch", "load", "weights")
"""Requesters of the memory port (or of a weight port) by the number that their reads carry."""

_STATUS = next(slot for slot in STATIONS["host"] if slot.name == "status")
STATUS_BITS = {name: bit for bit, (name, _) in enumerate(_STATUS.fields)}
"""Bit of each flag of the host's status, by name."""


class Recording:
    """Collects stimulus rows and trace records, of the model or of the RTL.

    Parameters
    ----------
    config : Config

    Attributes
    ----------
    log : EventLog
        Every event; cycles count from the first row.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.log = EventLog(config)
        self._status: list[np.ndarray] = []
        self._readers: list[np.ndarray] = []
        place = layout(config)
        self._status_offset = place.slot("host", "status").offset
        self._ready_offset = place.slot("port", "ready").offset
        self._weight_ready = place.slot("weight_port", "ready").offset if config.weight_port else None

    def add(self, rows: np.ndarray, records: np.ndarray) -> None:
        """Append cycles: stimulus rows and trace records, uint32 [cycles, words] each."""
        self.log.add(records)
        self._status.append(records[:, self._status_offset].copy())
        beat = (rows[:, 0] >> SHIFT["m_axi_rvalid"]) & records[:, self._ready_offset] & 1
        reader = (rows[:, 0] >> SHIFT["m_axi_rid"]) & 3
        readers = np.where(beat, 1 << reader, 0)  # a bit for each: with a weight port two can have a beat
        if self._weight_ready is not None:
            tiles = (rows[:, 0] >> SHIFT["m_axi_weights_rvalid"]) & records[:, self._weight_ready] & 1
            readers |= tiles << READERS.index("weights")
        self._readers.append(readers.astype(np.uint8))

    @property
    def cycles(self) -> int:
        """Cycles recorded so far."""
        return self.log.cycles

    def status(self, name: str) -> np.ndarray:
        """A flag of the host's status in every cycle, bool [cycles]."""
        return (self._joined(self._status, np.uint32) >> STATUS_BITS[name] & 1).astype(bool)

    def read_beats(self, reader: str) -> np.ndarray:
        """Cycles in which a beat of this requester was read, int64."""
        return np.flatnonzero(self._joined(self._readers, np.uint8) & 1 << READERS.index(reader))

    def runs(self) -> list[tuple[int, int]]:
        """First cycle and cycle after the last of every run (busy from start to done)."""
        busy = self.status("busy").astype(np.int8)
        edges = np.diff(busy, prepend=0, append=0)
        return list(zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True))

    @staticmethod
    def _joined(parts: list[np.ndarray], kind: type) -> np.ndarray:
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0] if parts else np.zeros(0, kind)


def record(program: Program, limit: int | None = None, progress=None) -> tuple[SteppedResult, Recording]:
    """Run a program on the stepped tier and record it; the arguments are those of `run_stepped`."""
    recording = Recording(program.config)
    return run_stepped(program, limit=limit, progress=progress, watch=recording.add), recording
