# SPDX-License-Identifier: Apache-2.0
"""The packaged digits networks as QDQ models, with the scales, weights and biases that they were quantized with."""

import numpy as np
from onnx import ModelProto

from beatmatch.digits.layers import Add, AvgPool, Conv2D, Dense, Layer, MaxPool, Tensor
from beatmatch.digits.network import Network
from tests.networks.build import INT8, Builder


def export(network: Network) -> ModelProto:
    """Input int8 [images, 1, 8, 8], output int8 [images, 10]; activations are [N, C, H, W]."""
    b = Builder(name=network.name)
    first = network.layers[0].input
    height, width, channels = first.shape
    b.input("image", len(network.images), channels, height, width, kind=INT8)
    real = {first.name: b.dequantize("image", first.scale, first.zero_point)}
    for layer in network.layers:
        quantized = b.quantize(_layer(b, layer, real), layer.output.scale, layer.output.zero_point)
        real[layer.output.name] = b.dequantize(quantized, layer.output.scale, layer.output.zero_point)
    b.output(quantized, kind=INT8)
    return b.model()


def _layer(b: Builder, layer: Layer, real: dict[str, str]) -> str:
    inputs = [real[tensor.name] for tensor in layer.inputs]
    match layer:
        case Conv2D():
            weight, bias = _weights(b, layer, layer.weight.transpose(3, 2, 0, 1), 0)
            out = b.node("Conv", inputs[0], weight, bias, pads=[layer.padding] * 4, name=layer.name)
        case Dense():
            flat = (
                b.node("Flatten", b.node("Transpose", inputs[0], perm=[0, 2, 3, 1])) if _spatial(layer.input) else None
            )
            flat = flat or b.node("Flatten", inputs[0])
            weight, bias = _weights(b, layer, layer.weight, 1)
            out = b.node("Gemm", flat, weight, bias, name=layer.name)
        case Add():
            out = b.node("Add", *inputs, name=layer.name)
        case MaxPool():
            out = b.node("MaxPool", inputs[0], kernel_shape=[layer.window] * 2, strides=[layer.window] * 2)
        case AvgPool():
            out = b.node("AveragePool", inputs[0], kernel_shape=[layer.window] * 2, strides=[layer.window] * 2)
    return b.node("Relu", out) if layer.relu else out


def _spatial(tensor: Tensor) -> bool:
    return tensor.shape[:2] != (1, 1)


def _weights(b: Builder, layer: Conv2D | Dense, weight: np.ndarray, axis: int) -> tuple[str, str]:
    """Weights and bias, dequantized; the scale of a channel follows from its multiplier and shift."""
    ratio = layer.multiplier.astype(np.float64) / np.exp2(layer.shift.astype(np.float64))
    scale = ratio * layer.output.scale / layer.input.scale
    others = tuple(k for k in range(weight.ndim) if k != axis)
    bias = layer.bias + layer.input.zero_point * weight.astype(np.int64).sum(axis=others)
    zeros = np.zeros(len(scale))
    return (
        b.dequantize(b.constant(weight, np.int8), scale, zeros, axis=axis),
        b.dequantize(b.constant(bias, np.int32), scale * layer.input.scale, zeros, np.int32, axis=0),
    )
