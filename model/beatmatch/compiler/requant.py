# SPDX-License-Identifier: Apache-2.0
"""How int32 sums become int8, and its rows of the parameter memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beatmatch import numerics

_PER_COLUMN = ("bias", "multiplier", "shift")
_RANGES = {
    "bias": (-(1 << 31), (1 << 31) - 1),
    "multiplier": (0, (1 << numerics.MULTIPLIER_BITS) - 1),
    "shift": (0, numerics.MAX_SHIFT),
    "zero_point": (-128, 127),
    "low": (-128, 127),
    "high": (-128, 127),
}


@dataclass(frozen=True)
class Requant:
    """How int32 sums become int8: ``clip(round_half_even((sum + bias) * multiplier, shift) + zero_point)``.

    Parameters
    ----------
    bias, multiplier, shift : int or array_like, [N]
        One for all columns or one per column; int32, 0 to 2^24 - 1, 0 to 63.
    zero_point, low, high : int
        -128 to 127.

    Raises
    ------
    ValueError
        Naming the field and its range.
    """

    bias: object = 0
    multiplier: object = 1
    shift: object = 0
    zero_point: int = 0
    low: int = -128
    high: int = 127

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = np.asarray(getattr(self, name))
            if value.dtype.kind not in "iu" or (value.size and not (low <= value.min() and value.max() <= high)):
                shown = getattr(self, name) if value.ndim == 0 else f"an array of {value.dtype}"
                if value.size and value.dtype.kind in "iuf":
                    shown = value if value.ndim == 0 else f"from {value.min()} to {value.max()}"
                raise ValueError(f"{name} is {shown}; it must hold integers from {low} to {high}.")
            if value.ndim > (name in _PER_COLUMN):
                some = "one value or one per column" if name in _PER_COLUMN else "one value"
                raise ValueError(f"{name} has the shape {value.shape}; it must be {some}.")
        if self.low > self.high:
            raise ValueError(f"low is {self.low}; it must be at most high, which is {self.high}.")

    def check_columns(self, columns: int) -> None:
        """Raise ValueError unless the fields given per column are as many as the columns."""
        for name in _PER_COLUMN:
            if np.ndim(getattr(self, name)) and len(getattr(self, name)) != columns:
                count = len(getattr(self, name))
                raise ValueError(f"{name} has {count} values; it must have one, or {columns} for as many columns.")

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
