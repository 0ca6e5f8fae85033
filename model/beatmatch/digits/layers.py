# SPDX-License-Identifier: Apache-2.0
"""Typed records of quantized layers: what a compiler needs to know, and nothing about any machine.

Every layer names its input tensors and its one output tensor, so the graph, skip connections
included, is explicit. Requantization of a layer with `multiplier` m, `shift` s and zero point zp of
its output is

    out = clip(round_half_even((acc + bias) * m / 2**s) + zp, low, high)

where the bias already holds the correction for the zero point of the input. A ReLU is `low == zp`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tensor:
    """An int8 activation tensor; the real value of an element q is `scale * (q - zero_point)`.

    Parameters
    ----------
    name : str
    shape : tuple of int
        (height, width, channels), without the batch.
    scale : float
        Informative: inference is integer only.
    zero_point : int
        -128..127.
    """

    name: str
    shape: tuple[int, int, int]
    scale: float
    zero_point: int


@dataclass(frozen=True, eq=False)  # equality of arrays is no truth value: compare by identity
class Layer:
    """What all layers have in common.

    Parameters
    ----------
    name : str
        Name of the layer.
    inputs : tuple of Tensor
        One tensor; two for `Add`.
    output : Tensor
        Its name equals the layer's.
    low, high : int
        Bounds of the final clip, -128 <= low <= high <= 127.
    """

    name: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    low: int
    high: int

    @property
    def input(self) -> Tensor:
        """The first input tensor."""
        return self.inputs[0]

    @property
    def relu(self) -> bool:
        """Whether the clip cuts negative real values."""
        return self.low == self.output.zero_point


@dataclass(frozen=True, eq=False)
class Conv2D(Layer):
    """Convolution with stride 1; positions outside the image hold the input's zero point.

    Parameters
    ----------
    weight : ndarray of int8, (kh, kw, cin, cout)
        Symmetric: -127..127.
    bias : ndarray of int32, (cout,)
        Includes `-zero_point_in * sum(weight)` of each output channel.
    multiplier : ndarray of int32, (cout,)
        Normalised: 2**23 <= m < 2**24.
    shift : ndarray of uint8, (cout,)
        0..63.
    padding : int
        Rows and columns added on each of the four sides.
    """

    weight: np.ndarray
    bias: np.ndarray
    multiplier: np.ndarray
    shift: np.ndarray
    padding: int


@dataclass(frozen=True, eq=False)
class Dense(Layer):
    """Fully connected layer on the input flattened in (height, width, channel) order.

    Parameters
    ----------
    weight : ndarray of int8, (cin, cout)
    bias, multiplier, shift : ndarray, (cout,)
        As in `Conv2D`.
    """

    weight: np.ndarray
    bias: np.ndarray
    multiplier: np.ndarray
    shift: np.ndarray


@dataclass(frozen=True, eq=False)
class Add(Layer):
    """Sum of two tensors with different scales: `a * multiplier_a + b * multiplier_b + bias`.

    The sum is rounded by `shift` and gets the zero point of the output; there is no other factor.

    Parameters
    ----------
    multiplier_a, multiplier_b : int
        Unsigned, below 2**15, at one common shift.
    bias : int
        Fits in int32; holds the correction for both zero points.
    shift : int
        0..63.
    """

    multiplier_a: int
    multiplier_b: int
    bias: int
    shift: int


@dataclass(frozen=True, eq=False)
class MaxPool(Layer):
    """Largest value of each `window` x `window` block, without overlap; keeps scale and zero point.

    Parameters
    ----------
    window : int
    """

    window: int


@dataclass(frozen=True, eq=False)
class AvgPool(Layer):
    """Mean of each `window` x `window` block, without overlap.

    The divisor is part of the multiplier.

    Parameters
    ----------
    window : int
    multiplier, shift, bias : int
        One for all channels; the bias is `-window**2 * zero_point_in`.
    """

    window: int
    multiplier: int
    shift: int
    bias: int
