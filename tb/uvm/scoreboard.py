# SPDX-License-Identifier: Apache-2.0
"""The scoreboard: the lockstep comparison. The first difference stops the test and is saved for replay."""

from __future__ import annotations

import hashlib

import cocotb
import numpy as np

from beatmatch.trace import layout
from tb.lockstep import failure
from tb.lockstep.compare import Comparator
from tb.lockstep.report import Divergence
from tb.uvm.bfm import Block
from tb.uvm.job import Job
from tb.uvm.trace_agent import TraceSubscriber


class LockstepError(AssertionError):
    """Model and RTL differ; the text is the report, with the line that replays it."""


class LockstepScoreboard(TraceSubscriber):
    """Compares every word of every cycle of model and RTL.

    Attributes
    ----------
    compared, events, digests : int
        Cycles, events and digest words found equal.
    dispatched : int
        Instructions that the RTL dispatched.
    live_digests : set of str
        Digests ("matmul.array") that were not zero at some time.
    """

    def build_phase(self) -> None:
        """Nothing has been compared yet."""
        super().build_phase()
        self.compared = self.events = self.digests = self.dispatched = 0
        self.live_digests: set[str] = set()
        self._job: Job = self.cdb_get("JOB")
        record = layout(self._job.configuration())
        self._dispatch = record.slot("frontend", "dispatch").offset
        self._digests = {f"{s.station}.{s.slot.name}": s.offset for s in record.slots if s.slot.kind == "digest"}
        self._hash = hashlib.sha256()
        self._comparator: Comparator | None = None

    def trace_sha256(self) -> str:
        """Over the records of all programs; equal on every simulator."""
        return self._hash.hexdigest()

    def begin(self, block: Block) -> None:
        """A new comparison for a new program."""
        self._comparator = Comparator(self._job.configuration())

    def look(self, block: Block) -> None:
        """Compare; a divergence that is complete stops the test. Raises LockstepError."""
        comparator = self._comparator
        self.dispatched += int(np.count_nonzero(block.actual[:, self._dispatch]))
        for name, offset in self._digests.items():
            if name not in self.live_digests and block.actual[:, offset].any():
                self.live_digests.add(name)
        if comparator.push(block.expected, block.actual, block.unknown):
            self._fail(comparator.finish(), block)

    def end(self, block: Block) -> None:
        """Count what was equal; one side being ahead is a divergence too. Raises LockstepError."""
        found = self._comparator.finish()
        if found is not None:
            self._fail(found, block)
        self.compared += self._comparator.cycles
        self.events += self._comparator.events
        self.digests += self._comparator.digests
        self._hash.update(bytes.fromhex(self._comparator.digest()))

    def _fail(self, found: Divergence, block: Block) -> None:
        simulator = "verilator" if cocotb.SIM_NAME.lower().startswith("verilator") else "icarus"
        folder = failure.folder_of(f"uvm-{simulator}-{self._job.seed}-{block.program.digest()}")
        saved = failure.Failure(folder, block.program, simulator, found, self._job.patches, self._job.sources)
        saved.save()
        self._job.note_failure(folder, found)
        raise LockstepError(found.headline() + "\n" + found.text())
