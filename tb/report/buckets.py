# SPDX-License-Identifier: Apache-2.0
"""Failures of all runs, grouped by what failed: one bucket, many seeds."""

from __future__ import annotations

from typing import Any

CAMPAIGNS = ("regress", "nightly")


def buckets(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Failures by (kind, station, slot), the most frequent first; each with its programs and how to replay them."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for run, failure in _failures(report):
        key = tuple(str(failure.get(name, "")) for name in ("kind", "station", "slot"))
        found.setdefault(key, []).append({"run": run, **failure})
    rows = [
        {"kind": kind, "station": station, "slot": slot, "count": len(failures), "failures": failures}
        for (kind, station, slot), failures in found.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["kind"], row["station"], row["slot"]))


def _failures(report):
    for name in CAMPAIGNS:
        for sim, figures in (report[name] or {}).items():
            for failure in (figures or {}).get("failures", ()):
                yield f"{name}, {sim}", failure
    for failure in (report["uvm"] or {}).get("failures", ()):
        yield "uvm", failure
    for test in (report["tests"] or {}).get("failures", ()):
        yield "tests", {"kind": "test", "station": test.split("::")[0], "headline": test, "replay": ""}
