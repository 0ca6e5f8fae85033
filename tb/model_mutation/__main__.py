# SPDX-License-Identifier: Apache-2.0
"""Mutants of the golden model, in memory: ``python -m tb.model_mutation``."""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tb.model_mutation import recording, server, summary
from tb.model_mutation.judge import Judge, warm
from tb.model_mutation.mutants import Mutant, all_mutants, sample
from tb.toolchain import SIM_BUILD

PART = SIM_BUILD / "report" / "parts" / "mutants-model.json"
COUNT, SEED, PROGRAMS = 520, 1, 10
GOAL = 98.0
"""Percent of the mutants that can be noticed."""
EXAMPLES = """
examples:
  python -m tb.model_mutation                        the sample of the sign-off report
  python -m tb.model_mutation --count 2000 --seed 7  a larger one, drawn otherwise
  python -m tb.model_mutation --file stations/load.py --count 100000   every mutant of a file
  python -m tb.model_mutation --id 1a2b3c4d5e        one mutant, by its id
"""


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """The mutants that the command line asks for."""
    if arguments.id:
        return [mutant for mutant in all_mutants() if mutant.id in arguments.id]
    mutants = sample(arguments.count, arguments.seed)
    return [mutant for mutant in mutants if not arguments.file or mutant.file in arguments.file]


def judged(mutants: Sequence[Mutant], judge: Judge, jobs: int, console: Console, log=None) -> list[server.Verdict]:
    """Verdicts, with a progress bar; the unchanged model first. `log` gets a line per mutant at once."""
    warm()
    allowed = 20 + 4 * int(server.baseline(judge, ("machine.py", "functional.py")))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("mutants", total=len(mutants))
        living = 0

        def step(verdict: server.Verdict) -> None:
            nonlocal living
            living += verdict.witness is None
            if log is not None:
                said = "alive" if verdict.witness is None else f"{verdict.witness.name}: {verdict.witness.detail}"
                print(verdict.mutant.id, verdict.mutant.file, f"{verdict.seconds:.1f}", said, file=log, flush=True)
            progress.update(task, advance=1, description=f"mutants, {living} alive")

        return server.run(mutants, judge, jobs, allowed, step)


def main(argv: Sequence[str] | None = None) -> int:
    """0 if enough mutants are killed, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tb.model_mutation",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=COUNT, help=f"mutants, drawn over all functions ({COUNT})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the sample and the programs ({SEED})")
    parser.add_argument("--file", action="append", help="only mutants of this file below model/beatmatch/")
    parser.add_argument("--id", action="append", help="only this mutant")
    parser.add_argument("--programs", type=int, default=PROGRAMS, help=f"random ones per configuration ({PROGRAMS})")
    parser.add_argument("--sim", default="icarus", choices=("icarus", "verilator"), help="records the RTL (icarus)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--json", type=Path, default=PART, help="where the figures go")
    parser.add_argument("--log", type=Path, help="a line per mutant as it is judged")
    arguments = parser.parse_args(argv)
    console = Console(stderr=True)
    mutants = chosen(arguments)
    if not mutants:
        parser.error("no mutant fits: name a file of the golden model or an id of the report")
    started = monotonic()
    with console.status("recording the RTL (once per change of RTL or programs)"):
        recordings = recording.record(recording.programs(SEED, arguments.programs), arguments.sim)
    recorded = monotonic()
    with arguments.log.open("w") if arguments.log else nullcontext() as log:
        verdicts = judged(mutants, Judge(recordings), arguments.jobs, console, log)
    command = " ".join(["python -m tb.model_mutation", *(sys.argv[1:] if argv is None else argv)])
    part = summary.figures(verdicts, monotonic() - recorded, recorded - started, command)
    cycles = sum(len(item.records) for item in recordings)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    part["cpu_seconds"] = round(used.ru_utime + used.ru_stime, 1)  # of the mutants, and of recording if that was due
    part |= {"candidates": len(all_mutants()), "recorded_programs": len(recordings), "recorded_cycles": cycles}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(part, indent=1) + "\n")
    summary.show(part, Console())
    return 0 if part["score"] >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
