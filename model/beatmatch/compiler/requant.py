# SPDX-License-Identifier: Apache-2.0
"""How int32 sums become int8, and its rows of the parameter memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beatmatch import numerics


@dataclass(frozen=True)
class Requant:
    """How int32 sums become int8: ``clip(round_half_even((sum + bias) * multiplier, shift) + zero_point)``.

    Parameters
    ----------
    bias, multiplier, shift : int or array_like, [N]
        One for all columns or one per column.
    zero_point, low, high : int
    """

    bias: object = 0
    multiplier: object = 1
    shift: object = 0
    zero_point: int = 0
    low: int = -128
    high: int = 127

    @property
    def per_channel(self) -> bool:
        """Whether columns differ."""
        return any(np.ndim(v) for v in (self.bias, self.multiplier, self.shift))

    def rows(self, columns: int, cols: int) -> np.ndarray:
        """Parameter rows for this many columns, uint8 [tiles, 8 * cols]; one row if all columns are equal."""
        if not self.per_channel:
            columns = cols
        tiles = -(-columns // cols)
        table = np.zeros((3, tiles * cols), np.int64)
        table[:, :columns] = np.stack([np.broadcast_to(v, columns) for v in (self.bias, self.multiplier, self.shift)])
        return np.frombuffer(numerics.pack_parameters(*table.reshape(3, tiles, cols)), np.uint8).reshape(tiles, -1)


def fitting_requant(k: int) -> Requant:
    """A scale that no product of int8 vectors of length ``k`` can saturate."""
    return Requant(shift=max(0, (k * 128 * 128 - 1).bit_length() - 7))
