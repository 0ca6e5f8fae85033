# SPDX-License-Identifier: Apache-2.0
"""The table of a study: a row per machine and layer, with the same columns in every study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from beatmatch.config import Config
from beatmatch.explore.changes import CONFIG_FIELDS, Machine
from beatmatch.explore.keys import memory_digest
from beatmatch.explore.study import Point

TEXT, INTEGER, REAL = "text", "integer", "real"

COLUMNS: dict[str, str] = {
    "network": TEXT,
    "point": TEXT,  # what differs from the base
    "granularity": TEXT,
    "config": TEXT,  # digest, as everywhere else
    **dict.fromkeys(CONFIG_FIELDS, INTEGER),
    "memory": TEXT,  # digest
    "read_latency": INTEGER,
    "write_latency": INTEGER,
    "read_bandwidth": REAL,  # of the memory, in bytes per cycle
    "write_bandwidth": REAL,
    "shared": INTEGER,  # 1: reads and writes together have the read bandwidth
    "layer": INTEGER,  # place in the network's graph, or in the network's result
    "name": TEXT,
    "op": TEXT,
    "where": TEXT,
    "shape": TEXT,
    "macs": INTEGER,
    "cycles": INTEGER,
    "active": INTEGER,
    "weight_shift": INTEGER,
    "weight_stall": INTEGER,
    "non_matrix": INTEGER,
    "raw_stall": INTEGER,
    "input_stall": INTEGER,
    "read_bytes": INTEGER,
    "written_bytes": INTEGER,
    "minimum_bytes": INTEGER,
    "fill_rows": REAL,
    "fill_cols": REAL,
    "fidelity": TEXT,
    "note": TEXT,
    "reason": TEXT,  # why there are no cycles; empty if there are
}
"""Names and types; what is not known is None."""
ALWAYS = ("note", "reason")
"""Texts that are there in every row, and empty if there is nothing to say."""

CATEGORIES = ("active", "weight_shift", "weight_stall", "non_matrix", "raw_stall", "input_stall")

Row = dict[str, object]


def machine_columns(machine: Machine) -> Row:
    """What a row says about its machine."""
    config, memory = machine.config, machine.memory
    read = rate(memory.read_bandwidth, config)
    write = read if memory.shared else rate(memory.write_bandwidth, config)
    return {
        "config": config.digest(),
        **{name: getattr(config, name) for name in CONFIG_FIELDS},
        "memory": memory_digest(machine),
        "read_latency": memory.read_latency,
        "write_latency": memory.write_latency,
        "read_bandwidth": read,
        "write_bandwidth": write,
        "shared": int(memory.shared),
    }


def rate(bandwidth: tuple[int, int] | None, config: Config) -> float:
    """Bytes per cycle of a memory; the port's if it has no limit of its own."""
    return float(config.mem_bytes if bandwidth is None else Fraction(*bandwidth))


def rows(network: str, point: Point, granularity: str, found: Mapping[int, tuple[Mapping, dict]]) -> Iterator[Row]:
    """The rows of one network on one machine.

    Parameters
    ----------
    network : str
    point : Point
    granularity : str
    found : mapping
        By place of the layer: name and operator of its node, and its record.
    """
    named = {"network": network, "point": point.label, "granularity": granularity}
    head: Row = {**dict.fromkeys(COLUMNS), **dict.fromkeys(ALWAYS, ""), **named}
    if point.machine is None:
        yield {**head, "reason": point.reason}
        return
    head |= machine_columns(point.machine)
    for place, (node, record) in found.items():
        if "reason" in record:
            yield {**head, "layer": place, **node, "reason": record["reason"]}
            continue
        for index, layer in enumerate(record["layers"]):
            yield {**head, "layer": place + index, **_layer(layer), **node}


def _layer(layer: Mapping) -> Row:
    accounting = layer["accounting"] or {}
    same = ("name", "op", "where", "macs", "read_bytes", "written_bytes", "minimum_bytes", "fidelity", "note")
    return {
        **{name: layer[name] for name in same},
        "shape": "x".join(map(str, layer["shape"])),
        "cycles": layer["end"] - layer["start"],
        **{name: accounting.get(name) for name in CATEGORIES},
        "fill_rows": float(layer["fill_rows"]),
        "fill_cols": float(layer["fill_cols"]),
    }
