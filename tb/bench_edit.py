# SPDX-License-Identifier: Apache-2.0
"""`make bench-edit`: from a one-line change in the processing elements to the first divergence report.

The change is made in a copy of ``rtl/``, so the repository stays as it is. Everything that a designer waits for is
counted: the build of the changed design, the start of the simulator, the run, and the report.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from beatmatch.config import preset
from tb.lockstep import plant, report, runner
from tb.lockstep.plant import Edit, Fault

TARGET_SECONDS = 60
CHANGE = Edit(
    "matmul/bm_matmul_row.sv",
    "sum_q[32*c+:32]     <= sum_i[32*c+:32] + 32'($signed(product_q[16*c+:16]));",
    "sum_q[32*c+:32]     <= sum_i[32*c+:32] - 32'($signed(product_q[16*c+:16]));",
)


def main(argv: Sequence[str] | None = None) -> int:
    """0 if the change was found in time, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m tb.bench_edit", description=__doc__)
    parser.add_argument("--config", default="base", help="preset (base)")
    parser.add_argument("--sim", default="verilator", choices=("verilator", "icarus"))
    arguments = parser.parse_args(argv)
    console = report.console()
    config = preset(arguments.config)
    # A comment that was never there before keeps the build out of every cache, as a designer's edit would be.
    change = Edit(CHANGE.file, CHANGE.old, f"{CHANGE.new}  // {time.time_ns()}")
    console.print(f"rtl/{CHANGE.file}:\n- {CHANGE.old}\n+ {CHANGE.new}\n", markup=False, highlight=False)
    fault = Fault("edit", "products are subtracted", ("digest",), ("matmul",), config, change)
    started = time.monotonic()
    folder: Path = runner.RUNS / f"bench-edit-{arguments.sim}"
    found, _ = plant.catch(fault, arguments.sim, folder=folder)
    seconds = time.monotonic() - started
    if found is None:
        console.print("[bold red]The change was not found.[/]")
        return 1
    console.print(found.renderable())
    console.print(f"{seconds:.1f} s from the change to this report (target {TARGET_SECONDS} s)", highlight=False)
    return 0 if seconds <= TARGET_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
