# SPDX-License-Identifier: Apache-2.0
"""Run everything with progress, show it as a table, and write the report's part."""

import json
import resource
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tb import toolchain
from tb.formal import cones, golden, planted
from tb.formal.run import RESET_SENTENCE, Result, prove_all
from tb.formal.units import UNITS, statements

CORE, GOLDEN = "bm_core", "golden"
"""Names of what has no harness: the netlist's cones, and the equality with the golden model."""

PART = toolchain.ROOT / "sim_build" / "report" / "parts" / "formal.json"


def prove_units(names: Sequence[str], build: Path, jobs: int, limit: int, only: str, console: Console) -> dict:
    """Prove the units named (none: all), print a table, and return the report's part; write it if it is complete."""
    started = time.monotonic()
    chosen = [unit for unit in UNITS if not names or unit.name in names]
    with _progress(console) as bar:
        task = bar.add_task("proofs", total=None)

        def done(result: Result) -> None:
            bar.update(task, advance=1, description=f"{result.unit} {result.name}")

        results = prove_all(chosen, build, jobs, limit, only=only, done=done)
        rows = [row(result) for result in results]
        if not only and (not names or CORE in names):
            bar.update(task, description="paths of the core")
            rows += cones.check(build / CORE)
        if not only and (not names or GOLDEN in names):
            bar.update(task, description="equality with the golden model")
            rows += golden.check(build / GOLDEN, limit)
    seconds = round(time.monotonic() - started, 1)
    part = summary(rows, seconds, jobs, " ".join(["python -m tb.formal", *names]))
    _show(rows, part, console)
    for result in results:
        if result.counterexample:
            console.print(f"\n[bold red]{result.unit}: {result.name} is violated[/]: {result.statement}")
            console.print(result.counterexample.table(), markup=False, highlight=False, soft_wrap=True)
            console.print(f"Wave: {result.counterexample.wave}", soft_wrap=True)
    if not names and not only:
        PART.parent.mkdir(parents=True, exist_ok=True)
        PART.write_text(json.dumps(part, indent=1))
    return part


def summary(rows: list[dict], seconds: float, jobs: int, command: str) -> dict:
    """The report's part: properties are counted once, however many sets of parameters they are proven at."""
    properties: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        properties.setdefault((row["unit"], row["name"]), []).append(row)
    asserted = {key: group for key, group in properties.items() if group[0]["flavour"] == "assert"}
    proven = [key for key, group in asserted.items() if all(row["proven"] and row["covered"] for row in group)]
    covers = [key for key, group in properties.items() if all(row["covered"] for row in group)]
    children, here = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
    largest, own = children.ru_maxrss / 1024, here.ru_maxrss / 1024
    busy = sum(usage.ru_utime + usage.ru_stime for usage in (children, here))
    return {
        "command": command, "seconds": seconds, "cpu_seconds": round(busy, 1), "jobs": jobs,
        "properties": len(asserted), "proven": len(proven), "covers": len(covers), "proofs": len(rows),
        # the largest child as often as there are jobs, and this process: a bound, as no sum is measured
        "peak_mb": round(largest * jobs + own), "largest_process_mb": round(largest),
        "ok": len(proven) == len(asserted) and len(covers) == len(properties),
        "holes": [{"unit": u.name, "name": name, "reason": why} for u in UNITS for name, why in u.holes.items()],
        "equivalences": sum(row["unit"] == GOLDEN for row in rows),
        "rows": rows,
    }  # fmt: skip


def plant_faults(build: Path, limit: int, console: Console) -> dict:
    """Plant each fault, show the counterexample, and say which ones were found by the check that must find them."""
    rows, started = [], time.monotonic()
    for number, fault in enumerate(planted.FAULTS):
        results = planted.plant(fault, build / str(number), limit)
        hits = [result for result in results if result.name == fault.check and result.counterexample]
        rows.append({"name": fault.name, "what": f"{fault.file}: {fault.old.strip()} -> {fault.new.strip()}",
                     "where": fault.unit, "expected": fault.check, "found": fault.check if hits else "",
                     "caught": bool(hits)})  # fmt: skip
        console.print(f"[bold]{fault.unit}: {fault.name}[/] -> {fault.check} {'violated' if hits else 'NOT violated'}")
        for result in hits:
            console.print(result.counterexample.table(12), markup=False, highlight=False, soft_wrap=True)
    caught = sum(row["caught"] for row in rows)
    console.print(f"{caught} of {len(rows)} planted faults found")
    seconds = round(time.monotonic() - started, 1)
    return {"command": "python -m tb.formal --planted", "seconds": seconds, "total": len(rows), "caught": caught,
            "rows": rows, "ok": caught == len(rows)}  # fmt: skip


def show_list(console: Console) -> None:
    """Units with their parameters, properties and assumptions."""
    for unit in UNITS:
        said = statements(unit.harness)
        console.print(
            f"[bold]{unit.name}[/]: {unit.title}; {unit.engine}; "
            + "; ".join(", ".join(f"{k}={v}" for k, v in each.items()) or "no parameters" for each in unit.variants)
        )
        text = unit.harness.read_text()
        for name, sentence in said.items():
            kind = "assumes" if f"{name}: assume" in text else "proves"
            console.print(f"  {kind} {name}: {sentence}", highlight=False, markup=False)
    console.print(f"Every unit assumes of reset: {RESET_SENTENCE}")


def row(result: Result) -> dict:
    fields = asdict(result)
    found = fields.pop("counterexample")
    return fields | {"counterexample": str(found["wave"]) if found else ""}


def _show(rows: list[dict], part: dict, console: Console) -> None:
    table = Table(title=f"{part['proven']} of {part['properties']} properties proven, {part['covers']} covered, "
                        f"{part['seconds']} s, at most {part['peak_mb']} MB")  # fmt: skip
    for column in ("unit", "property", "statement", "engine", "s", "result"):
        table.add_column(column, overflow="fold")
    merged: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        merged.setdefault((row["unit"], row["name"]), []).append(row)
    for (unit, name), group in merged.items():
        bad = [row for row in group if not (row["proven"] and row["covered"])]
        result = f"[green]proven[/] x{len(group)}" if not bad else f"[red]{bad[0]['said'] or 'not proven'}[/]"
        table.add_row(unit, name, group[0]["statement"], group[0]["engine"],
                      f"{sum(row['seconds'] for row in group):.1f}", result)  # fmt: skip
    console.print(table)


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)
