# SPDX-License-Identifier: Apache-2.0
"""Functional and stepped tier leave the same memory behind, whatever the configuration and the memory's whims."""

import numpy as np
import pytest

from beatmatch import digits
from beatmatch.checker import check
from beatmatch.compiler import compile_conv2d, compile_digits, compile_gemm
from beatmatch.config import Config, ConfigError
from beatmatch.functional import run
from beatmatch.isa.asm import assemble
from beatmatch.machine import run_stepped
from beatmatch.memory import MemoryTiming

LIMIT = 500_000


def random_config(rng):
    """A legal configuration with room for small convolutions."""
    while True:
        power = lambda low, high: 1 << int(rng.integers(low, high + 1))  # noqa: E731
        banks, acc_banks = (int(v) for v in rng.integers(1, 9, 2))
        try:
            return Config(
                power(2, 5), power(2, 5), banks * power(7, 10), banks, acc_banks * power(2, 7), acc_banks,
                int(rng.integers(2, 17)), int(rng.integers(1, 17)), power(5, 10), int(rng.integers(1, 65)), power(2, 7),
            )  # fmt: skip
        except ConfigError:
            continue


def random_timing(rng):
    stalls = tuple(int(v) for v in rng.choice([0, 0, 60, 180], 5))
    bandwidth = [None, (3, 2), (40, 1)][int(rng.integers(3))]
    latencies = (int(rng.integers(1, 200)), int(rng.integers(1, 60)))
    return MemoryTiming(*latencies, bandwidth, stalls=stalls, seed=int(rng.integers(1 << 40)))


def random_program(rng, seed):
    config, timing = random_config(rng), random_timing(rng)
    if seed % 4 == 0:
        network = digits.load("mlp")
        return compile_digits(network, network.quantize(network.images[:2]), config, timing)
    out = str(rng.choice(["int8", "int32"]))
    if seed % 4 == 1:
        x = rng.integers(-128, 128, (2, 5, 6, int(rng.choice([1, 3, 9])))).astype(np.int8)
        w = rng.integers(-128, 128, (3, 2, x.shape[3], int(rng.choice([1, 5, 12])))).astype(np.int8)
        return compile_conv2d(x, w, config, out, pads=(1, 0, 1, 2), stride=(1, 2), pad_value=-7, timing=timing)
    m, k, n = (int(v) for v in rng.choice([1, 2, 5, 8, 17, 30], 3))
    a, b = rng.integers(-128, 128, (m, k)).astype(np.int8), rng.integers(-128, 128, (k, n)).astype(np.int8)
    return compile_gemm(a, b, config, out, timing=timing)


@pytest.mark.parametrize("seed", range(24))
def test_compiled_programs(seed):
    program = random_program(np.random.default_rng(seed), seed)
    assert check(program) == []
    outcome, stepped = run(program), run_stepped(program, limit=LIMIT)
    assert not outcome.error and not stepped.error
    assert outcome.image.differences(stepped.machine.memory.image) == []
    assert outcome.overflow == stepped.overflow


ERRORS = """
.config tiny
.base 0 0x1000 64
.address 0x4000
.data 0x1000
.random 1 64
load row_bytes=4
{line}
"""


@pytest.mark.parametrize(
    "line",
    [
        ".word 0",
        "load row_bytes=4 instance=2",
        "load row_bytes=0",
        "load row_bytes=4 offset=3",
        "store row_bytes=4 offset=64",
        "weights_sp src=1024",
        "weights_mem\nmatmul acc=64 pad_left=1",
        "requant dst=1021 dst_format=1",
        "load row_bytes=4 wait=s0:1",
        "matmul pad_left=1",
        "weights_mem inner=5",
        "load each outer=255 row_bytes=4 signal=s0,s0",
    ],
)
def test_errors_have_the_same_code_engine_and_number(line):
    program = assemble(ERRORS.format(line=line))
    outcome, stepped = run(program), run_stepped(program, limit=LIMIT)
    assert outcome.error
    found = (stepped.error, stepped.error_engine, stepped.error_seq)
    assert (outcome.error, outcome.engine, outcome.seq) == found
