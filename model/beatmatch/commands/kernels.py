# SPDX-License-Identifier: Apache-2.0
"""``gemm`` and ``conv``: compile, run, compare with numpy, and show the cycles against their lower bound."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from beatmatch.api import TIERS, Run, conv2d, matmul
from beatmatch.commands.common import (
    PROBLEM,
    CommandError,
    accounting_table,
    add_config,
    add_json,
    console,
    parse_config,
    stepping,
    write_json,
)
from beatmatch.commands.memory import add_memory, dram_lines, dram_records, timing_of
from beatmatch.compiler import compile_conv2d, compile_gemm
from beatmatch.compiler.conv import output_size
from beatmatch.compiler.options import PAD, window
from beatmatch.compiler.requant import fitting_requant
from beatmatch.config import Config
from beatmatch.fidelity import UNPROVEN
from beatmatch.numerics import requantise
from beatmatch.oracle import conv2d as exact_conv2d

MOST_VALUES = 1 << 26
"""Of an operand or a result: what a small computer's memory holds several of."""


def add_parsers(commands: argparse._SubParsersAction, make) -> None:
    """Declare the sub-commands."""
    parser = make(commands, "gemm", "multiply an MxK by a KxN matrix of random int8", _gemm, """
  beatmatch gemm 256 256 256 --config base
  beatmatch gemm 1 1024 1024 --config base --out int32 --json
  beatmatch gemm 64 64 64 --config small --save gemm.bmp
  beatmatch gemm 512 512 512 --tier fast --memory ddr4-2400@700
""")  # fmt: skip
    for name in ("M", "K", "N"):
        parser.add_argument(name, type=int)
    _common(parser)

    parser = make(commands, "conv", "convolve N images HxWxC with F filters, random int8", _conv, """
  beatmatch conv 32 8 8 16 16 --pad 1 --config small
  beatmatch conv 1 14 14 32 64 --kernel 3 --stride 2 --pad 1 --out int32
""")  # fmt: skip
    for name in ("N", "H", "W", "C", "F"):
        parser.add_argument(name, type=int)
    parser.add_argument("--kernel", type=int, default=3, help="rows and columns of the kernel (3)")
    parser.add_argument("--stride", type=int, default=1, help="of both dimensions (1)")
    parser.add_argument("--pad", type=int, default=0, help="on all four sides (0)")
    parser.add_argument("--dilation", type=int, default=1, help="of both dimensions (1)")
    parser.add_argument("--pad-value", type=int, default=0, help="what padding holds (0)")
    _common(parser)


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", choices=("int8", "int32"), default="int8", help="type of the result (int8)")
    parser.add_argument("--tier", choices=TIERS, default="stepped", help="model tier (stepped); see docs/tiers.md")
    parser.add_argument("--seed", type=int, default=1, help="of the operands (1)")
    add_memory(parser, "the preset's")
    parser.add_argument("--save", metavar="FILE", help="write the program file too")
    add_config(parser, "base")
    add_json(parser)


def _limited(**tensors: int) -> None:
    for name, values in tensors.items():
        if values > MOST_VALUES:
            raise CommandError(f"{name} has {values} values; it may have at most {MOST_VALUES}.")


def _positive(arguments: argparse.Namespace, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(arguments, name)
        if not 1 <= value <= 1 << 20:
            raise CommandError(f"{name} is {value}; it must be from 1 to 1048576.")


def _random(seed: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    if seed < 0:
        raise CommandError(f"seed is {seed}; it must be 0 or more.")
    rng = np.random.default_rng(seed)
    return [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]


def _gemm(arguments: argparse.Namespace) -> int:
    _positive(arguments, ("M", "K", "N"))
    config, timing = parse_config(arguments.config), timing_of(arguments)
    m, k, n = arguments.M, arguments.K, arguments.N
    _limited(**{"The left operand, M x K,": m * k, "The right operand, K x N,": k * n, "The result, M x N,": m * n})
    a, b = _random(arguments.seed, (m, k), (k, n))
    if arguments.save:
        _save(compile_gemm(a, b, config, arguments.out, timing=timing), arguments.save)
    with stepping(f"gemm {m} {k} {n}", arguments.tier == "functional") as progress:
        run = matmul(a, b, config, arguments.out, tier=arguments.tier, timing=timing, progress=progress)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    if arguments.out == "int8":
        expected = requantise(expected, 0, 1, fitting_requant(k).shift)
    tiles = -(-k // config.rows) * -(-n // config.cols)
    item = 4 if arguments.out == "int32" else 1
    bound = _bound(config, max(m, config.rows) * tiles, m * k + k * n, m * n * item)
    title = f"gemm {m} x {k} x {n} -> {arguments.out}"
    return _report(arguments, config, run, expected, bound, title)


def _conv(arguments: argparse.Namespace) -> int:
    _positive(arguments, ("N", "H", "W", "C", "F", "kernel", "stride", "dilation"))
    config, timing = parse_config(arguments.config), timing_of(arguments)
    kernel, stride, dilation = arguments.kernel, arguments.stride, arguments.dilation
    if not 0 <= arguments.pad <= PAD:
        raise CommandError(f"pad is {arguments.pad}; it must be from 0 to {PAD}.")
    window((kernel, kernel), (stride, stride), (arguments.pad,) * 4, (dilation, dilation), arguments.pad_value)
    height, width = (
        output_size(size, kernel, stride, arguments.pad, arguments.pad, dilation) for size in (arguments.H, arguments.W)
    )
    _limited(
        **{
            "The batch of images": arguments.N * arguments.H * arguments.W * arguments.C,
            "The set of filters": kernel * kernel * arguments.C * arguments.F,
            "The result": arguments.N * height * width * arguments.F,
        }
    )
    shape = (arguments.N, arguments.H, arguments.W, arguments.C)
    x, w = _random(arguments.seed, shape, (kernel, kernel, arguments.C, arguments.F))
    options = {
        "stride": (stride, stride),
        "pads": (arguments.pad,) * 4,
        "dilation": (dilation, dilation),
        "pad_value": arguments.pad_value,
    }
    if arguments.save:
        _save(compile_conv2d(x, w, config, arguments.out, timing=timing, **options), arguments.save)
    title = f"conv {'x'.join(map(str, shape))}, {arguments.F} filters {kernel}x{kernel} -> {arguments.out}"
    with stepping(title, arguments.tier == "functional") as progress:
        run = conv2d(x, w, config, arguments.out, tier=arguments.tier, timing=timing, progress=progress, **options)
    expected = exact_conv2d(x, w, **options)
    if arguments.out == "int8":
        expected = requantise(expected, 0, 1, fitting_requant(kernel * kernel * arguments.C).shift)
    tiles = kernel * kernel * -(-arguments.C // config.rows) * -(-arguments.F // config.cols)
    item = 4 if arguments.out == "int32" else 1
    rows = arguments.N * max(height * width, config.rows) * tiles
    bound = _bound(config, rows, x.size + w.size, expected.size * item)
    return _report(arguments, config, run, expected, bound, title)


def _bound(config: Config, rows: int, read: int, written: int) -> int:
    """No run can be faster: rows through the array, beats in, beats out."""
    return max(rows, -(-read // config.mem_bytes), -(-written // config.mem_bytes))


def _save(program, path: str) -> None:
    try:
        program.save(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from None


def _report(arguments, config: Config, run: Run, expected: np.ndarray, bound: int, title: str) -> int:
    mismatches = int((run.values["out"] != expected).sum())
    record = {
        "title": title,
        "config": config.to_dict(),
        "tier": run.tier,
        "fidelity": run.fidelity,
        "reason": run.reason,
        "cycles": run.cycles,
        "bound": bound,
        "ratio": run.cycles / bound if run.cycles else None,
        "mismatches": mismatches,
        "overflow": run.overflow,
        "accounting": run.accounting.to_dict() if run.accounting else None,
        "dram": dram_records(run.dram),
    }
    if arguments.json:
        write_json(record, arguments.json)
    else:
        out = console()
        out.print(f"{title} on {config.name} ({config.rows}x{config.cols}, {config.mem_bits} bit)", markup=False)
        if run.cycles:
            out.print(f"{run.cycles:,} cycles, {run.cycles / bound:.3f} x the bound of {bound:,} ({run.fidelity})")
            if run.fidelity == UNPROVEN:
                out.print(f"unproven: {run.reason}", markup=False)
            out.print(accounting_table(run.accounting))
        for line in dram_lines(run.dram):
            out.print(line)
        out.print(f"{mismatches} of {expected.size:,} values differ from numpy")
    if mismatches:
        print("beatmatch: the result is wrong.", file=sys.stderr)
        return PROBLEM
    return 0
