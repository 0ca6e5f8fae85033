# SPDX-License-Identifier: Apache-2.0
"""`make report`: the figures of all verification runs as a page, as JSON and as JUnit."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tb.report.collect import HISTORY, PARTS, REPORT, ReportError, collect
from tb.report.holes import published
from tb.report.junit import document
from tb.report.page import page
from tb.report.stages import STAGES, Verdict, judge, reached

EXAMPLES = """examples:
  python -m tb.report                  write sim_build/report/report.html, report.json and junit.xml
  python -m tb.report --require V3     also fail unless every criterion up to V3 is met
  python -m tb.report --json -         the figures on standard output
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="python -m tb.report",
        description="Combine what the verification runs left in sim_build/report/parts into one report.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--parts", type=Path, default=PARTS, metavar="FOLDER", help="figures of the runs")
    result.add_argument("--output", type=Path, default=REPORT, metavar="FOLDER", help="where the report goes")
    result.add_argument("--require", choices=STAGES, help="exit with 1 unless this stage of sign-off is reached")
    result.add_argument("--json", choices=("-",), metavar="-", help="print the figures as JSON instead of the table")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Write the report; 0, or 1 if a required stage is not reached, or 2 if a part cannot be read."""
    arguments = parser().parse_args(argv)
    try:
        report = collect(arguments.parts, arguments.parts.parent / HISTORY.name)
    except ReportError as error:
        print(f"beatmatch: {error}", file=sys.stderr)
        return 2
    verdicts = judge(report)
    stage = reached(verdicts)
    report["stage"] = stage
    report["stages"] = [_row(verdict) for verdict in verdicts]
    report["holes"] = published(report)
    arguments.output.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=1) + "\n"
    (arguments.output / "report.json").write_text(text)
    (arguments.output / "junit.xml").write_text(document(verdicts), encoding="utf-8")
    (arguments.output / "report.html").write_text(page(report, verdicts), encoding="utf-8")
    if arguments.json:
        print(text, end="")
    else:
        console = Console()
        console.print(_table(verdicts))
        console.print(f"{len(report['holes'])} published holes; the report is {arguments.output / 'report.html'}")
    wanted = STAGES.index(arguments.require) if arguments.require else -1
    return 1 if wanted > (STAGES.index(stage) if stage else -1) else 0


def _row(verdict: Verdict) -> dict[str, str | bool | None]:
    criterion = verdict.criterion
    return {
        "stage": criterion.stage,
        "what": criterion.what,
        "bar": criterion.bar,
        "reached": verdict.reached,
        "met": verdict.met,
    }


def _table(verdicts: Sequence[Verdict]) -> Table:
    table = Table("stage", "criterion", "bar", "reached", "", title="sign-off", title_justify="left")
    words = {True: "[green]met", False: "[bold red]missed", None: "[yellow]not run"}
    for verdict in verdicts:
        criterion = verdict.criterion
        table.add_row(criterion.stage, criterion.what, criterion.bar, verdict.reached, words[verdict.met])
    return table


if __name__ == "__main__":
    sys.exit(main())
