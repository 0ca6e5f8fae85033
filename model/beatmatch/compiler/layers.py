# SPDX-License-Identifier: Apache-2.0
"""What the network compiler takes: layers with explicit geometry, all int8 in and out (the last may be raw int32)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from beatmatch import digits
from beatmatch.compiler.builder import CompileError
from beatmatch.compiler.requant import Requant


@dataclass(frozen=True)
class Shape:
    """Height, width and channels of an activation tensor, without the batch."""

    height: int
    width: int
    channels: int


@dataclass(frozen=True, eq=False)
class Layer:
    """What all layers have: a name (also of the output), inputs by name, the output's shape, and the scaling."""

    name: str
    inputs: tuple[str, ...]
    shape: Shape
    requant: Requant


@dataclass(frozen=True, eq=False)
class Conv(Layer):
    """Convolution; positions outside the image hold ``pad_value``.

    Parameters
    ----------
    weight : ndarray of int8, [KH, KW, C, F]
    stride, dilation : (int, int)
        Down, across.
    pads : (int, int)
        Rows above and columns left of the image; those below and right follow from the output's shape.
    pad_value : int
    raw : bool
        The output is int32: the sum plus the bias.
    """

    weight: np.ndarray = field(default_factory=lambda: np.zeros((1, 1, 1, 1), np.int8))
    stride: tuple[int, int] = (1, 1)
    pads: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    pad_value: int = 0
    raw: bool = False


@dataclass(frozen=True, eq=False)
class Dense(Layer):
    """Product of the flattened (height, width, channel) input with ``weight``, int8 [K, F]."""

    weight: np.ndarray = field(default_factory=lambda: np.zeros((1, 1), np.int8))
    raw: bool = False


@dataclass(frozen=True, eq=False)
class Add(Layer):
    """``a * multiplier + b * multiplier_b + bias`` with the scaling of ``requant``."""

    multiplier_b: int = 1


@dataclass(frozen=True, eq=False)
class Pool(Layer):
    """Windows over the image: ``max`` or ``sum``; positions outside do not count."""

    kind: str = "max"
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    pads: tuple[int, int] = (0, 0)


def from_digits(layers: Sequence[digits.Layer]) -> list[Layer]:
    """The packaged networks' layers as the compiler's."""
    return [_convert(layer) for layer in layers]


def _convert(layer: digits.Layer) -> Layer:
    common = {
        "name": layer.name,
        "inputs": tuple(tensor.name for tensor in layer.inputs),
        "shape": Shape(*layer.output.shape),
    }
    zero, low, high = layer.output.zero_point, layer.low, layer.high
    match layer:
        case digits.Conv2D():
            scale = Requant(layer.bias, layer.multiplier, layer.shift, zero, low, high)
            pads = (layer.padding, layer.padding)
            return Conv(**common, requant=scale, weight=layer.weight, pads=pads, pad_value=layer.input.zero_point)
        case digits.Dense():
            scale = Requant(layer.bias, layer.multiplier, layer.shift, zero, low, high)
            return Dense(**common, requant=scale, weight=layer.weight)
        case digits.Add():
            scale = Requant(layer.bias, layer.multiplier_a, layer.shift, zero, low, high)
            return Add(**common, requant=scale, multiplier_b=layer.multiplier_b)
        case digits.MaxPool():
            window = (layer.window, layer.window)
            return Pool(**common, requant=Requant(low=low, high=high), kind="max", kernel=window, stride=window)
        case digits.AvgPool():
            window = (layer.window, layer.window)
            scale = Requant(layer.bias, layer.multiplier, layer.shift, zero, low, high)
            return Pool(**common, requant=scale, kind="sum", kernel=window, stride=window)
    raise CompileError(f"Layer {layer.name} is a {type(layer).__name__}, which the compiler does not know.")
