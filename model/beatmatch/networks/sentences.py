# SPDX-License-Identifier: Apache-2.0
"""What advice says about each cause: a function each, from its losses (the largest first) and the result.

It returns what happens and what would not, both as whole sentences made from the figures that they name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import prod

from beatmatch.networks.losses import Loss
from beatmatch.networks.result import LayerResult, NetworkResult

LEAST_ROWS = 4
"""Rows and columns of the smallest array that there is."""
POOLS = ("maxpool", "avgpool")


def _head(part: Sequence[Loss], result: NetworkResult, what: str) -> str:
    """How many layers lose how much, and which the most."""
    lost, worst = sum(loss.cycles for loss in part), part[0]
    share = f"{lost:,.0f} cycles ({lost / result.cycles:.1%})"
    if len(part) == 1:
        return f"{what} cost {share} in {worst.layer.name}"
    return f"{what} cost {share} in {len(part)} layers, the most in {worst.layer.name} ({worst.cycles:,.0f})"


def _groups(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer, config = part[0].layer, result.config
    fill = layer.fill_rows * layer.fill_cols
    text = (
        f"{_head(part, result, 'Grouped convolutions')}: its {layer.groups:,} groups leave "
        f"{_used(layer.fill_rows, config.rows)} of {config.rows} rows in use, {fill:.1%} of the array."
    )
    return text, (
        f"Groups of {config.rows} input channels fill the rows, and so do plain convolutions; "
        "with small groups, an array of fewer rows loses less."
    )


def _rows(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer, config = part[0].layer, result.config
    used = layer.fill_rows * config.rows
    text = f"{_head(part, result, 'Unused rows of the array')}: it fills {_n(used)} of {config.rows} rows on average."
    return text, f"Input channels in multiples of {config.rows} fill them{_smaller(used, config.rows, 'rows')}."


def _columns(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer, config = part[0].layer, result.config
    channels = _channels(layer)
    text = (
        f"{_head(part, result, 'Unused columns of the array')}: its {channels:,} output channels fill "
        f"{_used(layer.fill_cols, config.cols)} of {config.cols} columns on average."
    )
    whole = -(-channels // config.cols) * config.cols
    smaller = _smaller(layer.fill_cols * config.cols, config.cols, "columns")
    return text, f"Output channels in multiples of {config.cols} ({whole:,} here) fill them{smaller}."


def _weight_shift(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer, config = part[0].layer, result.config
    positions = prod(layer.shape) // _channels(layer)
    text = _head(part, result, f"Weights that take {config.rows} cycles per tile to shift in")
    if positions >= config.rows:
        text += f": its {positions:,} positions could hide them, but tiles come too late or bands are too short."
        return text, "Weights that come sooner (memory, fifo_tiles), or longer bands (acc_rows, sp_words)."
    text += f": a tile is used for {positions:,} row{'s' if positions > 1 else ''} only."
    arrays = _smaller(positions, config.rows, "rows").removeprefix(", or ")
    machine = f"; {arrays} shifts faster" if arrays else ""
    return text, f"A batch {-(-config.rows // positions)} times as large hides them{machine}."


def _weight_stall(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer, config = part[0].layer, result.config
    rate = layer.read_bytes / layer.cycles
    text = (
        f"{_head(part, result, 'Weights that have not arrived')}: "
        f"it reads {rate:.1f} bytes per cycle over a port of {config.mem_bytes}."
    )
    if rate >= 0.8 * config.mem_bytes:
        return text, "The port is busy: a wider one (mem_bits), or more rows per weight (a batch, larger images)."
    return text, (
        "The port has room: memory that answers sooner or faster, more tiles in the FIFO (fifo_tiles) "
        "or more bursts on their way (outstanding)."
    )


def _vector(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer, config = part[0].layer, result.config
    text = f"{_head(part, result, 'Layers without products')}: {layer.op}, while the array idles."
    if layer.op not in POOLS:
        return text, "Fewer such layers, or an array with more columns: the vector unit is as wide."
    channels = _channels(layer)
    used = channels / (-(-channels // config.cols) * config.cols)
    lanes = (
        f" {channels:,} channels use {used:.0%} of the lanes; multiples of {config.cols} use all." if used < 1 else ""
    )
    return text, f"A strided convolution before it in place of the pooling.{lanes}"


def _results(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer = part[0].layer
    share = f"{part[0].cycles / layer.cycles:.0%} of that layer's time"
    text = f"{_head(part, result, 'Products that wait for results before them')}, {share}."
    return text, "Layers with more positions or more input channels hide the vector unit and the layer before."


def _inputs(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer, config = part[0].layer, result.config
    rate = layer.read_bytes / layer.cycles
    text = (
        f"{_head(part, result, 'Products that wait for load')}: "
        f"it reads {rate:.1f} bytes per cycle over a port of {config.mem_bytes}."
    )
    return text, "A scratchpad that keeps the activations (sp_words), or a faster memory."


def _edges(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    layer = part[0].layer
    text = (
        f"{_head(part, result, 'Cycles with no row to feed')}, "
        f"{part[0].cycles / layer.cycles:.0%} of that layer's time: "
        "first loads, gaps between tiles, last results and stores."
    )
    return text, "They weigh less the longer a layer runs: a larger batch, or fewer and larger layers."


def _estimate(part: Sequence[Loss], result: NetworkResult) -> tuple[str, str]:
    by_op = Counter()
    for loss in part:
        by_op[loss.layer.op] += loss.cycles
    lost = sum(by_op.values())
    named = ", ".join(f"{op} {cycles / lost:.0%}" for op, cycles in by_op.most_common(3))
    text = f"{_head(part, result, 'Operators that are priced, not run,')}. By operator: {named}."
    host = result.options.get("host", {})
    prices = ", ".join(f"{name} {value}" for name, value in host.items())
    return text, (
        f"These cycles follow from the declared host alone{f' ({prices})' if prices else ''}: judge the rest without "
        "them, or use operators of the core (see docs/networks.md)."
    )


SENTENCES: dict[str, Callable[[Sequence[Loss], NetworkResult], tuple[str, str]]] = {
    "groups": _groups, "rows": _rows, "columns": _columns, "weight_shift": _weight_shift,
    "weight_stall": _weight_stall, "vector": _vector, "results": _results, "inputs": _inputs, "edges": _edges,
    "estimate": _estimate,
}  # fmt: skip


def _channels(layer: LayerResult) -> int:
    """Of the output: the second axis of images, the last of products."""
    return layer.shape[1] if layer.op in ("conv", *POOLS) else layer.shape[-1]


def _n(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == round(value) else f"{value:,.1f}"


def _used(fill: float, size: int) -> str:
    return _n(fill * size)


def _smaller(used: float, size: int, what: str) -> str:
    """The largest array that would be full, if there is a smaller one."""
    fits = 1 << (int(used).bit_length() - 1) if used >= 1 else 0
    return f", or an array of {fits} {what}" if LEAST_ROWS <= fits < size else ""
