# SPDX-License-Identifier: Apache-2.0
"""A network's result as one web page that needs nothing else: no network, no library, no second file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path

from beatmatch.networks.advice import LEAST, advice
from beatmatch.networks.report.bars import timeline, total_bar
from beatmatch.networks.report.compare import Comparison, compare
from beatmatch.networks.report.plot import drawing
from beatmatch.networks.report.roofline import points, roof_of
from beatmatch.networks.report.sheet import write_text
from beatmatch.networks.report.tables import comparison_rows, layer_rows, traffic_rows
from beatmatch.networks.report.words import FIDELITY, WHERE, count, machine, percent, standing, totals
from beatmatch.networks.result import NetworkResult


def page(result: NetworkResult, other: NetworkResult | None = None) -> str:
    """The page as text; write it to a file that ends in ``.html``.

    Parameters
    ----------
    result : NetworkResult
        Shown in full; A of a comparison.
    other : NetworkResult or None
        B of a comparison; raises ResultError if they have no layer in common.
    """
    template = files("beatmatch.networks.report").joinpath("page.html").read_text(encoding="utf-8")
    parts = {
        "title": escape(f"{result.name} on {machine(result)}"),
        "badge": f'<span class="mark {escape(result.fidelity)}">{escape(result.fidelity)}</span>',
        "lead": escape(standing(result)),
        "sections": "\n".join(_sections(result, compare(result, other) if other else None)),
        "data": json.dumps(result.to_dict(), separators=(",", ":")).replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def write_page(path: str | Path, result: NetworkResult, other: NetworkResult | None = None) -> None:
    """Write `page`; raises ResultError if the file cannot be written."""
    write_text(path, page(result, other))


def _sections(result: NetworkResult, found: Comparison | None) -> Iterable[str]:
    roof = roof_of(result)
    tiles = "".join(
        f'<div class="tile"><b>{escape(t)}</b><span>{escape(n)}</span></div>' for n, t in totals(result).items()
    )
    yield f'<div class="tiles" id="headline">{tiles}</div>'
    yield _card("Where the cycles went", total_bar(result))
    yield _card("What costs the most, and what would not", _advice(result))
    if found:
        yield _card("A against B", _comparison(found))
    if result.cycles:
        zoom = "".join(f'<button type="button" data-zoom="{factor}">{text}</button>' for factor, text in _ZOOM)
        note = (
            "Layers overlap: the window of a layer ends with its last result, and the next begins there. Memory is "
            "what the layer moved over its window; its loads may have run earlier."
        )
        yield _card("Timeline", timeline(result, roof) + f'<p class="note">{note}</p>', zoom)
    tools = (
        '<input id="filter" type="search" placeholder="filter by name, operator, fidelity" aria-label="filter layers">'
        '<label><input id="scale" type="checkbox" checked> bars to scale</label>'
        '<label><input id="free" type="checkbox"> layers without cycles</label>'
    )
    yield _card("Layers", layer_rows(result) + '<p class="note" id="shown"></p>', tools)
    plot = drawing(result, roof, points(result)) + f'<p class="note">{_ROOFLINE}</p>'
    yield _card("Roofline", plot)
    yield _card("Memory traffic by tensor", traffic_rows(result) + f'<p class="note">{_TRAFFIC}</p>')
    yield _card("What it was run on", _facts(result))


_ZOOM = (("2", "zoom in"), ("0.5", "zoom out"), ("0", "whole network"))
_ROOFLINE = (
    "A dot per layer that moved bytes, its area by cycles; orange dots are under the array's roof, blue ones under the "
    "memory's. The dashed roof is that of reads alone. A dot can stand above the memory's roof if its loads ran in an "
    "earlier window."
)
_TRAFFIC = (
    "Bytes in whole beats over the memory port. The mark is the least that any machine with these layers moves: each "
    "constant, input and output once, and no activation."
)


def _card(title: str, body: str, tools: str = "") -> str:
    return f'<div class="card"><div class="tools"><h2>{escape(title)}</h2>{tools}</div>{body}</div>'


def _advice(result: NetworkResult) -> str:
    found = advice(result)
    if not found:
        return f'<p id="advice">Nothing costs more than {LEAST:.0%} of the cycles.</p>'
    items = "".join(
        f'<li data-cause="{one.cause}"><b>{percent(one.share)}</b>'
        f"<span>{escape(one.text)} <em>{escape(one.remedy)}</em></span></li>"
        for one in found
    )
    return f'<ol id="advice">{items}</ol>'


def _comparison(found: Comparison) -> str:
    a, b = found.a, found.b
    head = f"A is {a.name} on {machine(a)}: {count(a.cycles)} cycles. B is {b.name} on {machine(b)}: {count(b.cycles)}"
    times = f" ({b.cycles / a.cycles:.3f} of A)" if a.cycles else ""
    rows = "".join(
        f'<tr><th><i class="{name}"></i>{escape(WHERE[name])}</th><td>{count(first)}</td><td>{count(second)}</td>'
        f"<td>{second - first:+,.0f}</td></tr>"
        for name, (first, second) in found.categories().items()
    )
    last = f"<tr><th>all</th><td>{count(a.cycles)}</td><td>{count(b.cycles)}</td><td>{found.difference:+,}</td></tr>"
    sums = f"<table class=facts><tr><th>cycles</th><td>A</td><td>B</td><td>B - A</td></tr>{rows}{last}</table>"
    return f"<p>{escape(head)} cycles{times}. {found.note}</p>{sums}{comparison_rows(found)}"


def _facts(result: NetworkResult) -> str:
    used = {row.fidelity for row in result}
    facts: dict[str, object] = {
        "network": result.source or result.name,
        **{f"config: {name}": value for name, value in result.config.to_dict().items()},
        "config: digest": result.config.digest(),
        **{f"memory: {name}": value for name, value in _flat(result.memory)},
        **dict(_flat(result.options)),
        "processor time of the model": f"{result.cpu_seconds:,.2f} s",
        "largest memory of the model": f"{result.peak_rss_mb:,.0f} MB",
        **{f"label {name}": text.split(": ", 1)[1] for name, text in FIDELITY.items() if name in used},
    }
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(_fact(value))}</dd></div>" for name, value in facts.items()
    )
    return f"<dl>{rows}</dl>"


def _flat(data: Mapping) -> Iterable[tuple[str, object]]:
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}: {inner}", found) for inner, found in _flat(value))
        else:
            yield name, value


def _fact(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "not given" if value is None else f"{value:,}" if isinstance(value, int) and value > 9999 else str(value)
