# SPDX-License-Identifier: Apache-2.0
"""Speed of the lockstep run: ``python -m tb.lockstep.bench [--config base]``.

Model, simulator and comparison are timed apart in one process on one core, over the same busy matrix product. The
times are processor time, so that they mean something on a loaded machine too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from beatmatch.compiler import compile_gemm
from beatmatch.config import Config, preset
from beatmatch.program import Program
from tb.lockstep import runner
from tb.lockstep.job import Item

SIZE = 192


def busy_program(config: Config, size: int = SIZE) -> Program:
    """A square matrix product that keeps all engines busy, with int8 results."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, (size, size), dtype=np.int8) for _ in range(2))
    return compile_gemm(a, b, config, out="int8")


def measure(config: Config, sim: str, size: int = SIZE) -> dict[str, float]:
    """Cycles per second of the whole, and microseconds per cycle of its parts."""
    built = runner.build(config, sim)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "busy.bmp"
        busy_program(config, size).save(path)
        warm, result = runner.run(built, config, [Item(index, {"file": str(path)}) for index in range(2)])
    if warm.divergence or result.divergence:
        raise RuntimeError("Model and RTL differ: run `beatmatch lockstep` first.")
    rest = result.cpu_seconds - result.model_seconds - result.transport_seconds
    micro = {
        name: 1e6 * value / result.cycles
        for name, value in (
            ("model", result.model_seconds),
            ("simulator and transport", result.transport_seconds),
            ("comparison", rest),
        )
    }
    return {
        "cycles": result.cycles,
        "cycles_per_second": result.cycles / result.cpu_seconds,
        "model_cycles_per_second": result.cycles / result.model_seconds,
        "simulator_cycles_per_second": result.cycles / result.transport_seconds,
        **{f"us_per_cycle: {name}": value for name, value in micro.items()},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and, if asked, write it."""
    parser = argparse.ArgumentParser(prog="python -m tb.lockstep.bench", description=__doc__)
    parser.add_argument("--config", default="base", help="preset (base)")
    parser.add_argument("--sim", default="verilator", choices=("verilator", "icarus"))
    parser.add_argument("--size", type=int, default=SIZE, help=f"rows, columns and depth of the product ({SIZE})")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args(argv)
    figures = measure(preset(arguments.config), arguments.sim, arguments.size)
    table = Table(
        title=f"lockstep at {arguments.config} under {arguments.sim}", title_justify="left", show_header=False
    )
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), f"{value:,.1f}" if value < 1000 else f"{value:,.0f}")
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
