# SPDX-License-Identifier: Apache-2.0
"""Bars and the timeline of the page, as HTML that needs no script: colours are classes, figures are tips."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from beatmatch.networks.report.roofline import Roof
from beatmatch.networks.report.words import WHERE, count, percent
from beatmatch.networks.result import ESTIMATE, SHARES, LayerResult, NetworkResult


def tip(*lines: str) -> str:
    """The attribute that shows lines where the pointer is."""
    return f' data-tip="{escape(chr(10).join(lines))}"'


def stack(shares: Mapping[str, float], cycles: int, side: str = "width") -> str:
    """Segments of a bar; what is zero has none."""
    pieces = []
    for name in SHARES:
        if shares[name] > 0:
            text = f"{WHERE[name]}: {percent(shares[name])}, {count(shares[name] * cycles)} cycles"
            pieces.append(f'<i class="{name}" style="{side}:{100 * shares[name]:.4f}%"{tip(text)}></i>')
    return "".join(pieces)


def total_bar(result: NetworkResult) -> str:
    """Where all cycles went, with its legend."""
    shares = result.shares()
    legend = [
        f'<span><i class="{name}"></i>{escape(WHERE[name])} <b data-share="{name}" data-v="{shares[name]!r}">'
        f"{percent(shares[name])}</b> <em>{count(shares[name] * result.cycles)}</em></span>"
        for name in SHARES
    ]
    bar = f'<div class="bar whole" id="total">{stack(shares, result.cycles)}</div>'
    return f'{bar}<div class="legend">{"".join(legend)}</div>'


def layer_bar(layer: LayerResult, result: NetworkResult, longest: int) -> str:
    """A layer's shares; as long as the layer where bars are to scale."""
    if not layer.cycles:
        return ""
    length = f"--length:{100 * layer.cycles / longest:.3f}%"
    return f'<div class="bar" style="{length}">{stack(layer.shares(result.config), layer.cycles)}</div>'


def timeline(result: NetworkResult, roof: Roof) -> str:
    """Layers, shares and memory traffic over time; a script makes it wider."""
    layers = [layer for layer in result if layer.cycles]
    bands = [
        ("layers", 22, [_name(layer, result) for layer in layers]),
        ("cycles", 90, [_shares(layer, result) for layer in layers]),
        ("memory", 54, [_memory(layer, result, roof) for layer in layers]),
    ]
    labels = "".join(f'<b style="height:{height}px">{name}</b>' for name, height, _ in bands)
    rows = "".join(f'<div class="band {name}" style="height:{h}px">{"".join(parts)}</div>' for name, h, parts in bands)
    ticks = "".join(f'<span style="left:{10 * n}%">{count(result.cycles * n / 10)}</span>' for n in range(10))
    return (
        f'<div class="time"><div class="labels"><b style="height:18px">cycle</b>{labels}</div>'
        '<div class="scroll" tabindex="0"><div class="inner" id="time">'
        f'<div class="ticks">{ticks}</div>{rows}</div></div></div>'
    )


def _place(layer: LayerResult, result: NetworkResult) -> str:
    return f"left:{100 * layer.start / result.cycles:.5f}%;width:{100 * layer.cycles / result.cycles:.5f}%"


def _when(layer: LayerResult) -> tuple[str, str]:
    return f"{layer.name} ({layer.op})", f"cycles {count(layer.start)} to {count(layer.end)}: {count(layer.cycles)}"


def _name(layer: LayerResult, result: NetworkResult) -> str:
    kind = "estimate" if layer.fidelity == ESTIMATE else "products" if layer.macs else "vector"
    text = tip(*_when(layer), layer.fidelity, *filter(None, [layer.note]))
    return f'<div class="{kind}" style="{_place(layer, result)}"{text}>{escape(layer.name)}</div>'


def _shares(layer: LayerResult, result: NetworkResult) -> str:
    shares = layer.shares(result.config)
    lines = [f"{WHERE[name]} {percent(shares[name])}" for name in SHARES if shares[name] > 0]
    pieces = "".join(f'<i class="{n}" style="height:{100 * shares[n]:.3f}%"></i>' for n in SHARES if shares[n] > 0)
    return f'<div style="{_place(layer, result)}"{tip(*_when(layer), *lines)}>{pieces}</div>'


def _memory(layer: LayerResult, result: NetworkResult, roof: Roof) -> str:
    """Bytes per cycle of the window, of what the port carries both ways."""
    rates = {"read": layer.read_bytes / layer.cycles, "written": layer.written_bytes / layer.cycles}
    lines = [f"{rate:.1f} bytes per cycle {name}" for name, rate in rates.items()]
    lines.append(f"the port carries {roof.reads:.1f}, both ways {roof.both:.1f}")
    pieces = "".join(
        f'<i class="{name}" style="height:{min(100.0, 100 * rate / roof.both):.3f}%"></i>'
        for name, rate in rates.items()
        if rate
    )
    return f'<div style="{_place(layer, result)}"{tip(*_when(layer), *lines)}>{pieces}</div>'
