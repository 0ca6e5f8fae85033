# SPDX-License-Identifier: Apache-2.0
"""Values into memory as a program expects them, and out again."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.networks.graph import Node, Tensor
from beatmatch.networks.lowering.layout import Value
from beatmatch.networks.lowering.windows import Window
from beatmatch.program import Result


def pack(array: np.ndarray, value: Value, tensor: Tensor, patches: Node | None, config: Config) -> bytes:
    """A tensor's bytes, position by position in whole words.

    Parameters
    ----------
    array : ndarray of int8
        In the graph's order.
    value : Value
        One piece over all of its buffer.
    tensor : Tensor
    patches : Node or None
        The convolution whose windows are the positions.
    config : Config
    """
    if patches is not None:
        array = _patches(array, tensor, patches, value.shape)
    (piece,) = value.pieces
    moved = np.moveaxis(np.asarray(array).reshape(value.shape), value.axis, -1)
    table = np.zeros((*moved.shape[:-1], piece.words * config.lanes), np.int8)
    held = piece.channels >= 0
    table[..., np.flatnonzero(held)] = moved[..., piece.channels[held]]
    return table.tobytes()


def _patches(array: np.ndarray, tensor: Tensor, node: Node, shape: tuple[int, ...]) -> np.ndarray:
    """Windows of an image [N, C, H, W] as [N, OH, OW, C * taps]; one-dimensional images alike."""
    zero = int(tensor.quant.zero_point) if tensor.quant is not None else 0
    window = Window.of(node.attributes)
    spread = array.reshape(*array.shape[:2], *(1,) * (4 - array.ndim), *array.shape[2:])
    out = (*(1,) * (4 - len(shape)), *shape[1:-1])
    (top, left), (down, across), (far, wide) = window.pads, window.stride, window.dilation
    height = (out[0] - 1) * down + (window.kernel[0] - 1) * far + 1
    width = (out[1] - 1) * across + (window.kernel[1] - 1) * wide + 1
    size = (max(height, top + spread.shape[2]), max(width, left + spread.shape[3]))
    room = np.full((*spread.shape[:2], *size), zero, np.int8)
    room[:, :, top : top + spread.shape[2], left : left + spread.shape[3]] = spread
    taps = [
        room[:, :, y * far :: down, x * wide :: across][:, :, : out[0], : out[1]]
        for y in range(window.kernel[0])
        for x in range(window.kernel[1])
    ]
    stacked = np.stack(taps, 2)  # [N, C, taps, OH, OW]
    return np.moveaxis(stacked.reshape(len(array), -1, *out), 1, -1).reshape(shape)


def results(name: str, address: int, value: Value, config: Config) -> dict[str, Result]:
    """Where a tensor stands in memory, its axes in the graph's order.

    One result if its channels stand side by side, else ``name.0``, ``name.1`` ... for the parts of its channels.
    """
    (piece,) = value.pieces
    strides = [stride * config.lanes for stride in piece.strides]
    strides.insert(value.axis, 1)
    breaks = np.flatnonzero(np.diff(piece.channels) != 1) + 1
    places = [part for part in np.split(np.arange(len(piece.channels)), breaks) if piece.channels[part[0]] >= 0]
    found = {}
    for number, part in enumerate(places):
        shape = (*value.shape[: value.axis], len(part), *value.shape[value.axis + 1 :])
        label = f"{name}.{number}" if len(places) > 1 else name
        found[label] = Result(address + int(part[0]), "int8", shape, tuple(strides))
    return found
