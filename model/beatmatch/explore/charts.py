# SPDX-License-Identifier: Apache-2.0
"""The answers as charts: Vega-Lite specifications, plain dictionaries that `page` draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beatmatch.explore.compare import Verdict
from beatmatch.explore.pareto import OBJECTIVES
from beatmatch.explore.roofline import Spot
from beatmatch.explore.sensitivity import factors
from beatmatch.explore.totals import Total

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
"""What the specifications are written in; the name of a format, nothing is loaded from there."""
SIZE = {"width": 620, "height": 340}
ORANGE, BLUE, GREEN, GREY = "#dd7f14", "#3a7fc1", "#2b9a72", "#b4b9be"
FACTOR_COLOURS = ("#2c6aa5", "#93bde2", "#f6c083", "#c86a05")
LABEL = "datum.value < 1000 ? format(datum.value, '~g') : format(datum.value, '~s')"
"""Numbers on logarithmic axes: 0.3, 20, 1k, 4M."""
TITLES = {
    "cycles": "cycles",
    "area": "area proxy: transistors of textbook cells, no silicon area",
    "gates": "generic gates (proxy)",
    "memory_bits": "memory bits (proxy)",
    "bytes": "bytes over the memory port",
    "bandwidth": "read bandwidth, bytes per cycle",
    "pes": "processing elements",
    "idle": "idle share of the array's peak",
}
"""What stands on the axes."""
CATEGORY_COLOURS = {
    "useful": "#dd7f14",
    "unused": "#f6cf97",
    "weight shift": "#8a5cc6",
    "weight stall": "#c9aeea",
    "input stall": "#3a7fc1",
    "RAW stall": "#a4c3e2",
    "other": "#d4d4ce",
    "estimate": "#7d868f",
}
"""Where cycles go, in the order of the bars; the colours of the other pages."""


def _chart(title: str, data: Sequence[Mapping], **parts: object) -> dict:
    return {"$schema": SCHEMA, "title": title, "data": {"values": [*data]}, **SIZE, **parts}


def _log(field: str, title: str) -> dict:
    scale = {"type": "log", "nice": False, "padding": 14}
    return {"field": field, "type": "quantitative", "scale": scale, "title": title, "axis": {"labelExpr": LABEL}}


def _tips(**fields: str) -> list[dict]:
    """What shows where the pointer is: a title for each field; numbers with thousands."""
    return [{"field": name, "title": title} for name, title in fields.items()]


def pareto(found: Sequence[tuple[Total, bool]], objectives: Sequence[str]) -> list[dict]:
    """A chart per network: the first objective against the second."""
    x, y = objectives[1], objectives[0]
    charts = []
    for network in dict.fromkeys(total.network for total, _ in found):
        data = [
            {
                "point": total.point, "front": on, "x": OBJECTIVES[x](total), "y": OBJECTIVES[y](total),
                "array": f"{total.config.rows}x{total.config.cols}", "use": round(100 * total.utilization, 1),
                "fidelity": total.fidelity,
            }
            for total, on in found
            if total.network == network
        ]  # fmt: skip
        place = {"x": _log("x", TITLES[x]), "y": _log("y", TITLES[y])}
        tips = _tips(point="machine", y=y, x=x, array="array", use="utilization, %", fidelity="fidelity")
        on_front = [{"filter": "datum.front"}]
        line = {"type": "line", "color": ORANGE, "strokeWidth": 1.5}
        dots = {"type": "circle", "size": 70, "opacity": 0.9}
        colour = {"condition": {"test": "datum.front", "value": ORANGE}, "value": GREY}
        label = {"type": "text", "align": "left", "dx": 7, "dy": -7, "fontSize": 10, "limit": 220}
        layers = [
            {"transform": on_front, "mark": line, "encoding": {**place, "order": {"field": "x"}}},
            {"mark": dots, "encoding": {**place, "color": colour, "tooltip": tips}},
            {"transform": on_front, "mark": label, "encoding": {**place, "text": {"field": "point"}}},
        ]
        charts.append(_chart(f"{network}: the front is orange", data, layer=layers))
    return charts


def tornado(rows: Sequence[Mapping]) -> list[dict]:
    """A chart per network: cycles over the base's at each factor of each parameter, from `sensitivity.rows`."""
    charts = []
    for network in dict.fromkeys(row["network"] for row in rows):
        data = [row for row in rows if row["network"] == network and row["cycles_ratio"] is not None]
        scale = {"type": "log", "nice": False, "padding": 14}
        x = {"field": "cycles_ratio", "type": "quantitative", "scale": scale, "title": "cycles, base = 1"}
        order = list(dict.fromkeys(row["parameter"] for row in data))
        colour = {
            "field": "factor", "title": "parameter, base = 1x", "sort": factors(),
            "scale": {"domain": factors(), "range": list(FACTOR_COLOURS)},
        }  # fmt: skip
        encoding = {
            "x": x, "x2": {"datum": 1}, "y": {"field": "parameter", "type": "nominal", "sort": order, "title": None},
            "yOffset": {"field": "factor", "sort": factors()}, "color": colour,
            "tooltip": _tips(parameter="parameter", factor="factor", cycles_ratio="cycles", area_ratio="area proxy"),
        }  # fmt: skip
        mark = {"type": "bar", "minBandSize": 3}
        chart = _chart(f"{network}: each parameter alone, from 0.25x to 4x", data, mark=mark, encoding=encoding)
        charts.append({**chart, "height": {"step": 7}})
    return charts


def roofline(spots: Sequence[Spot]) -> dict:
    """Layers of one network on one machine below its roof."""
    data = [
        {
            "layer": s.layer, "op": s.op, "shape": s.shape, "intensity": s.intensity, "reached": s.reached,
            "roof": s.roof, "share": round(100 * s.share, 1), "cycles": s.cycles, "bound": s.bound,
        }
        for s in spots
    ]  # fmt: skip
    x, y = _log("intensity", "multiply-accumulates per byte over the memory port"), "multiply-accumulates per cycle"
    tips = _tips(
        layer="layer", op="operator", shape="output", cycles="cycles", share="% of its roof", bound="lower roof"
    )
    size = {"field": "cycles", "type": "quantitative", "title": "cycles", "scale": {"range": [20, 600]}}
    tick = {"type": "tick", "color": GREY, "thickness": 2, "size": 14, "orient": "horizontal"}
    dot = {"type": "circle", "opacity": 0.75}
    layers = [
        {"mark": tick, "encoding": {"x": x, "y": _log("roof", y)}},
        {
            "mark": dot,
            "encoding": {
                "x": x, "y": _log("reached", y), "size": size, "color": {"field": "op", "title": "operator"},
                "tooltip": tips,
            },
        },
    ]  # fmt: skip
    title = f"{spots[0].network} on {spots[0].point}: each layer (dot) below its own roof (grey dash)"
    return _chart(title, data, layer=layers)


def categories(totals: Sequence[Total], title: str) -> dict:
    """Where the cycles of each machine went, as stacked bars."""
    data = []
    for total in totals:
        found = total.categories
        useful = total.macs / total.config.peak_macs
        counts = {
            "useful": useful,
            "unused": found["active"] - useful,
            "weight shift": found["weight_shift"],
            "weight stall": found["weight_stall"],
            "input stall": found["input_stall"],
            "RAW stall": found["raw_stall"],
            "other": found["non_matrix"] - found["raw_stall"] - found["input_stall"],
            "estimate": total.estimated,
        }
        for order, (name, cycles) in enumerate(counts.items()):
            data.append({"side": total.point, "category": name, "cycles": cycles, "order": order})
    names = list(CATEGORY_COLOURS)
    encoding = {
        "x": {"field": "cycles", "type": "quantitative", "title": "cycles", "axis": {"format": "~s"}},
        "y": {"field": "side", "type": "nominal", "title": None, "sort": [total.point for total in totals]},
        "color": {
            "field": "category", "title": None, "sort": names,
            "scale": {"domain": names, "range": list(CATEGORY_COLOURS.values())},
        },
        "order": {"field": "order", "type": "quantitative"},
        "tooltip": _tips(side="machine", category="category", cycles="cycles"),
    }  # fmt: skip
    return {**_chart(title, data, mark="bar", encoding=encoding), "height": {"step": 30}}


def layers(verdict: Verdict, most: int = 20) -> dict:
    """Cycles of the layers that differ most, on each side."""
    sides, shown = list(verdict.sides), verdict.layers[:most]
    data = [
        {"layer": layer["name"], "side": side, "cycles": layer[side]}
        for layer in shown
        for side in sides
        if layer[side] is not None
    ]
    colours = {"domain": sides, "range": [GREY, ORANGE, BLUE, GREEN][: len(sides)]}
    encoding = {
        "x": {"field": "cycles", "type": "quantitative", "title": "cycles", "axis": {"format": "~s"}},
        "y": {"field": "layer", "type": "nominal", "title": None, "sort": [layer["name"] for layer in shown]},
        "yOffset": {"field": "side", "sort": sides},
        "color": {"field": "side", "title": None, "sort": sides, "scale": colours},
        "tooltip": _tips(layer="layer", side="machine", cycles="cycles"),
    }  # fmt: skip
    title = f"{verdict.network}: layers whose cycles differ most"
    return {**_chart(title, data, mark="bar", encoding=encoding), "height": {"step": 8}}
