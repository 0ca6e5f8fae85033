# SPDX-License-Identifier: Apache-2.0
"""The weight FIFO between the weights engine and the array: the twin of `rtl/weights/bm_weight_fifo.sv`."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config


class WeightFifo:
    """Slots of one tile each, written by weights and read by matmul, both in order.

    Within a cycle weights steps first and matmul after it; matmul ends its step with `commit`, so that both see the
    registers of the cycle.

    Attributes
    ----------
    memory : numpy.ndarray of int8, [fifo_tiles, rows, cols]
        Keeps its contents over a reset.
    count : int
        Complete tiles whose shift into the array has not begun.
    reserved : int
        Slots taken, from the tile's first row generated to its last row shifted (a register of weights).
    """

    __slots__ = ("_done", "count", "memory", "reserved")

    def __init__(self, config: Config) -> None:
        self.memory = np.zeros((config.fifo_tiles, config.rows, config.cols), np.int8)
        self.reset()

    def reset(self) -> None:
        """No tile."""
        self.count = self.reserved = self._done = 0

    def reserve(self) -> None:
        """The first row of a tile is generated in this cycle (weights)."""
        self.reserved += 1

    def tile_done(self) -> None:
        """The last row of a tile is written in this cycle (weights)."""
        self._done = 1

    def begin(self) -> None:
        """The first row of a tile is read in this cycle (matmul)."""
        self.count -= 1

    def release(self) -> None:
        """The last row of a tile is read in this cycle (matmul)."""
        self.reserved -= 1

    def commit(self) -> None:
        """End of matmul's step."""
        if self._done:
            self.count += 1
            self._done = 0
