# SPDX-License-Identifier: Apache-2.0
"""How much each parameter matters: one at a time, from a quarter to four times its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from beatmatch.explore.changes import CONFIG_FIELDS, Machine
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.study import Point, Study, point
from beatmatch.explore.totals import Total
from beatmatch.explore.values import Factor, plain

FACTORS = tuple(Fraction(value) for value in ("1/4", "1/2", "2", "4"))
SWITCHES = ("weight_port",)
"""Fields that are on or off."""
SIZES = tuple(name for name in CONFIG_FIELDS if name not in SWITCHES)
PARAMETERS = (*SIZES, "array", "latency", "write_latency", "bandwidth")
"""What is varied unless somebody names less."""


@dataclass(frozen=True)
class Scan(Study):
    """A study of a base and each parameter on its own, instead of all combinations."""

    def _check_combinations(self, names: Sequence[str]) -> None:
        """There are none: no two axes move at a time."""

    def points(self) -> list[Point]:
        """The base, then every value of every axis, one at a time."""
        single = [point(self.base, [(name, value)], self.memories) for name, found in self.axes for value in found]
        return [Point("base", self.base), *single]


def scan(networks: Sequence[str], base: Machine, parameters: Sequence[str] = PARAMETERS, **options) -> Scan:
    """The study of these parameters, at `FACTORS` times the base."""
    axes = tuple((name, tuple(Factor(factor) for factor in FACTORS)) for name in parameters)
    return Scan(tuple(networks), base, axes, **options)


@dataclass(frozen=True)
class Bar:
    """One bar of the tornado.

    Attributes
    ----------
    network, parameter : str
    ratios : dict of str to float
        Cycles over the base's, by factor (``0.25x``).
    areas : dict of str to float
        Area proxy over the base's.
    reasons : dict of str to str
        Why there is no machine, or none that runs the network.
    """

    network: str
    parameter: str
    ratios: dict[str, float]
    areas: dict[str, float]
    reasons: dict[str, str]

    @property
    def swing(self) -> float:
        """Largest over smallest ratio of cycles, the base included."""
        found = [*self.ratios.values(), 1.0]
        return max(found) / min(found)


def tornado(study: Scan, totals: Sequence[Total]) -> list[Bar]:
    """The bars of each network, the widest first; raises ExploreError if the base does not run it."""
    result: list[Bar] = []
    by_name = {(total.network, total.point): total for total in totals}
    for network in study.networks:
        base = by_name[network, "base"]
        if base.cycles is None:
            raise ExploreError(f"The base does not run {network}: {base.reason}")
        bars = []
        for name, found in study.axes:
            bar = Bar(network, name, {}, {}, {})
            for value in found:
                total = by_name[network, f"{name}={value}"]
                if total.cycles is None:
                    bar.reasons[str(value)] = total.reason
                else:
                    bar.ratios[str(value)] = total.cycles / base.cycles
                    bar.areas[str(value)] = total.area.proxy / base.area.proxy
            bars.append(bar)
        result += sorted(bars, key=lambda bar: -bar.swing)
    return result


def rows(bars: Sequence[Bar]) -> list[dict]:
    """One flat row per network, parameter and factor: for CSV, JSON and plots."""
    found = []
    for bar in bars:
        for factor in map(str, map(Factor, FACTORS)):
            found.append(
                {
                    "network": bar.network,
                    "parameter": bar.parameter,
                    "factor": factor,
                    "cycles_ratio": bar.ratios.get(factor),
                    "area_ratio": bar.areas.get(factor),
                    "swing": bar.swing,
                    "reason": bar.reasons.get(factor, ""),
                }
            )
    return found


def factors() -> list[str]:
    """The factors as they are shown."""
    return [f"{plain(factor)}x" for factor in FACTORS]
