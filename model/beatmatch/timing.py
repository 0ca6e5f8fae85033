# SPDX-License-Identifier: Apache-2.0
"""The timing table: latencies as named formulas over the configuration, read by the model and stated in docs/timing.md.

Most of docs/timing.md is structure: one register in the rules is one register in a station. Where a latency is a number
of like registers, the number stands here, so that a core with more of them needs another table and no other model.
"""

from __future__ import annotations

from dataclasses import dataclass

from beatmatch.config import Config
from beatmatch.isa.expression import evaluate


@dataclass(frozen=True)
class Latency:
    """One row: a formula over ``R``, ``C`` and the rows before it, in cycles, and what it counts."""

    formula: str
    meaning: str


TABLE: dict[str, Latency] = {
    "product_stages": Latency("1", "registers of a processing element between its multiplier and its sum"),
    "edge_to_commit": Latency("R + C + product_stages", "from a row at the array's edge (X) to its commit (A)"),
}
"""All rows by name. A caller may replace one to model another core; machines made afterwards follow it."""


def cycles(name: str, config: Config) -> int:
    """The value of a row for a configuration; KeyError if there is none of this name."""
    if name not in TABLE:
        raise KeyError(f"The timing table has no row {name!r}; it has {', '.join(TABLE)}.")
    values = {"R": config.rows, "C": config.cols}
    for row, latency in TABLE.items():
        values[row] = evaluate(latency.formula, values)
        if row == name:
            break
    return values[name]
