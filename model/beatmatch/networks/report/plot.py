# SPDX-License-Identifier: Apache-2.0
"""The roofline as a drawing (SVG): logarithmic axes, one dot per layer, its area by cycles."""

from __future__ import annotations

from math import ceil, floor, log10, sqrt

from beatmatch.networks.report.bars import tip
from beatmatch.networks.report.roofline import Point, Roof
from beatmatch.networks.report.words import count, percent
from beatmatch.networks.result import NetworkResult

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 66, 26, 14, 46
LEAST_DOT, MOST_DOT = 3.0, 17.0
"""Radii of a dot that takes no cycles, and of one that takes them all."""


class _Axis:
    """Decades that hold some values, and where they stand between two pixels."""

    def __init__(self, values: list[float], first: float, last: float) -> None:
        self.low, self.high = floor(log10(min(values))), ceil(log10(max(values)))
        self.high += self.high == self.low
        self.first, self.last = first, last

    def __call__(self, value: float) -> float:
        share = (log10(value) - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    @property
    def decades(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def drawing(result: NetworkResult, roof: Roof, points: list[Point]) -> str:
    """The drawing, or a sentence if there is nothing to draw."""
    points = [point for point in points if point.reached > 0]
    if not points:
        return '<p class="note">No layer has both products and memory traffic.</p>'
    ridge = roof.peak / roof.both
    xs = [point.intensity for point in points] + [ridge / 2, ridge * 2]
    ys = [point.reached for point in points] + [roof.peak]
    x, y = _Axis(xs, LEFT, WIDTH - RIGHT), _Axis(ys, HEIGHT - BOTTOM, TOP)
    parts = [*_grid(x, y), *_roofs(x, y, roof)]
    parts += [_dot(point, x, y, roof, result) for point in sorted(points, key=lambda point: -point.layer.cycles)]
    label = f"Roofline of {len(points)} layers"
    return (
        f'<svg class="roofline" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def _grid(x: _Axis, y: _Axis) -> list[str]:
    parts = []
    for value in x.decades:
        parts.append(f'<path class="grid" d="M{x(value):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{value:,g}</text>')
    for value in y.decades:
        parts.append(f'<path class="grid" d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{y(value) + 4:.1f}" text-anchor="end">{value:,g}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">multiply-accumulates per byte moved</text>')
    turn = f'transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)"'
    return [*parts, f'<text {turn} text-anchor="middle">multiply-accumulates per cycle</text>']


def _roofs(x: _Axis, y: _Axis, roof: Roof) -> list[str]:
    parts = []
    for name, rate in (("reads", roof.reads), ("both", roof.both)):
        low = max(x.decades[0], y.decades[0] / rate)
        ridge = min(roof.peak / rate, x.decades[-1])
        path = f"M{x(low):.1f} {y(rate * low):.1f}L{x(ridge):.1f} {y(rate * ridge):.1f}"
        parts.append(f'<path class="roof {name}" d="{path}H{WIDTH - RIGHT}"/>')
    parts.append(
        f'<text class="name" x="{WIDTH - RIGHT - 4}" y="{y(roof.peak) - 6:.1f}" text-anchor="end">'
        f"array: {count(roof.peak)} per cycle; memory: {roof.reads:.4g} bytes per cycle read, "
        f"{roof.both:.4g} both ways</text>"
    )
    return parts


def _dot(point: Point, x: _Axis, y: _Axis, roof: Roof, result: NetworkResult) -> str:
    layer, share = point.layer, point.layer.cycles / result.cycles
    radius = LEAST_DOT + (MOST_DOT - LEAST_DOT) * sqrt(share)
    lines = (
        f"{layer.name} ({layer.op})", f"{point.intensity:,.1f} multiply-accumulates per byte",
        f"{point.reached:,.0f} per cycle, {percent(point.reached / roof.at(point.intensity))} of its roof",
        f"{count(layer.cycles)} cycles, {percent(share)}",
    )  # fmt: skip
    kind = "array" if roof.at(point.intensity) == roof.peak else "memory"
    place = f'cx="{x(point.intensity):.1f}" cy="{y(point.reached):.1f}" r="{radius:.1f}"'
    return f'<circle class="dot {kind}" {place}{tip(*lines)}/>'
