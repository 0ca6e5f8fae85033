# SPDX-License-Identifier: Apache-2.0
"""What is known not to be covered, proven or explained, in one list."""

from __future__ import annotations

from typing import Any

Hole = dict[str, str]


def published(report: dict[str, Any]) -> list[Hole]:
    """All holes of a report, each with where it is and what it is."""
    return [
        hole for find in (_missing, _coverage, _mutants, _formal, _faults, _planted, _plan) for hole in find(report)
    ]


def _hole(kind: str, where: str, what: str) -> Hole:
    return {"kind": kind, "where": where, "what": what}


def _missing(report):
    for item in report["missing"]:
        yield _hole("not run", item["part"], f"no figures: {item['command']}")


def _coverage(report):
    for item in (report["coverage"] or {}).get("holes", ()):
        yield _hole("coverage", item["group"], str(item["bin"]))


def _mutants(report):
    for side, figures in report["mutants"].items():
        for row in (figures or {}).get("survivors", ()):
            if row["status"] == "hole":
                yield _hole(f"{side} mutant", f"{row['file']}:{row['line']}", f"{row['what']} ({row['id']})")


def _formal(report):
    for row in (report["formal"] or {}).get("rows", ()):
        if not row["proven"]:
            yield _hole("proof", row["unit"], f"{row['name']}: not proven")
        elif not row["covered"]:
            yield _hole("proof", row["unit"], f"{row['name']}: no witness")


def _faults(report):
    for row in (report["faults"] or {}).get("holes", ()):
        yield _hole("fault injection", str(row.get("register", "")), "neither flagged nor shown to be masked")


def _planted(report):
    for row in (report["planted"] or {}).get("rows", ()):
        if not row["caught"]:
            yield _hole("planted fault", row["name"], f"expected {row['expected']}, found {row['found']}")


def _plan(report):
    for point in (report["testplan"] or {}).get("testpoints", ()):
        if point["result"] != "pass":
            yield _hole("test plan", point["name"], point["result"])
