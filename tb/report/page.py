# SPDX-License-Identifier: Apache-2.0
"""The report as one web page that needs no other file, no network and no library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tb.report.buckets import buckets
from tb.report.holes import published
from tb.report.stages import MEANING, STAGES, Verdict, reached

CHART_WIDTH, CHART_HEIGHT = 640, 90


def page(report: dict[str, Any], verdicts: Sequence[Verdict]) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,  # a figure that the page names and nobody made is an error, not a blank
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["mark"] = {True: "met", False: "missed", None: "not run"}.get
    return environment.get_template("page.html.j2").render(
        report=report,
        verdicts=verdicts,
        stages=STAGES,
        meaning=MEANING,
        reached=reached(list(verdicts)),
        holes=published(report),
        buckets=buckets(report),
        throughput=throughput(report["history"]),
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
    )


def number(value: Any) -> str:
    """A figure as people read it: thousands apart, at most two decimals."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".rstrip("0").rstrip(".")


def throughput(history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cycles per second of the regressions over time: per simulator the points of a line, in pixels, and its range."""
    lines = []
    for sim in sorted({row["sim"] for row in history}):
        rates = [row["cycles_per_second"] for row in history if row["sim"] == sim]
        top = max(rates) or 1
        step = CHART_WIDTH / max(1, len(rates) - 1)
        points = [
            f"{i * step:.1f},{CHART_HEIGHT - 4 - (CHART_HEIGHT - 8) * rate / top:.1f}" for i, rate in enumerate(rates)
        ]
        lines.append({"sim": sim, "points": " ".join(points), "last": rates[-1], "top": top, "runs": len(rates)})
    return lines
