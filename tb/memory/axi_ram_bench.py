# SPDX-License-Identifier: Apache-2.0
"""Load, store and the port against cocotbext-axi's AxiRam: an AXI4 memory that shares no line with the model.

Only values are compared, with plain copies: AxiRam has its own timing. It also checks the protocol (4 KiB, WLAST,
widths) with its own assertions.
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
from tb.axi import axi_memory, hold_back
from tb.memory.transfers import expected, random_scenario

PERIOD = 10
LIMIT = 100_000
SIZE = 2**62
"""AxiRam can't have 2^64 bytes; the scenarios' addresses stay apart modulo this."""
INPUTS = (
    "rst_n engine_rst_n halt base size load_instr_valid load_instr load_seq load_grant load_wgrant store_instr_valid "
    "store_instr store_seq store_grant store_rgrant store_rdata fetch_ar fetch_r_ready weights_ar weights_r_ready"
)
"""All inputs but the clock and the memory's."""


def start(dut) -> None:
    """Clock, and every input of the core at 0."""
    cocotb.start_soon(Clock(dut.clk_i, PERIOD, unit="ns").start())
    for name in INPUTS.split():
        getattr(dut, f"{name}i" if name.endswith("rst_n") else f"{name}_i").value = 0


@cocotb.test()
async def values(dut) -> None:
    """Clean random programs end with the memory, scratchpad and parameters that plain copies give."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    rng = random.Random(int(os.environ["COCOTB_RANDOM_SEED"]))
    lanes = config.lanes
    start(dut)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    # From here on nothing is X any more; AxiRam would not take it.
    ram = axi_memory(dut, SIZE)
    hold_back(ram, rng, rng.choice([0, 40, 80]))
    dut.rst_ni.value = dut.engine_rst_ni.value = 1
    moved = 0
    for _ in range(int(os.environ.get("SCENARIOS", 5))):
        scenario = random_scenario(rng, config, clean=True)
        for number, page in scenario.image.pages.items():
            ram.write(number * len(page) % SIZE, bytes(page))
        dut.base_i.value = sum(value << 64 * index for index, value in enumerate(scenario.bases))
        dut.size_i.value = sum(value << 64 * index for index, value in enumerate(scenario.sizes))
        memories = [scenario.scratchpad.copy(), scenario.parameters.copy()]
        queues = (list(scenario.loads), list(scenario.stores))
        popped = [False, False]
        read = None
        for _cycle in range(LIMIT):
            await FallingEdge(dut.clk_i)
            for which, name in enumerate(("load", "store")):
                if popped[which]:
                    queues[which].pop(0)
                getattr(dut, f"{name}_instr_valid_i").value = bool(queues[which])
                getattr(dut, f"{name}_instr_i").value = queues[which][0].word() if queues[which] else 0
            dut.store_rdata_i.value = rng.getrandbits(8 * lanes) if read is None else read
            await Timer(1, unit="ns")
            control, channels = int(dut.control_o.value), int(dut.channels_o.value)
            for which, name in enumerate(("load", "store")):
                part = control >> 80 * which
                assert not part >> 32 & 1, f"{name} raises error {part >> 33 & 255}"
                granted = bool(part & 1) and rng.randrange(100) < scenario.grant
                getattr(dut, f"{name}_grant_i").value = granted
                popped[which] = granted and bool(part >> 1 & 1)
            busy = control >> 57 & 1 or control >> 137 & 1
            write, to_parameters = channels >> 74 & 1, channels >> 73 & 1
            granted = write and rng.randrange(100) < scenario.access
            dut.load_wgrant_i.value = granted
            if granted or to_parameters:
                word = int(dut.write_o.value)
                place = channels & 0xFFFFF if write else channels >> 24 & 0xFFFFF
                target = memories[0 if write else 1][place]
                for lane in range(lanes):
                    if word >> 8 * lanes + lane & 1:
                        target[lane] = word >> 8 * lane & 255
                        moved += 1
            granted = channels >> 72 & 1 and rng.randrange(100) < scenario.access
            dut.store_rgrant_i.value = granted
            read = int.from_bytes(memories[0][channels >> 48 & 0xFFFFF].tobytes(), "little") if granted else None
            if not busy and not queues[0] and not queues[1]:
                break
        else:
            raise AssertionError(f"not done after {LIMIT} cycles")
        image, scratchpad, parameters = expected(config, scenario)
        assert np.array_equal(memories[0], scratchpad), "scratchpad differs"
        assert np.array_equal(memories[1], parameters), "parameters differ"
        for number, page in image.pages.items():
            found = bytes(ram.read(number * len(page) % SIZE, len(page)))
            assert found == bytes(page), f"memory page {number:#x} differs"
    assert moved > 0
