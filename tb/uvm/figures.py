# SPDX-License-Identifier: Apache-2.0
"""What a run of tests came to, as one value: for the screen, for `--json`, and for the sign-off report."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from pathlib import Path
from typing import Any

from beatmatch.config import Config
from tb.coverage.groups import GROUPS
from tb.lockstep import shrink
from tb.lockstep.drill import drill_down
from tb.lockstep.failure import Failure
from tb.uvm.run import Outcome

TOTALS = ("programs", "cycles", "events", "digests", "instructions", "accesses")
SEEDS = 3
"""Seeds from which a bin counts as hit for good."""


def figures(outcomes: dict[str, Outcome], tests: list[str], config: Config, seed: int) -> dict[str, Any]:
    """All figures of the tests on each simulator, ready for JSON."""
    rows = [row for sim, outcome in outcomes.items() for row in _rows(sim, outcome, tests)]
    failures = [
        failure | {"sim": sim, "seed": seed, "config": config.to_dict()}
        for sim, outcome in outcomes.items()
        for failure in outcome.failures
    ]
    result: dict[str, Any] = {
        "sims": list(outcomes),
        "seed": seed,
        "configs": 1,
        "config": config.to_dict(),
        **{name: sum(row.get(name, 0) for row in rows) for name in TOTALS},
        "mismatches": len(failures),
        "failed": sum(row["result"] != "pass" for row in rows),
        "tests": rows,
        "different_hashes": different_hashes(rows),
        "coverage": _coverage(outcomes),
        "failures": failures,
    }
    return result


def _rows(sim: str, outcome: Outcome, tests: list[str]) -> list[dict[str, Any]]:
    passed = {row["test"]: row for row in outcome.passed}
    rows = []
    for name in tests:
        row: dict[str, Any] = {"name": name, "sim": sim, "result": "pass"}
        if name in outcome.failed:
            row |= {"result": "fail", "reason": outcome.failed[name]}
        else:
            row |= {key: value for key, value in passed[name].items() if key not in ("test", "hits")}
        rows.append(row)
    return rows


def different_hashes(rows: list[dict[str, Any]]) -> list[str]:
    """Tests that passed on several simulators with different traces: one of the simulators is wrong then."""
    hashes: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["result"] == "pass":
            hashes[row["name"]].add(row["trace_sha256"])
    return sorted(name for name, found in hashes.items() if len(found) > 1)


def _coverage(outcomes: dict[str, Outcome]) -> dict[str, int]:
    """Bins of functional coverage that all tests together hit."""
    seeds: dict[tuple[str, str], set[int]] = defaultdict(set)
    for outcome in outcomes.values():
        for row in outcome.passed:
            for group, label, found in row["hits"]:
                seeds[group, label] |= set(found)
    return {
        "bins": sum(len(group.bins) for group in GROUPS.values()),
        "hit": len(seeds),
        "hit3": sum(len(found) >= SEEDS for found in seeds.values()),
    }


def investigate(outcome: Outcome, rounds: int = shrink.ROUNDS) -> None:
    """Name the register behind each divergence, and shrink its program; without `rounds` it stays as it is."""
    for entry in outcome.failures:
        failed = Failure.load(Path(entry.pop("folder")))
        drill_down(failed)
        failed.save()
        entry["replay"] = failed.divergence.replay
        if rounds:
            folder = failed.folder.with_name(failed.folder.name + "-small")
            failed = dataclasses.replace(shrink.shrink(failed, rounds), folder=folder)
            failed.save()
            entry["small"] = failed.divergence.replay
            entry["small_instructions"] = len(failed.program.instructions)
        found = entry.pop("divergence")
        entry |= {name: found[name] for name in ("kind", "station", "slot", "field", "cycle")}
        entry["report"] = failed.divergence.text()
