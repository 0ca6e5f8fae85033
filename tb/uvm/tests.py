# SPDX-License-Identifier: Apache-2.0
"""The tests that come with the environment; `docs/verification.md` shows how to write another one."""

from __future__ import annotations

import pyuvm

from beatmatch.memory import DECERR, SLVERR, ErrorRange, MemoryTiming
from beatmatch.program import Program
from beatmatch.trace import STATIONS, stations
from tb.lockstep.dials import Dials
from tb.uvm import directed
from tb.uvm import register_sequences as registers
from tb.uvm.base_test import BaseTest
from tb.uvm.sequences import Memories, Mix, Programs, RandomPrograms, ResetInStates

STATES = tuple(
    f"{station}.{slot.name}"
    for station, slots in STATIONS.items()
    for slot in slots
    if slot.kind == "event" and station != "host"
)
"""Every kind of event that a program without mistakes shows on one configuration or another: a reset may come there."""


@pyuvm.test()
class RandomTest(BaseTest):
    """Random programs with the weights of every campaign."""

    programs = 12
    covers = ("frontend.fetch", "load.write", "matmul.row")

    async def main(self):
        await RandomPrograms(self.seed("plain"), 1, Dials(errors=0)).start(self.env.sequencer)
        await RandomPrograms(self.seed(), self.count - 1).start(self.env.sequencer)


@pyuvm.test()
class HesitantMemoryTest(BaseTest):
    """Random programs without mistakes on memories that stall on all channels nearly all the time."""

    covers = ("port.ar", "load.write")

    async def main(self):
        dials = Dials(hesitant=1, most_stall=240, errors=0, parts=(3, 8), slow_parts=(2, 4))
        await RandomPrograms(self.seed(), self.count, dials).start(self.env.sequencer)


@pyuvm.test()
class MistakesTest(BaseTest):
    """Every kind of mistake that a program can hold, each with a restart behind it."""

    programs = 16
    covers = ("host.error",)

    async def main(self):
        mistakes = list(directed.mistakes(self.config, self.seed()))
        await Programs(mistakes[: self.count]).start(self.env.sequencer)


@pyuvm.test()
class DirectedTest(BaseTest):
    """Products, weights from the scratchpad, vector passes, an empty program, starts at the wrong time."""

    programs = len(directed.PLAIN)
    covers = ("weights.sp_read", "vector.param_read", "accumulator.write", "store.retire")

    async def main(self):
        programs = [make(self.config, self.seed(make.__name__)) for make in directed.PLAIN]
        await Programs(programs).start(self.env.sequencer)


@pyuvm.test()
class ResetTest(BaseTest):
    """A reset in every state, then the whole program again."""

    programs = len(STATES)

    async def main(self):
        here = [state for state in STATES if state.split(".")[0] in stations(self.config)]
        await ResetInStates(self.seed(), here[: self.count]).start(self.env.sequencer)


@pyuvm.test()
class MemoryTest(BaseTest):
    """One product on extreme memories: errors, hesitant on one channel, fast, slow, narrow, shared, one burst."""

    programs = 13
    covers = ("port.ar", "host.error")

    def timings(self):
        """Memories; those with errors depend on where the program keeps its data."""
        beat = self.config.mem_bytes
        yield lambda program: MemoryTiming(3, 3, errors=(_window(program, 0, SLVERR, reads=True),))
        yield lambda program: MemoryTiming(3, 3, errors=(_window(program, 1, DECERR, reads=False),))
        for channel in range(5):
            stalls = tuple(220 if index == channel else 0 for index in range(5))
            yield MemoryTiming(5, 5, stalls=stalls, seed=self.seed("stalls", channel))
        yield MemoryTiming(1, 1)
        yield MemoryTiming(200, 200)
        yield MemoryTiming(9, 9, read_bandwidth=(beat, 4), write_bandwidth=(beat, 5))
        yield MemoryTiming(9, 9, read_bandwidth=(2 * beat, 3), shared=True)
        yield MemoryTiming(9, 9, max_reads=1, max_writes=1)
        yield MemoryTiming(2, 2, stalls=(200,) * 5, seed=self.seed("stalls"))

    async def main(self):
        program = directed.weights_from_scratchpad(self.config, self.seed())
        await Memories(program, list(self.timings())[: self.count]).start(self.env.sequencer)


def _window(program: Program, index: int, response: int, reads: bool) -> ErrorRange:
    """The window of a base register answers errors."""
    base = [base for base in program.bases if base.size][index]
    return ErrorRange(base.address, base.address + base.size - 1, response, reads, not reads)


@pyuvm.test()
class RegisterTest(BaseTest):
    """Reset values, access rights, addresses without a register, the start bit."""

    instructions = False

    async def main(self):
        sequences = (
            registers.ResetValues("reset_values"),
            registers.AccessRights(self.seed()),
            registers.Holes("holes"),
        )
        for sequence in sequences:
            await sequence.start(self.env.sequencer)
        await self.bfm.close()  # a new reset
        await registers.StartBit("start_bit").start(self.env.sequencer)


@pyuvm.test()
class BusyRegisterTest(BaseTest):
    """Writes while the core works change nothing, reads see what it does."""

    async def main(self):
        await registers.BusyWrites(self.seed()).start(self.env.sequencer)


@pyuvm.test()
class MixTest(BaseTest):
    """Everything in random order."""

    programs = 12

    async def main(self):
        await Mix(self.seed(), self.count).start(self.env.sequencer)
        await Programs([directed.gemv(self.config, self.seed("last"))]).start(self.env.sequencer)
