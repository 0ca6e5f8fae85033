# SPDX-License-Identifier: Apache-2.0
"""The coverage subscriber: hands the RTL's records, after they were compared, to collectors of any kind."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

import numpy as np

from beatmatch.config import Config
from beatmatch.trace import layout
from tb.uvm.bfm import Block
from tb.uvm.trace_agent import TraceSubscriber


class Collector(Protocol):
    """What counts coverage: the bins of a package, or a user's own.

    A collector may also have ``begin()``, called before the first cycle of every program, and has to say in
    ``groups()`` how often each of its groups was sampled; a group that a test promises and nothing sampled is an error.
    """

    def sample(self, config: Config, records: np.ndarray, rows: np.ndarray) -> None:
        """Look at some cycles: the RTL's records and the stimulus rows, uint32 [cycles, words] each."""

    def groups(self) -> dict[str, int]:
        """Samples of every group so far, by its name."""


class SlotEvents:
    """The plainest collector: how many events each slot of the trace has shown ("matmul.row": 1234)."""

    def __init__(self, config: Config) -> None:
        self._slots = {
            f"{placed.station}.{placed.slot.name}": placed.offset
            for placed in layout(config).slots
            if placed.slot.kind == "event"
        }
        self._counts: Counter[str] = Counter(dict.fromkeys(self._slots, 0))

    def sample(self, config: Config, records: np.ndarray, rows: np.ndarray) -> None:
        """Count the events of these cycles."""
        columns = np.count_nonzero(records[:, list(self._slots.values())], axis=0)
        for name, count in zip(self._slots, columns.tolist(), strict=True):
            self._counts[name] += count

    def groups(self) -> dict[str, int]:
        """Events by slot."""
        return dict(self._counts)


class CoverageSubscriber(TraceSubscriber):
    """Samples all collectors; a test may add its own to `collectors`."""

    def build_phase(self) -> None:
        """Begin with the events of the trace."""
        super().build_phase()
        self._config: Config = self.cdb_get("JOB").configuration()
        self.collectors: list[Collector] = [SlotEvents(self._config)]

    def begin(self, block: Block) -> None:
        """Tell those who want to know that a program begins."""
        for collector in self.collectors:
            if hasattr(collector, "begin"):
                collector.begin()

    def look(self, block: Block) -> None:
        """Sample."""
        if len(block.rows):
            for collector in self.collectors:
                collector.sample(self._config, block.actual, block.rows)

    def groups(self) -> dict[str, int]:
        """Samples by group, of all collectors together."""
        counts: Counter[str] = Counter()
        for collector in self.collectors:
            counts.update(collector.groups())
        return dict(counts)
