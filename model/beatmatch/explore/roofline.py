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
        ``array`` or ``memory``: which of the two is the lower roof here. Only a layer that comes near it (`share`) is
        slow because of it.
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
    same time, so the slower one counts; a memory whose bandwidth they share has to carry both.
    """
    found = []
    for row in rows:
        moved = (row["read_bytes"] or 0) + (row["written_bytes"] or 0)
        if not row["macs"] or not row["cycles"] or not moved:
            continue
        peak = row["rows"] * row["cols"]
        memory = row["macs"] / _port_cycles(row)
        found.append(
            Spot(
                row["network"], row["point"], row["name"], row["op"], row["shape"], row["macs"], row["cycles"], moved,
                row["macs"] / moved, row["macs"] / row["cycles"], min(peak, memory),
                "array" if peak <= memory else "memory", row["fidelity"],
            )
        )  # fmt: skip
    return found


def _port_cycles(row: Row) -> float:
    """The least cycles in which port and memory move what the layer moved.

    A port of the weights may take half of the reads; how many it took is not in the table.
    """
    port = row["mem_bits"] / 8
    reads = row["read_bytes"] / (1 + row["weight_port"])
    ways = reads / min(port, row["read_bandwidth"]), row["written_bytes"] / min(port, row["write_bandwidth"])
    bus = (reads + row["written_bytes"]) / row["read_bandwidth"] if row["shared"] else 0.0
    return max(*ways, bus)
