# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of arrays, tap by tap; used for real and for integer values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np


def padded(x: np.ndarray, pads: tuple[int, ...], value: float) -> np.ndarray:
    """[N, C, space...] with `value` around it; pads are begins, then ends."""
    rank = x.ndim - 2
    widths = [(0, 0), (0, 0), *((pads[k], pads[k + rank]) for k in range(rank))]
    return np.pad(x, widths, constant_values=value) if any(pads) else x


def taps(x: np.ndarray, attributes: dict, out: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """For each place in the window: its index, and the padded input's elements there, [N, C, *out]."""
    for place in product(*(range(k) for k in attributes["kernel"])):
        index = [slice(None), slice(None)]
        for k, step, dilation, size in zip(place, attributes["strides"], attributes["dilations"], out, strict=True):
            start = k * dilation
            index.append(slice(start, start + (size - 1) * step + 1, step))
        yield place, x[tuple(index)]


def convolve(x: np.ndarray, weight: np.ndarray, attributes: dict, out: tuple[int, ...], pad: float) -> np.ndarray:
    """Sums of a convolution in float64: exact for int8 operands, whose sums stay far below 2^53.

    Parameters
    ----------
    x : ndarray, [N, C, space...]
    weight : ndarray, [out channels, C / groups, kernel...]
    attributes : dict
        Of a `conv` node.
    out : tuple of int
        Sizes of the output's space.
    pad : float
        What stands outside the input.
    """
    groups = attributes["groups"]
    batch, channels = x.shape[:2]
    wide = padded(x.astype(np.float64), attributes["pads"], pad)
    kernels = weight.astype(np.float64).reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    total = np.zeros((batch, groups, kernels.shape[1], int(np.prod(out))))
    for place, part in taps(wide, attributes, out):
        total += kernels[(..., *place)] @ part.reshape(batch, groups, channels // groups, -1)
    return total.reshape(batch, weight.shape[0], *out)


def pool_maximum(x: np.ndarray, attributes: dict, out: tuple[int, ...]) -> np.ndarray:
    """Maximum over the window's elements inside the input, of the input's type."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return np.maximum.reduce([part for _, part in taps(padded(x, attributes["pads"], lowest), attributes, out)])


def pool_sum(x: np.ndarray, attributes: dict, out: tuple[int, ...], pad: float) -> np.ndarray:
    """Sum over the window in float64, with `pad` outside the input."""
    wide = padded(x.astype(np.float64), attributes["pads"], pad)
    return sum(part for _, part in taps(wide, attributes, out))


def pool_count(shape: tuple[int, ...], attributes: dict, out: tuple[int, ...]) -> np.ndarray:
    """Elements of each window inside the input, [1, 1, *out]; all of them if padding counts."""
    counted = attributes["count_include_pad"]
    inside = padded(np.ones((1, 1, *shape[2:])), attributes["pads"], 1.0 if counted else 0.0)
    return sum(part for _, part in taps(inside, attributes, out)).astype(np.int64)
