# SPDX-License-Identifier: Apache-2.0
"""Two results side by side, by layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from beatmatch.networks.errors import ResultError
from beatmatch.networks.result import SHARES, LayerResult, NetworkResult


@dataclass(frozen=True)
class Pair:
    """One layer in two results; None where it is missing.

    Attributes
    ----------
    name : str
    a, b : LayerResult or None
    """

    name: str
    a: LayerResult | None
    b: LayerResult | None

    @property
    def difference(self) -> int:
        """Cycles that B takes more than A; a missing layer takes none."""
        return (self.b.cycles if self.b else 0) - (self.a.cycles if self.a else 0)

    @property
    def op(self) -> str:
        """The operator."""
        return (self.a or self.b).op


@dataclass(frozen=True)
class Comparison:
    """Two results.

    Attributes
    ----------
    a, b : NetworkResult
    pairs : list of Pair
        Every layer that takes cycles in one of them, the largest difference first; the differences add up.
    """

    a: NetworkResult
    b: NetworkResult
    pairs: list[Pair]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @property
    def difference(self) -> int:
        """Cycles that B takes more than A."""
        return self.b.cycles - self.a.cycles

    @property
    def note(self) -> str:
        """A warning, or nothing."""
        return "" if self.a.name == self.b.name else "These are different networks; layers are matched by name."

    def categories(self) -> dict[str, tuple[float, float]]:
        """Cycles by category in A and B."""
        first, second = self.a.shares(), self.b.shares()
        return {name: (first[name] * self.a.cycles, second[name] * self.b.cycles) for name in SHARES}

    def to_dict(self) -> dict:
        """Plain values, ready for JSON."""
        rows = [
            {
                "name": pair.name, "op": pair.op, "difference": pair.difference,
                **{side: layer.cycles if layer else None for side, layer in (("a", pair.a), ("b", pair.b))},
            }
            for pair in self.pairs
        ]  # fmt: skip
        sides = {
            side: {"network": r.name, "config": r.config.name, "config_digest": r.config.digest(), "cycles": r.cycles}
            for side, r in (("a", self.a), ("b", self.b))
        }
        categories = {name: {"a": a, "b": b} for name, (a, b) in self.categories().items()}
        return {**sides, "difference": self.difference, "categories": categories, "layers": rows}


def compare(a: NetworkResult, b: NetworkResult) -> Comparison:
    """Layers of two results, matched by name.

    Raises
    ------
    ResultError
        If they have no layer in common.
    """
    first, second = ({layer.name: layer for layer in result} for result in (a, b))
    if not first.keys() & second.keys():
        raise ResultError(
            f"{a.name} and {b.name} have no layer in common: compare results of one network, or of variants of it."
        )
    pairs = [Pair(name, first.get(name), second.get(name)) for name in {**first, **second}]
    shown = [pair for pair in pairs if (pair.a and pair.a.cycles) or (pair.b and pair.b.cycles)]
    return Comparison(a, b, sorted(shown, key=lambda pair: -abs(pair.difference)))
