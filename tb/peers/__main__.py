# SPDX-License-Identifier: Apache-2.0
"""Beatmatch beside SCALE-Sim 3.0.0 and ZigZag 3.9.1: processor time, memory and cycles of the same layers.

Every run is a process of its own under limits. The first run installs each tool into an environment of its own in
sim_build/peers. The record and the tables of docs/peers.md are written; the exit code is 1 if a bar is missed or a tool
fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tb.peers import table
from tb.peers.bench import OURS, TOOLS, WORKLOADS, Workload, measure, warm
from tb.peers.environments import PeerError

EXAMPLES = """
examples:
  python -m tb.peers                               everything: ten minutes on a quiet machine, 9 GB for SCALE-Sim
  python -m tb.peers --only 1x1000x2048 resnet18   a part; the rest of the record stands
  python -m tb.peers --tools zigzag --json out.json
  python -m tb.peers --table                       measure nothing; write the page from the record
"""
NAMES = [workload.name for workload in WORKLOADS]


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    result = argparse.ArgumentParser(
        prog="python -m tb.peers", description=__doc__, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    result.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="WORKLOAD", help=", ".join(NAMES))
    result.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS), help="default: all")
    result.add_argument("--seconds", type=int, default=3600, help="limit of each run by the wall clock (3600)")
    result.add_argument("--json", type=Path, help="write the record here, and leave the repository's and the page")
    result.add_argument("--table", action="store_true", help="measure nothing; write the page from the record")
    result.add_argument("--check", action="store_true", help="write nothing; fail if the page is not the record's")
    return result


def jobs(options: argparse.Namespace) -> list[tuple[Workload, str]]:
    """What to run, the short ones first."""
    wanted = [workload for workload in reversed(WORKLOADS) if workload.name in options.only]
    return [(one, tool) for one in wanted for tool in (OURS, *one.peers) if tool in options.tools]


def measure_all(record: dict, path: Path, wanted: list[tuple[Workload, str]], seconds: int, console: Console) -> list:
    """Fill the record, saving after each run; returns sentences about what failed."""
    failures = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("the fast tier's machine code", total=len(wanted))
        if any(tool == OURS for _, tool in wanted):
            warm(seconds)
        for workload, tool in wanted:
            progress.update(task, description=f"{table.TITLES[tool]}: {workload.name}")
            try:
                found = measure(workload, tool, seconds)
            except PeerError as error:
                failures.append(str(error))
            else:
                record["runs"].setdefault(workload.name, {})[tool] = found
                record["machine"] = {
                    "python": platform.python_version(), "cores": os.cpu_count(), "system": platform.machine(),
                }  # fmt: skip
                path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
                console.print(
                    f"{table.TITLES[tool]}: {workload.name}: {found['cycles']:,} cycles, {found['cpu_seconds']} CPU s, "
                    f"{found['peak_mb']} MB",
                    highlight=False,
                )
            progress.advance(task)
    return failures


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write or check."""
    options = parser().parse_args(argv)
    console = Console(stderr=True)
    path = options.json or table.RECORD
    record = json.loads(path.read_text()) if path.exists() else {"runs": {}}
    failures = []
    if not options.table and not options.check:
        try:
            failures = measure_all(record, path, jobs(options), options.seconds, console) + table.missed(record)
        except PeerError as error:
            failures = [str(error)]
    if not options.json:
        text = table.PAGE.read_text()
        wanted = table.with_tables(text, record)
        if options.check and text != wanted:
            failures.append("docs/peers.md shows other tables than docs/data/peers.json: python -m tb.peers --table.")
        elif text != wanted:
            table.PAGE.write_text(wanted)
    for failure in failures:
        console.print(failure, markup=False, highlight=False)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
