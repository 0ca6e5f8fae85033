# SPDX-License-Identifier: Apache-2.0
"""`beatmatch lockstep`: one program or many random ones on model and RTL, compared in every cycle."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from beatmatch.commands.common import CONFIG_HELP, parse_config
from beatmatch.config import Config, ConfigError
from beatmatch.program import Program, ProgramError
from tb.lockstep import campaign, failure
from tb.lockstep.campaign import Batch, Summary
from tb.lockstep.drill import drill_down
from tb.lockstep.job import Item, Result
from tb.lockstep.model_side import program_of
from tb.lockstep.report import Divergence
from tb.lockstep.report import console as report_console
from tb.sim import SimulationError
from tb.toolchain import ToolError

CONFIGS = {"verilator": 6, "icarus": 30}
"""Random configurations unless told otherwise: a Verilator build takes much longer than one of Icarus."""
REPORTED = 1
"""Failures that are drilled into (which takes a build with waves) and printed; the others get a line each."""

EXAMPLES = """examples:
  beatmatch lockstep gemm.bmp                          one program file
  beatmatch lockstep --random 100 --seed 7             100 random programs over 6 random configurations
  beatmatch lockstep --random 300 --sim icarus --configs 30 --json lockstep.json
  beatmatch lockstep --random 50 --config base         all of them on one preset
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="beatmatch lockstep",
        description="Run programs on the stepped model and on the RTL and compare every trace word of every cycle.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("program", nargs="*", type=Path, help="program files")
    result.add_argument("--random", type=int, metavar="N", help="run N random programs")
    result.add_argument(
        "--seed", type=int, default=int(os.environ.get("COCOTB_RANDOM_SEED") or 1), help="base seed (1)"
    )
    result.add_argument("--sim", choices=tuple(CONFIGS), default=os.environ.get("SIM") or "verilator")
    result.add_argument("--configs", type=int, metavar="K", help="random configurations (verilator 6, icarus 30)")
    result.add_argument("--config", help=f"one configuration for all programs instead of random ones: {CONFIG_HELP}")
    result.add_argument("--json", type=Path, metavar="FILE", help="write the summary here")
    result.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="simulator processes at a time (2)"
    )
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 if both sides agreed, 1 if not, 2 if the arguments or the tools are unusable."""
    arguments = parser().parse_args(argv)
    console = report_console(stderr=True)
    try:
        if arguments.json:
            _make_room(arguments.json)
        batches = _batches(arguments)
        summary = _run(arguments, batches, console)
    except (ConfigError, ProgramError, ToolError, ValueError) as error:
        print(f"beatmatch: {error}", file=sys.stderr)
        return 2
    except SimulationError as error:
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return 2
    for result in summary.results:
        if result.divergence:
            _report(arguments, summary, result, console)
    console.print(_table(summary))
    if arguments.json:
        arguments.json.write_text(json.dumps(summary.to_dict(), indent=1) + "\n")
    return 1 if any(result.divergence for result in summary.results) else 0


def _make_room(path: Path) -> None:
    """Refuse a summary that cannot be written before the work is done, not after it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}.") from None


def _batches(arguments: argparse.Namespace) -> list[Batch]:
    if bool(arguments.program) == (arguments.random is not None):
        raise ValueError("Give either program files or --random N.")
    for name in ("random", "configs", "jobs"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise ValueError(f"--{name} is {value}; it must be 1 or more.")
    config: Config | None = parse_config(arguments.config) if arguments.config else None
    if arguments.program:
        batches: dict[str, Batch] = {}
        for index, path in enumerate(arguments.program):
            own = config or Program.load(path).config
            batch = batches.setdefault(own.digest(), Batch(own, []))
            batch.items.append(Item(index, {"file": str(path.resolve())}))
        return list(batches.values())
    count = CONFIGS[arguments.sim] if arguments.configs is None else arguments.configs
    return campaign.random_batches(arguments.random, count, arguments.seed, config)


def _run(arguments: argparse.Namespace, batches: list[Batch], console: Console) -> Summary:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"lockstep, {arguments.sim}", total=sum(len(batch.items) for batch in batches))

        def step(results: list[Result]) -> None:
            progress.advance(task, len(results))
            bad = sum(result.divergence is not None for result in results)
            if bad:
                progress.console.print(f"{bad} of {len(results)} programs diverged", style="bold red")

        return campaign.run(batches, arguments.sim, arguments.seed, workers=arguments.jobs, progress=step)


def _report(arguments: argparse.Namespace, summary: Summary, result: Result, console: Console) -> None:
    """Save a failing program and say what is wrong with it."""
    batch, item = next((b, i) for b in summary.batches for i in b.items if i.index == result.index)
    program = program_of(item.source, batch.config)
    folder = failure.folder_of(f"{arguments.sim}-{arguments.seed}-{program.digest()}")
    found = failure.Failure(folder, program, arguments.sim, Divergence.from_dict(result.divergence))
    found.save()
    if len(summary.failures) < REPORTED:
        with console.status("running the first one again, with waves, to name the register"):
            drill_down(found)
        found.save()
        console.print(found.divergence.renderable())
    else:
        console.print(f"also {found.divergence.headline()}\n  {found.divergence.replay}", markup=False, highlight=False)
    summary.failures.append(
        {
            "index": result.index,
            "headline": found.divergence.headline(),
            "kind": found.divergence.kind,
            "station": found.divergence.station,
            "slot": found.divergence.slot,
            "cycle": found.divergence.cycle,
            "replay": found.divergence.replay,
        }
    )


def _table(summary: Summary) -> Table:
    figures = summary.to_dict()
    table = Table(title=f"lockstep under {summary.sim}", title_justify="left", show_header=False)
    for name in ("programs", "configs", "cycles", "events", "digests", "mismatches", "seed", "seconds"):
        value = figures[name]
        table.add_row(name, f"{value:,}" if isinstance(value, int) and name != "seed" else str(value))
    table.columns[1].overflow = "fold"
    table.add_row("cycles/s", f"{figures['cycles_per_second']:,} (model and RTL on one core, builds not counted)")
    table.add_row("trace_sha256", figures["trace_sha256"])
    return table


if __name__ == "__main__":
    sys.exit(main())
