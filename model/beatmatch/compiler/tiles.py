# SPDX-License-Identifier: Apache-2.0
"""Weights of a layer as the tiles that the array takes."""

from __future__ import annotations

import numpy as np

from beatmatch.compiler.builder import CompileError
from beatmatch.compiler.layers import Conv, Dense
from beatmatch.compiler.plan import Tensor
from beatmatch.config import Config


def weight_tiles(layer: Conv | Dense, source: Tensor, config: Config) -> np.ndarray:
    """Tiles in the order of use, int8 [output tiles * inner tiles, rows, cols].

    Parameters
    ----------
    layer : Conv or Dense
    source : Tensor
        The layer's input as it stands on the chip: a dense layer sees the padding of its words.
    config : Config
    """
    if isinstance(layer, Dense):
        shape, weight = source.shape, np.asarray(layer.weight)
        if weight.shape[0] != shape.height * shape.width * shape.channels:
            raise CompileError(f"Layer {layer.name} has weights {weight.shape} for an input {shape}.")
        padded = np.zeros((shape.height * shape.width, source.words * config.lanes, weight.shape[1]), np.int8)
        padded[:, : shape.channels] = weight.reshape(-1, shape.channels, weight.shape[1])
        weight = padded.reshape(1, 1, -1, weight.shape[1])
    else:
        weight = np.asarray(layer.weight)
    height, width, channels, filters = weight.shape
    k_tiles, n_tiles = -(-channels // config.rows), -(-filters // config.cols)
    full = np.zeros((height, width, k_tiles * config.rows, n_tiles * config.cols), np.int8)
    full[:, :, :channels, :filters] = weight
    full = full.reshape(height, width, k_tiles, config.rows, n_tiles, config.cols)
    return full.transpose(4, 0, 1, 2, 3, 5).reshape(-1, config.rows, config.cols)
