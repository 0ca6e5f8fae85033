# SPDX-License-Identifier: Apache-2.0
"""Area proxy: what Yosys would count for a configuration, from its counts of others by module; no area in any process.

Gates, flip-flops and memory bits of each module are a sum over what it is made of (`TERMS`), with coefficients that
``python -m tb.area`` fits on synthesized configurations and keeps in ``data/area.json``, together with how far they are
off on configurations that the fit did not see. The one number for plots weighs the three by the transistors of textbook
cells (`TRANSISTORS`). It puts configurations in an order; it is no silicon area.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import log2

from beatmatch.config import Config

COUNTS = ("gates", "flip_flops", "memory_bits")
TRANSISTORS = {"gates": 4, "flip_flops": 24, "memory_bits": 6}
"""Of a two-input gate in static CMOS, a master-slave flip-flop, and a bit of six-transistor memory."""

TERMS: dict[str, Callable[[Config], float]] = {
    "one": lambda c: 1,
    "rows": lambda c: c.rows,
    "cols": lambda c: c.cols,
    "lanes": lambda c: c.lanes,
    "PEs": lambda c: c.rows * c.cols,
    "skew of rows": lambda c: c.rows * (c.rows - 1),
    "skew of cols": lambda c: c.cols * (c.cols - 1),
    "scratchpad banks": lambda c: c.sp_banks,
    "lanes of scratchpad banks": lambda c: c.sp_banks * c.lanes,
    "scratchpad address": lambda c: log2(c.sp_bank_words),
    "accumulator banks": lambda c: c.acc_banks,
    "cols of accumulator banks": lambda c: c.acc_banks * c.cols,
    "weight FIFO address": lambda c: log2(c.fifo_tiles * c.rows),
    "queue entries": lambda c: c.queue_depth,
    "bytes of the port": lambda c: c.mem_bytes,
    "port to lanes": lambda c: max(c.mem_bytes, c.lanes),
    "port to cols": lambda c: max(c.mem_bytes, c.cols),
    "bursts": lambda c: c.outstanding,
    "RAM bits": lambda c: (
        8 * c.sp_words * c.lanes + (32 * c.acc_rows + 8 * c.fifo_tiles * c.rows + 64 * c.param_rows) * c.cols
    ),
}
"""What modules grow with; names are those in ``data/area.json``."""


@dataclass(frozen=True)
class Area:
    """What Yosys would count, by the fit.

    Attributes
    ----------
    gates, flip_flops, memory_bits : float
    """

    gates: float
    flip_flops: float
    memory_bits: float

    @property
    def proxy(self) -> float:
        """Transistors of textbook cells."""
        return sum(TRANSISTORS[name] * getattr(self, name) for name in COUNTS)

    def to_dict(self) -> dict[str, float | None]:
        """Rounded counts for tables, and the proxy."""
        return {**{f"area_{name}": round(getattr(self, name)) for name in COUNTS}, "area_proxy": round(self.proxy)}


NOTHING: dict[str, float | None] = {**{f"area_{name}": None for name in COUNTS}, "area_proxy": None}
"""`Area.to_dict` of a configuration that cannot be built."""


@cache
def data() -> dict:
    """The coefficients and their error, as ``python -m tb.area fit`` wrote them."""
    return json.loads((resources.files("beatmatch.data") / "area.json").read_text())


def of(config: Config) -> Area:
    """The proxy of a configuration."""
    terms = {name: term(config) for name, term in TERMS.items()}
    found = dict.fromkeys(COUNTS, 0.0)
    for counts in data()["modules"].values():
        for name, coefficients in counts.items():
            found[name] += sum(factor * terms[term] for term, factor in coefficients.items())
    return Area(**found)


def modules(config: Config) -> dict[str, dict[str, float]]:
    """The counts by module of the RTL, the largest first."""
    terms = {name: term(config) for name, term in TERMS.items()}
    found = {
        module: {name: sum(f * terms[t] for t, f in counts.get(name, {}).items()) for name in COUNTS}
        for module, counts in data()["modules"].items()
    }
    return dict(sorted(found.items(), key=lambda item: -sum(TRANSISTORS[name] * item[1][name] for name in COUNTS)))


def note() -> str:
    """What the proxy is worth, in a sentence."""
    error = data()["error"]["held out"]
    return (
        f"Area is a proxy, no silicon area: Yosys' cells by module, off by at most {error['gates']:.1%} of the gates, "
        f"{error['flip_flops']:.1%} of the flip-flops and {error['memory_bits']:.1%} of the memory bits on "
        f"{error['configurations']} configurations that its fit had not seen (up to {error['largest']})."
    )
