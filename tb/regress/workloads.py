# SPDX-License-Identifier: Apache-2.0
"""The programs of a regression: short random ones, and long products and convolutions that the compiler makes.

Random programs mix all features in about a thousand cycles. Compiled ones run an order of magnitude longer, as real
work does: full queues, wrapped rings, weights double-buffered, memory busy in both directions. Large ones run longer by
another order; whole networks (`networks`) run longer still.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np

from beatmatch.compiler import CompileError, compile_conv2d, compile_gemm
from beatmatch.config import Config
from beatmatch.isa.encode import EncodingError
from beatmatch.memory import MemoryTiming, dram_preset
from beatmatch.memory.presets import STANDARDS
from beatmatch.program import Program
from tb.lockstep import model_side
from tb.lockstep.model_side import ModelSide
from tb.lockstep.streams import derive, stream
from tb.regress import networks

NETWORK = "network"
ATTEMPTS = 100
CYCLES = (4000, 16000)
"""Least and most cycles that a compiled program aims at; what it takes follows from the memories too."""
LIMIT = 40_000
"""The watchdog of compiled programs: where memories are tiny a product can take a hundred times what it aims at."""
LARGE_CYCLES = (15_000, 150_000)
LARGE_LIMIT = 400_000
"""The same for large ones, which are for presets."""
LARGEST = 1024


def program_of(source: dict[str, Any], config: Config) -> Program:
    """The program of an item: those of lockstep, ``{"compiled": seed}``, ``{"large": seed}``, or a ``network``."""
    if NETWORK in source:
        return networks.generate(source[NETWORK], source["seed"], config)
    for name in MAKERS:
        if name in source:
            return generate(source[name], config, name)
    return model_side.program_of(source, config)


def make(source: dict[str, Any], config: Config) -> ModelSide:
    """The model side of an item."""
    return ModelSide(program_of(source, config), networks.LIMIT)


def generate(seed: int, config: Config, name: str = "compiled") -> Program:
    """A matrix product or a convolution of random shape on a random memory; replays from its seed."""
    gemm, conv, limit = MAKERS[name]
    for attempt in range(ATTEMPTS):
        rng = stream(seed, name, attempt)
        values = np.random.default_rng(derive(seed, "values", attempt))
        draw = gemm if rng.random() < 0.6 else conv
        try:
            program = draw(rng, values, config)
        except (CompileError, EncodingError):  # too large for these memories, or for a field: draw again
            continue
        if config.weight_port:  # with few exceptions a memory of its own
            rng = stream(seed, name, "weight memory", attempt)
            program = program.replace(weight_timing=None if rng.random() < 0.2 else _timing(rng, config))
        program = program.replace(cycle_limit=limit)
        return program.replace(origin=f"tb.regress.workloads seed {seed}: {program.origin}", seed=seed)
    raise RuntimeError(f"No {name} program fits the configuration {config.to_dict()} for seed {seed}.")


def _timing(rng: random.Random, config: Config) -> MemoryTiming:
    """A memory that is not so slow that a long program only waits for it; one in five is a DRAM by its name."""
    beat = config.mem_bytes
    hesitant = rng.random() < 0.5
    timing = MemoryTiming(
        read_latency=rng.choice((1, 5, 20, 50, 80, 100)),
        write_latency=rng.choice((1, 10, 40)),
        read_bandwidth=None if rng.random() < 0.6 else (rng.randint(beat // 2, beat), 1),
        write_bandwidth=None if rng.random() < 0.6 else (rng.randint(beat // 2, beat), 1),
        stalls=tuple(rng.choice((0, 8, 40)) if hesitant else 0 for _ in range(5)),
        seed=rng.getrandbits(63),
        max_reads=rng.choice((8, 16, 256)),
        max_writes=rng.choice((4, 16, 256)),
    )
    own = random.Random(timing.seed)
    mhz = own.randint(200, 2000)
    named = [dram_preset(name, mhz) for name in STANDARDS]
    named = [dram for dram in named if 2 * dram.read_bandwidth[0] >= beat * dram.read_bandwidth[1]]
    if not named or own.random() >= 0.2:
        return timing
    kept = {name: getattr(timing, name) for name in ("stalls", "seed", "max_reads", "max_writes")}
    return dataclasses.replace(own.choice(named), **kept)


def _ragged(rng: random.Random, unit: int, most: int) -> int:
    """One to `most` units, often with a tail."""
    return max(1, unit * rng.randint(1, most) - rng.choice((0, 0, rng.randint(0, unit - 1))))


def _int8(values: np.random.Generator, *shape: int) -> np.ndarray:
    return values.integers(-128, 128, shape).astype(np.int8)


def _gemm(rng: random.Random, values: np.random.Generator, config: Config) -> Program:
    timing, out = _timing(rng, config), rng.choice(("int8", "int8", "int32"))
    k, n = _ragged(rng, config.rows, 6), _ragged(rng, config.cols, 4)
    tiles = -(-k // config.rows) * -(-n // config.cols)
    per_row = max(tiles, (k + n * (4 if out == "int32" else 1)) / config.mem_bytes)  # cycles of one row of the product
    block = min(config.acc_rows, config.sp_words * config.act_parts) / 4  # rows between two passes over the weights
    passes = tiles * max(config.rows, config.rows * config.cols / config.mem_bytes) + 2 * timing.read_latency
    m = max(1, min(2048, round(rng.randint(*CYCLES) / (per_row + passes / block))))
    return compile_gemm(_int8(values, m, k), _int8(values, k, n), config, out, timing=timing)


def _conv(rng: random.Random, values: np.random.Generator, config: Config) -> Program:
    timing = _timing(rng, config)
    kernel, stride, dilation = rng.choice((1, 2, 3, 3)), rng.choice((1, 1, 2)), rng.choice((1, 1, 2))
    channels, filters = _ragged(rng, config.rows, 2), _ragged(rng, config.cols, 2)
    reach = dilation * (kernel - 1) + 1
    height, width = (rng.randint(reach, reach + 12) for _ in range(2))
    tiles = kernel * kernel * -(-channels // config.rows) * -(-filters // config.cols)
    rows = -(-height // stride) * -(-width // stride)
    traffic = (height * width * channels + rows * filters) / config.mem_bytes
    images = max(1, min(64, round(rng.randint(*CYCLES) / max(tiles * rows, traffic))))
    return compile_conv2d(
        _int8(values, images, height, width, channels),
        _int8(values, kernel, kernel, channels, filters),
        config,
        rng.choice(("int8", "int8", "int32")),
        stride=(stride, stride),
        pads=(rng.randint(0, reach - 1),) * 4,
        dilation=(dilation, dilation),
        pad_value=rng.choice((0, rng.randint(-128, 127))),
        timing=timing,
    )


def _log_uniform(rng: random.Random, low: int, high: int) -> int:
    """From `low` to `high`, each order of magnitude as often as the other."""
    return round(low * (high / low) ** rng.random())


def _usual(rng: random.Random, config: Config) -> MemoryTiming | None:
    """The preset's own memory for most, as users have it."""
    return _timing(rng, config) if rng.random() < 0.3 else None


def _large_gemm(rng: random.Random, values: np.random.Generator, config: Config) -> Program:
    out = rng.choice(("int8", "int32"))
    while True:
        m, k, n = (_log_uniform(rng, 8, LARGEST) for _ in range(3))
        tiles = -(-k // config.rows) * -(-n // config.cols)
        traffic = 2 * (m * k + k * n) + m * n * (4 if out == "int32" else 1)  # operands that do not fit come twice
        cycles = max(tiles * max(m, config.rows), traffic / config.mem_bytes)
        if LARGE_CYCLES[0] <= cycles <= LARGE_CYCLES[1]:
            break
    return compile_gemm(_int8(values, m, k), _int8(values, k, n), config, out, timing=_usual(rng, config))


def _large_conv(rng: random.Random, values: np.random.Generator, config: Config) -> Program:
    while True:
        kernel, stride = rng.choice((1, 3, 3, 5, 7)), rng.choice((1, 1, 2))
        images, height, width = rng.choice((1, 1, 8, 32)), rng.randint(7, 56), rng.randint(7, 56)
        channels, filters = _log_uniform(rng, 3, 256), _log_uniform(rng, 8, 256)
        rows = images * -(-height // stride) * -(-width // stride)
        tiles = kernel * kernel * -(-channels // config.rows) * -(-filters // config.cols)
        if LARGE_CYCLES[0] <= tiles * rows <= LARGE_CYCLES[1]:
            break
    return compile_conv2d(
        _int8(values, images, height, width, channels),
        _int8(values, kernel, kernel, channels, filters),
        config,
        stride=(stride, stride),
        pads=(kernel // 2,) * 4,
        timing=_usual(rng, config),
    )


MAKERS = {"compiled": (_gemm, _conv, LIMIT), "large": (_large_gemm, _large_conv, LARGE_LIMIT)}
"""For each kind of source: what draws a product, what draws a convolution, and the watchdog."""
