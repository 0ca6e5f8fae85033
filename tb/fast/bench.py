# SPDX-License-Identifier: Apache-2.0
"""Speed of the tiers side by side: ``python -m tb.fast.bench [--config base]``.

The same product of random int8 matrices on the stepped and on the fast tier, in processor time of one core; the first
call of the fast tier, which may have to make its machine code, is timed apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from beatmatch.compiler import compile_gemm
from beatmatch.config import PRESETS, Config, preset
from beatmatch.fast import run_fast
from beatmatch.fast.compiled import COMPILED
from beatmatch.machine import run_stepped
from beatmatch.program import Program

EXAMPLES = """
examples:
  python -m tb.fast.bench
  python -m tb.fast.bench --config mxu128 --fast-size 2048 --json tiers.json
  BEATMATCH_NUMBA=0 python -m tb.fast.bench --fast-size 96     without numba
"""
STEPPED, FAST = 96, 512
REPEATS = 3


def product(config: Config, size: int) -> Program:
    """A square matrix product with int8 results."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, (size, size), dtype=np.int8) for _ in range(2))
    return compile_gemm(a, b, config, out="int8")


def _timed(call, repeats: int = 1) -> tuple[object, float]:
    """A result, and the least processor time of some calls."""
    best = None
    for _ in range(repeats):
        began = time.process_time()
        result = call()
        best = min(filter(None, (best, time.process_time() - began)))
    return result, best


def measure(config: Config, stepped_size: int = STEPPED, fast_size: int = FAST) -> dict:
    """Simulated cycles per second of processor time on both tiers."""
    small, large = product(config, stepped_size), product(config, fast_size)
    _, first = _timed(lambda: run_fast(small))
    stepped, stepped_seconds = _timed(lambda: run_stepped(small))
    same = run_fast(small)
    if stepped.accounting != same.accounting:
        raise RuntimeError("The tiers differ: run `python -m tb.fast` first.")
    fast, fast_seconds = _timed(lambda: run_fast(large), REPEATS)
    _, counting_seconds = _timed(lambda: run_fast(large, events=False), REPEATS)
    intervals = sum(len(fast.events.intervals(*slot)) for slot in fast.events.slots())
    return {
        "compiled": COMPILED,
        "first_call_seconds": first,
        "stepped_cycles": stepped.cycles,
        "stepped_cycles_per_second": stepped.cycles / stepped_seconds,
        "fast_cycles": fast.cycles,
        "fast_cycles_per_second": fast.cycles / fast_seconds,
        "fast_cycles_per_second_without_events": fast.cycles / counting_seconds,
        "ratio": fast.cycles / fast_seconds / (stepped.cycles / stepped_seconds),
        "events": len(fast.events),
        "intervals": intervals,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and, if asked, write it."""
    parser = argparse.ArgumentParser(
        prog="python -m tb.fast.bench",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", default="base", choices=PRESETS, help="preset (base)")
    parser.add_argument("--stepped-size", type=int, default=STEPPED, help=f"size of the stepped product ({STEPPED})")
    parser.add_argument("--fast-size", type=int, default=FAST, help=f"size of the fast product ({FAST})")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args(argv)
    if min(arguments.stepped_size, arguments.fast_size) < 1:
        parser.error("a product has at least one row")
    with Console(stderr=True).status(f"running products on both tiers at {arguments.config}"):
        figures = measure(preset(arguments.config), arguments.stepped_size, arguments.fast_size)
    table = Table(title=f"tiers at {arguments.config}", title_justify="left", show_header=False)
    for name, value in figures.items():
        shown = str(value) if isinstance(value, bool) else f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"
        table.add_row(name.replace("_", " "), shown)
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
