# SPDX-License-Identifier: Apache-2.0
"""Functional and code coverage of the suite, in lockstep, with a report.

    python -m tb.coverage                       everything: page, UCIS XML, figures for the sign-off report
    python -m tb.coverage --model               functional coverage on the model alone, in a minute
    python -m tb.coverage --json coverage.json
    python -m tb.coverage --replay narrow collide 3 1234      one program of the suite in lockstep

The exit code is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from tb import toolchain
from tb.coverage import code, exclusions, functional, html, runs, suite, ucis
from tb.coverage.collector import Coverage
from tb.coverage.functional import ENOUGH
from tb.coverage.groups import GROUPS
from tb.coverage.points import merge
from tb.coverage.side import CoveredSide

FOLDER = toolchain.SIM_BUILD / "report" / "coverage"
PART = toolchain.SIM_BUILD / "report" / "parts" / "coverage.json"
TARGETS = {"functional": 100.0, "line": 100.0, "branch": 100.0, "toggle": 98.0}
"""Percent."""


def _parser() -> argparse.ArgumentParser:
    title, _, examples = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tb.coverage",
        description=title,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", action="store_true", help="functional coverage only, from the model's records")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument(
        "--replay",
        nargs=4,
        metavar=("CONFIG", "KIND", "VARIANT", "SEED"),
        help="run one program of the suite in lockstep",
    )
    return parser


def _on_the_model(entries: list[suite.Entry], progress: Progress) -> list[runs.Ran]:
    """The suite on the model alone, one program after the other."""
    task = progress.add_task("Programs on the model", total=len(entries))
    found: dict[str, runs.Ran] = {}
    for entry in entries:
        ran = found.setdefault(entry.config, runs.Ran(entry.config, "model"))
        side = CoveredSide(entry, digest=False)
        cycles = sum(len(rows) for rows, _ in side.blocks())
        ran.programs, ran.cycles = ran.programs + 1, ran.cycles + cycles
        ran.hits.append((entry.seed, cycles, side.notes()["hits"]))
        progress.advance(task)
    return list(found.values())


def _in_lockstep(entries: list[suite.Entry], jobs: int, progress: Progress) -> list[runs.Ran]:
    task = progress.add_task("Configurations in lockstep", total=len({entry.config for entry in entries}))
    return runs.run_all(entries, jobs, lambda ran: progress.advance(task))


def _figures(ran: list[runs.Ran], report: functional.FunctionalReport, found: code.CodeReport | None) -> dict:
    """The part of the sign-off report."""
    figures: dict = {
        "functional": round(report.percent(), 3),
        "functional_hit": round(report.percent("hit"), 3),
        "bins": sum(item.bins for item in report.groups),
        "seeds_needed": ENOUGH,
        "programs": sum(item.programs for item in ran),
        "cycles": sum(item.cycles for item in ran),
        "configurations": [
            {"name": r.config, "simulator": r.simulator, "programs": r.programs, "cycles": r.cycles,
             "seconds": round(r.seconds, 1), "build_seconds": round(r.build_seconds, 1)} for r in ran
        ],
        "groups": [
            {"name": g.name, "kind": g.kind, "description": g.description, "bins": g.bins, "hit": g.hit, "hit3": g.hit3}
            for g in report.groups
        ],
        "holes": [{"group": name, "bin": label} for name, label in report.holes],
        "thin": [{"group": name, "bin": label} for name, label in report.thin],
        "exclusions": [
            {"group": e.group, "bin": e.bin, "category": e.category, "reason": e.reason} for e in report.exclusions
        ],
    }  # fmt: skip
    if found is not None:
        for kind in ("line", "branch", "toggle"):
            tally = found.total(kind)
            figures |= {
                kind: round(tally.percent, 3),
                f"{kind}_points": tally.total,
                f"{kind}_missed": tally.total - tally.hit,
            }
        figures["constant_toggles"] = found.constant
        figures["waivers"] = len(found.waived)
        figures["waiver_rows"] = [
            {"file": w.file, "line": 0, "kind": w.kind, "what": w.what, "points": count, "reason": w.reason}
            for w, count in found.waived
        ]
        figures["files"] = [
            {
                "file": f"rtl/{item.name}",
                **{kind: round(getattr(item, kind).percent, 2) for kind in ("line", "branch", "toggle")},
            }
            for item in found.files
        ]
    return figures


def _show(console: Console, figures: dict) -> bool:
    """Print the summary; True if every target is met."""
    table = Table("coverage", "percent", "target", "missed")
    met = True
    for name, target in TARGETS.items():
        if name in figures:
            missed = len(figures["holes"]) + len(figures["thin"]) if name == "functional" else figures[f"{name}_missed"]
            good = figures[name] >= target
            met &= good
            colour = "green" if good else "red"
            table.add_row(name, f"[{colour}]{figures[name]:.3f}[/]", f"{target:.0f}", str(missed))
    console.print(table)
    for key, words in (("holes", "never hit"), ("thin", f"from fewer than {ENOUGH} seeds")):
        for item in figures[key][:40]:
            console.print(f"{words}: {item['group']}: {item['bin']}", markup=False)
    return met


def main(arguments: list[str] | None = None) -> int:
    """Command line; the exit code."""
    options = _parser().parse_args(arguments)
    console = Console()
    if options.replay:
        config, kind, variant, seed = options.replay
        if config not in suite.CONFIGS or kind not in suite.KINDS:
            console.print(
                f"Choose a configuration of {', '.join(suite.CONFIGS)} and a kind of {', '.join(suite.KINDS)}."
            )
            return 2
        ran = runs.run_config(config, [suite.Entry(config, kind, int(variant), int(seed))])
        console.print(f"{ran.cycles} cycles equal on model and RTL under {ran.simulator}")
        return 0
    started = time.perf_counter()
    entries = suite.chosen()
    excluded = exclusions.exclusions(GROUPS)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        ran = _on_the_model(entries, progress) if options.model else _in_lockstep(entries, options.jobs, progress)
        coverage = Coverage()
        for item in ran:
            for seed, cycles, hits in item.hits:
                coverage.add(hits, seed, cycles)
        report = functional.evaluate(coverage, excluded)
        found = None
        if not options.model:
            points = merge(item.points.items() for item in ran if item.points)
            found = code.evaluate(points, suite.VERILATOR.values(), runs.RTL)
    figures = _figures(ran, report, found)
    figures["command"] = "python -m tb.coverage" + (" --model" if options.model else "")
    figures["seconds"] = round(time.perf_counter() - started, 1)
    conditions = (
        f"{figures['command']}: {figures['programs']} programs, {figures['cycles']} cycles, {figures['seconds']} s."
    )
    if not options.model:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "index.html").write_text(html.page(report, found, runs.RTL, conditions))
        ucis.write(FOLDER / "coverage.xml", report, found)
        PART.parent.mkdir(parents=True, exist_ok=True)
        PART.write_text(json.dumps(figures, indent=1) + "\n")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    met = _show(console, figures)
    console.print(conditions)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
