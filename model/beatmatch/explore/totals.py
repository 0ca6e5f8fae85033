# SPDX-License-Identifier: Apache-2.0
"""One line per network and machine: the layers' cycles and bytes added up, and the area proxy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from beatmatch.config import Config
from beatmatch.explore import area
from beatmatch.explore.changes import CONFIG_FIELDS
from beatmatch.explore.columns import CATEGORIES, Row
from beatmatch.fidelity import EXACT, UNPROVEN
from beatmatch.networks.result import ESTIMATE, FREE


@dataclass(frozen=True)
class Total:
    """A network on a machine.

    Attributes
    ----------
    network, point : str
    config : Config or None
        None if it cannot be built.
    row : Row
        The columns of the machine, as in each of its rows.
    cycles : int or None
        Of all layers; None if any has none.
    estimated : int
        Of it, cycles that were priced, not run.
    macs, read_bytes, written_bytes, minimum_bytes : int
    categories : dict of str to int
        Cycles by category of the accounting.
    fidelity : str
        The weakest of the layers'.
    reason : str
        Why there are no cycles; empty if there are.
    """

    network: str
    point: str
    config: Config | None
    row: Row
    cycles: int | None
    estimated: int
    macs: int
    read_bytes: int
    written_bytes: int
    minimum_bytes: int
    categories: Mapping[str, int]
    fidelity: str
    reason: str

    @property
    def utilization(self) -> float:
        """Useful multiply-accumulates over the array's peak, 0 to 1."""
        return self.macs / (self.cycles * self.config.peak_macs) if self.cycles and self.config else 0.0

    @property
    def area(self) -> area.Area | None:
        """The area proxy of the configuration."""
        return area.of(self.config) if self.config else None

    def to_dict(self) -> dict:
        """Plain values, ready for JSON and for a row of a table."""
        found = self.area
        return {
            "network": self.network,
            "point": self.point,
            **{name: self.row[name] for name in MACHINE},
            "cycles": self.cycles,
            "estimated_cycles": self.estimated,
            "macs": self.macs,
            "utilization": self.utilization,
            "read_bytes": self.read_bytes,
            "written_bytes": self.written_bytes,
            "minimum_bytes": self.minimum_bytes,
            **self.categories,
            "fidelity": self.fidelity,
            **(found.to_dict() if found else area.NOTHING),
            "reason": self.reason,
        }


MACHINE = (
    "granularity", "config", *CONFIG_FIELDS, "memory", "read_latency", "write_latency", "read_bandwidth",
    "write_bandwidth", "shared",
)  # fmt: skip
"""Columns that all rows of one machine share."""


def totals(rows: Iterable[Row]) -> list[Total]:
    """The totals of a table, in its order; rows of one network and machine stand together in it."""
    grouped = groupby(rows, key=lambda row: (row["network"], row["point"], row["config"], row["memory"]))
    return [_total([*found]) for _, found in grouped]


def _total(rows: list[Row]) -> Total:
    head = rows[0]
    config = Config(**{name: head[name] for name in CONFIG_FIELDS}) if head["config"] else None
    refused = [row for row in rows if row["reason"]]
    timed = [row for row in rows if not row["reason"]]
    reason = ""
    if refused:
        first = refused[0]
        reason = str(first["reason"])
        if config and first["name"]:
            more = f" (and {len(refused) - 1} more of {len(rows)} layers)" if len(refused) > 1 else ""
            reason = f"{first['name']}{more}: {reason}"
    return Total(
        head["network"], head["point"], config, head,
        None if refused else _sum(timed, "cycles"),
        sum(row["cycles"] for row in timed if row["active"] is None),
        _sum(timed, "macs"), _sum(timed, "read_bytes"), _sum(timed, "written_bytes"), _sum(timed, "minimum_bytes"),
        {name: _sum(timed, name) for name in CATEGORIES}, _weakest(row["fidelity"] for row in timed), reason,
    )  # fmt: skip


def _sum(rows: list[Row], name: str) -> int:
    return sum(row[name] or 0 for row in rows)


def _weakest(labels: Iterable[str]) -> str:
    found = {*labels}
    return next((label for label in (ESTIMATE, UNPROVEN, EXACT) if label in found), FREE)
