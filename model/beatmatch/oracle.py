# SPDX-License-Identifier: Apache-2.0
"""The naive oracle: plain integer formulas over tensors, sharing nothing with the machine or its functional tier.

Sums are exact int64 of numpy or Python integers; rounding is done with Python integers, one value at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Exact product of integer matrices [M, K] and [K, N] as int64, one reduction index after the other."""
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    total = np.zeros((a.shape[0], b.shape[1]), np.int64)
    for k in range(a.shape[1]):
        total += a[:, k : k + 1] * b[k : k + 1, :]
    return total


def wrap32(value: np.ndarray) -> np.ndarray:
    """Value modulo 2^32, as signed."""
    return (np.asarray(value, np.int64) + 2**31) % 2**32 - 2**31


def conv2d(
    x: np.ndarray,
    w: np.ndarray,
    stride: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    dilation: tuple[int, int] = (1, 1),
    pad_value: int = 0,
) -> np.ndarray:
    """Exact convolution (no flip of the kernel).

    Parameters
    ----------
    x : array_like of int, [N, H, W, C]
    w : array_like of int, [KH, KW, C, F]
    stride, dilation : (int, int)
        Down, across.
    pads : (int, int, int, int)
        Top, left, bottom, right.
    pad_value : int

    Returns
    -------
    numpy.ndarray of int64, [N, OH, OW, F]
    """
    x, w = np.asarray(x, np.int64), np.asarray(w, np.int64)
    count, height, width, channels = x.shape
    kernel_height, kernel_width, _, filters = w.shape
    top, left, bottom, right = pads
    padded = np.full((count, height + top + bottom, width + left + right, channels), pad_value, np.int64)
    padded[:, top : top + height, left : left + width] = x
    out_height = (padded.shape[1] - dilation[0] * (kernel_height - 1) - 1) // stride[0] + 1
    out_width = (padded.shape[2] - dilation[1] * (kernel_width - 1) - 1) // stride[1] + 1
    total = np.zeros((count, out_height, out_width, filters), np.int64)
    for oy in range(out_height):
        for ox in range(out_width):
            for ky in range(kernel_height):
                for kx in range(kernel_width):
                    pixel = padded[:, oy * stride[0] + ky * dilation[0], ox * stride[1] + kx * dilation[1]]
                    total[:, oy, ox] += (pixel[:, :, None] * w[ky, kx]).sum(axis=1)
    return total


def round_half_even(value: int, shift: int) -> int:
    """``value / 2^shift`` to the nearest integer, ties to the even one, in Python integers."""
    quotient, rest = divmod(value, 1 << shift)
    twice = 2 * rest - (1 << shift)
    return quotient + (1 if twice > 0 or (twice == 0 and quotient % 2) else 0)


def requantise(
    total: np.ndarray,
    bias: Sequence[int] | int = 0,
    multiplier: Sequence[int] | int = 1,
    shift: Sequence[int] | int = 0,
    zero_point: int = 0,
    low: int = -128,
    high: int = 127,
) -> np.ndarray:
    """``min(max(round_half_even((total + bias) * multiplier, shift) + zero_point, low), high)`` per last axis, int8."""
    total = np.asarray(total, np.int64)
    channels = total.shape[-1]
    table = [[int(v) for v in np.broadcast_to(values, channels)] for values in (bias, multiplier, shift)]
    out = np.zeros(total.shape, np.int8)
    for index, value in np.ndenumerate(total):
        b, m, s = (row[index[-1]] for row in table)
        out[index] = min(max(round_half_even((int(value) + b) * m, s) + zero_point, low), high)
    return out


def add(
    a: np.ndarray,
    b: np.ndarray,
    multiplier_a: int,
    multiplier_b: int,
    bias: int,
    shift: int,
    zero_point: int = 0,
    low: int = -128,
    high: int = 127,
) -> np.ndarray:
    """Two tensors with own scales: ``clip(round_half_even(a * ma + b * mb + bias, shift) + zero_point)``, int8."""
    out = np.zeros(np.shape(a), np.int8)
    for index, value in np.ndenumerate(a):
        total = int(value) * multiplier_a + int(b[index]) * multiplier_b + bias
        out[index] = min(max(round_half_even(total, shift) + zero_point, low), high)
    return out


def pool(
    x: np.ndarray,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    kind: str = "max",
) -> np.ndarray:
    """Maximum or sum over windows of [N, H, W, C]; positions outside the image do not count.

    Parameters
    ----------
    kernel, stride : (int, int)
        Down, across.
    pads : (int, int, int, int)
        Top, left, bottom, right.
    kind : str
        ``max`` or ``sum``.

    Returns
    -------
    numpy.ndarray of int64, [N, OH, OW, C]
    """
    x = np.asarray(x, np.int64)
    count, height, width, channels = x.shape
    top, left, bottom, right = pads
    out_height = (height + top + bottom - kernel[0]) // stride[0] + 1
    out_width = (width + left + right - kernel[1]) // stride[1] + 1
    out = np.full((count, out_height, out_width, channels), -(2**31) if kind == "max" else 0, np.int64)
    for oy in range(out_height):
        for ox in range(out_width):
            for ky in range(kernel[0]):
                for kx in range(kernel[1]):
                    iy, ix = oy * stride[0] + ky - top, ox * stride[1] + kx - left
                    if 0 <= iy < height and 0 <= ix < width:
                        here = out[:, oy, ox]
                        out[:, oy, ox] = np.maximum(here, x[:, iy, ix]) if kind == "max" else here + x[:, iy, ix]
    return out
