# SPDX-License-Identifier: Apache-2.0
"""The functional tier: values of every instruction against plain formulas, and errors with engine and number."""

import numpy as np
import pytest

from beatmatch import oracle
from beatmatch.config import Config
from beatmatch.functional import FunctionalMachine, run
from beatmatch.isa import Engine, Error
from beatmatch.isa.asm import assemble
from beatmatch.memory import ErrorRange, MemoryTiming

CONFIGS = {
    "square": Config(rows=4, cols=4, sp_words=1024, acc_rows=64, fifo_tiles=2, mem_bits=32, param_rows=16),
    "tall": Config(rows=16, cols=4, sp_words=1024, acc_rows=64, mem_bits=64, param_rows=16),
    "wide": Config(rows=4, cols=16, sp_words=1024, acc_rows=64, mem_bits=128, param_rows=16),
}

SETUP = """
.base 0 0x1000 8192
.base 1 0x8000 8192
.address 0x10000
.data 0x1000
.random 1 8192
"""


def ended(text, config="square", timing=None):
    """The machine after a program that must end without an error."""
    program = assemble(SETUP + text, CONFIGS[config])
    machine = FunctionalMachine(program if timing is None else program.replace(timing=timing))
    outcome = machine.run()
    assert not outcome.error, outcome.text
    return machine


def failed(text, config="square", timing=None):
    """(code, engine, sequence number) of a program that must fail."""
    program = assemble(SETUP + text, CONFIGS[config])
    outcome = run(program if timing is None else program.replace(timing=timing))
    assert outcome.text
    return outcome.error, outcome.engine, outcome.seq


def image(machine, address, size):
    return machine.image.read(address, size).view(np.int8)


@pytest.mark.parametrize("config", CONFIGS)
def test_transfers_with_strides_rings_and_tails(config):
    lanes = CONFIGS[config].lanes
    machine = ended(
        f"""
load each outer=5 rows=3 row_bytes={lanes + 3} row_stride=64 outer_stride=256 dst=2 dst_row_stride=4 \
 dst_outer_stride=16 dst_ring=1 signal=s0
store outer=2 rows=3 row_bytes={lanes + 3} row_stride=128 outer_stride=512 src=2 src_row_stride=4 \
 src_outer_stride=16 base=1 wait=s0:5
""",
        config,
    )
    for outer in range(2):
        for row in range(3):
            last = {0: 4, 1: 3}[outer]  # the iteration that wrote this slot of the ring last
            source = image(machine, 0x1000 + last * 256 + row * 64, lanes + 3)
            np.testing.assert_array_equal(image(machine, 0x8000 + outer * 512 + row * 128, lanes + 3), source)


def operand(machine, kind, address):
    return (machine.acts if kind == "act" else machine.columns.view(np.int8))[address].astype(np.int64)


@pytest.mark.parametrize("config", CONFIGS)
def test_convolution_walk_against_loops(config):
    """Every count, stride, pad and partial lane of matmul, one row at a time."""
    c = CONFIGS[config]
    machine = ended(
        f"""
load row_bytes=2048 signal=s0
weights_sp outer=2 inner=12 k_rows={c.rows - 1} n_lanes={c.cols - 1} src=9 row_stride=2 inner_stride=3 \
 outer_stride=5 wait=s0:1 signal=s1
matmul outer=2 x=3 y=2 kx=3 ky=2 kc=2 stride_x=2 stride_y=1 dilation_x=2 dilation_y=1 pad_left=2 pad_top=1 width=6 \
 height=3 src=7 src_pitch_y=13 src_pitch_x=2 src_kc_stride=1 src_outer_stride=4 acc=5 acc_outer_stride=8 pad_value=-9 \
 k_lanes={c.rows - 2}
""",
        config,
    )
    for o in range(2):
        for y in range(2):
            for x in range(3):
                total = np.zeros(c.cols, np.int64)
                for tile in range(12):
                    ky, kx, kc = tile // 6, tile // 2 % 3, tile % 2
                    iy, ix = y + ky - 1, 2 * x + 2 * kx - 2
                    if 0 <= iy < 3 and 0 <= ix < 6:
                        row = operand(machine, "act", 7 + iy * 13 + ix * 2 + kc + o * 4).copy()
                    else:
                        row = np.full(c.rows, -9)
                    if kc == 1:
                        row[c.rows - 2 :] = 0
                    for r in range(c.rows if tile < 11 else c.rows - 1):
                        weight = operand(machine, "col", 9 + 2 * r + 3 * tile + 5 * o).copy()
                        weight[c.cols - 1 :] = 0
                        total += row[r] * weight
                np.testing.assert_array_equal(machine.acc[5 + 8 * o + y * 3 + x], total)


def test_keep_and_accumulate_use_the_same_tile_again():
    machine = ended(
        """
load row_bytes=256 signal=s0
weights_mem k_rows=4 n_lanes=4 row_stride=4 offset=1024
matmul x=3 width=3 src_pitch_x=1 k_lanes=4 wait=s0:1
matmul x=3 width=3 src_pitch_x=1 k_lanes=4 keep=1 accumulate=1
"""
    )
    tile = image(machine, 0x1400, 16).reshape(4, 4).astype(np.int64)
    acts = image(machine, 0x1000, 12).reshape(3, 4).astype(np.int64)
    np.testing.assert_array_equal(machine.acc[:3], 2 * acts @ tile)


def test_packed_tiles_and_zero_rows():
    machine = ended(
        """
load row_bytes=256 signal=s0
weights_mem packed=1 k_rows=4 n_lanes=4 offset=512
weights_mem inner=2 k_rows=1 n_lanes=2 row_stride=8 inner_stride=128 offset=1024
matmul src=3 k_lanes=4 wait=s0:1
matmul kc=2 src=3 src_kc_stride=1 k_lanes=4 acc=1
"""
    )
    acts = image(machine, 0x1000 + 12, 8).astype(np.int64)
    packed = image(machine, 0x1200, 16).reshape(4, 4).astype(np.int64)
    np.testing.assert_array_equal(machine.acc[0], acts[:4] @ packed)
    total = np.zeros(4, np.int64)
    for row in range(4):
        total[:2] += acts[row] * image(machine, 0x1400 + 8 * row, 2).astype(np.int64)
    total[:2] += acts[4] * image(machine, 0x1400 + 128, 2).astype(np.int64)
    np.testing.assert_array_equal(machine.acc[1], total)


def test_accumulators_wrap_and_set_the_sticky_flag():
    text = """
.data 0x5000
.int8 -128,-128,-128,-128
load base=2 row_bytes=4 signal=s0
weights_mem base=2 k_rows=4 n_lanes=4 inner=255 outer={0}
matmul outer={0} kc=255 k_lanes=4 wait=s0:1
{1}
"""
    more = "weights_mem base=2 k_rows=4 n_lanes=4 inner=255 outer=255\nmatmul outer=255 kc=255 k_lanes=4 accumulate=1"
    base = ".base 2 0x5000 4\n"
    machine = ended(base + text.format(1, ""))
    assert not machine.overflow and machine.acc[0, 0] == 255 * 4 * 16384
    machine = ended(base + text.format(1, more))  # 256 * 255 * 65536 = 4,278,190,080 is beyond 2^31
    assert machine.overflow and machine.acc[0, 0] == oracle.wrap32(np.array(256 * 255 * 65536))


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("raw", [False, True])
def test_vector_operations_against_the_oracle(config, raw):
    c = CONFIGS[config]
    extra = "dst_format=1" if raw else ""
    machine = ended(
        f"""
.base 2 0x6000 4096
.data 0x6000
.param bias=-77 multiplier=5 shift=3 channels={c.cols}
.param bias=1000 multiplier=9 shift=2 channels={c.cols}
.param bias=-5 multiplier=3 shift=1 channels={c.cols}
load row_bytes=1024 signal=s0
load base=2 row_bytes={3 * 8 * c.cols} dst_space=1 signal=s1
requant x=3 y=2 src=1 src_pitch_y=8 src_pitch_x=2 dst=256 dst_pitch=4 zero_point=3 clip_low=-60 \
 clip_high=99 param_mode=1 wait=s0:1,s1:1 {extra}
add x=3 outer=2 src=1 src_pitch_x=2 src_outer_stride=7 src2=20 dst=320 dst_pitch=4 \
 dst_outer_stride=16 clip_high=127 clip_low=-128 zero_point=-2 param_mode=2 {extra}
maxpool x=3 y=2 kx=3 ky=2 stride_x=2 stride_y=1 pad_left=1 pad_top=1 width=5 height=2 src=1 \
 src_pitch_y=8 src_pitch_x=1 dst=384 dst_pitch=4 clip_low=-128 clip_high=127 param_mode=1 {extra}
avgpool x=3 y=2 kx=3 ky=2 stride_x=2 stride_y=1 pad_left=1 pad_top=1 width=5 height=2 src=1 \
 src_pitch_y=8 src_pitch_x=1 dst=448 dst_pitch=4 clip_low=-128 clip_high=127 param_mode=1 {extra}
""",
        config,
    )
    columns = machine.columns.view(np.int8)

    def got(first, index):
        if raw:
            chunks = np.ascontiguousarray(columns[first + 4 * index : first + 4 * index + 4])
            return chunks.reshape(-1).view("<i4").astype(np.int64)
        return columns[first + 4 * index].astype(np.int64)

    def expected(value, bias, m, s, zero, low=-128, high=127):
        return oracle.wrap32(value + bias) if raw else oracle.requantise(value, bias, m, s, zero, low, high)

    for y in range(2):
        for x in range(3):
            value = operand(machine, "col", 1 + 8 * y + 2 * x)
            row = got(256, 3 * y + x)
            np.testing.assert_array_equal(row, expected(value, -77, 5, 3, 3, -60, 99))
    scales = ((-77, 5, 3, 9), (1000, 9, 2, 3))
    for o in range(2):
        bias, m, s, second = scales[o]
        for x in range(3):
            a, b = operand(machine, "col", 1 + 2 * x + 7 * o), operand(machine, "col", 20 + 4 * x + 16 * o)
            exact = a * m + b * second + bias
            want = oracle.wrap32(exact) if raw else oracle.requantise(exact, 0, 1, s, -2)
            np.testing.assert_array_equal(got(320, x + 4 * o), want)
    pixels = np.stack([[operand(machine, "col", 1 + 8 * y + x) for x in range(5)] for y in range(2)])[None]
    for kind, first in (("max", 384), ("sum", 448)):
        pooled = oracle.pool(pixels, (2, 3), (1, 2), (1, 1, 0, 2), kind)
        for y in range(2):
            for x in range(3):
                np.testing.assert_array_equal(got(first, 3 * y + x), expected(pooled[0, y, x], -77, 5, 3, 0))


def test_errors_have_code_engine_and_sequence_number():
    nop = "load row_bytes=4\n"
    for text, expected in (
        (nop + ".word 0", (Error.ILLEGAL_OPCODE, Engine.FRONTEND, 1)),
        (nop + "load row_bytes=4 instance=1", (Error.ILLEGAL_FIELD, Engine.FRONTEND, 1)),
        (nop + "load row_bytes=0", (Error.ZERO_SIZE, Engine.FRONTEND, 1)),
        (nop + "load row_bytes=4 offset=2", (Error.UNALIGNED, Engine.LOAD, 1)),
        (nop + "load rows=3 row_bytes=4 row_stride=4 offset=8184", (Error.WINDOW, Engine.LOAD, 1)),
        (nop + "load rows=3 row_bytes=4 row_stride=2 offset=8184", (Error.UNALIGNED, Engine.LOAD, 1)),
        ("store base=5 row_bytes=4", (Error.WINDOW, Engine.STORE, 0)),
        ("store base=1 row_bytes=8 src=1023", (Error.LOCAL_RANGE, Engine.STORE, 0)),
        ("weights_mem offset=6", (Error.UNALIGNED, Engine.WEIGHTS, 0)),
        ("weights_mem offset=8192", (Error.WINDOW, Engine.WEIGHTS, 0)),
        ("weights_sp src=1024", (Error.LOCAL_RANGE, Engine.WEIGHTS, 0)),
        ("weights_mem\nmatmul src=1024", (Error.LOCAL_RANGE, Engine.MATMUL, 1)),
        ("weights_mem\nmatmul acc=64 pad_left=1", (Error.LOCAL_RANGE, Engine.MATMUL, 1)),
        ("requant dst=1022 dst_format=1", (Error.LOCAL_RANGE, Engine.VECTOR, 0)),
        ("requant param_mode=2 outer=2 param=15", (Error.LOCAL_RANGE, Engine.VECTOR, 0)),
        ("load row_bytes=4 wait=s0:1", (Error.DEADLOCK, Engine.LOAD, 0)),
        ("weights_mem inner=4\nstore row_bytes=4 wait=s0:1", (Error.DEADLOCK, Engine.WEIGHTS, 0)),
        ("matmul pad_left=1", (Error.DEADLOCK, Engine.MATMUL, 0)),
        ("load each outer=255 row_bytes=4 signal=s0,s0", (Error.SEMAPHORE_OVERFLOW, Engine.FRONTEND, 0)),
        ("", (Error.PROGRAM, Engine.FRONTEND, 0)),
        (".address 0x10010\nload row_bytes=4", (Error.PROGRAM, Engine.FRONTEND, 0)),
    ):
        assert failed(text) == expected, text


def test_padding_and_zero_rows_are_never_out_of_range():
    ended("weights_sp src=1020 k_rows=4 row_stride=1\nmatmul src=1023 src_pitch_x=1 x=2 pad_left=1 width=1")


def test_bus_errors():
    def slow(first, last, response=2, **kinds):
        return MemoryTiming(errors=(ErrorRange(first, last, response, **kinds),))

    text = "load row_bytes=64\nstore base=1 row_bytes=64\nweights_mem k_rows=4 row_stride=64 offset=256"
    assert failed(text, timing=slow(0x103C, 0x103C)) == (Error.BUS_SLVERR, Engine.LOAD, 0)
    assert failed(text, timing=slow(0x103C, 0x103C, 3)) == (Error.BUS_DECERR, Engine.LOAD, 0)
    assert failed(text, timing=slow(0x8000, 0x8000)) == (Error.BUS_SLVERR, Engine.STORE, 1)
    assert failed(text, timing=slow(0x11C0, 0x11C0)) == (Error.BUS_SLVERR, Engine.WEIGHTS, 2)
    assert failed(text, timing=slow(0x10040, 0x10040)) == (Error.BUS_SLVERR, Engine.FRONTEND, 1)
    assert failed(text, timing=slow(0x10000, 0x10000)) == (Error.BUS_SLVERR, Engine.FRONTEND, 0xFFFF)
    ended(text, timing=slow(0x103C, 0x103C, reads=False))
    ended(text, timing=slow(0x8000, 0x8000, writes=False))


def test_nothing_is_written_after_a_refused_transfer():
    program = assemble(SETUP + "store base=1 rows=2 row_bytes=4 row_stride=8192", CONFIGS["square"])
    outcome = run(program)
    assert outcome.error is Error.WINDOW
    assert not outcome.image.read(0x8000, 8192).any()


def test_queue_depth_decides_over_programs_that_only_deep_queues_let_finish():
    text = "\n".join(["load row_bytes=4 wait=s0:1"] + ["load row_bytes=4"] * 3 + ["store base=1 row_bytes=4 signal=s0"])
    deep = assemble(SETUP + text, CONFIGS["square"])
    assert not run(deep).error
    shallow = deep.replace(config=Config(**{**deep.config.to_dict(), "queue_depth": 2}))
    assert run(shallow).error is Error.DEADLOCK
