# SPDX-License-Identifier: Apache-2.0
"""Virtual sequences: the base with one call per agent, random programs, directed programs, and a mix of everything."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from pyuvm import uvm_reg_block, uvm_sequence

from beatmatch.config import Config
from beatmatch.memory import MemoryTiming
from beatmatch.program import Program
from tb.lockstep import random_programs
from tb.lockstep.dials import PLAIN, Dials
from tb.lockstep.streams import derive, stream
from tb.uvm import directed
from tb.uvm.bfm import BenchError
from tb.uvm.items import MemoryItem, ProgramItem, RegisterItem, ResetItem, When

SHOWS = {"vector.sp_read": directed.vector_passes, "weight_port.ar": directed.gemv}
"""Programs that show what `directed.weights_from_scratchpad` does not."""


class CoreSequence(uvm_sequence):
    """A virtual sequence: start it on ``env.sequencer`` and write `body` with the calls below."""

    @property
    def config(self) -> Config:
        """Configuration of the core."""
        return self.sequencer.cdb_get("JOB").configuration()

    @property
    def registers(self) -> uvm_reg_block:
        """The register model; its accesses go through the CSR agent, while no program runs."""
        return self.sequencer.registers

    async def run(self, program: Program) -> ProgramItem:
        """Play a program on model and RTL; returns when the host has read its results."""
        item = await _send(self.sequencer.command, ProgramItem(program))
        if not item.cycles:
            raise BenchError(f"{item} was never played, though its driver says that it is done.")
        return item

    async def memory(self, timing: MemoryTiming | None, weights: MemoryTiming | None = None) -> None:
        """Change the memories of the programs to come; None is each program's own."""
        await _send(self.sequencer.memory, MemoryItem(timing, weights))

    async def reset(self, when: When | int, **options) -> None:
        """Plan a reset in the next program; options as `ResetItem`."""
        await _send(self.sequencer.reset, ResetItem(when, **options))

    async def access(self, address: int, data: int | None = None, when: When | int | None = None) -> RegisterItem:
        """Write (with data) or read 32 bits at an address: now, or with `when` during the next program."""
        return await _send(self.sequencer.csr, RegisterItem(address, data, when=when))


async def _send(sequencer, item):
    """Hand an item to an agent, and wait until it is done."""
    await sequencer.start_item(item)
    await sequencer.finish_item(item)
    return item


class Programs(CoreSequence):
    """Given programs, one after the other."""

    def __init__(self, programs: Iterable[Program], name: str = "programs") -> None:
        super().__init__(name)
        self.programs = programs

    async def body(self) -> None:
        """Play them."""
        for program in self.programs:
            await self.run(program)


class RandomPrograms(CoreSequence):
    """Constrained-random programs, by weights that can be dialled."""

    def __init__(self, seed: int, count: int, dials: Dials = PLAIN, name: str = "random_programs") -> None:
        super().__init__(name)
        self.seed, self.count, self.dials = seed, count, dials

    async def body(self) -> None:
        """Program `i` depends on seed, `i`, dials and configuration only."""
        for index in range(self.count):
            await self.run(random_programs.generate(derive(self.seed, index), self.config, self.dials))


class ResetInStates(CoreSequence):
    """A reset of random length right behind an event of each of the given slots, then the program again."""

    def __init__(self, seed: int, slots: Iterable[str], name: str = "reset_in_states") -> None:
        super().__init__(name)
        self.seed, self.slots = seed, slots

    async def body(self) -> None:
        """One run per state."""
        for slot in self.slots:
            rng = stream(self.seed, slot)
            make = SHOWS.get(slot, directed.weights_from_scratchpad)
            await self.reset(
                When(slot, delay=rng.randint(0, 2)), length=rng.randint(1, 3), start_after=rng.randint(0, 9)
            )
            await self.run(make(self.config, rng.getrandbits(31)))


class Memories(CoreSequence):
    """The same program with given memories: timings, or functions of the program that make one."""

    def __init__(
        self,
        program: Program,
        timings: Iterable[MemoryTiming | Callable[[Program], MemoryTiming]],
        name: str = "memories",
    ) -> None:
        super().__init__(name)
        self.program, self.timings = program, timings

    async def body(self) -> None:
        """One run per memory; afterwards every program has its own again."""
        for timing in self.timings:
            await self.memory(timing(self.program) if callable(timing) else timing)
            await self.run(self.program)
        await self.memory(None)


class Mix(CoreSequence):
    """Everything in random order: random and directed programs, other memories, resets, register accesses."""

    def __init__(self, seed: int, count: int, dials: Dials = PLAIN, name: str = "mix") -> None:
        super().__init__(name)
        self.seed, self.count, self.dials = seed, count, dials

    async def body(self) -> None:
        """Each round draws what surrounds its program."""
        for index in range(self.count):
            rng = stream(self.seed, index)
            own = rng.random() < 0.5
            timing = None if own else random_programs.memory_timing(rng, self.config, self.dials)
            await self.memory(timing, self._weights(stream(self.seed, index, "weights")))
            if rng.random() < 0.3:
                await self.reset(rng.randint(100, 900), length=rng.randint(1, 4), start_after=rng.randint(0, 20))
            if rng.random() < 0.3:
                await self.access(4 * rng.randint(0, 1023), rng.getrandbits(32), when=rng.randint(100, 600))
            if rng.random() < 0.3:
                await self.access(4 * rng.randint(0, 1023))
            if rng.random() < 0.4:
                await self.run(rng.choice(directed.PLAIN)(self.config, rng.getrandbits(31)))
            else:
                await self.run(random_programs.generate(derive(self.seed, index), self.config, self.dials))
        await self.memory(None)

    def _weights(self, rng: random.Random) -> MemoryTiming | None:
        """A memory behind the weight port, or each program's own; there may be no such port."""
        if not self.config.weight_port or rng.random() < 0.5:
            return None
        return random_programs.memory_timing(rng, self.config, self.dials)
