# SPDX-License-Identifier: Apache-2.0
"""SCALE-Sim's cycles beside ours, layer by layer, and where they part: ``beatmatch network --like scale-sim``."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from beatmatch.config import Config
from beatmatch.networks.graph import Graph
from beatmatch.networks.like.scale_sim import Report, report
from beatmatch.networks.products import Product, products
from beatmatch.networks.result import LayerResult, NetworkResult

LEAST_SHARE = 0.05
"""A part of the cycles that is smaller is not worth a word."""
MORE_ROWS = 1.1
"""How many times SCALE-Sim's rows have to enter the array here, to be worth a sentence."""
WORDS = {
    "rows": "rows entering the array",
    "weight_stall": "waiting for weights from memory",
    "weight_shift": "shifting weights in",
    "raw_stall": "waiting for results",
    "input_stall": "waiting for inputs from memory",
    "other": "loads, vector work and stores with nothing to multiply",
}


@dataclass(frozen=True)
class Comparison:
    """One layer on both.

    Attributes
    ----------
    layer, op : str
    scale_sim : int or None
        Its compute cycles, over all groups; None for a layer that it does not time.
    ours : int
        Cycles of the layer's window on Beatmatch, memory included.
    ratio : float or None
        Ours over SCALE-Sim's.
    why : str
        What both spend their cycles on, in a sentence each.
    """

    layer: str
    op: str
    scale_sim: int | None
    ours: int
    ratio: float | None
    why: str

    def to_dict(self) -> dict:
        """Plain values, ready for JSON and for a row of a table."""
        return asdict(self)


def compare(graph: Graph, result: NetworkResult) -> list[Comparison]:
    """A row per layer that takes cycles on either side, in the order of the result, and one of sums at the end.

    SCALE-Sim's array has the sizes of the result's configuration, and is weight stationary. The sums are over the
    layers that both time.

    Parameters
    ----------
    graph : Graph
        The network that `result` is of: its layers' sizes are in no result.
    result : NetworkResult
    """
    known = {product.layer: product for product in products(graph)}
    rows = [_row(layer, known.get(layer.name), result.config) for layer in result]
    rows = [row for row in rows if row.ours or row.scale_sim]
    both = [row for row in rows if row.scale_sim is not None]
    theirs, ours = sum(row.scale_sim for row in both), sum(row.ours for row in both)
    rest = result.cycles - ours
    why = f"The other layers take {rest:,} cycles here." if rest else "SCALE-Sim times every layer."
    return [*rows, Comparison("total", "", theirs, ours, ours / theirs if theirs else None, why)]


def _row(layer: LayerResult, product: Product | None, config: Config) -> Comparison:
    if product is None:
        why = "SCALE-Sim times matrix products alone."
        return Comparison(layer.name, layer.op, None, layer.cycles, None, why)
    found = report(product.rows, product.columns, product.length, config.rows, config.cols)
    theirs = found.cycles * product.count
    why = f"{_theirs(found, product)} {_ours(layer)}{_tiles(layer, found.streaming * product.count)}"
    return Comparison(layer.name, layer.op, theirs, layer.cycles, layer.cycles / theirs, why)


def _theirs(found: Report, product: Product) -> str:
    folds = found.folds * product.count
    filling = 1 - found.streaming / (found.cycles + 1)
    many = f"{folds:,} folds" if folds > 1 else "1 fold"
    return f"SCALE-Sim: {many} of {product.rows:,} rows, {filling:.0%} filling and draining between them."


def _ours(layer: LayerResult) -> str:
    """The larger parts of the layer's cycles."""
    found = layer.accounting
    if found is None:
        return "Here: an estimate, outside the core."
    counts = {name: getattr(found, name) for name in WORDS if name not in ("rows", "other")}
    counts["rows"] = found.active
    counts["other"] = found.non_matrix - found.raw_stall - found.input_stall
    large = sorted((name for name in counts if counts[name] >= LEAST_SHARE * found.cycles > 0), key=counts.get)
    parts = [f"{counts[name] / found.cycles:.0%} {WORDS[name]}" for name in reversed(large)]
    return f"Here: {', '.join(parts)}." if parts else "Here: it runs inside its neighbours' time."


def _tiles(layer: LayerResult, streaming: int) -> str:
    """Where tiles are filled worse than SCALE-Sim fills them: it lays filter positions and channels in one length."""
    active = layer.accounting.active if layer.accounting else 0
    if active <= MORE_ROWS * streaming:
        return ""
    return f" {active:,} rows enter for SCALE-Sim's {streaming:,}: tiles use {layer.fill_rows:.0%} of the array's rows."
