# SPDX-License-Identifier: Apache-2.0
"""Charts as one web page that needs nothing else, and as pictures for documents; Vega draws both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from beatmatch.explore.errors import ExploreError, need

CONFIG = {
    "background": "white",
    "font": "system-ui, Segoe UI, Roboto, sans-serif",
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "gridColor": "#ecece8"},
    "title": {"fontSize": 13, "anchor": "start", "fontWeight": 600},
    "view": {"stroke": "#dcdcd6"},
    "numberFormat": ",.4~r",
    "tooltipFormat": {"numberFormat": ",.4~r"},
}
"""How all charts look."""


def page(title: str, lead: Sequence[str], charts: Sequence[Mapping], tables: Mapping[str, Sequence[Mapping]]) -> str:
    """A page as text: sentences, charts, and tables by heading; write it to a file that ends in ``.html``."""
    drawn = [{**chart, "config": CONFIG} for chart in charts]
    parts = {
        "title": escape(title),
        "lead": "".join(f"<p>{escape(text)}</p>" for text in lead),
        "charts": "".join(f'<div class="card" id="chart{number}"></div>' for number in range(len(drawn))),
        "tables": "".join(_table(heading, rows) for heading, rows in tables.items()),
        "library": need("vl_convert").javascript_bundle().replace("</script", "<\\/script"),
        "data": json.dumps(drawn, separators=(",", ":")).replace("</", "<\\/"),
    }
    template = files("beatmatch.explore").joinpath("page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def write_page(path: str, *parts: object) -> None:
    """Write `page` to a file; raises ExploreError."""
    _write(path, page(*parts))


def write_svg(path: str, chart: Mapping) -> None:
    """Write one chart as a picture; raises ExploreError."""
    _write(path, need("vl_convert").vegalite_to_svg({**chart, "config": CONFIG}) + "\n")


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ExploreError(f"{path} cannot be written: {error.strerror}.") from None


def _table(heading: str, rows: Sequence[Mapping]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape(shown(value))}</td>' for value in row.values())}</tr>" for row in rows)
    table = f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
    return f'<div class="card"><h2>{escape(heading)}</h2>{table}</div>'


def shown(value: object) -> str:
    """A value of a table as text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)
