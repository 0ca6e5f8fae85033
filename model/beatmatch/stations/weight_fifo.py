# SPDX-License-Identifier: Apache-2.0
"""The weight FIFO's memory between the weights engine and the array: the twin of `rtl/weights/bm_weight_fifo.sv`."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config


class WeightFifo:
    """Slots of one tile each, written by weights and read by matmul, both in order.

    Within a cycle weights steps first and calls `tile_done` with a tile's last row; matmul steps after it and ends
    its step with `commit`, so that `count` is the register of the cycle for both.

    Attributes
    ----------
    memory : numpy.ndarray of int8, [fifo_tiles, rows, cols]
        Keeps its contents over a reset.
    count : int
        Tiles that are complete and not yet fully shifted into the array.
    """

    __slots__ = ("_change", "count", "memory")

    def __init__(self, config: Config) -> None:
        self.memory = np.zeros((config.fifo_tiles, config.rows, config.cols), np.int8)
        self.reset()

    def reset(self) -> None:
        """No tile."""
        self.count = 0
        self._change = 0

    def tile_done(self) -> None:
        """The last row of a tile is written in this cycle (weights)."""
        self._change += 1

    def release(self) -> None:
        """The last row of a tile is read in this cycle (matmul)."""
        self._change -= 1

    def commit(self) -> None:
        """End of the cycle."""
        self.count += self._change
        self._change = 0
