# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of counter.sv, run by test_sim_api.py."""

import ctypes
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge


async def _start(dut):
    """Clock and reset; returns at a falling edge, the first cycle after reset is yet to come."""
    dut.enable_i.value = 0
    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await ClockCycles(dut.clk_i, 2, rising=False)
    dut.rst_ni.value = 1


@cocotb.test()
async def counts(dut):
    """Enabled at random, it counts what the model counts."""
    limit, expected = int(os.environ["LIMIT"]), 0
    await _start(dut)
    for _ in range(200):
        enable = random.getrandbits(1)
        dut.enable_i.value = enable
        await FallingEdge(dut.clk_i)
        expected = (expected + enable) % limit
        assert int(dut.count_o.value) == expected


@cocotb.test(skip=os.environ.get("EXPECT") != "failure")
async def fails(dut):
    """A planted fault: it is off by one."""
    await _start(dut)
    assert int(dut.count_o.value) == 1, "planted fault"


@cocotb.test(skip=os.environ.get("EXPECT") != "dpi")
async def shares_memory_with_c(dut):
    """The C array that the DPI function fills is the one that ctypes sees."""
    await _start(dut)
    library = ctypes.CDLL(None)
    length = ctypes.c_int32.in_dll(library, "counter_length")
    log = (ctypes.c_int32 * 1024).in_dll(library, "counter_log")
    dut.enable_i.value = 1
    before = length.value
    await ClockCycles(dut.clk_i, 20, rising=False)
    assert length.value - before == 20
    assert list(log[before : before + 20]) == [n % int(os.environ["LIMIT"]) for n in range(20)]
