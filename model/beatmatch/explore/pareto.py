# SPDX-License-Identifier: Apache-2.0
"""Pareto fronts: the machines that no other beats in every objective."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from beatmatch.explore.errors import ExploreError
from beatmatch.explore.totals import Total

OBJECTIVES: dict[str, Callable[[Total], float]] = {
    "cycles": lambda total: total.cycles,
    "area": lambda total: total.area.proxy,
    "gates": lambda total: total.area.gates,
    "memory_bits": lambda total: total.area.memory_bits,
    "bytes": lambda total: total.read_bytes + total.written_bytes,
    "bandwidth": lambda total: total.row["read_bandwidth"],
    "pes": lambda total: total.config.peak_macs,
    "idle": lambda total: 1.0 - total.utilization,
}
"""What can be minimized, by name."""


def front(costs: np.ndarray) -> np.ndarray:
    """Which points no other is at least as good as in every objective, and better in one.

    Parameters
    ----------
    costs : ndarray of float, [points, objectives]
        Smaller is better.

    Returns
    -------
    ndarray of bool, [points]
        Equal points are all on the front or all off it.
    """
    costs = np.asarray(costs, float)
    on = np.zeros(len(costs), bool)
    kept = np.empty((0, costs.shape[1]))
    for index in np.lexsort(costs.T[::-1]):  # whatever dominates a point stands before it
        cost = costs[index]
        beaten = (kept <= cost).all(axis=1) & (kept < cost).any(axis=1)
        if not beaten.any():
            on[index] = True
            kept = np.vstack([kept, cost])
    return on


def check(names: Sequence[str]) -> tuple[str, ...]:
    """Names of objectives; raises ExploreError."""
    for name in names:
        if name not in OBJECTIVES:
            raise ExploreError(f"There is no objective {name!r}; the objectives are {', '.join(OBJECTIVES)}.")
    if len(names) < 2 or len({*names}) < len(names):
        raise ExploreError("A front needs at least two objectives, each once: cycles,area.")
    return tuple(names)


def fronts(totals: Sequence[Total], objectives: Sequence[str] = ("cycles", "area")) -> list[tuple[Total, bool]]:
    """Every machine that runs its network, with whether it is on that network's front; raises ExploreError."""
    names = check(objectives)
    result: list[tuple[Total, bool]] = []
    for network in dict.fromkeys(total.network for total in totals):
        found = [total for total in totals if total.network == network and total.cycles is not None]
        if found:
            costs = np.array([[OBJECTIVES[name](total) for name in names] for total in found])
            result += zip(found, front(costs).tolist(), strict=True)
    return result
