# SPDX-License-Identifier: Apache-2.0
"""Virtual sequences: the base with one call per agent, random programs, and mixes."""

from __future__ import annotations

from collections.abc import Iterable

from pyuvm import uvm_sequence

from beatmatch.config import Config
from beatmatch.memory import MemoryTiming
from beatmatch.program import Program
from tb.lockstep import random_programs
from tb.lockstep.dials import PLAIN, Dials
from tb.lockstep.streams import derive
from tb.uvm.items import MemoryItem, ProgramItem, RegisterItem, ResetItem, When


class CoreSequence(uvm_sequence):
    """A virtual sequence: start it on ``env.sequencer`` and write `body` with the calls below."""

    @property
    def config(self) -> Config:
        """Configuration of the core."""
        return self.sequencer.cdb_get("JOB").configuration()

    @property
    def registers(self):
        """The register model."""
        return self.sequencer.registers

    async def _send(self, sequencer, item) -> None:
        await sequencer.start_item(item)
        await sequencer.finish_item(item)

    async def run(self, program: Program) -> ProgramItem:
        """Play a program on model and RTL; returns when the host has read its results."""
        item = ProgramItem(program)
        await self._send(self.sequencer.command, item)
        return item

    async def memory(self, timing: MemoryTiming | None) -> None:
        """Change the memory of the programs to come; None is each program's own."""
        await self._send(self.sequencer.memory, MemoryItem(timing))

    async def reset(self, when: When | int, **options) -> None:
        """Plan a reset in the next program; options as `ResetItem`."""
        await self._send(self.sequencer.reset, ResetItem(when, **options))

    async def access(
        self, address: int, data: int | None = None, when: When | int | None = None
    ) -> RegisterItem:  # fmt: skip
        """Write (with data) or read a register by its address: now, or with `when` during the next program."""
        item = RegisterItem(address, data, when=when)
        await self._send(self.sequencer.csr, item)
        return item


class RandomPrograms(CoreSequence):
    """Constrained-random programs, by weights that can be dialled."""

    def __init__(self, seed: int, count: int, dials: Dials = PLAIN, name: str = "random_programs") -> None:
        super().__init__(name)
        self.seed, self.count, self.dials = seed, count, dials

    async def body(self) -> None:
        """Program `i` depends on seed, `i`, dials and configuration only."""
        for index in range(self.count):
            await self.run(random_programs.generate(derive(self.seed, index), self.config, self.dials))


class Programs(CoreSequence):
    """Given programs, one after the other."""

    def __init__(self, programs: Iterable[Program], name: str = "programs") -> None:
        super().__init__(name)
        self.programs = programs

    async def body(self) -> None:
        """Play them."""
        for program in self.programs:
            await self.run(program)
