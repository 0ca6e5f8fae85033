# SPDX-License-Identifier: Apache-2.0
"""Register sequences: the checker compares every answer with the declaration, so that they only have to ask."""

from __future__ import annotations

from beatmatch.isa.fields import Error
from tb.lockstep.streams import stream
from tb.uvm import directed
from tb.uvm.items import When
from tb.uvm.registers import RegisterError
from tb.uvm.sequences import CoreSequence

SPACE = 1 << 12
"""Bytes that the register bus can address."""


class ResetValues(CoreSequence):
    """Read every word of every register right after a reset."""

    async def body(self) -> None:
        """Through the register model: 64-bit registers are two reads."""
        for register in self.registers.get_registers():
            await register.read()


class AccessRights(CoreSequence):
    """Write every register, and read it back: what may be written holds, what may not does not change."""

    def __init__(self, seed: int, name: str = "access_rights") -> None:
        super().__init__(name)
        self.seed = seed

    async def body(self) -> None:
        """A random value, then its complement, so that every bit was both."""
        for register in self.registers.get_registers():
            if register.get_name() == "CTRL":
                continue  # a 1 starts the core: see StartBit
            bits = register.get_n_bits()
            value = stream(self.seed, register.get_name()).getrandbits(bits)
            for data in (value, ~value & (1 << bits) - 1):
                for half in range(bits // 32):
                    await self.access(register.get_address() + 4 * half, data >> 32 * half & 0xFFFFFFFF)
                _, seen = await register.read()
                if register.get_rights() == "RW" and seen != data:
                    raise RegisterError(f"{register.get_name()} was written 0x{data:x} and reads as 0x{seen:x}.")


class Holes(CoreSequence):
    """Read and write addresses without a register, and the words around every hole."""

    async def body(self) -> None:
        """The checker wants SLVERR where there is no register."""
        known = {
            register.get_address() + 4 * half
            for register in self.registers.get_registers()
            for half in range(register.get_n_bits() // 32)
        }
        edges = {word + step for word in known for step in (-4, 4)} | {SPACE - 4, 0x400, 0x7FC}
        for address in sorted(edges - known):
            if 0 <= address < SPACE:
                await self.access(address, 0xFFFFFFFF)
                await self.access(address)
        await self.access(sorted(known)[0] + 3)  # the two low bits of an address mean nothing


class StartBit(CoreSequence):
    """CTRL: a 0 starts nothing, it reads as 0, and a 1 starts the empty program that the registers describe."""

    async def body(self) -> None:
        """An empty program ends with an error at once, which STATUS and ERROR then show."""
        control, status, error = (getattr(self.registers, name) for name in ("CTRL", "STATUS", "ERROR"))
        await self._see(status, 0)
        await control.write(0)
        await control.read()
        await self._see(status, 0)
        await control.write(1)
        await control.read()
        await self._see(status, 0b110)
        await self._see(error, int(Error.PROGRAM))

    async def _see(self, register, wanted: int) -> None:
        _, seen = await register.read()
        if seen != wanted:
            raise RegisterError(f"{register.get_name()} must be 0x{wanted:x} here, and reads as 0x{seen:x}.")


class BusyWrites(CoreSequence):
    """Write all registers while a program runs, which must change nothing; read them while it runs and afterwards."""

    def __init__(self, seed: int, name: str = "busy_writes") -> None:
        super().__init__(name)
        self.seed = seed

    async def body(self) -> None:
        """The writes begin with the first row in the array; the program takes longer than they do."""
        names = ("PROG_LEN", "PROG_ADDR", "CYCLE_LIMIT", "ID", "STATUS", "CYCLES")
        places = [getattr(self.registers, name).get_address() for name in names]
        places += [self.registers.BASE[0].get_address(), self.registers.SIZE[15].get_address()]
        for address in places:
            await self.access(address, 0xA5A5A5A5, when=When("matmul.row"))
            await self.access(address, when=When("matmul.row", delay=1))
        await self.run(directed.double_buffered_gemm(self.config, self.seed))
