# SPDX-License-Identifier: Apache-2.0
"""Functional coverage: the figures of a collector, without the bins that are excluded."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.coverage.collector import Coverage
from tb.coverage.exclusions import Exclusion, ExclusionError

ENOUGH = 3
"""Different seeds that a bin has to be hit from."""


@dataclass
class GroupReport:
    """One group: bins that count, and those hit at all and from `ENOUGH` seeds."""

    name: str
    kind: str
    description: str
    bins: int = 0
    hit: int = 0
    hit3: int = 0
    seeds: dict[str, int] = field(default_factory=dict)  # different seeds by bin


@dataclass
class FunctionalReport:
    """All groups, the bins that no seed hit, and those excluded."""

    groups: list[GroupReport]
    holes: list[tuple[str, str]]
    thin: list[tuple[str, str]]
    exclusions: list[Exclusion]

    def percent(self, field_name: str = "hit3") -> float:
        """Bins hit (``hit``) or hit from enough seeds (``hit3``), in percent of the bins that count."""
        total = sum(item.bins for item in self.groups)
        return 100.0 * sum(getattr(item, field_name) for item in self.groups) / total


def evaluate(coverage: Coverage, excluded: list[Exclusion]) -> FunctionalReport:
    """Count bins.

    Raises
    ------
    ExclusionError
        A bin that is excluded as unreachable was hit.
    """
    out = {(item.group, item.bin) for item in excluded}
    for key in sorted(out & set(coverage.seeds)):
        raise ExclusionError(f"{key[0]}: {key[1]!r} is excluded, but {len(coverage.seeds[key])} seeds hit it.")
    groups = []
    for name, item in coverage.groups.items():
        report = GroupReport(name, item.kind, item.description)
        for label in item.bins:
            if (name, label) not in out:
                seeds = report.seeds[label] = coverage.count(name, label)
                report.bins += 1
                report.hit += seeds > 0
                report.hit3 += seeds >= ENOUGH
        groups.append(report)
    holes = [key for key in coverage.holes(1) if key not in out]
    thin = [key for key in coverage.holes(ENOUGH) if key not in out and key not in set(holes)]
    return FunctionalReport(groups, holes, thin, excluded)
