# SPDX-License-Identifier: Apache-2.0
"""What a run has shown: configurations, features and sizes of the programs that agreed, for the fidelity record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beatmatch.config import Config
from tb.lockstep.job import Result


def evidence(results: Sequence[Result], configs: dict[int, Config]) -> dict[str, Any]:
    """Sums over the results of a run.

    Parameters
    ----------
    results : sequence of Result
    configs : dict of int to Config
        The configuration of each result, by its index.

    Returns
    -------
    dict
        ``configurations``: rows {digest, config, programs, cycles, mismatches}; ``features``: name to {programs,
        cycles}; ``ranges``: size to [least, greatest]. Features and ranges are those of programs that agreed.
    """
    rows: dict[str, dict[str, Any]] = {}
    features: dict[str, dict[str, int]] = {}
    ranges: dict[str, list[int]] = {}
    for result in results:
        config = configs[result.index]
        row = rows.setdefault(
            config.digest(),
            {"digest": config.digest(), "config": config.to_dict(), "programs": 0, "cycles": 0, "mismatches": 0},
        )
        row["programs"] += 1
        row["cycles"] += result.cycles
        if result.divergence is not None:
            row["mismatches"] += 1
            continue
        for name in result.notes.get("flags", ()):
            found = features.setdefault(name, {"programs": 0, "cycles": 0})
            found["programs"] += 1
            found["cycles"] += result.cycles
        for name, value in result.notes.get("sizes", {}).items():
            low, high = ranges.get(name, (value, value))
            ranges[name] = [min(low, value), max(high, value)]
    return {
        "configurations": list(rows.values()),
        "features": dict(sorted(features.items())),
        "ranges": dict(sorted(ranges.items())),
    }
