# SPDX-License-Identifier: Apache-2.0
"""How an output is cut into bands, and which input rows a band sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Window:
    """A window that slides over height and width; pointwise operators have one of a single position.

    Attributes
    ----------
    kernel, stride, dilation, pads : (int, int)
        Down, across; pads are those above and left.
    """

    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pads: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, attributes: dict) -> Window:
        """From a node's attributes, in one or two dimensions."""
        rank = len(attributes["kernel"])
        fill = (1,) * (2 - rank)
        sizes = (fill + tuple(attributes[key]) for key in ("kernel", "strides", "dilations"))
        return cls(*sizes, (0,) * (2 - rank) + tuple(attributes["pads"][:rank]))

    @property
    def pointwise(self) -> bool:
        """Whether each output position sees exactly the input position of its own."""
        return (self.kernel, self.stride, self.pads) == ((1, 1), (1, 1), (0, 0))

    def sees(self, axis: int, size: int, first: int, count: int) -> tuple[int, int, int]:
        """Input positions from, to (exclusive), and padding before them, of outputs ``first`` to ``first + count - 1``.

        Parameters
        ----------
        axis : int
            0 down, 1 across.
        size : int
            Input positions.
        """
        reach = (self.kernel[axis] - 1) * self.dilation[axis] + 1
        low = first * self.stride[axis] - self.pads[axis]
        high = (first + count - 1) * self.stride[axis] - self.pads[axis] + reach
        return min(max(low, 0), size), max(min(high, size), 0), max(-low, 0)


@dataclass(frozen=True)
class Band:
    """Output positions that are computed at a time: ``rows`` from ``y`` on, of each ``columns`` from ``x`` on."""

    y: int
    rows: int
    x: int
    columns: int

    @property
    def positions(self) -> int:
        """How many."""
        return self.rows * self.columns


def bands(height: int, width: int, most_rows: int, most_positions: int) -> Iterator[Band]:
    """Bands of whole rows, as equal as they can be; where not even a row is possible, parts of single rows."""
    rows = min(most_rows, most_positions // width)
    if rows:
        count = -(-height // rows)
        edges = [height * index // count for index in range(count + 1)]
        yield from (Band(a, b - a, 0, width) for a, b in pairwise(edges))
        return
    count = -(-width // most_positions)
    edges = [width * index // count for index in range(count + 1)]
    for y in range(height):
        yield from (Band(y, 1, a, b - a) for a, b in pairwise(edges))
