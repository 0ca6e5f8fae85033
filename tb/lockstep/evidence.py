# SPDX-License-Identifier: Apache-2.0
"""What a run has shown: configurations, features and sizes of the programs that agreed, for the fidelity record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from beatmatch.config import Config
from tb.lockstep.job import Result
from tb.toolchain import ROOT

SOURCES = ("rtl/**/*.sv", "rtl/**/*.svh", "rtl/sources.f", "model/beatmatch/**/*.py", "tb/lockstep/*", "tb/sim.py")
ASIDE = (
    "commands/",
    "report/",
    "compiler/",
    "fast/",
    "networks/",
    "explore/",
    "api.py",
    "cli.py",
    "fidelity.py",
    "generate",
    "__init__.py",
)
"""Parts of the model that the stepped machine does not stand on: a change there leaves what has been shown true."""


@cache
def fingerprint() -> str:
    """What a run is evidence about, as this process first saw it: the RTL, the stepped model and the lockstep run."""
    return current()


def steady() -> bool:
    """Whether these sources are still as this process first saw them."""
    return current() == fingerprint()


def current() -> str:
    """Sixteen hex digits that name these sources as they are now."""
    paths = {path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file()}
    return name_files(path for path in paths if not _aside(path))


def _aside(path: Path) -> bool:
    model = ROOT / "model" / "beatmatch"
    return path.is_relative_to(model) and str(path.relative_to(model)).startswith(ASIDE)


def name_files(paths: Iterable[Path]) -> str:
    """Sixteen hex digits over names and contents of files."""
    state = hashlib.sha256()
    for path in sorted(paths):
        state.update(f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return state.hexdigest()[:16]


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
        ``fingerprint``; ``configurations``: rows {digest, config, programs, cycles, mismatches}; ``features``: name to
        {programs, cycles}; ``ranges``: size to [least, greatest]. The last two are of programs that agreed.
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
        "fingerprint": fingerprint(),
        "configurations": list(rows.values()),
        "features": dict(sorted(features.items())),
        "ranges": dict(sorted(ranges.items())),
    }
