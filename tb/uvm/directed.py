# SPDX-License-Identifier: Apache-2.0
"""Directed programs for any configuration: products, weights from the scratchpad, vector passes, mistakes, nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from beatmatch.compiler import compile_gemm
from beatmatch.config import Config
from beatmatch.isa.asm import assemble
from beatmatch.program import HostEvent, Program
from tb.lockstep import random_errors, random_programs
from tb.lockstep.dials import Dials
from tb.lockstep.streams import derive, stream


def double_buffered_gemm(config: Config, seed: int) -> Program:
    """A product of several tiles each way: load, matmul, vector and store hand buffers over in every iteration."""
    return _product(config, seed, 2 * config.rows + 3, 2 * config.rows + 1, 2 * config.cols + 1, "int8")


def gemv(config: Config, seed: int) -> Program:
    """One activation row through many weight tiles: the array waits for weights all the time."""
    return _product(config, seed, 1, 3 * config.rows, 2 * config.cols, "int32")


def _product(config: Config, seed: int, m: int, k: int, n: int, out: str) -> Program:
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((m, k), (k, n)))
    program = compile_gemm(a, b, config, out=out)
    return program.replace(origin=f"{m}x{k} times {k}x{n}, {out}", seed=seed)


WEIGHTS_FROM_SCRATCHPAD = """
.origin "weights from the scratchpad, twice: loaded words, then results of the first product"
.semaphore loaded
.semaphore also_loaded
.semaphore summed
.semaphore ready
.semaphore out
.base 0 0x1000 16*LANES
.base 1 0x2000 8*LANES
.base 2 0x3000 8*COLS
.address 0x4000
.data 0x1000
.random {seed} 16*LANES
.data 0x3000
.param multiplier=1 shift=8 channels=COLS
load base=0 row_bytes=16*LANES dst=0
load base=2 row_bytes=8*COLS dst_space=1 dst=0 signal=loaded,also_loaded
weights_sp k_rows=ROWS n_lanes=COLS src=0 row_stride={stride} wait=loaded
matmul x=4 width=4 src=0 src_pitch_x=1 acc=0 k_lanes=ROWS n_lanes=COLS wait=also_loaded signal=summed
requant {full} x=4 src_space=2 src_format=1 src_pitch_x=1 dst={low} dst_pitch=1 param_mode=1 wait=summed signal=ready
weights_sp k_rows=ROWS n_lanes=COLS src={low} row_stride=0 wait=ready
matmul accumulate=1 x=4 width=4 src=0 src_pitch_x=1 acc=0 k_lanes=ROWS n_lanes=COLS signal=summed
requant x=2 src_space=2 src_format=1 dst_format=1 src=1 src_pitch_x=1 dst={low} dst_pitch=4 wait=summed signal=out
store base=1 row_bytes=8*COLS src=8 wait=out
"""


def weights_from_scratchpad(config: Config, seed: int) -> Program:
    """Activations become weights without a trip through memory."""
    parts = config.col_parts
    stride = 1 if 16 * parts >= config.rows else 0
    return _assembled(WEIGHTS_FROM_SCRATCHPAD, config, seed, stride=stride, low=8 * parts)


VECTOR_PASSES = """
.origin "vector passes one after the other: requantize, add, both pools, raw sums"
.semaphore loaded
.semaphore parameters
.semaphore out
.base 0 0x1000 16*LANES
.base 1 0x2000 2*8*COLS
.base 2 0x3000 16*LANES
.address 0x4000
.data 0x1000
.random {seed} 16*LANES
.data 0x2000
.param multiplier=3 shift=2 bias=-5 channels=COLS
.param multiplier=1 shift=1 bias=9 channels=COLS
load base=0 row_bytes=16*LANES dst=0 signal=loaded
load base=1 row_bytes=2*8*COLS dst_space=1 dst=0 signal=parameters
requant {full} x=4 zero_point=3 src=0 src_pitch_x=1 dst={low} dst_pitch=1 param_mode=1 wait=loaded,parameters
add {full} x=4 src=0 src_pitch_x=1 src2={low} dst={low} dst_pitch=1 param_mode=1
maxpool {full} x=3 kx=2 stride_x=1 width=4 height=1 src={low} src_pitch_x=1 src_pitch_y=4 dst={low} dst_pitch=1
avgpool {full} x=2 kx=2 stride_x=2 pad_left=1 width=4 height=1 src={low} src_pitch_x=1 dst=0 dst_pitch=1 param_mode=1
requant x=2 dst_format=1 src=0 src_pitch_x=1 dst={low} dst_pitch=4 signal=out
store base=2 row_bytes=8*COLS src=8 wait=out
"""


def vector_passes(config: Config, seed: int) -> Program:
    """Passes of the vector unit over what the one before has written."""
    return _assembled(VECTOR_PASSES, config, seed, low=8 * config.col_parts)


def _assembled(text: str, config: Config, seed: int, **values: int) -> Program:
    full = "clip_low=-128 clip_high=127"
    program = assemble(text.format(seed=seed % 2**31, full=full, **values), config)
    return program.replace(seed=seed)


def empty(config: Config, seed: int) -> Program:
    """No instructions: done as soon as the header is read."""
    return Program(config, [], address=0x4000, origin="an empty program", seed=seed)


def restarts(config: Config, seed: int) -> Program:
    """Starts while the core works, which it ignores, and a second run when it is done."""
    program = vector_passes(config, seed)
    starts = tuple(HostEvent(cycle, "start") for cycle in (150, 170, 4000))
    return program.replace(host=starts, origin="starts while busy and after done")


def mistakes(config: Config, seed: int) -> Iterator[Program]:
    """Every kind of mistake in a random program, each with a restart behind it."""
    for kind in random_errors.KINDS:
        rng = stream(seed, kind)
        plain = random_programs.generate(derive(seed, kind), config, Dials(errors=0, resets=0, starts=0, parts=(2, 6)))
        wrong = random_errors.disturb(rng, plain, kind)
        yield wrong.replace(host=(HostEvent(1200, "start"),))


PLAIN = (double_buffered_gemm, gemv, weights_from_scratchpad, vector_passes, empty, restarts)
"""One program each, of (config, seed)."""
