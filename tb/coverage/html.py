# SPDX-License-Identifier: Apache-2.0
"""The coverage page: one HTML file with groups, holes, exclusions, waivers and the annotated source."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tb.coverage.code import CodeReport, FileReport
from tb.coverage.functional import ENOUGH, FunctionalReport

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #1d2733; }
h1 { font-weight: 600; }
h2 { margin-top: 2em; border-bottom: 1px solid #d5dbe3; }
.tiles { display: flex; gap: 1em; flex-wrap: wrap; }
.tile { border: 1px solid #d5dbe3; border-radius: 8px; padding: .8em 1.2em; }
.tile b { display: block; font-size: 1.7em; font-weight: 600; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; background: #f3f5f8; }
th, td { padding: .25em .6em; border-bottom: 1px solid #e4e8ee; vertical-align: top; }
td.n { text-align: right; white-space: nowrap; }
details summary { cursor: pointer; } .bins { columns: 3; font-size: 13px; } .bins div { break-inside: avoid; }
.ok { color: #19753f; } .thin { color: #9a6700; } .hole { color: #b42318; font-weight: 600; }
pre { font: 12px/1.4 ui-monospace, monospace; margin: 0; overflow-x: auto; }
pre span { display: block; white-space: pre; }
pre .h { background: #eaf6ee; } pre .m { background: #fde8e6; }
pre i { color: #8a94a3; font-style: normal; user-select: none; }
pre em { color: #b42318; font-style: normal; }
"""


def _tile(label: str, value: str) -> str:
    return f'<div class="tile"><b>{escape(value)}</b>{escape(label)}</div>'


def _row(*cells: object) -> str:
    return "<tr>" + "".join(
        f'<td class="n">{cell}</td>' if isinstance(cell, int) else f"<td>{cell}</td>" for cell in cells
    ) + "</tr>"  # fmt: skip


def _table(head: tuple[str, ...], rows: list[str]) -> str:
    if not rows:
        return "<p>None.</p>"
    return f"<table><tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr>{''.join(rows)}</table>"


def _groups(report: FunctionalReport, kind: str) -> str:
    rows = []
    for item in report.groups:
        if item.kind != kind:
            continue
        bins = "".join(
            f'<div class="{"ok" if seeds >= ENOUGH else "thin" if seeds else "hole"}">{escape(label)}: {seeds}</div>'
            for label, seeds in item.seeds.items()
        )
        name = f"<details><summary>{escape(item.name)}</summary><div class='bins'>{bins}</div></details>"
        rows.append(_row(name, escape(item.description), item.bins, item.hit, item.hit3))
    return _table(("group", "a hit bin means", "bins", "hit", f"from {ENOUGH} seeds"), rows)


def _source(item: FileReport, root: Path) -> str:
    lines = []
    for number, text in enumerate((root / item.name).read_text().splitlines(), 1):
        missed = item.missed.get(number, [])
        state = "m" if missed or item.counts.get(number) == 0 else "h" if number in item.counts else ""
        note = (
            f"   <em>never: {escape(', '.join(missed[:6]))}{' ...' if len(missed) > 6 else ''}</em>" if missed else ""
        )
        count = f"{item.counts[number]:>9}" if number in item.counts else " " * 9
        lines.append(f'<span class="{state}"><i>{number:>4} {count}</i>  {escape(text)}{note}</span>')
    figures = ", ".join(f"{kind} {getattr(item, kind).percent:.1f} %" for kind in ("line", "branch", "toggle"))
    return f"<details><summary>{escape(item.name)}: {figures}</summary><pre>{''.join(lines)}</pre></details>"


def page(functional: FunctionalReport, code: CodeReport | None, root: Path, conditions: str) -> str:
    """The whole page.

    Parameters
    ----------
    functional, code : FunctionalReport, CodeReport or None
    root : Path
        Where the sources of `code` are.
    conditions : str
        One line: command, programs, cycles.
    """
    tiles = [
        _tile(f"bins from {ENOUGH} seeds", f"{functional.percent():.2f} %"),
        _tile("bins hit", f"{functional.percent('hit'):.2f} %"),
    ]
    if code is not None:
        tiles += [_tile(kind, f"{code.total(kind).percent:.2f} %") for kind in ("line", "branch", "toggle")]
        tiles.append(_tile("waivers", str(len(code.waived))))
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>",
        f"<title>Coverage</title><style>{STYLE}</style><h1>Coverage</h1><p>{escape(conditions)}</p>",
        f"<div class='tiles'>{''.join(tiles)}</div>",
        "<h2>Holes</h2>",
        _table(("group", "bin", "seeds"), [_row(escape(n), escape(b), 0) for n, b in functional.holes]
               + [_row(escape(n), escape(b), f"fewer than {ENOUGH}") for n, b in functional.thin]),
        "<h2>Architectural groups</h2>", _groups(functional, "architectural"),
        "<h2>Micro-architectural groups</h2>", _groups(functional, "microarchitectural"),
        "<h2>Excluded bins</h2>",
        _table(("group", "bin", "category", "reason"),
               [_row(*(escape(x) for x in (e.group, e.bin, e.category, e.reason))) for e in functional.exclusions]),
    ]  # fmt: skip
    if code is not None:
        waived = [_row(escape(w.file), escape(w.what), w.kind, count, escape(w.reason)) for w, count in code.waived]
        parts += [
            "<h2>Code coverage</h2>",
            "<p>Union over all instances and configurations. Numbers in front of the source are hits of a line. ",
            f"{code.constant} toggle points are constant by contract (empty bits of the trace record, bits of ",
            "instructions that the decoder refuses).</p>",
            "<h3>Waivers</h3>", _table(("file", "what", "kind", "points", "reason"), waived),
            "<h3>Source</h3>", *(_source(item, root) for item in code.files),
        ]  # fmt: skip
    return "\n".join(parts) + "</html>\n"
