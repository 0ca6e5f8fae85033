# SPDX-License-Identifier: Apache-2.0
"""Roofline: what array and memory port allow, and what each layer reaches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beatmatch.explore.columns import Row


@dataclass(frozen=True)
class Spot:
    """One layer on the roofline.

    Attributes
    ----------
    network, point, layer, op, shape : str
    macs, cycles, bytes : int
        Bytes that were read and written over the memory port.
    intensity : float
        Multiply-accumulates per byte.
    reached : float
        Multiply-accumulates per cycle.
    roof : float
        The most that the array and this traffic allow, in multiply-accumulates per cycle.
    bound : str
        ``array`` or ``memory``: which of the two is the roof here.
    fidelity : str
    """

    network: str
    point: str
    layer: str
    op: str
    shape: str
    macs: int
    cycles: int
    bytes: int
    intensity: float
    reached: float
    roof: float
    bound: str
    fidelity: str

    @property
    def share(self) -> float:
        """Part of the roof that is reached, 0 to 1."""
        return self.reached / self.roof


def spots(rows: Iterable[Row]) -> list[Spot]:
    """The layers with multiply-accumulates and traffic, in the table's order.

    The memory's part of the roof takes the layer's own mix of reads and writes. Both directions of the port run at the
    same time, so the slower one counts, unless they share one bandwidth.
    """
    found = []
    for row in rows:
        moved = (row["read_bytes"] or 0) + (row["written_bytes"] or 0)
        if not row["macs"] or not row["cycles"] or not moved:
            continue
        peak = row["rows"] * row["cols"]
        ports = 1 + row["weight_port"]  # how the reads are shared out is not in the table: this is the most
        ways = row["read_bytes"] / (ports * row["read_bandwidth"]), row["written_bytes"] / row["write_bandwidth"]
        memory = row["macs"] / (sum(ways) if row["shared"] else max(ways))
        found.append(
            Spot(
                row["network"], row["point"], row["name"], row["op"], row["shape"], row["macs"], row["cycles"], moved,
                row["macs"] / moved, row["macs"] / row["cycles"], min(peak, memory),
                "array" if peak <= memory else "memory", row["fidelity"],
            )
        )  # fmt: skip
    return found
