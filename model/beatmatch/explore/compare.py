# SPDX-License-Identifier: Apache-2.0
"""A against B: what two changes of a base bring, what they cost, and which layers feel them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beatmatch.explore.changes import Change, label
from beatmatch.explore.columns import Row
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.study import Point, Study, point
from beatmatch.explore.totals import Total, totals

BASE, A, B, BOTH = "base", "A", "B", "A and B"


@dataclass(frozen=True)
class Duel(Study):
    """A study of a base, with A, with B, and with both.

    Parameters
    ----------
    a, b : tuple of changes
        Without a B, A is compared with the base alone.
    """

    a: tuple[Change, ...] = ()
    b: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.a:
            raise ExploreError("There is nothing to compare: give --a with changes such as sp_banks=2x.")
        if self.a == self.b:
            raise ExploreError("A and B are the same changes.")

    def points(self) -> list[Point]:
        """Base, A, B, and both where they change different things; each must be possible."""
        sides = {BASE: (), A: self.a, B: self.b, BOTH: (*self.a, *self.b)}
        if not self.b:
            sides = {BASE: (), A: self.a}
        elif {name for name, _ in self.a} & {name for name, _ in self.b}:
            del sides[BOTH]  # they change the same thing
        found = []
        for side, chosen in sides.items():
            made = point(self.base, chosen, self.memories)
            if made.machine is None and side != BOTH:
                raise ExploreError(f"{side} ({made.label}) cannot be built: {made.reason}")
            found.append(Point(side, made.machine, made.reason))
        return found


@dataclass(frozen=True)
class Verdict:
    """What came out for one network.

    Attributes
    ----------
    network : str
    sides : dict of str to Total
        By `BASE`, `A`, `B`, `BOTH`.
    layers : list of dict
        Cycles of every layer on each side, those first whose cycles differ most between A and B (or base and A).
    sentence : str
        The answer in words.
    """

    network: str
    sides: dict[str, Total]
    layers: list[dict]
    sentence: str


def verdicts(study: Duel, rows: Sequence[Row]) -> list[Verdict]:
    """The answer for each network; raises ExploreError if base, A or B does not run it."""
    result = []
    for network in study.networks:
        mine = [row for row in rows if row["network"] == network]
        sides = {total.point: total for total in totals(mine)}
        for side, total in sides.items():
            if total.cycles is None and side != BOTH:
                raise ExploreError(f"{side} does not run {network}: {total.reason}")
        result.append(Verdict(network, sides, _layers(mine, list(sides)), _sentence(study, network, sides)))
    return result


def _layers(rows: Sequence[Row], sides: list[str]) -> list[dict]:
    found: dict[int, dict] = {}
    for row in rows:
        if row["layer"] is not None:
            head = {"layer": row["layer"], "name": row["name"], "op": row["op"], "shape": row["shape"]}
            found.setdefault(row["layer"], {**head, **dict.fromkeys(sides)})[row["point"]] = row["cycles"]
    first, second = (A, B) if B in sides else (BASE, A)
    return sorted(found.values(), key=lambda layer: (-abs(layer[first] - layer[second]), layer["layer"]))


def _sentence(study: Duel, network: str, sides: dict[str, Total]) -> str:
    base = sides[BASE].cycles
    text = {side: f"{_change(base, sides[side].cycles)}, {_cost(sides[BASE], sides[side])}" for side in sides}
    a = f"{label(study.a)} ({text[A]})"
    if B not in sides:
        return f"{network}: {a}."
    b = f"{label(study.b)} ({text[B]})"
    first, second = sides[A].cycles, sides[B].cycles
    if first == second:
        lead = f"{a} and {b} bring the same"
    else:
        better, worse = (a, b) if first < second else (b, a)
        lead = f"{better} brings more than {worse}"
    both = sides.get(BOTH)
    end = f"; both: {text[BOTH]}" if both and both.cycles is not None else ""
    return f"{network}: {lead}{end}."


def _change(base: int, cycles: int | None) -> str:
    if cycles is None:
        return "cannot run"
    if cycles == base:
        return "no change in cycles"
    return f"{abs(cycles / base - 1):.1%} {'fewer' if cycles < base else 'more'} cycles"


def _cost(base: Total, side: Total) -> str:
    if side.area is None:
        return "no area"
    ratio = side.area.proxy / base.area.proxy
    if ratio == 1:
        return "same area"
    share = "under 0.1%" if abs(ratio - 1) < 0.0005 else f"{abs(ratio - 1):.1%}"
    return f"{share} {'more' if ratio > 1 else 'less'} area by the proxy"
