# SPDX-License-Identifier: Apache-2.0
"""A result in the terminal: totals, where the cycles went, layers, and advice."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from beatmatch.networks.advice import LEAST, advice
from beatmatch.networks.report.compare import Comparison
from beatmatch.networks.report.words import WHERE, count, machine, percent, ratio, short, size, standing, totals
from beatmatch.networks.result import ESTIMATE, SHARES, LayerResult, NetworkResult

MOST_LAYERS = 20
"""Layers that are shown unless all are asked for: those that take the most cycles."""
MOST_ADVICE = 6
BAR = 20
"""Characters of a bar."""
COLOURS = {
    "useful": "orange3", "unused": "wheat1", "weight_stall": "plum2", "weight_shift": "medium_purple",
    "raw_stall": "light_steel_blue", "input_stall": "steel_blue", "other": "grey70", "estimate": "grey50",
}  # fmt: skip
GLYPHS = {
    "useful": "█", "unused": "▒", "weight_stall": "w", "weight_shift": "s", "raw_stall": "r", "input_stall": "i",
    "other": ".", "estimate": "/",
}  # fmt: skip
"""A character per category: bars can be read without colours."""


def view(result: NetworkResult, all_layers: bool = False) -> RenderableType:
    """Everything, ready to print.

    Parameters
    ----------
    result : NetworkResult
    all_layers : bool
        Show every layer, those that take no cycles included; else the `MOST_LAYERS` that take the most.
    """
    shown = _shown(result, all_layers)
    head = Text.assemble((result.name, "bold"), f" on {machine(result)}")
    parts: list[RenderableType] = [head, totals_table(result), categories_table(result), layer_table(result, shown)]
    if len(shown) < len(result.layers):
        rest = result.cycles - sum(layer.cycles for layer in shown)
        hidden = len(result.layers) - len(shown)
        parts.append(Text(f"{hidden} more layers take {rest:,} cycles; --all shows every layer.", "dim"))
    if any(layer.fidelity == ESTIMATE for layer in result):
        parts.append(Text("~ marks an estimate: priced by a declared host, not run.", "yellow"))
    return Group(*parts, Text(standing(result)), Text(), advice_view(result))


def totals_table(result: NetworkResult) -> Table:
    """The headline figures."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column()
    for label, text in totals(result).items():
        table.add_row(text, label)
    table.add_row(f"{result.cpu_seconds:,.2f} s", f"of processor time, {result.peak_rss_mb:,.0f} MB at most")
    return table


def categories_table(result: NetworkResult) -> Table:
    """Where the cycles went."""
    table = Table("cycles went to", box=None, padding=(0, 2, 0, 0))
    table.add_column("cycles", justify="right")
    table.add_column("share", justify="right")
    table.add_column()
    for name, share in result.shares().items():
        bar = Text(GLYPHS[name] * round(share * 2 * BAR), COLOURS[name])
        label = Text.assemble((GLYPHS[name], COLOURS[name]), f" {WHERE[name]}")
        table.add_row(label, count(share * result.cycles), percent(share), bar)
    return table


def layer_table(result: NetworkResult, layers: list[LayerResult]) -> Table:
    """A row per layer."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("layer", overflow="fold", min_width=16, max_width=34)
    for name in ("operator", "output"):
        table.add_column(name)
    for name in ("MACs", "cycles", "of all", "used"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("where the cycles went", no_wrap=True)
    for name in ("bytes", "of least"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("fidelity")
    for layer in layers:
        moved = layer.read_bytes + layer.written_bytes
        priced = layer.fidelity == ESTIMATE
        table.add_row(
            escape(layer.name), escape(layer.op), size(layer), short(layer.macs) if layer.macs else "-",
            ("~" if priced else "") + count(layer.cycles), percent(layer.cycles / (result.cycles or 1)),
            "-" if priced else percent(layer.shares(result.config)["useful"]), bar(layer, result),
            short(moved), ratio(moved, layer.minimum_bytes), layer.fidelity, style="yellow" if priced else None,
        )  # fmt: skip
    return table


def bar(layer: LayerResult, result: NetworkResult, width: int = BAR) -> Text:
    """The shares of a layer's cycles as characters."""
    text, done, total = Text(), 0, 0.0
    if not layer.cycles:
        return text
    shares = layer.shares(result.config)
    for name in SHARES:
        total += shares[name]
        end = round(total * width)
        text.append(GLYPHS[name] * (end - done), COLOURS[name])
        done = max(done, end)
    return text


def advice_view(result: NetworkResult) -> RenderableType:
    """What to change, or that there is nothing to say."""
    found = advice(result)
    if not found:
        return Text(f"Nothing costs more than {LEAST:.0%} of the cycles.")
    lines = [Text("What costs the most, and what would not", "bold")]
    lines += [Text(f"{number}. {one}") for number, one in enumerate(found[:MOST_ADVICE], 1)]
    return Group(*lines)


def comparison_view(found: Comparison, all_layers: bool = False) -> RenderableType:
    """Two results side by side, ready to print."""
    a, b = found.a, found.b
    head = Text(f"A is {a.name} on {machine(a)}; B is {b.name} on {machine(b)}")
    table = Table("layer", "operator", box=None, padding=(0, 2, 0, 0))
    for name in ("A cycles", "B cycles", "B - A", "B / A"):
        table.add_column(name, justify="right")
    pairs = found.pairs if all_layers else found.pairs[:MOST_LAYERS]
    for pair in pairs:
        sides = [layer.cycles if layer else None for layer in (pair.a, pair.b)]
        table.add_row(escape(pair.name), escape(pair.op), *_sides(*sides))
    table.add_section()
    table.add_row("all layers", "", *_sides(a.cycles, b.cycles), style="bold")
    parts: list[RenderableType] = [head, *filter(None, [found.note]), table]
    if len(pairs) < len(found.pairs):
        parts.append(Text(f"{len(found.pairs) - len(pairs)} more layers differ less; --all shows them.", "dim"))
    return Group(*parts)


def _sides(a: int | None, b: int | None) -> list[str]:
    texts = ["-" if value is None else count(value) for value in (a, b)]
    return [*texts, f"{(b or 0) - (a or 0):+,}", f"{b / a:.3f}" if a and b is not None else "-"]


def _shown(result: NetworkResult, all_layers: bool) -> list[LayerResult]:
    if all_layers:
        return result.layers
    most = sorted(result.layers, key=lambda layer: -layer.cycles)[:MOST_LAYERS]
    names = {id(layer) for layer in most if layer.cycles}
    return [layer for layer in result.layers if id(layer) in names]
