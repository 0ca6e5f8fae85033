# SPDX-License-Identifier: Apache-2.0
"""Tables of the page: cells carry their value, by which a script sorts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from beatmatch.networks.report.bars import layer_bar, tip
from beatmatch.networks.report.compare import Comparison
from beatmatch.networks.report.words import FIDELITY, count, percent, ratio, size
from beatmatch.networks.result import ESTIMATE, LayerResult, NetworkResult

MOST_TENSORS = 60
"""Tensors that have a row of their own; the rest share one."""


def table(identity: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """A table whose columns sort; a head that ends in ``<`` is for text, an empty one sorts nothing."""
    cells = "".join(
        f'<th scope="col"{" class=text" if head.endswith("<") else ""}>'
        + (f'<button type="button">{escape(head.rstrip("<"))}</button>' if head.strip("<") else "")
        + "</th>"
        for head in heads
    )
    body = f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="wide"><table id="{identity}">{body}</table></div>'


def _text(text: str, extra: str = "") -> str:
    return f'<td class="text" data-v="{escape(text)}">{escape(text)}{extra}</td>'


def _number(value: float, text: str) -> str:
    return f'<td data-v="{value!r}">{escape(text)}</td>'


def layer_rows(result: NetworkResult) -> str:
    """Every layer, with its bar."""
    longest = max((layer.cycles for layer in result), default=0) or 1
    rows = [_layer(number, layer, result, longest) for number, layer in enumerate(result, 1)]
    heads = (
        "#", "layer<", "op<", "output<", "fidelity<", "cycles", "of all", "used", "", "MACs", "rows", "cols", "read",
        "written", "least", "of least",
    )  # fmt: skip
    return table("layers", heads, rows)


def _layer(number: int, layer: LayerResult, result: NetworkResult, longest: int) -> str:
    used, of_all = layer.shares(result.config)["useful"], layer.cycles / (result.cycles or 1)
    moved = layer.read_bytes + layer.written_bytes
    note = f"<small>{escape(layer.note)}</small>" if layer.note else ""
    about = tip(FIDELITY.get(layer.fidelity, layer.fidelity))
    cells = [
        _number(number, str(number)), _text(layer.name, note), _text(layer.op), _text(size(layer)),
        f'<td class="text" data-v="{escape(layer.fidelity)}"{about}>'
        f'<span class="mark {escape(layer.fidelity)}">{escape(layer.fidelity)}</span></td>',
        _number(layer.cycles, count(layer.cycles)), _number(of_all, percent(of_all)),
        _number(used, percent(used) if layer.accounting else "-"),
        f'<td class="bars">{layer_bar(layer, result, longest)}</td>', _number(layer.macs, count(layer.macs)),
        _number(layer.fill_rows, percent(layer.fill_rows) if layer.fill_rows else "-"),
        _number(layer.fill_cols, percent(layer.fill_cols) if layer.fill_cols else "-"),
        _number(layer.read_bytes, count(layer.read_bytes)), _number(layer.written_bytes, count(layer.written_bytes)),
        _number(layer.minimum_bytes, count(layer.minimum_bytes)),
        _number(moved / layer.minimum_bytes if layer.minimum_bytes else 0.0, ratio(moved, layer.minimum_bytes)),
    ]  # fmt: skip
    kind = "priced" if layer.fidelity == ESTIMATE else "" if layer.cycles else "still"
    return f'<tr class="{kind}">{"".join(cells)}</tr>'


def traffic_rows(result: NetworkResult) -> str:
    """Tensors by what they moved, against the minimum; the rest in one row, so that columns add up."""
    sums: dict[tuple[str, str], list[int]] = {}
    for row in result.traffic:
        found = sums.setdefault((row.tensor, row.kind), [0, 0, 0])
        for place, value in enumerate((row.read, row.written, row.minimum)):
            found[place] += value
    order = sorted(sums.items(), key=lambda item: -item[1][0] - item[1][1])
    shown, rest = order[:MOST_TENSORS], order[MOST_TENSORS:]
    if rest:
        shown.append(((f"{len(rest):,} more", ""), [sum(values[place] for _, values in rest) for place in range(3)]))
    largest = max((max(read + written, least) for _, (read, written, least) in shown), default=0) or 1
    rows = [_tensor(name, kind, values, largest) for (name, kind), values in shown]
    return table("traffic", ("tensor<", "kind<", "read", "written", "least", "of least", ""), rows)


def _tensor(name: str, kind: str, values: Sequence[int], largest: int) -> str:
    read, written, least = values
    moved = read + written
    pieces = "".join(
        f'<i class="{side}" style="width:{100 * value / largest:.3f}%"{tip(f"{count(value)} bytes {side}")}></i>'
        for side, value in (("read", read), ("written", written))
        if value
    )
    mark = f'<s style="left:{100 * least / largest:.3f}%"{tip(f"at least {count(least)}")}></s>' if least else ""
    cells = [
        _text(name), _text(kind), _number(read, count(read)), _number(written, count(written)),
        _number(least, count(least)), _number(moved / least if least else 0.0, ratio(moved, least)),
        f'<td class="bars"><div class="bar flat">{pieces}{mark}</div></td>',
    ]  # fmt: skip
    return f"<tr>{''.join(cells)}</tr>"


def comparison_rows(found: Comparison) -> str:
    """Layers of A and B, the largest difference first."""
    longest = max((layer.cycles for pair in found for layer in (pair.a, pair.b) if layer), default=0) or 1
    rows = []
    for pair in found:
        sides = [(layer, result) for layer, result in ((pair.a, found.a), (pair.b, found.b))]
        a, b = (layer.cycles if layer else 0 for layer, _ in sides)
        bars = "".join(layer_bar(layer, result, longest) if layer else "" for layer, result in sides)
        cells = [
            _text(pair.name), _text(pair.op), _number(a, count(a) if pair.a else "-"),
            _number(b, count(b) if pair.b else "-"), _number(pair.difference, f"{pair.difference:+,}"),
            _number(b / a if a else 0.0, f"{b / a:.3f}" if a and pair.b else "-"), f'<td class="bars two">{bars}</td>',
        ]  # fmt: skip
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return table("comparison", ("layer<", "op<", "A", "B", "B - A", "B / A", ""), rows)
