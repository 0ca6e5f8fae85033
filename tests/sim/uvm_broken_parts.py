# SPDX-License-Identifier: Apache-2.0
"""Parts of the pyuvm environment that do their work wrongly, for the tests of `uvm_faults_bench.py`."""

import dataclasses

import numpy as np
from pyuvm import uvm_factory

from beatmatch import csr
from beatmatch.trace import layout
from tb.lockstep.compare import Comparator
from tb.uvm import directed
from tb.uvm.agents import CommandDriver
from tb.uvm.base_test import BaseTest
from tb.uvm.coverage import CoverageSubscriber
from tb.uvm.csr_agent import CsrMonitor
from tb.uvm.registers import RegisterChecker
from tb.uvm.scoreboard import LockstepScoreboard
from tb.uvm.sequences import CoreSequence, Programs
from tb.uvm.trace_agent import TraceMonitor


class OneProgram(BaseTest):
    """The stimulus of all that follow; by itself it passes."""

    async def main(self):
        await Programs([directed.weights_from_scratchpad(self.config, 1)]).start(self.env.sequencer)


def override(part, broken):
    """The factory makes the broken class wherever the environment asks for the part."""
    uvm_factory().set_type_override_by_type(part, broken)


class ForgetfulCoverage(CoverageSubscriber):
    """Has lost its collectors."""

    def build_phase(self):
        super().build_phase()
        self.collectors = []


class LossyDriver(CommandDriver):
    """Says that a program is done without playing it."""

    async def run_phase(self):
        while True:
            await self.seq_item_port.get_next_item()
            self.seq_item_port.item_done()


class EndlessDriver(CommandDriver):
    """Plays a program and forgets item_done()."""

    async def run_phase(self):
        await self.cdb_get("BFM").play(await self.seq_item_port.get_next_item())


class Impatient(CoreSequence):
    """Raises in the middle of its body."""

    async def body(self):
        await self.run(directed.empty(self.config, 1))
        raise ValueError("the sequence gave up")


class BrokenMonitor(TraceMonitor):
    """Base of monitors that do something to the third block."""

    def build_phase(self):
        super().build_phase()
        self.seen = []

    def publish(self, block):
        self.seen.append(block)
        self.disturb(block, len(self.seen))


def cut(block, first, last):
    """Some cycles of a block."""
    parts = {name: getattr(block, name)[first:last] for name in ("rows", "expected", "actual")}
    return dataclasses.replace(block, first=block.first + first, **parts)


class Dropping(BrokenMonitor):
    """A block does not come."""

    def disturb(self, block, count):
        self.ap.write(cut(block, 0, 100) if count == 1 else block)


class Duplicating(BrokenMonitor):
    """A block comes twice."""

    def disturb(self, block, count):
        self.ap.write(block)
        if count == 1:
            self.ap.write(block)


class Swapping(BrokenMonitor):
    """The second part of a block comes before the first."""

    def disturb(self, block, count):
        parts = [(100, None), (0, 100)] if count == 1 else [(0, None)]
        for first, last in parts:
            self.ap.write(cut(block, first, last))


class Ending(BrokenMonitor):
    """The end of the program does not come."""

    def disturb(self, block, count):
        if not block.last:
            self.ap.write(block)


class Silent(BrokenMonitor):
    """Nothing comes."""

    def disturb(self, block, count):
        """Keep it."""


class Late(BrokenMonitor):
    """The RTL's records come a cycle late."""

    def disturb(self, block, count):
        if len(block.actual):
            late = np.concatenate([block.actual[:1], block.actual[:-1]])
            block = dataclasses.replace(block, actual=late)
        self.ap.write(block)


class Undigested(BrokenMonitor):
    """All digests of the array are lost, on both sides."""

    def disturb(self, block, count):
        expected, actual = block.expected.copy(), block.actual.copy()
        for records in (expected, actual):
            records[:, self.array_digest()] = 0
        self.ap.write(dataclasses.replace(block, expected=expected, actual=actual))

    def array_digest(self):
        return layout(self.cdb_get("JOB").configuration()).slot("matmul", "array").offset


class BrokenTrace(OneProgram):
    """A test whose trace monitor is broken."""

    broken: type[TraceMonitor]

    def build_phase(self):
        override(TraceMonitor, self.broken)
        super().build_phase()


class Blind(LockstepScoreboard):
    """Compares nothing."""

    def look(self, block):
        """Look away."""


class Lenient(LockstepScoreboard):
    """Lets differences pass."""

    def _fail(self, found, block):
        self._comparator = Comparator(self._job.configuration())


class Careless(CsrMonitor):
    """Misses the first write of PROG_LEN."""

    def _publish(self, item, response, cycle):
        if not (item.write and item.address == csr.PROG_LEN.address):
            super()._publish(item, response, cycle)


class Deaf(RegisterChecker):
    """Checks no access."""

    def write(self, item):
        """Look away."""


def disturb_exchange(test, change):
    """Let `change(rows, records, unknown)` alter what goes to and comes from the RTL in the first block."""
    link = test.bfm._transport
    exchange = link.exchange
    state = {"count": 0}

    async def disturbed(rows):
        state["count"] += 1
        if state["count"] != 2:  # the first exchange is the reset in front of the program
            return await exchange(rows)
        rows = rows.copy()
        change(rows, None, None)
        records, unknown = await exchange(rows)
        records, unknown = records.copy(), list(unknown)
        change(None, records, unknown)
        return records, unknown

    link.exchange = disturbed
