# SPDX-License-Identifier: Apache-2.0
"""Runs as one web page that needs nothing else: no network, no library, no second file."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files

import numpy as np

from beatmatch.accounting import Accounting
from beatmatch.report.recording import READERS
from beatmatch.report.timeline import ENGINES, Interval, Timeline, Windows

MOST_INTERVALS = 20_000
"""Beyond this many intervals an engine's iterations are shown as one per instruction."""

MOST_BANDS = 32
"""Rows (columns) of larger arrays are shown in groups."""

WHERE = {
    "useful": "useful work",
    "unused": "array fed, PEs unused",
    "weight_shift": "weights on their way in",
    "weight_stall": "no weights",
    "input_stall": "waits for load",
    "raw_stall": "waits for other engines",
    "other": "no matrix work",
}
"""Categories of cycles in the order of the bar, with what people call them."""


@dataclass
class Section:
    """One run on the page.

    Parameters
    ----------
    name : str
        On its tab.
    timeline : Timeline
    accounting : Accounting
        Of the same run.
    facts : mapping of str to str
        The result table: label and text. A label that starts with a space belongs to the one before it.
    tiles : mapping of str to str
        Further figures for the row of large numbers: label and text.
    """

    name: str
    timeline: Timeline
    accounting: Accounting
    facts: Mapping[str, str] = field(default_factory=dict)
    tiles: Mapping[str, str] = field(default_factory=dict)


def where(accounting: Accounting) -> dict[str, float]:
    """Cycles of a run by the categories of `WHERE`; they add up to all cycles."""
    useful = accounting.useful_macs / accounting.peak_macs
    stalls = accounting.input_stall + accounting.raw_stall
    return {
        "useful": useful,
        "unused": accounting.active - useful,
        "weight_shift": accounting.weight_shift,
        "weight_stall": accounting.weight_stall,
        "input_stall": accounting.input_stall,
        "raw_stall": accounting.raw_stall,
        "other": accounting.non_matrix - stalls,
    }


def page(title: str, sections: Sequence[Section], lead: str = "") -> str:
    """The page as text; write it to a file that ends in ``.html``.

    Parameters
    ----------
    title : str
    sections : sequence of Section
        One tab each.
    lead : str
        A sentence beside the title.
    """
    template = files("beatmatch.report").joinpath("page.html").read_text(encoding="utf-8")
    tabs = "".join(f'<button type="button" role="tab">{escape(s.name)}</button>' for s in sections)
    parts = {
        "title": escape(title),
        "lead": escape(lead),
        "tabs": tabs if len(sections) > 1 else "",
        "sections": "\n".join(_section(number, section) for number, section in enumerate(sections)),
        "data": json.dumps([_data(s.timeline) for s in sections], separators=(",", ":")).replace("</", "<\\/"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


# ----- what stands on the page without a script -----


def _section(number: int, section: Section) -> str:
    accounting = section.accounting
    tiles = {
        "cycles from start to done": f"{accounting.cycles:,}",
        "of the array's peak was useful work": f"{accounting.utilization:.1%}",
        "useful multiply-accumulates": f"{accounting.useful_macs:,}",
        **section.tiles,
    }
    config = section.timeline.config
    busy = {f"{name} busy": f"{section.timeline.busy(name) / (accounting.cycles or 1):.1%}" for name in ENGINES}
    return f"""\
<section id="run{number}">
<div class="tiles">{"".join(_tile(label, text) for label, text in tiles.items())}</div>
<div class="card"><h2>Where the cycles went</h2>{_bar(accounting)}</div>
<div class="card"><div class="tools"><h2>Timeline</h2>
<button type="button" data-act="in">zoom in</button><button type="button" data-act="out">zoom out</button>
<button type="button" data-act="all">whole run</button>
<small>drag to move, Ctrl + wheel to zoom, or w a s d; point at anything for its figures</small></div>
<canvas class="time" tabindex="0" role="img" aria-label="Timeline of engines, array and memory port"></canvas>
<div class="legend">{_key()}</div></div>
<div class="columns">
<div class="card"><h2>The array, {config.rows} x {config.cols}: useful work per PE, % of the run</h2>
<canvas class="array"></canvas>
<p class="note">Rows take the reduction (input channels), columns the outputs.</p></div>
<div class="card"><h2>Result</h2>{_table({**section.facts, **busy})}</div>
</div>
</section>"""


def _tile(label: str, text: str) -> str:
    return f'<div class="tile"><b>{escape(text)}</b><span>{escape(label)}</span></div>'


def _bar(accounting: Accounting) -> str:
    pieces, legend = [], []
    for name, cycles in where(accounting).items():
        label, share, colour = escape(WHERE[name]), cycles / (accounting.cycles or 1), f"background:var(--{name})"
        pieces.append(f'<i style="width:{100 * share:.4f}%;{colour}" title="{label}: {cycles:,.0f} cycles"></i>')
        legend.append(f'<span><i style="{colour}"></i>{label} <b>{share:.1%}</b> <em>{cycles:,.0f}</em></span>')
    return f'<div class="bar">{"".join(pieces)}</div><div class="legend">{"".join(legend)}</div>'


def _key() -> str:
    """What the colours of the memory port mean; those of the array stand under the bar."""
    names = {"fetch": "fetch reads", "load": "load reads", "weights": "weights reads", "store": "store writes"}
    pieces = [f'<span><i style="background:var(--{name})"></i>{text}</span>' for name, text in names.items()]
    return "<span><em>memory port, share of cycles with a beat:</em></span>" + "".join(pieces)


def _table(facts: Mapping[str, str]) -> str:
    rows = []
    for label, text in facts.items():
        kind = ' class="part"' if label.startswith(" ") else ""
        rows.append(f"<tr{kind}><th>{escape(label.strip())}</th><td>{escape(text)}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


# ----- what the script draws -----


def _data(timeline: Timeline) -> dict:
    windows = timeline.windows()
    config = timeline.config
    use = timeline.array_use() / max(timeline.cycles, 1)
    rows, row_size = _bands(windows.rows, windows.length)
    cols, col_size = _bands(windows.cols, windows.length)
    return {
        "cycles": timeline.cycles,
        "window": windows.width,
        "count": len(windows.length),
        "instructions": [timeline.text(index) for index in range(len(timeline.instructions))],
        "groups": _groups(timeline),
        "engines": {engine: _engine(timeline, engine) for engine in ENGINES},
        "use": _use(windows, config.peak_macs),
        "reads": [[user, windows.port[user].tolist()] for user in READERS],
        "writes": [["store", windows.port["store"].tolist()]],
        "bands": {"rows": len(rows), "cols": len(cols), "rows_size": row_size, "cols_size": col_size},
        "rows": _packed(rows),
        "cols": _packed(cols),
        "grid": {"rows": config.rows, "cols": config.cols, "use": _packed(use)},
    }


def _groups(timeline: Timeline) -> list[list]:
    """Stretches of the groups in order of time: name, first cycle, cycle after the last, number of the group."""
    spans = enumerate(timeline.group_spans().items())
    return sorted(([name, *span, number] for number, (name, found) in spans for span in found), key=lambda row: row[1])


def _engine(timeline: Timeline, engine: str) -> dict:
    intervals, places, lanes = timeline.lanes(engine)
    if len(intervals) > MOST_INTERVALS:
        intervals, places, lanes = _whole(intervals), [0] * len(intervals), 1
    rows = [
        [i.start, i.end, i.index, i.iteration, lane, i.dispatched]
        for i, lane in zip(intervals, places[: len(intervals)], strict=True)
    ]
    return {"lanes": lanes, "intervals": rows}


def _whole(intervals: Sequence[Interval]) -> list[Interval]:
    """Iterations of one instruction as one interval."""
    merged: dict[int, Interval] = {}
    for i in intervals:
        first = merged.setdefault(i.index, i)
        merged[i.index] = Interval(i.engine, i.index, 0, first.dispatched, first.start, i.end)
    return list(merged.values())


def _use(windows: Windows, peak: int) -> list:
    useful = np.round(windows.useful_macs / peak, 2)
    series = {"useful": useful, "unused": np.round(windows.categories["active"] - useful, 2)}
    series |= {name: windows.categories[name] for name in WHERE if name not in series}
    return [[name, values.tolist()] for name, values in series.items()]


def _bands(used: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, int]:
    """Shares 0..1 of at most `MOST_BANDS` groups of rows, and rows per group."""
    size = max(1, len(used) // MOST_BANDS)
    return used.reshape(-1, size, len(length)).mean(axis=1) / length, size


def _packed(shares: np.ndarray) -> str:
    """Shares 0..1 as bytes in base 64."""
    return base64.b64encode(np.round(np.clip(shares, 0, 1) * 255).astype(np.uint8).tobytes()).decode()
