# SPDX-License-Identifier: Apache-2.0
"""`make replay RUN=sim_build/lockstep/<run>`: the failing program again, with waves around the divergence only."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from beatmatch.program import ProgramError
from tb.lockstep.drill import rerun
from tb.lockstep.failure import Failure
from tb.lockstep.report import Divergence

BEFORE, BEHIND = 40, 10
"""Cycles of waves around the divergence."""


def replay(folder: Path, before: int = BEFORE, behind: int = BEHIND) -> tuple[Divergence | None, Divergence, Path]:
    """Run the program of a folder again: the divergence seen now, the recorded one, and the wave file."""
    failed = Failure.load(folder)
    cycle = failed.divergence.cycle
    found, waves = rerun(failed, max(0, cycle - before), cycle + behind, "waves")
    return found, failed.divergence, waves


def main(argv: Sequence[str] | None = None) -> int:
    """0 if the same divergence was seen again, 1 if not, 2 if the folder is not one of a failing run."""
    parser = argparse.ArgumentParser(prog="python -m tb.lockstep.replay", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of the failing run (sim_build/lockstep/...)")
    parser.add_argument("--before", type=int, default=BEFORE, help=f"cycles of waves before the divergence ({BEFORE})")
    parser.add_argument("--behind", type=int, default=BEHIND, help=f"cycles of waves behind it ({BEHIND})")
    arguments = parser.parse_args(argv)
    console = Console()
    try:
        found, recorded, waves = replay(arguments.run, arguments.before, arguments.behind)
    except (OSError, ProgramError, json.JSONDecodeError, KeyError) as error:
        console.print(f"[bold red]error:[/] {arguments.run} holds no failing run: {error}", highlight=False)
        return 2
    console.print(recorded.renderable())
    console.print(f"waves: {waves}", highlight=False)
    if found is None:
        console.print("[bold]Both sides agree now.[/]")
        return 1
    same = (found.cycle, found.station, found.slot) == (recorded.cycle, recorded.station, recorded.slot)
    console.print("The same divergence was seen again." if same else f"Now it is another one: {found.headline()}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
