# SPDX-License-Identifier: Apache-2.0
"""Where stations write what they did in a cycle."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.trace import TraceLayout, layout


class TraceWriter:
    """A block of trace records that the stations fill, one record per cycle.

    Attributes
    ----------
    words : memoryview
        All records as one flat sequence of uint32; scalar writes here are the cheapest Python has.
    array : numpy.ndarray
        The same memory, uint32, flat; for rows of data.
    base : int
        Offset in words of the record of the current cycle.
    """

    def __init__(self, config: Config, cycles: int = 1024) -> None:
        self.layout: TraceLayout = layout(config)
        self.cycles = cycles
        self.width = self.layout.words
        self.array = np.zeros(cycles * self.width, dtype=np.uint32)
        self.words = memoryview(self.array)
        self.base = 0

    def offset(self, station: str, slot: str) -> int:
        """Offset of a slot's header inside a record."""
        return self.layout.slot(station, slot).offset

    def data(self, station: str, slot: str, name: str) -> tuple[int, int]:
        """Offset and number of words of a slot's data inside a record."""
        return self.layout.slot(station, slot).data[name]

    def next(self) -> bool:
        """Go to the next cycle's record; True when the block is full (take `records`, then `rewind`)."""
        self.base += self.width
        return self.base == len(self.array)

    def records(self) -> np.ndarray:
        """The finished records, uint32 [cycles, words]; a view that `rewind` overwrites."""
        return self.array.reshape(self.cycles, self.width)[: self.base // self.width]

    def rewind(self) -> None:
        """Clear the block and start again at its first record."""
        self.array[: self.base] = 0
        self.base = 0
