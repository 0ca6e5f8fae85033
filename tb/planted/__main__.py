# SPDX-License-Identifier: Apache-2.0
"""Faults in the checkers and the environment, each of which has to be caught: ``python -m tb.planted``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tb.planted import table
from tb.toolchain import SIM_BUILD

PART = SIM_BUILD / "report" / "parts" / "planted.json"
EXAMPLES = """
examples:
  python -m tb.planted                         all of them; needs Icarus
  python -m tb.planted --cheap                 those without the RTL
  python -m tb.planted --only stale_build      one, by its name
  python -m tb.planted --page docs/planted.md  write the table of the page anew
"""
BEGIN, END = "<!-- rows: written by `python -m tb.planted --page` -->", "<!-- rows: end -->"


def show(rows: Sequence[table.Row], console: Console) -> None:
    """The table for people, what was not caught in words."""
    shown = Table(title="planted faults", title_justify="left")
    for title in ("fault", "where", "found"):
        shown.add_column(title, overflow="fold")
    for row in rows:
        shown.add_row(row.what, row.where, row.found if row.caught else f"[bold red]not as predicted:[/] {row.found}")
    console.print(shown)
    console.print(f"{sum(row.caught for row in rows)} of {len(rows)} caught as predicted.", highlight=False)


def write_page(path: Path, rows: Sequence[table.Row]) -> None:
    """Replace the rows of the page's table by these."""
    text = path.read_text()
    head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    lines = ["| fault | where | caught by | prediction |", "|---|---|---|---|"]
    by_name = {plant.name: plant for plant in table.ALL}
    for row in rows:
        plant = by_name.get(row.name)
        detector = "verdict of the test" if plant is None else plant.detector.removeprefix("tests:tests/")
        expected = row.expected.replace("|", "\\|")
        lines.append(f"| {row.what} | `{row.where}` | {detector} | `{expected}` |")
    path.write_text("\n".join([head, *lines, tail]))


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every fault was caught as predicted, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tb.planted",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cheap", action="store_true", help="leave out what needs the RTL")
    parser.add_argument("--only", action="append", help="only the fault of this name")
    parser.add_argument("--json", type=Path, default=PART, help="where the figures go")
    parser.add_argument("--page", type=Path, help="also write the rows into this page")
    arguments = parser.parse_args(argv)
    console = Console(stderr=True)
    plants = [p for p in table.ALL if not arguments.only or p.name in arguments.only]
    if arguments.cheap:
        plants = [plant for plant in plants if plant.detector != "rtl"]
    if not plants:
        parser.error("no fault has this name")
    started = monotonic()
    unsound = table.unsound()
    if unsound:
        console.print(f"Nothing is planted, and yet: {unsound}", highlight=False)
        return 1
    with Progress(console=console) as progress:
        task = progress.add_task("planted faults", total=len(plants))
        rows = table.run(plants, lambda row: progress.advance(task))
    if not arguments.only and not arguments.cheap:
        with console.status("mistakes of pyuvm tests"):
            rows += table.uvm_rows()
    command = " ".join(["python -m tb.planted", *(sys.argv[1:] if argv is None else argv)])
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(table.part(rows, monotonic() - started, command), indent=1) + "\n")
    show(rows, Console())
    if arguments.page:
        write_page(arguments.page, rows)
    return 0 if all(row.caught for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
