# SPDX-License-Identifier: Apache-2.0
"""Two int8 networks for handwritten digits, their test set, and a naive reference inference.

>>> from beatmatch import digits
>>> network = digits.load("cnn")
>>> tensors = digits.reference(network.layers, network.quantize(network.images))
>>> predicted = tensors["logits"].reshape(-1, 10).argmax(axis=1)
"""

from .layers import Add, AvgPool, Conv2D, Dense, Layer, MaxPool, Tensor
from .network import NAMES, Network, load
from .reference import reference, round_half_even

__all__ = [
    "NAMES",
    "Add",
    "AvgPool",
    "Conv2D",
    "Dense",
    "Layer",
    "MaxPool",
    "Network",
    "Tensor",
    "load",
    "reference",
    "round_half_even",
]
