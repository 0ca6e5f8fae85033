# SPDX-License-Identifier: Apache-2.0
"""A first run of the core: multiply two matrices, compare with numpy, print where the cycles went.

    make sim BENCH=tutorial CONFIG=tiny

docs/tutorial.md goes through it line by line.
"""

import json
import os

import cocotb
import numpy as np

from beatmatch import csr
from beatmatch.compiler import compile_gemm
from beatmatch.config import Config
from tb.board import Board

CONFIG = Config(**json.loads(os.environ["CONFIG"]))


@cocotb.test()
async def multiply(dut):
    # 1. Power: a clock, a reset, an AXI memory and an AXI-Lite host (both from cocotbext-axi).
    board = Board(dut)
    await board.power_up()

    # 2. Two matrices of int8. They need not fit the array: the compiler cuts them into tiles.
    random = np.random.default_rng(int(os.environ["COCOTB_RANDOM_SEED"]))
    a = random.integers(-128, 128, (10, 12), dtype=np.int8)
    b = random.integers(-128, 128, (12, 8), dtype=np.int8)

    # 3. A program: instructions of 256 bits, operands, and where the result will be. All of it goes to memory.
    program = compile_gemm(a, b, CONFIG, out="int32")
    board.load(program)

    # 4. The host says which memory the program may touch, where its instructions are, and starts it.
    for index, base in enumerate(program.bases):
        await board.write(csr.BASE, base.address, index)
        await board.write(csr.SIZE, base.size, index)
    await board.write(csr.PROG_ADDR, program.address)
    await board.write(csr.PROG_LEN, len(program.instructions))
    await board.write(csr.CTRL, 1)

    # 5. It polls until the core is done. An illegal program would end here too, with error = 1.
    while not (status := csr.STATUS.unpack(await board.read(csr.STATUS)))["done"]:
        pass
    assert not status["error"], csr.ERROR.unpack(await board.read(csr.ERROR))

    # 6. The result is in memory. numpy must agree in every element.
    c = board.result(program, "out")
    assert np.array_equal(c, a.astype(np.int32) @ b)

    # 7. The core counts its own cycles. The array could do rows x cols multiplications in each.
    cycles = await board.read(csr.CYCLES)
    active = await board.read(csr.ACTIVE)
    macs = await board.read(csr.USEFUL_MACS)
    best = a.shape[0] * a.shape[1] * b.shape[1] / CONFIG.peak_macs
    print(f"{a.shape} x {b.shape} on {CONFIG.rows}x{CONFIG.cols}: {cycles} cycles, {active} with the array at work;")
    print(f"{macs} multiplications, which take {best:.0f} cycles at best. Equal to numpy.")
