# SPDX-License-Identifier: Apache-2.0
"""A result in a notebook: headline, where the cycles went, the longest layers. No script, no style sheet."""

from __future__ import annotations

from html import escape

from beatmatch.networks.report.words import WHERE, count, machine, percent, standing, totals
from beatmatch.networks.result import SHARES, NetworkResult

MOST_LAYERS = 10
COLOURS = {
    "useful": "#dd7f14", "unused": "#f6cf97", "weight_stall": "#c9aeea", "weight_shift": "#8a5cc6",
    "raw_stall": "#a4c3e2", "input_stall": "#3a7fc1", "other": "#d4d4ce",
    "estimate": "repeating-linear-gradient(45deg,#8d959d 0 4px,#ffffff 4px 7px)",
}  # fmt: skip


def summary(result: NetworkResult) -> str:
    """The HTML that `NetworkResult._repr_html_` gives."""
    facts = "".join(
        f"<tr><td style='text-align:right'><b>{t}</b></td><td>{n}</td></tr>" for n, t in totals(result).items()
    )
    shares = result.shares()
    key = " &nbsp; ".join(
        f"<span style='white-space:nowrap'>{_swatch(name)} {WHERE[name]} {percent(shares[name])}</span>"
        for name in SHARES
    )
    most = sorted((layer for layer in result if layer.cycles), key=lambda layer: -layer.cycles)[:MOST_LAYERS]
    rows = "".join(
        f"<tr><td>{escape(layer.name)}</td><td>{escape(layer.op)}</td>"
        f"<td style='text-align:right'>{count(layer.cycles)}</td>"
        f"<td style='min-width:240px'>{_bar(layer.shares(result.config), 12)}</td>"
        f"<td>{escape(layer.fidelity)}</td></tr>"
        for layer in most
    )
    rest = f"<p>{len(most)} of {len(result.layers)} layers; <code>pandas.DataFrame(result.rows())</code> has all.</p>"
    return (
        f"<div><h4>{escape(result.name)} on {escape(machine(result))}</h4><p>{escape(standing(result))}</p>"
        f"<table>{facts}</table>{_bar(shares, 22)}<p>{key}</p>"
        f"<table><tr><th>layer</th><th>operator</th><th>cycles</th><th></th><th>fidelity</th></tr>{rows}</table>{rest}</div>"
    )


def _bar(shares: dict[str, float], height: int) -> str:
    pieces = "".join(
        f"<i title='{WHERE[name]} {percent(share)}' style='display:block;width:{100 * share:.3f}%;"
        f"background:{COLOURS[name]}'></i>"
        for name, share in shares.items()
        if share > 0
    )
    return f"<div style='display:flex;height:{height}px'>{pieces}</div>"


def _swatch(name: str) -> str:
    return f"<i style='display:inline-block;width:11px;height:11px;background:{COLOURS[name]}'></i>"
