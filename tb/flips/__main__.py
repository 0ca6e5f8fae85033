# SPDX-License-Identifier: Apache-2.0
"""Flip single bits in the state of the RTL, and see that the lockstep comparison flags every one that matters.

examples:
  python -m tb.flips                          the campaign of the report: 5,000 flips, 600 on both sides
  python -m tb.flips --flips 500 --both 0     a short one
  python -m tb.flips --seed 7 --json out.json another population, figures also in a file
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tb import sim, synth, toolchain
from tb.flips import campaign

PART = toolchain.SIM_BUILD / "report" / "parts" / "faults.json"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a campaign; 0 if there are no holes and both sides stayed in step."""
    summary, _, examples = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tb.flips",
        description=summary,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--flips", type=int, default=5000, help="flips in the RTL alone (5000)")
    parser.add_argument("--both", type=int, default=600, help="flips made in RTL and model (600)")
    parser.add_argument(
        "--seed", type=int, default=toolchain.base_seed(), help="base seed (COCOTB_RANDOM_SEED, else 1)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="simulators at a time (2)")
    parser.add_argument("--json", type=Path, help=f"write the figures here, besides {PART.relative_to(toolchain.ROOT)}")
    options = parser.parse_args(argv)
    if min(options.flips, options.both) < 0 or options.flips + options.both < 1 or options.jobs < 1:
        parser.error("--flips and --both must be 0 or more and not both 0, --jobs 1 or more.")
    console = Console(stderr=True)
    try:
        result = _campaign(options, console)
    except (sim.SimulationError, synth.SynthesisError, toolchain.ToolError) as error:
        print(error, file=sys.stderr)
        return 2
    text = json.dumps(result, indent=1) + "\n"
    PART.parent.mkdir(parents=True, exist_ok=True)
    for path in filter(None, (PART, options.json)):
        path.write_text(text)
    _print(result)
    return 1 if result["holes"] or result["same_on_both"]["apart"] or result["flagged"] == 0 < options.flips else 0


def _children() -> float:
    """Processor time of all processes that have ended; a loaded machine stretches the other clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _campaign(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    began = time.monotonic()
    with console.status("finding the state and building the benches"):
        plans = campaign.plan(options.flips, options.both, options.seed, options.jobs)
    built, before = time.monotonic(), _children()
    expected = sum(
        sum(count for _, count in job.programs) + job.poison * len(job.programs) + sum(count for _, count in job.both)
        for item in plans
        for job in item.jobs
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("flips", total=expected)
        results = campaign.run(plans, options.jobs, lambda count: bar.update(task, completed=count))
        bar.update(task, completed=expected)
    arguments = f"--flips {options.flips} --both {options.both} --seed {options.seed} --jobs {options.jobs}"
    return {
        "command": f"python -m tb.flips {arguments}",
        "seconds": round(time.monotonic() - built, 1),
        "cpu_seconds": round(_children() - before, 1),
        "build_seconds": round(built - began, 1),
        "seed": options.seed,
        **campaign.figures(results, {item.config.name: item.state for item in plans}),
    }


def _cells(row: dict[str, Any]) -> list[str]:
    return [f"{value:,}" for value in (row["flips"], row["flagged"], row["masked"], row["unmasked"] - row["flagged"])]


def _print(result: dict[str, Any]) -> None:
    table = Table(
        title=f"{result['flips']:,} flips in {result['seconds']} s ({result['cpu_seconds']} s of processor)",
        title_justify="left",
    )
    for column in ("unit", "flips", "flagged", "masked", "holes"):
        table.add_column(column, justify="left" if column == "unit" else "right")
    for unit, row in result["by_unit"].items():
        table.add_row(unit, *_cells(row))
    table.add_section()
    table.add_row("all", *_cells(result))
    console = Console()
    console.print(table)
    registers, both = result["latency"]["registers"], result["same_on_both"]
    console.print(f"median latency: {result['median_latency_cycles']} cycles, in registers {registers['median']}")
    console.print("masked: " + ", ".join(f"{count:,} {how}" for how, count in result["masked_by"].items()))
    dead = result["dead_storage"]
    console.print(f"storage that a reset leaves, at random: {dead['runs']} runs, {len(dead['differing'])} differ")
    console.print(
        f"same flip on both sides: {both['in_step']} of {both['flips']} in step, {both['with_effect']} had effect"
    )
    for hole in result["holes"]:
        console.print(
            f"[red]hole:[/] {hole['variable']} bit {hole['bit']} in cycle {hole['cycle']} of seed {hole['seed']}"
        )
    for apart in both["apart"]:
        console.print(f"[red]apart in cycle {apart['first']}:[/] {apart}")


if __name__ == "__main__":
    sys.exit(main())
