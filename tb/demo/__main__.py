# SPDX-License-Identifier: Apache-2.0
"""Digits on the float network's int8 copy: untimed, clock by clock, and on the RTL in lockstep.

Usage: python -m tb.demo [--config NAME] [--sim verilator|icarus] [--batch N]. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from beatmatch import digits
from beatmatch.compiler import CompileError
from beatmatch.config import Config, ConfigError, preset
from beatmatch.report import Section, page, perfetto
from tb import toolchain
from tb.demo import networks, rtl, summary
from tb.demo.networks import Case
from tb.lockstep.failure import Failure
from tb.lockstep.report import Divergence
from tb.sim import SimulationError
from tb.toolchain import ToolError

FOLDER = toolchain.SIM_BUILD / "demo"
BATCH = {"verilator": {"cnn": 16, "mlp": 360}, "icarus": {"cnn": 1, "mlp": 16}}
"""Images of the timed runs: with a fast simulator the small network takes its whole test set through the RTL."""
RESET_CYCLES = 200
"""Cycles of a run before start and after done, about: only the progress bars use it."""


def main(arguments: list[str] | None = None) -> int:
    """Run the demo and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tb.demo", description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="small", help="preset of the core (small)")
    parser.add_argument("--sim", choices=("verilator", "icarus"), default=os.environ.get("SIM") or "verilator")
    parser.add_argument(
        "--batch", type=int, help="images of every timed run (verilator: cnn 16, mlp 360; icarus: cnn 1, mlp 16)"
    )
    options = parser.parse_args(arguments)
    console = Console()
    try:
        config = preset(options.config)
        cases = [networks.prepare(name, options.batch or BATCH[options.sim][name], config) for name in digits.NAMES]
        return run(console, config, options.sim, cases)
    except (ConfigError, CompileError, ToolError, SimulationError) as error:
        console.print(str(error), style="bold red", markup=False, highlight=False)
        return 2


def run(console: Console, config: Config, simulator: str, cases: list[Case]) -> int:
    """Both sides at the same time, then the figures and the files."""
    started = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    programs = []
    for case in cases:
        case.program.save(FOLDER / f"{case.name}.bmp")
        programs.append(str(FOLDER / f"{case.name}.bmp"))
    bars = (TextColumn("{task.description}", justify="left"), BarColumn(), TextColumn("{task.fields[shown]}"))
    with Progress(*bars, TimeElapsedColumn(), console=console) as progress, _process() as pool:
        building = pool.submit(rtl.build, config, simulator)
        running = pool.submit(rtl.run, config, simulator, programs, FOLDER / "run")
        watch = _Watch(progress, simulator, cases, building, running)
        for case in cases:
            _model(case, config, progress, watch)
        outcomes = watch.finish()
    results = dict(zip((case.name for case in cases), [*outcomes, *[None] * len(cases)], strict=False))
    found = {case.name: summary.figures(case, results[case.name]) for case in cases}
    files = write(config, simulator, cases, found, time.monotonic() - started)
    return show(console, config, simulator, cases, outcomes, found, files, time.monotonic() - started)


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


class _Watch:
    """The bars of the process that builds and runs the RTL, moved whenever the model's side comes by."""

    def __init__(
        self, progress: Progress, simulator: str, cases: list[Case], building: Future, running: Future
    ) -> None:
        self.progress, self.building, self.running = progress, building, running
        self.folder = FOLDER / "run"
        self.expected = sum(case.streamed_rows() + RESET_CYCLES for case in cases)
        self.build = progress.add_task(f"RTL: build for {simulator}", total=None, shown="")
        self.bar = progress.add_task("RTL: in lockstep with the model", total=self.expected, shown="", start=False)

    def look(self) -> None:
        """Show where the other process stands."""
        progress = self.progress
        if not self.building.done():
            return
        if not progress.tasks[self.build].finished:
            seconds = self.building.result()
            shown = f"{seconds:.0f} s" if seconds else "already there"
            progress.update(self.build, total=1, completed=1, shown=shown)
            progress.start_task(self.bar)
        if not self.running.done():
            _move(progress, self.bar, rtl.cycles_done(self.folder), self.expected, "cycles")

    def finish(self) -> list[rtl.Outcome]:
        """Wait for the end; raises what the process raised."""
        while not self.running.done():
            self.look()
            time.sleep(0.1)
        outcomes = self.running.result()
        self.look()
        _end(self.progress, self.bar, rtl.cycles_done(self.folder), "cycles")
        return outcomes


def _move(progress: Progress, task: TaskID, done: int, total: int, unit: str) -> None:
    """Move a bar whose total is only a lower bound: it waits near its end."""
    progress.update(task, completed=min(done, int(0.99 * total)), shown=f"{done:,} {unit}")


def _end(progress: Progress, task: TaskID, done: int, unit: str) -> None:
    progress.update(task, total=max(done, 1), completed=max(done, 1), shown=f"{done:,} {unit}")


def _model(case: Case, config: Config, progress: Progress, watch: _Watch) -> None:
    total = len(case.network.images)
    task = progress.add_task(f"{case.name}: whole test set, untimed", total=total, shown="")

    def images(done: int) -> None:
        progress.update(task, completed=done, shown=f"{done} images")
        watch.look()

    networks.run_functional(case, config, images)
    expected = case.streamed_rows()
    task = progress.add_task(f"{case.name}: {case.batch} images, clock by clock", total=expected, shown="")

    def cycles(done: int) -> None:
        _move(progress, task, done, expected, "cycles")
        watch.look()

    networks.run_stepped(case, cycles)
    _end(progress, task, case.recording.cycles, "cycles")


def write(config: Config, simulator: str, cases: list[Case], found: dict, seconds: float) -> list[Path]:
    """Write summary, page and trace; returns their paths."""
    timelines = [(case.name, case.timeline()) for case in cases]
    files = [FOLDER / name for name in ("summary.json", "timeline.html", "trace.perfetto.json")]
    content = {
        "config": config.to_dict(),
        "simulator": simulator,
        "mismatches": summary.mismatches(found),
        "seconds": round(seconds, 1),
        "networks": found,
        "files": [str(path.relative_to(toolchain.ROOT)) for path in files],
    }
    files[0].write_text(json.dumps(content, indent=2) + "\n")
    sections = [
        Section(case.name, timeline, case.stepped.accounting, summary.rows(found[case.name]), _tiles(found[case.name]))
        for case, (_, timeline) in zip(cases, timelines, strict=True)
    ]
    lead = (
        f"Handwritten digits on preset {config.name}: {config.rows} x {config.cols} array, {config.mem_bits}-bit memory"
    )
    files[1].write_text(page("Beatmatch demo", sections, lead), encoding="utf-8")
    perfetto.write(files[2], timelines)
    return files


def _tiles(found: dict) -> dict[str, str]:
    lockstep = found["lockstep"]
    compared = lockstep["events"] + lockstep["digests"]
    return {"events and digests compared": f"{compared:,}", "mismatches": f"{lockstep['mismatches']}"}


def show(
    console: Console,
    config: Config,
    simulator: str,
    cases: list[Case],
    outcomes: list[rtl.Outcome],
    found: dict,
    files: list[Path],
    seconds: float,
) -> int:
    """Print the table (or what went wrong first) and the files; returns the exit code."""
    for case, outcome in zip(cases, outcomes, strict=False):
        if outcome.lockstep.divergence:
            divergence = Divergence.from_dict(outcome.lockstep.divergence)
            Failure(FOLDER / f"failure-{case.name}", case.program, simulator, divergence).save()
            console.print(divergence.renderable())
    wrong = summary.mismatches(found)
    title = f"Digits on preset {config.name} ({config.rows} x {config.cols}), RTL under {simulator}"
    console.print(summary.table(title, found))
    console.print("The RTL's logits come from the write beats in its own trace records.", style="dim")
    for path in files:
        console.print(f"  {path.relative_to(toolchain.ROOT)}", highlight=False)
    verdict = "model and RTL agree on every cycle" if not wrong else f"{wrong} mismatches"
    console.print(f"{verdict} ({seconds:.0f} s)", style="bold red" if wrong else "bold green", highlight=False)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
