# SPDX-License-Identifier: Apache-2.0
"""Resize along each axis in turn, by ONNX's rules for coordinates."""

from __future__ import annotations

import numpy as np


def _coordinates(mode: str, size: int, out: int, scale: float) -> np.ndarray:
    """Where each output position lies on the input's axis."""
    place = np.arange(out, dtype=np.float64)
    if mode == "asymmetric":
        return place / scale
    if mode == "align_corners":
        return place * (size - 1) / (out - 1) if out > 1 else np.zeros(1)
    if mode == "pytorch_half_pixel" and out == 1:
        return np.zeros(1)
    return (place + 0.5) / scale - 0.5


def _nearest(mode: str, x: np.ndarray) -> np.ndarray:
    rules = {
        "round_prefer_floor": lambda v: np.ceil(v - 0.5),
        "round_prefer_ceil": lambda v: np.floor(v + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    return rules[mode](x)


def resize(x: np.ndarray, attributes: dict, out: tuple[int, ...]) -> np.ndarray:
    """An array at its new size.

    Parameters
    ----------
    x : ndarray
    attributes : dict
        Of a `resize` node: `mode`, `coordinates`, `nearest`, `scales`.
    out : tuple of int
        The new shape.
    """
    for axis, (size, new, scale) in enumerate(zip(x.shape, out, attributes["scales"], strict=True)):
        if size == new:
            continue
        place = _coordinates(attributes["coordinates"], size, new, scale)
        if attributes["mode"] == "nearest":
            x = np.take(x, np.clip(_nearest(attributes["nearest"], place), 0, size - 1).astype(int), axis)
            continue
        place = np.clip(place, 0, size - 1)
        low = np.floor(place).astype(int)
        part = (place - low).astype(np.float32).reshape(-1, *(1,) * (x.ndim - axis - 1))
        x = np.take(x, low, axis) * (1 - part) + np.take(x, np.minimum(low + 1, size - 1), axis) * part
    return x
