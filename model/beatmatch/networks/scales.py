# SPDX-License-Identifier: Apache-2.0
"""Scales and zero points of tensors, and the integer parameters that follow from them (docs/numerics.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beatmatch import numerics
from beatmatch.compiler.requant import Requant

_ADD_BITS = 22
"""Bits of the larger multiplier of an addition: both products with a zero point fit in the int32 bias."""


@dataclass(frozen=True, eq=False)
class Quant:
    """The real value of an element q is `scale * (q - zero_point)`.

    Parameters
    ----------
    scale : ndarray of float64, () or [channels]
        Positive.
    zero_point : ndarray of int64, of the same shape
    axis : int, optional
        The channels' axis; None for one scale.
    """

    scale: np.ndarray
    zero_point: np.ndarray
    axis: int | None = None

    def same(self, other: Quant | None) -> bool:
        """Whether values can be passed from one to the other unchanged."""
        return (
            other is not None
            and self.axis == other.axis
            and np.array_equal(self.scale, other.scale)
            and np.array_equal(self.zero_point, other.zero_point)
        )

    def spread(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Scale and zero point, shaped to broadcast against a tensor of this rank."""
        if self.axis is None:
            return self.scale, self.zero_point
        shape = [1] * rank
        shape[self.axis] = -1
        return self.scale.reshape(shape), self.zero_point.reshape(shape)

    def quantize(self, values: np.ndarray) -> np.ndarray:
        """Real values as int8, rounded half to even in float32 as ONNX's QuantizeLinear does."""
        scale, zero = self.spread(values.ndim)
        steps = np.rint(values.astype(np.float32) / scale.astype(np.float32)).astype(np.float64) + zero
        return np.clip(steps, -128, 127).astype(np.int8)

    def dequantize(self, values: np.ndarray) -> np.ndarray:
        """Integers as real values, float32."""
        scale, zero = self.spread(values.ndim)
        return (values.astype(np.int64) - zero).astype(np.float32) * scale.astype(np.float32)


@dataclass(frozen=True)
class AddRequant:
    """How two int8 operands become one: ``clip(round_half_even(a*ma + b*mb + bias, shift) + zero_point)``.

    Parameters
    ----------
    multiplier_a, multiplier_b : int
        0 to 2^24 - 1.
    bias : int or ndarray, [N]
        int32; holds the correction for both zero points. One per column of the last axis where the second operand is a
        constant: then it holds that operand, too, and `multiplier_b` is 0.
    shift, zero_point, low, high : int
        As in `Requant`.
    """

    multiplier_a: int
    multiplier_b: int
    bias: int | np.ndarray
    shift: int
    zero_point: int
    low: int = -128
    high: int = 127


def sum_requant(ratio: np.ndarray, bias: np.ndarray | int, zero_point: int, low: int, high: int) -> Requant:
    """Parameters for sums whose unit is `ratio` times the output's.

    Parameters
    ----------
    ratio : array_like of float
        Scale of the sums over scale of the output, one or one per channel.
    bias : int or array_like of int
        In units of the sums.

    Raises
    ------
    ValueError
        If a ratio is 2^24 or more, or a bias does not fit in int32.
    """
    pairs = [numerics.quantize_multiplier(float(r)) for r in np.atleast_1d(ratio)]
    multiplier, shift = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    if np.ndim(ratio) == 0:
        multiplier, shift = int(multiplier[0]), int(shift[0])
    return Requant(bias, multiplier, shift, zero_point, low, high)


def add_requant(a: Quant, b: Quant, out: Quant, low: int, high: int) -> AddRequant:
    """Parameters of an addition; the larger multiplier has `_ADD_BITS` bits, both share one shift."""
    ratios = [float(a.scale / out.scale), float(b.scale / out.scale)]
    shift = min(numerics.MAX_SHIFT, _ADD_BITS - math.frexp(max(ratios))[1])
    if shift < 0:
        raise ValueError(f"An operand's scale is {max(ratios):g} times the sum's; it must be below 2^{_ADD_BITS}.")
    ma, mb = (round(math.ldexp(ratio, shift)) for ratio in ratios)
    bias = -(ma * int(a.zero_point) + mb * int(b.zero_point))
    return AddRequant(ma, mb, bias, shift, int(out.zero_point), low, high)
