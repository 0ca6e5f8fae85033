# SPDX-License-Identifier: Apache-2.0
"""Bins that cannot be hit: each with its category and the reason. A bin that is excluded and hit is an error."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tb.coverage.group import Group

FILE = Path(__file__).resolve().with_name("exclusions.toml")
CATEGORIES = ("unreachable", "contract", "configuration")
"""By construction of the machine; by a contract of `docs/`; only in configurations outside of the suite."""


class ExclusionError(ValueError):
    """An exclusion that is wrong: no such bin, no reason, or the bin was hit."""


@dataclass(frozen=True)
class Exclusion:
    """A bin that is left out."""

    group: str
    bin: str
    category: str
    reason: str


def exclusions(groups: Mapping[str, Group], path: Path = FILE) -> list[Exclusion]:
    """All excluded bins; patterns (``*``) in the file are resolved.

    Raises
    ------
    ExclusionError
        A row names an unknown group or category, matches no bin, or has no reason.
    """
    found: dict[tuple[str, str], Exclusion] = {}
    for row in tomllib.loads(path.read_text())["exclusion"]:
        if row["group"] not in groups:
            raise ExclusionError(f"There is no coverage group {row['group']!r}.")
        if row["category"] not in CATEGORIES or len(row["reason"]) < 20:
            raise ExclusionError(f"An exclusion of {row['group']} needs a reason and one of {', '.join(CATEGORIES)}.")
        for pattern in row["bins"]:
            some = [label for label in groups[row["group"]].bins if fnmatch.fnmatchcase(label, pattern)]
            if not some:
                raise ExclusionError(f"Group {row['group']} has no bin {pattern!r}.")
            for label in some:
                found[row["group"], label] = Exclusion(row["group"], label, row["category"], row["reason"])
    return list(found.values())
