# SPDX-License-Identifier: Apache-2.0
"""`make replay RUN=sim_build/lockstep/<run>`: the failing program again, with waves around the divergence only."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from beatmatch.program import ProgramError
from tb.lockstep.drill import drill_down, rerun
from tb.lockstep.failure import Failure
from tb.lockstep.report import Divergence
from tb.lockstep.report import console as report_console
from tb.toolchain import ROOT, SIMULATORS

BEFORE, BEHIND = 40, 10
"""Cycles of waves around the divergence."""


def replay(
    folder: Path, before: int = BEFORE, behind: int = BEHIND, sim: str | None = None
) -> tuple[Divergence | None, Divergence, Path]:
    """Run the program of a folder again: the divergence seen now, the recorded one, and the wave file.

    `sim` is another simulator than the one of the recorded run; then the folder's report stays as it is.
    """
    failed = Failure.load(folder)
    other = sim not in (None, failed.sim)
    if other:
        failed = dataclasses.replace(failed, sim=sim)
    cycle = failed.divergence.cycle
    found, waves = rerun(failed, max(0, cycle - before), cycle + behind, "waves")
    if found is not None and not other and failed.divergence.register is None and _same(found, failed.divergence):
        drill_down(failed)
        failed.save()
    return found, failed.divergence, waves


def _same(found: Divergence, recorded: Divergence) -> bool:
    return (found.cycle, found.station, found.slot) == (recorded.cycle, recorded.station, recorded.slot)


def main(argv: Sequence[str] | None = None) -> int:
    """0 if the same divergence was seen again, 1 if not, 2 if the folder is not one of a failing run."""
    parser = argparse.ArgumentParser(prog="python -m tb.lockstep.replay", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of the failing run (sim_build/lockstep/...)")
    parser.add_argument("--before", type=int, default=BEFORE, help=f"cycles of waves before the divergence ({BEFORE})")
    parser.add_argument("--behind", type=int, default=BEHIND, help=f"cycles of waves behind it ({BEHIND})")
    parser.add_argument("--sim", choices=SIMULATORS, help="another simulator than the one that it failed on")
    arguments = parser.parse_args(argv)
    console = report_console()
    try:
        found, recorded, waves = replay(arguments.run, arguments.before, arguments.behind, arguments.sim)
    except (OSError, ProgramError, json.JSONDecodeError, KeyError):
        print(f"{arguments.run} is no folder of a failing run; they stand in sim_build/lockstep/.", file=sys.stderr)
        return 2
    console.print(recorded.renderable())
    shown = waves.relative_to(ROOT) if waves.is_relative_to(ROOT) else waves
    console.print(f"waves: {shown}", highlight=False, soft_wrap=True)
    if found is None:
        console.print("[bold]Both sides agree now.[/]")
        return 1
    same = _same(found, recorded)
    console.print("The same divergence was seen again." if same else f"Now it is another one: {found.headline()}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
