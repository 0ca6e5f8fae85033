# SPDX-License-Identifier: Apache-2.0
"""Tests that must not pass: each holds one mistake of a kind that pyuvm itself lets through, or a broken part.

`uvm_faults.py` says what each verdict has to say.
"""

import numpy as np
import pyuvm
from cocotb.triggers import Event, Timer

from beatmatch import csr
from beatmatch.program import Program
from beatmatch.stimulus import RDATA_WORD, SHIFT
from tb.lockstep.compare import Unknown
from tb.uvm import directed
from tb.uvm.agents import CommandDriver
from tb.uvm.base_test import BaseTest
from tb.uvm.coverage import CoverageSubscriber
from tb.uvm.csr_agent import CsrMonitor
from tb.uvm.items import ProgramItem, ResetItem, When
from tb.uvm.registers import RegisterChecker
from tb.uvm.scoreboard import LockstepScoreboard
from tb.uvm.sequences import CoreSequence, Programs
from tests.sim.uvm_broken_parts import (
    Blind,
    BrokenTrace,
    Careless,
    Deaf,
    Dropping,
    Duplicating,
    Ending,
    EndlessDriver,
    ForgetfulCoverage,
    Impatient,
    Late,
    Lenient,
    LossyDriver,
    OneProgram,
    Silent,
    Swapping,
    Undigested,
    disturb_exchange,
    override,
)


@pyuvm.test()
class Sound(OneProgram):
    """No mistake: passes, so that the others fail for their mistake alone."""


# ----- phases and objections -----


@pyuvm.test()
class OwnRunPhase(OneProgram):
    """Overrides the run phase and forgets the objection."""

    async def run_phase(self):
        await self.main()


@pyuvm.test()
class NoObjection(OneProgram):
    """The objection does not reach the handler."""

    def raise_objection(self, description="", stacklevel=1):
        """Raise nothing."""

    def drop_objection(self, description=""):
        """Drop nothing."""


@pyuvm.test()
class ObjectionKept(OneProgram):
    """Raises an objection and never drops it."""

    async def main(self):
        self.raise_objection("forgotten")
        await super().main()


@pyuvm.test()
class MisspeltPhase(OneProgram):
    """Its check is never called."""

    def chek_phase(self):
        """Would find everything."""


@pyuvm.test()
class AsyncCheck(OneProgram):
    """Its check is a coroutine that nobody awaits."""

    async def check_phase(self):
        """Would find everything."""


@pyuvm.test()
class NoEnvironment(OneProgram):
    """Builds nothing."""

    def build_phase(self):
        """Forgets super().build_phase()."""


@pyuvm.test()
class NoMain(BaseTest):
    """Has no stimulus."""


# ----- what is logged, played, sampled -----


@pyuvm.test()
class LoggedError(OneProgram):
    """Logs an error and goes on."""

    async def main(self):
        await super().main()
        self.logger.error("the result is wrong")


@pyuvm.test()
class EmptyRun(BaseTest):
    """Plays nothing."""

    async def main(self):
        await Timer(1, "ns")


@pyuvm.test()
class NoInstruction(BaseTest):
    """Plays a program without instructions only."""

    async def main(self):
        await Programs([directed.empty(self.config, 1)]).start(self.env.sequencer)


@pyuvm.test()
class UnsampledGroup(OneProgram):
    """Promises coverage that its program does not reach."""

    covers = ("matmul.row", "host.error")


@pyuvm.test()
class NoCollector(OneProgram):
    """Samples nothing."""

    def build_phase(self):
        override(CoverageSubscriber, ForgetfulCoverage)
        super().build_phase()


@pyuvm.test()
class StateNotMet(OneProgram):
    """Plans a reset in a state that the program never reaches."""

    async def main(self):
        self.bfm.plan(ResetItem(When("host.error")))
        await super().main()


@pyuvm.test()
class PlanWithoutProgram(OneProgram):
    """Plans a reset behind the last program."""

    async def main(self):
        await super().main()
        self.bfm.plan(ResetItem(100))


# ----- items and queues -----


@pyuvm.test()
class LostProgram(OneProgram):
    """Its driver drops all programs."""

    def build_phase(self):
        override(CommandDriver, LossyDriver)
        super().build_phase()


@pyuvm.test()
class ItemNotDone(OneProgram):
    """Its sequence waits for ever."""

    def build_phase(self):
        override(CommandDriver, EndlessDriver)
        super().build_phase()


@pyuvm.test()
class WaitsForNothing(OneProgram):
    """Waits for an event that nobody sets."""

    async def main(self):
        await super().main()
        await Event().wait()


@pyuvm.test()
class ItemLeft(OneProgram):
    """Leaves an item in a sequencer."""

    async def main(self):
        await super().main()
        await self.env.sequencer.seq_q.put(ProgramItem(Program(self.config, [])))
        await self.env.sequencer.seq_q.put(ProgramItem(Program(self.config, [])))
        await self.env.sequencer.seq_q.put(ProgramItem(Program(self.config, [])))


@pyuvm.test()
class SequenceRaises(BaseTest):
    """Its sequence ends with an exception."""

    async def main(self):
        await Impatient("impatient").start(self.env.sequencer)


# ----- the trace on its way -----


@pyuvm.test()
class BlockDropped(BrokenTrace):
    """Cycles are lost on their way."""

    broken = Dropping


@pyuvm.test()
class BlockTwice(BrokenTrace):
    """Cycles come twice."""

    broken = Duplicating


@pyuvm.test()
class BlocksSwapped(BrokenTrace):
    """Cycles come in another order."""

    broken = Swapping


@pyuvm.test()
class EndLost(BrokenTrace):
    """The end of the program is lost."""

    broken = Ending


@pyuvm.test()
class TraceSilent(BrokenTrace):
    """Nothing of the trace arrives."""

    broken = Silent


@pyuvm.test()
class TraceLate(BrokenTrace):
    """The trace is a cycle late."""

    broken = Late


@pyuvm.test()
class DigestLost(BrokenTrace):
    """A digest is lost on both sides."""

    broken = Undigested


# ----- checkers -----


@pyuvm.test()
class ScoreboardBlind(OneProgram):
    """Its scoreboard does not compare."""

    def build_phase(self):
        override(LockstepScoreboard, Blind)
        super().build_phase()


@pyuvm.test()
class ScoreboardLenient(BrokenTrace):
    """Its scoreboard sees a difference and goes on."""

    broken = Late

    def build_phase(self):
        override(LockstepScoreboard, Lenient)
        super().build_phase()


@pyuvm.test()
class AccessMissed(OneProgram):
    """Its register monitor misses a write, so that the mirror is stale."""

    def build_phase(self):
        override(CsrMonitor, Careless)
        super().build_phase()

    async def main(self):
        sequence = CoreSequence("write_and_read")
        sequence.sequencer = self.env.sequencer
        await sequence.access(csr.PROG_LEN.address, 77)
        await sequence.access(csr.PROG_LEN.address)


@pyuvm.test()
class WrongResetValue(OneProgram):
    """Its register model has another reset value than the RTL."""

    async def main(self):
        self.env.registers.CYCLE_LIMIT.limit.set_reset(5)
        self.env.registers.CYCLE_LIMIT.limit.reset()
        sequence = CoreSequence("read")
        sequence.sequencer = self.env.sequencer
        await sequence.access(csr.CYCLE_LIMIT.address)


@pyuvm.test()
class CheckerDeaf(OneProgram):
    """Its register checker checks nothing."""

    def build_phase(self):
        override(RegisterChecker, Deaf)
        super().build_phase()


# ----- between model and RTL -----


@pyuvm.test()
class BeatCorrupted(OneProgram):
    """The RTL reads other data than the model."""

    async def main(self):
        def change(rows, records, unknown):
            if rows is not None:
                beat = np.flatnonzero(rows[:, 0] >> SHIFT["m_axi_rvalid"] & 1)[-1]
                rows[beat, RDATA_WORD] ^= 1

        disturb_exchange(self, change)
        await super().main()


@pyuvm.test()
class RowLost(OneProgram):
    """The RTL misses a row of stimulus: a response of the register bus."""

    async def main(self):
        def change(rows, records, unknown):
            if rows is not None:
                rows[20:-1] = rows[21:].copy()

        disturb_exchange(self, change)
        await super().main()


@pyuvm.test()
class UnknownBit(OneProgram):
    """A bit of the trace is X."""

    async def main(self):
        def change(rows, records, unknown):
            if records is not None:
                unknown.append(Unknown(200, 0, 1))

        disturb_exchange(self, change)
        await super().main()


@pyuvm.test()
class RecordsEnd(OneProgram):
    """The RTL's records end before the model's."""

    async def main(self):
        link = self.bfm._transport
        exchange = link.exchange

        async def short(rows):
            records, unknown = await exchange(rows)
            return (records[:-3] if len(rows) > 10 else records), unknown

        link.exchange = short
        await super().main()
