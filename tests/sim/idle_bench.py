# SPDX-License-Identifier: Apache-2.0
"""A cocotb test that only lets time pass."""

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def waits(dut):
    await Timer(10, "ns")
