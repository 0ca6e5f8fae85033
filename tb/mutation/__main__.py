# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of the RTL: does the lockstep run notice every small change of the source?

examples:
  python -m tb.mutation                                    everything: all modules, three configurations, proofs
  python -m tb.mutation --modules bm_gearbox bm_fifo       the mutants of two modules
  python -m tb.mutation --every 20 --programs 20           a quick sample
  python -m tb.mutation --json mutants.json                also write the figures there
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tb import sim, toolchain
from tb.mutation import campaign, figures

PART = toolchain.SIM_BUILD / "report" / "parts" / "mutants-rtl.json"
SHOWN = 40
LINE_SECONDS = 60.0
"""Between two lines of a log."""


def parser() -> argparse.ArgumentParser:
    """The options; their defaults are those of the settings."""
    default = campaign.Settings()
    made = argparse.ArgumentParser(
        prog="python -m tb.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--modules", nargs="+", default=[], metavar="M", help="only mutants of these modules")
    made.add_argument("--every", type=int, default=default.every, metavar="N", help="only every N-th mutant (1)")
    made.add_argument(
        "--programs", type=int, default=default.programs, metavar="N", help="random programs per configuration (40)"
    )
    made.add_argument("--seed", type=int, default=default.seed, help="base seed of the random programs (1)")
    made.add_argument("--jobs", type=int, default=default.jobs, metavar="N", help="processes (2)")
    made.add_argument(
        "--seconds", type=int, default=default.seconds, metavar="S", help="processor time of ABC for a claim (1)"
    )
    made.add_argument("--no-proofs", action="store_true", help="do not try to explain survivors")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table and the holes, and write the report's part; the exit code is 1 if there are holes."""
    options = parser().parse_args(arguments)
    settings = campaign.Settings(
        programs=options.programs,
        seed=options.seed,
        jobs=options.jobs,
        modules=options.modules,
        every=options.every,
        seconds=options.seconds,
        proofs=not options.no_proofs,
    )
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
            tasks: dict[str, int] = {}
            said = [0.0]

            def show(text: str, done: int, total: int) -> None:
                if not console.is_terminal and (text not in tasks or time.monotonic() - said[0] > LINE_SECONDS):
                    count = f": {done:,} of {total:,}" if total else ""
                    console.print(f"{datetime.now():%H:%M:%S} {text}{count}", highlight=False, soft_wrap=True)
                    said[0] = time.monotonic()
                if text not in tasks:
                    tasks[text] = bars.add_task(text, total=total or None)
                bars.update(tasks[text], completed=done, total=total or None)

            result = campaign.run(settings, show)
    except (sim.SimulationError, toolchain.ToolError) as error:
        print(error, file=sys.stderr)
        return 1
    command = " ".join(["python -m tb.mutation", *(sys.argv[1:] if arguments is None else arguments)])
    found = figures.to_dict(result, command)
    if not options.modules and options.every == 1:
        figures.save(PART, found)
    if options.json:
        figures.save(options.json, found)
    _print(Console(), found)
    return 1 if found["holes"] else 0


def _print(console: Console, found: dict) -> None:
    kinds = ("total", "killed", "equivalent", "unreachable", "holes")
    title = f"mutants of the RTL ({found['seconds']} s, and {found['build_seconds']} s of builds)"
    table = Table(title=title)
    for column in ("module", *kinds):
        table.add_column(column, justify="left" if column == "module" else "right")
    for module, counts in found["by_module"].items():
        table.add_row(module, *(f"{counts[kind]:,}" for kind in kinds))
    table.add_section()
    table.add_row("all", *(f"{found[kind]:,}" for kind in kinds))
    console.print(table)
    holes = [item for item in found["survivors"] if item["status"] == "hole"]
    for item in holes[:SHOWN]:
        console.print(f"hole: {item['file']}:{item['line']}  {item['what']}", soft_wrap=True, markup=False)
    if len(holes) > SHOWN:
        console.print(f"... and {len(holes) - SHOWN} more holes: --json writes them all")


if __name__ == "__main__":
    sys.exit(main())
