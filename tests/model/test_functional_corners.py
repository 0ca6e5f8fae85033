# SPDX-License-Identifier: Apache-2.0
"""Corners of the functional tier in which mutants lived: long sums, missing parameters, limits, the last entry."""

import numpy as np
import pytest

from beatmatch import oracle
from beatmatch.functional import exact_product
from beatmatch.isa import Engine, Error
from beatmatch.isa.asm import assemble
from beatmatch.machine import run_stepped
from beatmatch.memory import ErrorRange, MemoryTiming
from tests.model.test_functional import CONFIGS, SETUP, ended, failed


@pytest.mark.parametrize("depth", [1, 1023, 1024, 1025, 1026, 2048, 2049, 3100])
def test_a_product_of_any_depth_is_exact(depth):
    """Past 1,024 terms float32 would round; the extreme values are where it shows."""
    rng = np.random.default_rng(depth)
    for a, w in (
        (np.full((2, depth), -128, np.int8), np.full((depth, 3), -128, np.int8)),
        (rng.integers(-128, 128, (3, depth)).astype(np.int8), rng.integers(-128, 128, (depth, 2)).astype(np.int8)),
        (np.full((1, depth), 127, np.int8), np.where(np.arange(depth)[:, None] % 2, 127, -127).astype(np.int8)),
    ):
        np.testing.assert_array_equal(exact_product(a, w), oracle.matmul(a, w))


def test_without_a_parameter_row_bias_is_0_and_the_scale_1():
    """Whatever row 0 of the parameter memory holds."""
    machine = ended(
        """
.data 0x1000
.param bias=-77 multiplier=5 shift=3 channels=4
load row_bytes=32 dst_space=1 signal=s0
load row_bytes=64 offset=64 signal=s0
requant x=4 src=0 src_pitch_x=1 dst=100 dst_pitch=1 clip_low=-128 clip_high=127 wait=s0:2
add x=4 src=0 src_pitch_x=1 src2=4 dst=108 dst_pitch=1 clip_low=-128 clip_high=127
"""
    )
    columns = machine.columns.view(np.int8).astype(np.int64)
    np.testing.assert_array_equal(columns[100:104], columns[0:4])
    np.testing.assert_array_equal(columns[108:112], np.clip(columns[0:4] + columns[4:8], -128, 127))


def test_the_second_operand_of_an_addition_has_limits():
    line = "add x=3 src=0 src_pitch_x=1 src2={0} dst=8 dst_pitch=1 clip_low=-128 clip_high=127"
    assert failed(line.format(1022)) == (Error.LOCAL_RANGE, Engine.VECTOR, 0)
    ended(line.format(1021))


def test_an_error_of_the_last_entry_is_raised():
    text = "load row_bytes=4\nload row_bytes=4 dst=1"
    for entry in (0, 1):
        first = 0x10000 + 32 * (entry + 1)
        timing = MemoryTiming(errors=(ErrorRange(first, first),))
        assert failed(text, timing=timing) == (Error.BUS_SLVERR, Engine.FRONTEND, entry)


def test_a_run_can_be_given_up_and_watched():
    program = assemble(".config tiny\n" + SETUP + "load row_bytes=256\nload row_bytes=4 wait=s0:1")
    with pytest.raises(RuntimeError, match="did not end within 5 cycles"):
        run_stepped(program.replace(instructions=[program.instructions[0]] * 200), limit=5)
    seen = []
    result = run_stepped(program, progress=seen.append, watch=lambda rows, records: seen.append(len(rows)))
    assert result.error is Error.DEADLOCK
    assert seen[-2:] == [sum(seen[::2]), result.machine.cycle_count]


def test_an_iteration_of_very_many_elements_is_the_same_on_both_tiers():
    """More than the stepped machine works out at a time."""
    text = """
load row_bytes=1024 signal=s0
requant x=210 y=11 src=1 src_pitch_x=1 src_pitch_y=4 dst=300 dst_pitch=0 clip_low=-128 clip_high=127 wait=s0:1
maxpool x=97 y=3 kx=3 ky=3 width=99 height=5 src=1 src_pitch_x=1 src_pitch_y=9 dst=400 dst_pitch=1 \
 stride_x=1 stride_y=1 clip_low=-128 clip_high=127 signal=s1
store base=1 row_bytes=1600 src=300 wait=s1:1
"""
    program = assemble(SETUP + text, CONFIGS["square"])
    stepped = run_stepped(program, limit=20_000)
    assert not stepped.error
    assert ended(text).image.differences(stepped.machine.memory.image) == []
    assert stepped.machine.memory.image.read(0x8000, 1600).any()
