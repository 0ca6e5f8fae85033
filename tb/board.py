# SPDX-License-Identifier: Apache-2.0
"""A core on the bench: a memory on one side and a host on the other, both from cocotbext-axi."""

from __future__ import annotations

import random
from dataclasses import dataclass

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.simtime import get_sim_time
from cocotb.triggers import FallingEdge

from beatmatch import csr
from beatmatch.isa.fields import Engine, Error
from beatmatch.memory import MemoryImage
from beatmatch.program import Program
from tb.axi import AXI_IN, AXI_READ_IN, AXIL_IN, axi_memory, axi_weight_memory, axil_master, hold_back

PERIOD_NS = 10
MEMORY_BYTES = 1 << 18
PATIENCE = 50_000
"""Clock cycles after which a run counts as hung."""
COUNTERS = (
    csr.CYCLES, csr.ACTIVE, csr.WEIGHT_SHIFT, csr.WEIGHT_STALL, csr.NON_MATRIX, csr.RAW_STALL, csr.INPUT_STALL,
    csr.USEFUL_MACS,
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What the registers say after a run.

    Attributes
    ----------
    status : dict of str to int
        Fields of STATUS.
    error, engine, seq : Error, Engine, int
    counters : dict of str to int
        Cycles by category and useful MACs, by register name.
    waited : int
        Clock cycles that the host saw pass from before its start to after done.
    """

    status: dict[str, int]
    error: Error
    engine: Engine
    seq: int
    counters: dict[str, int]
    waited: int


class Board:
    """`bm_core` with a memory of MEMORY_BYTES bytes, behind both ports if ``weight_port`` says that there are two.

    Attributes
    ----------
    memory : bytearray
        What the memory holds; read and write it freely between runs.
    """

    def __init__(self, dut, weight_port: int = 0) -> None:
        self.dut = dut
        self._weight_port = weight_port
        self.memory = bytearray(MEMORY_BYTES)

    async def power_up(self) -> None:
        """Start the clock, reset the core, connect memory and host."""
        dut = self.dut
        cocotb.start_soon(Clock(dut.clk_i, PERIOD_NS, "ns").start())
        dut.rst_ni.value = 0
        for prefix, names in (("m_axi", AXI_IN), ("m_axi_weights", AXI_READ_IN), ("s_axil", AXIL_IN)):
            for name in names.split():
                getattr(dut, f"{prefix}_{name}_i").value = 0
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        self._models = [axi_memory(dut, MEMORY_BYTES, self.memory), axil_master(dut)]
        self._host = self._models[-1]
        if self._weight_port:
            self._models.append(axi_weight_memory(dut, MEMORY_BYTES, self.memory))
        dut.rst_ni.value = 1
        await FallingEdge(dut.clk_i)

    def hold_back(self, rng: random.Random, percent: int) -> None:
        """Let memories and host pause every channel in ``percent`` of the cycles from now on."""
        for model in self._models:
            hold_back(model, rng, percent)

    async def write(self, register: csr.Register, value: int, index: int = 0) -> None:
        """Write a register; those of 64 bits take two bus writes."""
        data = value.to_bytes(register.bits // 8, "little")
        response = await self._host.write(register.address + register.stride * index, data)
        assert int(response.resp) == 0, f"writing {register.name}: {response.resp!r}"

    async def read(self, register: csr.Register, index: int = 0) -> int:
        """Read a register."""
        response = await self._host.read(register.address + register.stride * index, register.bits // 8)
        assert int(response.resp) == 0, f"reading {register.name}: {response.resp!r}"
        return int.from_bytes(response.data, "little")

    async def reads(self, address: int) -> int:
        """The response code to a read of any address."""
        return int((await self._host.read(address, 4)).resp)

    def load(self, program: Program) -> None:
        """Put a program and its data into memory; the rest keeps what it held."""
        parts = [(segment.address, segment.data) for segment in program.segments]
        for address, data in (*parts, (program.address, program.image_bytes())):
            assert address + len(data) <= MEMORY_BYTES, "the program is too large for the board's memory"
            self.memory[address : address + len(data)] = data

    def result(self, program: Program, name: str) -> np.ndarray:
        """One of a program's named results, as it stands in memory."""
        image = MemoryImage()
        image.write(0, self.memory)
        return program.results[name].read(image)

    async def start(self, program: Program) -> None:
        """Tell the core where the program and its data are, and start it."""
        for index, base in enumerate(program.bases):
            await self.write(csr.BASE, base.address, index)
            await self.write(csr.SIZE, base.size, index)
        await self.write(csr.PROG_ADDR, program.address)
        await self.write(csr.PROG_LEN, len(program.instructions))
        await self.write(csr.CYCLE_LIMIT, program.cycle_limit)
        await self.write(csr.CTRL, csr.CTRL.pack(start=1))

    async def done(self) -> dict[str, int]:
        """Poll until the core is done; returns the fields of STATUS."""
        end = _now() + PATIENCE
        while not (status := csr.STATUS.unpack(await self.read(csr.STATUS)))["done"]:
            assert _now() < end, f"not done after {PATIENCE} cycles"
        return status

    async def run(self, program: Program) -> Outcome:
        """Start a loaded program, wait for its end, and read all registers that tell about it."""
        begun = _now()
        await self.start(program)
        status = await self.done()
        waited = _now() - begun
        error = csr.ERROR.unpack(await self.read(csr.ERROR))
        seq = await self.read(csr.ERROR_SEQ)
        counters = {register.name: await self.read(register) for register in COUNTERS}
        return Outcome(status, Error(error["code"]), Engine(error["engine"]), seq, counters, waited)


def _now() -> int:
    """Clock cycles since the simulation began."""
    return round(get_sim_time("ns") / PERIOD_NS)
