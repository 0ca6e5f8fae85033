# SPDX-License-Identifier: Apache-2.0
"""The whole core between an independent memory and an independent host: values, registers, and bytes left alone.

Nothing of the golden model takes part. Programs come from the compilers, expected values from the naive oracle,
back-pressure and data from the seed. CONFIG is the configuration as JSON, RUNS the number of programs per test.
"""

from __future__ import annotations

import json
import os
import random

import cocotb
import numpy as np

from beatmatch import csr, oracle
from beatmatch.compiler import Requant, compile_conv2d, compile_gemm
from beatmatch.config import Config
from beatmatch.isa.encode import make
from beatmatch.isa.fields import Engine, Error, Opcode
from beatmatch.program import Base, Program
from tb.board import Board
from tb.core.case import Case

CONFIG = Config(**json.loads(os.environ["CONFIG"]))
RUNS = int(os.environ.get("RUNS", 3))
PAUSES = (0, 30, 70)
"""Percentages of cycles in which a channel pauses."""
SLVERR = 2


def streams(name: str) -> tuple[random.Random, np.random.Generator]:
    """Random streams of a test."""
    rng = random.Random(f"{os.environ['COCOTB_RANDOM_SEED']} {name}")
    return rng, np.random.default_rng(rng.getrandbits(64))


def int8(random_: np.random.Generator, *shape: int) -> np.ndarray:
    return random_.integers(-128, 128, shape).astype(np.int8)


def scale(random_: np.random.Generator, channels: int, depth: int) -> Requant:
    """Scales per channel that reach and pass the limits of int8 now and then."""
    shift = 20 + int(np.log2(depth))
    return Requant(
        random_.integers(-5000, 5000, channels), random_.integers(1 << 13, 1 << 15, channels),
        random_.integers(shift, shift + 3, channels), int(random_.integers(-9, 9)), -120, 110,
    )  # fmt: skip


def quantised(total: np.ndarray, q: Requant) -> np.ndarray:
    return oracle.requantise(total, q.bias, q.multiplier, q.shift, q.zero_point, q.low, q.high)


def product(board: Board, rng: random.Random, random_: np.random.Generator) -> Case:
    """A random matrix product, int32 or int8."""
    m, k, n = (rng.randint(1, 3 * size) for size in (CONFIG.rows, CONFIG.rows, CONFIG.cols))
    a, b = int8(random_, m, k), int8(random_, k, n)
    total = oracle.matmul(a, b)
    if rng.random() < 0.5:
        q = scale(random_, n, k)
        return Case(board, rng, compile_gemm(a, b, CONFIG, "int8", q), quantised(total, q), m * k * n)
    bias = random_.integers(-1000, 1000, n)
    return Case(board, rng, compile_gemm(a, b, CONFIG, "int32", bias=bias), total + bias, m * k * n)


@cocotb.test()
async def registers(dut) -> None:
    """The configuration can be read, base registers keep what was written, holes answer with an error."""
    rng, _ = streams("registers")
    board = Board(dut, CONFIG.weight_port)
    await board.power_up()
    board.hold_back(rng, 50)
    assert csr.ID.unpack(await board.read(csr.ID)) == {"version": csr.ID_VERSION_VALUE, "letters": csr.ID_LETTERS_VALUE}
    for register, fields in (
        (csr.CONFIG_ARRAY, {"rows": CONFIG.rows, "cols": CONFIG.cols}),
        (csr.CONFIG_SCRATCHPAD, {"words": CONFIG.sp_words, "banks": CONFIG.sp_banks}),
        (csr.CONFIG_ACCUMULATOR, {"rows": CONFIG.acc_rows, "banks": CONFIG.acc_banks}),
        (csr.CONFIG_MEMORY, {"bits": CONFIG.mem_bits, "outstanding": CONFIG.outstanding}),
    ):
        assert register.unpack(await board.read(register)) == fields, register.name
    values = [rng.getrandbits(64) for _ in range(csr.BASE.count)]
    for index, value in enumerate(values):
        await board.write(csr.BASE, value, index)
    assert [await board.read(csr.BASE, index) for index in range(csr.BASE.count)] == values
    assert await board.reads(csr.SIZE.address + csr.SIZE.count * csr.SIZE.stride) == SLVERR


@cocotb.test()
async def products(dut) -> None:
    """Random matrix products, one after the other, under changing back-pressure."""
    rng, random_ = streams("products")
    board = Board(dut, CONFIG.weight_port)
    await board.power_up()
    for index in range(RUNS):
        board.hold_back(rng, PAUSES[index % len(PAUSES)])
        await product(board, rng, random_).succeeds()


@cocotb.test()
async def convolutions(dut) -> None:
    """Small convolutions with strides, padding and scales per channel."""
    rng, random_ = streams("convolutions")
    board = Board(dut, CONFIG.weight_port)
    await board.power_up()
    for index in range(max(RUNS // 2, 1)):
        board.hold_back(rng, PAUSES[(index + 1) % len(PAUSES)])
        channels, filters = rng.randint(1, CONFIG.rows), rng.randint(1, CONFIG.cols + 2)
        x, w = int8(random_, rng.randint(1, 2), 5, 4, channels), int8(random_, 3, 3, channels, filters)
        options = {
            "stride": (rng.randint(1, 2), 1), "pads": tuple(rng.randint(0, 1) for _ in range(4)),
            "pad_value": rng.randint(-128, 127),
        }  # fmt: skip
        q = scale(random_, filters, 9 * channels)
        total = oracle.conv2d(x, w, **options)
        program = compile_conv2d(x, w, CONFIG, requant=q, **options)
        macs = total.size * 9 * channels
        await Case(board, rng, program, quantised(total, q), macs, padded=True).succeeds()


@cocotb.test()
async def errors_and_restarts(dut) -> None:
    """Every error stops the core where it should; the right program then runs without a reset."""
    rng, random_ = streams("errors")
    board = Board(dut, CONFIG.weight_port)
    await board.power_up()
    for spoil in (illegal_opcode, reserved_bit, window_of_a_store, window_of_a_load, cycle_limit, deadlock, empty):
        board.hold_back(rng, rng.choice(PAUSES))
        case = product(board, rng, random_)
        await case.fails(*spoil(rng, case.program))
        await case.succeeds()


def replaced(program: Program, index: int, word: int) -> Program:
    return program.replace(instructions=[*program.instructions[:index], word, *program.instructions[index + 1 :]])


def illegal_opcode(rng: random.Random, program: Program):
    index = rng.randrange(len(program.instructions))
    return replaced(program, index, 31), Error.ILLEGAL_OPCODE, Engine.FRONTEND, index


def reserved_bit(rng: random.Random, program: Program):
    index = rng.randrange(len(program.instructions))
    load = make(Opcode.LOAD, outer=1, rows=1, row_bytes=CONFIG.mem_bytes).word() | 1 << 255
    return replaced(program, index, load), Error.ILLEGAL_FIELD, Engine.FRONTEND, index


def first(program: Program, opcode: Opcode):
    """The first instruction of a kind and its number."""
    return next((seq, item) for seq, item in enumerate(program.decoded()) if item.opcode == opcode)


def shrunk(program: Program, opcode: Opcode):
    """The window of the first instruction of a kind ends one byte before that instruction's last one."""
    seq, item = first(program, opcode)
    last = item.offset + (item.outer - 1) * item.outer_stride + (item.rows - 1) * item.row_stride + item.row_bytes - 1
    bases = list(program.bases)
    bases[item.base] = Base(bases[item.base].address, last)
    return program.replace(bases=tuple(bases)), seq, bases[item.base].address + last


def window_of_a_store(rng: random.Random, program: Program):
    spoilt, seq, limit = shrunk(program, Opcode.STORE)
    return spoilt, Error.WINDOW, Engine.STORE, seq, limit


def window_of_a_load(rng: random.Random, program: Program):
    spoilt, seq, _ = shrunk(program, Opcode.LOAD)
    return spoilt, Error.WINDOW, Engine.LOAD, seq


def cycle_limit(rng: random.Random, program: Program):
    return program.replace(cycle_limit=rng.randint(1, 40)), Error.CYCLE_LIMIT, Engine.FRONTEND, 0


def deadlock(rng: random.Random, program: Program):
    """The first load waits for a signal that nobody gives; in the end everybody waits."""
    seq, load = first(program, Opcode.LOAD)
    word = make(load.opcode, **(load.fields | {"wait0_id": 31, "wait0_n": 1})).word()
    return replaced(program, seq, word), Error.DEADLOCK, Engine.LOAD, seq


def empty(rng: random.Random, program: Program):
    return program.replace(instructions=[]), Error.PROGRAM, Engine.FRONTEND, 0
