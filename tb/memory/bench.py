# SPDX-License-Identifier: Apache-2.0
"""cocotb bench of load, store and the memory port: every output and trace word, every cycle, against the model.

The configuration comes as JSON in CONFIG, the number of scenarios in SCENARIOS, the seed from the runner.
"""

from __future__ import annotations

import json
import os
import random

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

from beatmatch.config import Config
from tb.memory.machine import Machine
from tb.memory.transfers import expected, random_scenario

PERIOD = 10
COMPARED = ("trace_o", "control_o", "channels_o", "write_o")
MANY = 100
"""Scenarios from which on everything in ERRORS or SIGNALS must have happened."""
SIGNALS = ("load signal", "store signal")
ERRORS = [
    f"{engine} {what}"
    for engine in ("load", "store")
    for what in ("LOCAL_RANGE", "UNALIGNED", "WINDOW", "BUS_SLVERR", "BUS_DECERR", "finishes while halted")
]
ERRORS += ["W beat while halted", "load bus error while halted"]
LIMIT = 60_000
"""Cycles after which a scenario counts as hung."""


class Bench:
    """Drives the RTL with what the model's machine decides, and compares."""

    def __init__(self, dut, config: Config, seed: int) -> None:
        self.dut = dut
        self.machine = Machine(config, seed)
        self.handles: dict = {}
        self.driven: dict[str, int] = {}
        self.cycle = 0
        self.compared = 0

    def drive(self, name: str, value: int) -> None:
        """Drive an input, if its value changes."""
        value = int(value)
        if self.driven.get(name) != value:
            self.driven[name] = value
            handle = self.handles.get(name)
            if handle is None:
                handle = self.handles[name] = getattr(self.dut, name)
            handle.value = value

    async def start(self) -> None:
        """Clock and reset."""
        cocotb.start_soon(Clock(self.dut.clk_i, PERIOD, unit="ns").start())
        for name in ("rst_ni", "engine_rst_ni"):
            self.drive(name, 0)
        for _ in range(3):
            await FallingEdge(self.dut.clk_i)
        self.first = True

    def inputs(self, reset: bool, clear: bool) -> None:
        """Drive all inputs of this cycle."""
        machine, drive = self.machine, self.drive
        drive("rst_ni", not reset)
        drive("engine_rst_ni", not (reset or clear))
        drive("halt_i", machine.halt)
        for which, name in ((0, "load"), (1, "store")):
            head = machine.head(which)
            drive(f"{name}_instr_valid_i", head is not None)
            if head is not None:
                drive(f"{name}_instr_i", head[1].word())
                drive(f"{name}_seq_i", head[0])
            drive(f"{name}_grant_i", machine.grants[which])
        drive("load_wgrant_i", machine.wgrant)
        drive("store_rgrant_i", machine.rgrant)
        drive("store_rdata_i", int.from_bytes(machine.rdata, "little"))
        for name in ("fetch", "weights"):
            requester = getattr(machine, name)
            drive(f"{name}_ar_i", requester.word())
            drive(f"{name}_r_ready_i", requester.ready)
        mem = machine.mem
        for name in ("arready", "rvalid", "rid", "rresp", "rlast", "awready", "wready", "bvalid", "bresp"):
            drive(f"m_axi_{name}_i", getattr(mem, name))
        drive("m_axi_rdata_i", int.from_bytes(mem.rdata, "little"))

    async def step(self, reset: bool = False, clear: bool = False) -> None:
        """One cycle: decide, drive, compare, end."""
        if not self.first:
            await FallingEdge(self.dut.clk_i)
        self.first = False
        machine = self.machine
        machine.arbitrate()
        self.inputs(reset, clear)
        want = machine.step()
        await Timer(PERIOD // 5, unit="ns")
        for name in COMPARED:
            handle = self.handles.get(name)
            if handle is None:
                handle = self.handles[name] = getattr(self.dut, name)
            value = handle.value
            try:
                got = int(value)
            except ValueError:
                raise AssertionError(f"cycle {self.cycle}: {name} has unknown bits: {value}") from None
            if name == "control_o":
                got = self.mask_control(got)
            if got != want[name]:
                self.report(name, got, want[name])
        self.compared += 1
        machine.commit(reset, clear)
        self.cycle += 1

    @staticmethod
    def mask_control(value: int) -> int:
        """Control outputs, those that mean nothing in this cycle cleared."""
        result = 0
        for shift in (0, 80):
            part = value >> shift & (1 << 80) - 1
            if not part & 1:
                part &= ~(((1 << 19) - 1) << 1)
            if not part >> 59 & 1:
                part &= ~(0xFFFF << 60)
            result |= part << shift
        return result

    def report(self, name: str, got: int, want: int) -> None:
        """Raise an AssertionError that names what differs."""
        difference = got ^ want
        text = f"cycle {self.cycle}: {name} differs"
        if name == "trace_o":
            layout = self.machine.trace.layout
            offset = 0
            for station in ("load", "store", "port"):
                for slot in layout.slots:
                    if slot.station != station:
                        continue
                    mask = (1 << 32 * slot.words) - 1
                    here, there = got >> 32 * offset & mask, want >> 32 * offset & mask
                    if here != there:
                        text += f"\n  {station}.{slot.slot.name}: rtl {here:#x}, model {there:#x}"
                    offset += slot.words
        else:
            text += f": rtl {got:#x}, model {want:#x}, bits {difference:#x}"
        raise AssertionError(text)

    async def scenario(self, rng: random.Random, config: Config, kind: str) -> None:
        """Run one scenario to its end: until all is done, or halted and nothing pending."""
        machine = self.machine
        scenario = random_scenario(rng, config, clean=kind == "clean")
        machine.start(scenario)
        for index in range(16):
            machine.bases[index], machine.sizes[index] = scenario.bases[index], scenario.sizes[index]
        self.drive("base_i", sum(value << 64 * index for index, value in enumerate(scenario.bases)))
        self.drive("size_i", sum(value << 64 * index for index, value in enumerate(scenario.sizes)))
        stop = self.cycle + (rng.randint(1, 400) if kind in ("halt", "reset") else LIMIT)
        end = self.cycle + LIMIT
        while not machine.idle():
            assert self.cycle < end, "the scenario does not end"
            if self.cycle == stop:
                if kind == "reset":
                    await self.step(reset=True)
                    break
                machine.halt = True
            await self.step()
            if machine.halt and not (machine.load.pending() or machine.store.pending()):
                for _ in range(rng.randint(0, 4)):
                    await self.step()
                break
        else:
            if kind == "clean":
                self.check(config, scenario)
        while machine.fetch.open or machine.weights.open or machine.fetch.valid or machine.weights.valid:
            scenario.traffic = 0
            await self.step()
        await self.step(clear=True)

    def check(self, config: Config, scenario) -> None:
        """Compare the values at the end with plain copies."""
        machine = self.machine
        image, scratchpad, parameters = expected(config, scenario)
        assert not machine.error
        assert machine.image == image, f"memory differs: {machine.image.differences(image)}"
        for name, have, want in (
            ("scratchpad", machine.scratchpad, scratchpad),
            ("parameters", machine.parameters, parameters),
        ):
            have = np.frombuffer(b"".join(have), np.uint8).reshape(want.shape)
            assert np.array_equal(have, want), f"{name} differs in words {np.flatnonzero((have != want).any(1))[:8]}"


async def run(dut, kinds: tuple[str, ...]) -> None:
    """Random scenarios of the given kinds, one after the other."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    seed = int(os.environ["COCOTB_RANDOM_SEED"])
    count = int(os.environ.get("SCENARIOS", 20)) * (2 if "error" in kinds else 1)
    rng = random.Random(f"{seed} {kinds}")
    bench = Bench(dut, config, rng.getrandbits(32))
    await bench.start()
    for _ in range(count):
        await bench.scenario(rng, config, rng.choice(kinds))
    seen = bench.machine.seen
    dut._log.info("%d cycles compared, seed %d, seen %s", bench.compared, seed, dict(sorted(seen.items())))
    assert bench.compared > 10 * count
    if count >= MANY:
        missing = [name for name in (ERRORS if "error" in kinds else SIGNALS) if not seen[name]]
        assert not missing, f"never happened in {count} scenarios: {missing}"


@cocotb.test()
async def clean(dut) -> None:
    """Programs without errors: lockstep, and values against plain copies."""
    await run(dut, ("clean",))


@cocotb.test()
async def errors_halts_and_resets(dut) -> None:
    """Address errors, bus errors, halts from elsewhere and resets, at any time."""
    await run(dut, ("error", "halt", "reset"))
