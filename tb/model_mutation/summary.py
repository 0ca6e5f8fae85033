# SPDX-License-Identifier: Apache-2.0
"""Verdicts to figures: by file, survivors with their explanations, raw and adjusted score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tb.model_mutation.explain import explanations
from tb.model_mutation.mutants import MODEL, path_of
from tb.model_mutation.server import Verdict

STATUS = {"equivalent": "equivalent", "performance": "equivalent", "tool": "equivalent", "unreachable": "unreachable"}
"""How the categories count in the report."""


def figures(verdicts: Sequence[Verdict], seconds: float, build_seconds: float, command: str) -> dict[str, Any]:
    """The part of the report, ready for JSON."""
    known = explanations()
    modules: dict[str, Counter] = {}
    survivors, witnesses = [], Counter()
    for verdict in verdicts:
        mutant = verdict.mutant
        counts = modules.setdefault(mutant.file, Counter(total=0, killed=0, equivalent=0, unreachable=0, holes=0))
        counts["total"] += 1
        if verdict.witness is not None:
            counts["killed"] += 1
            witnesses[_kind(verdict)] += 1
            continue
        why = known.get(mutant.id)
        status = STATUS[why.category] if why else "hole"
        counts["holes" if status == "hole" else status] += 1
        survivors.append(
            {
                "id": mutant.id,
                "module": mutant.file,
                "function": mutant.function,
                "file": str(path_of(mutant)),
                "line": mutant.change.line,
                "source": (MODEL / mutant.file).read_text().splitlines()[mutant.change.line - 1].strip(),
                "operator": mutant.change.operator,
                "what": mutant.what,
                "status": status,
                "category": why.category if why else "hole",
                "reason": why.reason if why else "",
            }
        )
    total = sum(modules.values(), Counter())
    counted = {name: total[name] for name in ("total", "killed", "equivalent", "unreachable", "holes")}
    return {
        **counted,
        "raw_score": round(100 * counted["killed"] / max(1, counted["total"]), 2),
        "score": round(score(counted), 2),
        "crashes": sum(verdict.crashed for verdict in verdicts),
        "witnesses": dict(witnesses.most_common()),
        "seconds": round(seconds, 1),
        "build_seconds": round(build_seconds, 1),
        "command": command,
        "by_module": {name: dict(counts) for name, counts in modules.items()},
        "survivors": survivors,
    }


def score(counts: dict[str, int]) -> float:
    """Percent killed of those that could be noticed."""
    relevant = counts["total"] - counts["equivalent"] - counts["unreachable"]
    return 100 * counts["killed"] / relevant if relevant else 0.0


def _kind(verdict: Verdict) -> str:
    name = verdict.witness.name
    if name.startswith("recording") and verdict.witness.detail.startswith("stimulus"):
        return "recording: stimulus only"
    return name.split()[0] if name.startswith(("recording", "derivation", "processor")) else "test"


def show(part: dict[str, Any], console: Console) -> None:
    """Tables for people."""
    table = Table(title="mutants of the golden model", title_justify="left")
    for title in ("file", "total", "killed", "equivalent", "unreachable", "holes"):
        table.add_column(title, justify="left" if title == "file" else "right")
    for name, counts in part["by_module"].items():
        table.add_row(name, *(str(counts[key]) for key in ("total", "killed", "equivalent", "unreachable", "holes")))
    console.print(table)
    for item in part["survivors"]:
        if item["status"] == "hole":
            place = f"{item['file']}:{item['line']}"
            console.print(f"hole {item['id']} {place} {item['what']}  in  {item['source']}", highlight=False)
    console.print(
        f"{part['killed']} of {part['total']} killed: {part['raw_score']} % raw, {part['score']} % of those that can "
        f"be noticed; {part['holes']} holes; {part['seconds']} s and {part['build_seconds']} s for the recordings.",
        highlight=False,
    )
