# SPDX-License-Identifier: Apache-2.0
"""What a regression shows: a progress bar with the time left (lines in a log), the table, the buckets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from tb.lockstep.report import console as report_console
from tb.regress.chunks import Chunk
from tb.regress.engine import Progress as Step
from tb.regress.execute import Outcome
from tb.regress.store import Store

BUILD_SECONDS = {"verilator": 12.0, "icarus": 0.7}
"""Expected processor seconds of a build, for the time left only."""
LINE_SECONDS = 30.0
SEEDS_SHOWN = 5


def console() -> Console:
    """Where people read: 120 columns in a pipe."""
    return report_console(stderr=True)


@contextmanager
def progress(label: str, chunks: Sequence[Chunk], store: Store, out: Console) -> Iterator[Step]:
    """A function to call after each piece; in a log, a line now and then."""
    sim = chunks[0].sim if chunks else ""
    builds = len({chunk.config for chunk in chunks})
    total = sum(chunk.seconds for chunk in chunks) + builds * BUILD_SECONDS.get(sim, 0)
    state = {"done": 0.0, "line": time.monotonic(), "start": time.monotonic()}
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip

    def text() -> str:
        cycles = sum(result.cycles for result in store.results.values())
        bad = len(store.crashes) + sum(result.divergence is not None for result in store.results.values())
        failed = f", [bold red]{bad} failed[/]" if bad else ""
        return f"{label}: {len(store.results):,} programs, {cycles:,} cycles{failed}"

    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(label, total=total)

        def step(chunk: Chunk, _: Outcome) -> None:
            amount = chunk.seconds or BUILD_SECONDS[chunk.sim]
            state["done"] += amount
            bar.update(task, advance=amount, description=text())
            now = time.monotonic()
            if not out.is_terminal and now - state["line"] > LINE_SECONDS:
                share = state["done"] / total
                left = (now - state["start"]) * (1 - share) / share
                out.print(f"{text()}; {share:.0%}, about {max(left, 0):.0f} s left")
                state["line"] = now

        yield step


@contextmanager
def counting(label: str, total: int, out: Console) -> Iterator[Callable[[bool], None]]:
    """A function to call after each of many equal pieces, with whether it was good."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    bad = 0
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(label, total=total)

        def step(good: bool) -> None:
            nonlocal bad
            bad += not good
            bar.update(task, advance=1, description=f"{label}, [bold red]{bad} differ[/]" if bad else label)

        yield step


def stages(part: dict[str, Any]) -> Table:
    """The test plan by stage."""
    result = Table("stage", title="test plan", title_justify="left")
    for name in ("testpoints", "pass", "fail", "not run"):
        result.add_column(name, justify="right")
    for stage, counts in part["stages"].items():
        result.add_row(stage, *(str(counts[name]) for name in ("testpoints", "pass", "fail", "not run")))
    return result


def table(part: dict[str, Any]) -> Table:
    """The figures of one part."""
    result = Table(title=f"{part['kind']} under {part['sim']}", title_justify="left", show_header=False)
    for name in ("programs", "configs", "cycles", "events", "digests", "mismatches"):
        result.add_row(name, f"{part[name]:,}")
    result.add_row("seed", str(part["seed"]))
    result.add_row("seconds", f"{part['seconds']:,.0f}; builds took {part['build_seconds']:,.0f} s of a worker's time")
    result.add_row("cycles/s", f"{part['cycles_per_second']:,} (model and RTL on one core, builds not counted)")
    result.add_row("trace_sha256", part["trace_sha256"])
    if part.get("shared"):
        shared = part["shared"]
        verdict = f"{len(shared['different'])} differ" if shared["different"] else "the same traces on both simulators"
        result.add_row("shared", f"{shared['programs']} programs: {verdict}")
    return result


def show_buckets(rows: Sequence[dict[str, Any]], out: Console) -> None:
    """Every bucket with its first programs: seed, configuration, replay line."""
    for row in rows:
        out.print(f"[bold red]{row['count']} x {row['kind']}[/] {row['station']} {row['place']}", highlight=False)
        for found in row["failures"][:SEEDS_SHOWN]:
            config = " ".join(f"{key}={value}" for key, value in found["config"].items())
            out.print(f"  {found['headline']}", markup=False, highlight=False)
            out.print(f"    seed {found['seed']} on {config}", markup=False, highlight=False, soft_wrap=True)
            out.print(f"    {found['replay']}", markup=False, highlight=False, soft_wrap=True)
            if "small" in found:
                line = f"    shrunk to {found['small_instructions']} instructions: {found['small']}"
                out.print(line, markup=False, highlight=False, soft_wrap=True)
        if row["count"] > SEEDS_SHOWN:
            out.print(f"  and {row['count'] - SEEDS_SHOWN} more, in the JSON part")
