# SPDX-License-Identifier: Apache-2.0
"""The coverage subscriber: hands the RTL's records, after they were compared, to collectors of any kind."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

import numpy as np

from beatmatch.config import Config
from beatmatch.program import Program
from beatmatch.trace import layout
from tb.coverage.collector import Coverage
from tb.lockstep.transport import BLOCK
from tb.uvm.bfm import Block
from tb.uvm.job import Job
from tb.uvm.trace_agent import TraceSubscriber


class Collector(Protocol):
    """What counts coverage: the bins of `tb.coverage`, or a user's own."""

    def begin(self, program: Program, seed: int) -> None:
        """A program begins, from reset."""

    def sample(self, config: Config, records: np.ndarray, rows: np.ndarray) -> None:
        """Look at some cycles: the RTL's records and the stimulus rows, uint32 [cycles, words] each."""

    def end(self) -> object:
        """The program has ended, and all of it was equal on both sides."""

    def sampled(self) -> dict[str, int]:
        """How often each group was sampled so far, by its name; a test may promise groups in `covers`."""


class SlotEvents:
    """The plainest collector: how many events each slot of the trace has shown ("matmul.row": 1234)."""

    def __init__(self, config: Config) -> None:
        self._slots = {
            f"{placed.station}.{placed.slot.name}": placed.offset
            for placed in layout(config).slots
            if placed.slot.kind == "event"
        }
        self._counts: Counter[str] = Counter(dict.fromkeys(self._slots, 0))

    def begin(self, program: Program, seed: int) -> None:
        """Nothing to do."""

    def sample(self, config: Config, records: np.ndarray, rows: np.ndarray) -> None:
        """Count the events of these cycles."""
        columns = np.count_nonzero(records[:, list(self._slots.values())], axis=0)
        for name, count in zip(self._slots, columns.tolist(), strict=True):
            self._counts[name] += count

    def end(self) -> None:
        """Nothing to do."""

    def sampled(self) -> dict[str, int]:
        """Events by slot."""
        return dict(self._counts)


class Bins(Coverage):
    """All functional coverage groups of `tb.coverage`."""

    def sampled(self) -> dict[str, int]:
        """Bins that were hit, by group."""
        return {name: sum((name, label) in self.seeds for label in item.bins) for name, item in self.groups.items()}


class CoverageSubscriber(TraceSubscriber):
    """Samples all collectors; a test may add its own to `collectors`."""

    def build_phase(self) -> None:
        """Begin with the events of the trace and all bins."""
        super().build_phase()
        self._job: Job = self.cdb_get("JOB")
        self._config = self._job.configuration()
        self.bins = Bins()
        self.collectors: list[Collector] = [SlotEvents(self._config), self.bins]
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []  # short blocks, put together before they are sampled

    def begin(self, block: Block) -> None:
        """A program begins."""
        for collector in self.collectors:
            collector.begin(block.program, block.program.seed or self._job.seed)

    def look(self, block: Block) -> None:
        """Keep the cycles until there are enough of them to be worth sampling."""
        self._waiting.append((block.actual.copy(), block.rows.copy()))
        if sum(len(rows) for _, rows in self._waiting) >= BLOCK:
            self._sample()

    def _sample(self) -> None:
        records, rows = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        self._waiting = []
        for collector in self.collectors if len(rows) else ():
            collector.sample(self._config, records, rows)

    def end(self, block: Block) -> None:
        """The program has ended."""
        if self._waiting:
            self._sample()
        for collector in self.collectors:
            collector.end()

    def sampled(self) -> dict[str, int]:
        """Samples by group, of all collectors together."""
        counts: Counter[str] = Counter()
        for collector in self.collectors:
            counts.update(collector.sampled())
        return dict(counts)
