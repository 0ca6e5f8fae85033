# SPDX-License-Identifier: Apache-2.0
"""Naive int64 inference of the quantized layers: the oracle that machines are compared with.

It shares nothing but the layer records with the rest of the package and follows the formulas
literally, one kernel tap or window position at a time.
"""

from collections.abc import Sequence

import numpy as np

from .layers import Add, AvgPool, Conv2D, Dense, Layer, MaxPool


def round_half_even(value: np.ndarray, shift: np.ndarray | int) -> np.ndarray:
    """`value / 2**shift` rounded to the nearest integer, ties to the even one, in integers only.

    Parameters
    ----------
    value : ndarray of int64
    shift : int or ndarray
        0..63; broadcasts against `value`, for instance one per channel.
    """
    value, shift = np.broadcast_arrays(np.asarray(value, np.int64), np.asarray(shift, np.int64))
    # One step short of the result: its lowest bit is the half, and everything below it is the
    # sticky part.
    before = np.maximum(shift - 1, 0)
    doubled = value >> before
    sticky = (doubled << before) != value
    floor = doubled >> 1
    up = ((doubled & 1) == 1) & (sticky | ((floor & 1) == 1))
    return np.where(shift == 0, value, floor + up)


def reference(layers: Sequence[Layer], images: np.ndarray) -> dict[str, np.ndarray]:
    """Run the layers in order.

    Parameters
    ----------
    layers : sequence of Layer
    images : ndarray of int8, (N, 8, 8, 1)
        The quantized input tensor.

    Returns
    -------
    dict of str to ndarray
        Every tensor by name, int8 (N, H, W, C); `"image"` is the input itself and `"logits"` the
        output.

    Raises
    ------
    ValueError
        If the input is not int8 or has another shape than the first layer expects.
    """
    if images.dtype != np.int8 or images.shape[1:] != layers[0].input.shape:
        raise ValueError(
            f"input is {images.dtype} {images.shape[1:]}; expected int8 {layers[0].input.shape} for each image"
        )
    values = {layers[0].input.name: images}
    for layer in layers:
        operands = [values[tensor.name].astype(np.int64) for tensor in layer.inputs]
        match layer:
            case Conv2D():
                result = _scaled(_convolve(layer, operands[0]) + layer.bias, layer)
            case Dense():
                result = _scaled(_multiply(layer, operands[0]) + layer.bias, layer)
            case Add():
                total = operands[0] * layer.multiplier_a + operands[1] * layer.multiplier_b + layer.bias
                result = round_half_even(total, layer.shift) + layer.output.zero_point
            case MaxPool():
                result = np.maximum.reduce(_window(operands[0], layer.window))
            case AvgPool():
                result = _scaled(sum(_window(operands[0], layer.window)) + layer.bias, layer)
            case _:
                raise TypeError(f"the reference knows no layer of type {type(layer).__name__}")
        values[layer.name] = np.clip(result, layer.low, layer.high).astype(np.int8)
    return values


def _scaled(total: np.ndarray, layer: Conv2D | Dense | AvgPool) -> np.ndarray:
    """Requantize `total`, the bias included, up to the clip; |total * m| is below 2**55."""
    product = total * np.asarray(layer.multiplier, np.int64)
    return round_half_even(product, layer.shift) + layer.output.zero_point


def _convolve(layer: Conv2D, x: np.ndarray) -> np.ndarray:
    """Accumulate one kernel tap after the other over the image, padded with the zero point."""
    count, height, width, channels = x.shape
    pad, weight = layer.padding, layer.weight.astype(np.int64)
    kernel_height, kernel_width, _, out_channels = weight.shape
    padded = np.full((count, height + 2 * pad, width + 2 * pad, channels), layer.input.zero_point, np.int64)
    padded[:, pad : pad + height, pad : pad + width] = x
    out_height, out_width, _ = layer.output.shape
    total = np.zeros((count, out_height, out_width, out_channels), np.int64)
    for row in range(kernel_height):
        for column in range(kernel_width):
            tap = padded[:, row : row + out_height, column : column + out_width]
            total += tap @ weight[row, column]
    return total


def _multiply(layer: Dense, x: np.ndarray) -> np.ndarray:
    """Matrix product of the flattened input and the weights, as (N, 1, 1, cout)."""
    return (x.reshape(len(x), -1) @ layer.weight.astype(np.int64))[:, None, None, :]


def _window(x: np.ndarray, window: int) -> list[np.ndarray]:
    """The values at each position of a non-overlapping window, positions in row-major order."""
    return [x[:, row::window, column::window] for row in range(window) for column in range(window)]
