# SPDX-License-Identifier: Apache-2.0
"""Gathers what the verification runs left under `sim_build/report/parts` into one value.

A run that was not made is None in the report and named in `missing`: nothing is filled in for it.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tb.toolchain import ROOT, SIM_BUILD, SIMULATORS

REPORT = SIM_BUILD / "report"
PARTS = REPORT / "parts"
HISTORY = REPORT / "history.jsonl"
SLOWEST_TESTS = 20

Figures = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One run's file of figures.

    Attributes
    ----------
    file : str
        Its name in `PARTS`, without ``.json``.
    path : tuple of str
        Where its figures stand in the report.
    command : str
        Makes it.
    keys : tuple of str
        Figures that the report and the stages of sign-off rely on.
    """

    file: str
    path: tuple[str, ...]
    command: str
    keys: tuple[str, ...]


_CAMPAIGN = ("programs", "configs", "cycles", "mismatches", "seconds", "trace_sha256")
_MUTANTS = ("total", "killed", "equivalent", "holes", "seconds")

PART_FILES: tuple[Part, ...] = (
    *(Part(f"regress-{sim}", ("regress", sim), f"make regress SIM={sim}", _CAMPAIGN) for sim in SIMULATORS),
    *(Part(f"nightly-{sim}", ("nightly", sim), f"make nightly SIM={sim}", _CAMPAIGN) for sim in SIMULATORS),
    Part("uvm", ("uvm",), "make uvm", ("programs", "cycles", "mismatches", "seconds")),
    Part("mutants-rtl", ("mutants", "rtl"), "make mutate", _MUTANTS),
    Part("mutants-model", ("mutants", "model"), "make mutate", _MUTANTS),
    Part("formal", ("formal",), "make formal", ("properties", "proven", "covers", "seconds")),
    Part("coverage", ("coverage",), "make cover", ("functional", "line", "branch", "toggle", "waivers")),
    Part("faults", ("faults",), "make faults", ("flips", "unmasked", "flagged", "median_latency_cycles")),
    Part("planted", ("planted",), "make planted", ("total", "caught")),
    Part("reruns", ("reruns",), "make reruns", ("reruns", "flaky")),
    Part("testplan", ("testplan",), "make testplan", ("testpoints",)),
)
"""Every part, in the order of the report."""


class ReportError(ValueError):
    """A part cannot be read; the message names the file and the command that makes it anew."""


def collect(parts: Path = PARTS, history: Path = HISTORY) -> Figures:
    """All figures: what `report.json` holds.

    Raises ReportError if a part is no JSON object or lacks a figure.
    """
    report: Figures = {"tree": tree(), "missing": []}
    for part in PART_FILES:
        found = _read(parts, part)
        place = report
        for name in part.path[:-1]:
            place = place.setdefault(name, {})
        place[part.path[-1]] = found
        if found is None:
            report["missing"].append({"part": part.file, "command": part.command})
    report["tests"] = junit(parts / "tests.xml")
    if report["tests"] is None:
        report["missing"].append({"part": "tests", "command": "make signoff"})
    report["history"] = [json.loads(line) for line in history.read_text().splitlines()] if history.exists() else []
    return report


def tree() -> str:
    """The commit that the report was made of, marked if files differ from it."""
    run = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT, capture_output=True, text=True
    )
    return run.stdout.strip() if run.returncode == 0 else "no git history"


def _read(parts: Path, part: Part) -> Figures | None:
    path = parts / f"{part.file}.json"
    if not path.exists():
        return None
    try:
        figures = json.loads(path.read_text())
    except ValueError as error:
        raise ReportError(f"{path} is no JSON ({error}): make it anew with `{part.command}`.") from None
    lacking = [key for key in part.keys if not isinstance(figures, dict) or key not in figures]
    if lacking:
        raise ReportError(f"{path} lacks {', '.join(lacking)}: make it anew with `{part.command}`.")
    return figures


def junit(path: Path) -> Figures | None:
    """Totals and the slowest tests of pytest's JUnit file; None if there is none."""
    if not path.exists():
        return None
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except ElementTree.ParseError as error:
        raise ReportError(f"{path} is no JUnit file ({error}): make it anew with `make signoff`.") from None
    outcome = {"passed": 0, "failed": 0, "skipped": 0}
    rows = []
    for case in cases:
        tags = {child.tag for child in case}
        result = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        outcome[result] += 1
        rows.append(
            {"name": f"{case.get('classname')}::{case.get('name')}", "result": result, "seconds": _seconds(case)}
        )
    rows.sort(key=lambda row: -row["seconds"])
    return {
        "total": len(cases),
        **outcome,
        "seconds": round(sum(row["seconds"] for row in rows), 3),
        "failures": [row["name"] for row in rows if row["result"] == "failed"],
        "slowest": rows[:SLOWEST_TESTS],
    }


def _seconds(case: ElementTree.Element) -> float:
    return round(float(case.get("time") or 0), 3)
