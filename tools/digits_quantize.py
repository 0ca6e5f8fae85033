# SPDX-License-Identifier: Apache-2.0
"""Post-training quantization of the digits networks to int8, with integer-only requantization.

Everything here is a pure function of float weights and calibrated ranges, both of which are stored
beside the result: a test can run it again without the training set. Scales are float here and only
here; what leaves is int8 weights, int32 biases, and for each output channel a multiplier `m` and a
shift `s` that stand for the real factor `m / 2**s`.
"""

import numpy as np
from digits_float import forward, shapes

# The pixels 0..16 map to 15 * pixel - 128, which is exact: real value pixel / 16, scale 1 / 240.
INPUT_SCALE, INPUT_ZERO_POINT = 1.0 / 240.0, -128

# Zero-centred tensors put ReLU's floor at 0, so that the clip does work which the int8 range alone
# would not; the CNN's affine ones put it at -128, so that its padding value is far from zero.
CENTRED = {"cnn": False, "mlp": True}

ADD_MULTIPLIER_BITS = 15


def calibrate(nodes, params, images):
    """Smallest and largest float value of each tensor over `images`, as {tensor: [low, high]}.

    Ranges include 0, which must be a representable value: it is what padding and ReLU produce.
    """
    values = forward(nodes, params, images)
    return {name: [min(0.0, float(v.min())), max(0.0, float(v.max()))] for name, v in values.items()}


def tensor_scales(name, nodes, ranges):
    """Scale and zero point of every tensor, as {tensor: (scale, zero_point)}."""
    result = {"image": (INPUT_SCALE, INPUT_ZERO_POINT)}
    for node in nodes:
        low, high = ranges[node.name]
        if node.kind == "maxpool":
            result[node.name] = result[node.inputs[0]]
        elif CENTRED[name]:
            result[node.name] = (max(-low, high) / 127.0, 0)
        else:
            scale = (high - low) / 255.0
            result[node.name] = (scale, int(np.clip(np.rint(-128 - low / scale), -128, 127)))
    return result


def fixed_point(factor, bits):
    """Write a positive real factor as `m / 2**s` with `m` in [2**(bits-1), 2**bits).

    Returns
    -------
    (int, int)
        `m` and `s`.

    Raises
    ------
    ValueError
        If the shift would leave 0..63.
    """
    mantissa, exponent = np.frexp(factor)
    multiplier, shift = int(np.rint(mantissa * 2**bits)), bits - int(exponent)
    if multiplier == 2**bits:
        multiplier, shift = multiplier // 2, shift - 1
    if not 0 <= shift <= 63:
        raise ValueError(f"factor {factor} needs shift {shift}; legal are 0..63")
    return multiplier, shift


def quantize(name, nodes, params, ranges):
    """Quantize one network.

    Parameters
    ----------
    name : str
        `cnn` or `mlp`; selects affine or zero-centred activations.
    nodes : sequence of Node
    params : dict
        Float weights, `{layer: [weight, bias]}`.
    ranges : dict
        What `calibrate` returned.

    Returns
    -------
    tensors : dict
        `{tensor: {"shape", "scale", "zero_point"}}`.
    layers : list of dict
        One record of plain integers and strings per layer, in execution order.
    arrays : dict
        `{"layer/field": ndarray}`: weight int8, bias int32, multiplier int32, shift uint8.
    """
    scales, known = tensor_scales(name, nodes, ranges), shapes(nodes)
    layers, arrays = [], {}
    for node in nodes:
        out_scale, out_zero = scales[node.name]
        record = {
            "name": node.name,
            "kind": node.kind,
            "inputs": list(node.inputs),
            "low": out_zero if node.relu else -128,
            "high": 127,
        }
        if node.kind in ("conv", "dense"):
            fields = _weighted(*params[node.name], scales[node.inputs[0]], out_scale)
            arrays.update({f"{node.name}/{field}": value for field, value in fields.items()})
        elif node.kind == "add":
            record.update(_add(scales[node.inputs[0]], scales[node.inputs[1]], out_scale))
        elif node.kind == "avgpool":
            in_scale, in_zero = scales[node.inputs[0]]
            height, width, _ = known[node.inputs[0]]
            multiplier, shift = fixed_point(in_scale / (height * width * out_scale), 24)
            record.update(multiplier=multiplier, shift=shift, bias=-height * width * in_zero)
        layers.append(record)
    tensors = {
        tensor: {"shape": list(known[tensor]), "scale": float(scale), "zero_point": zero}
        for tensor, (scale, zero) in scales.items()
    }
    return tensors, layers, arrays


def _weighted(weight, bias, in_quantization, out_scale):
    """Weight, bias, multiplier and shift of a conv or dense layer, scaled per output channel."""
    in_scale, in_zero = in_quantization
    weight, bias = weight.astype(np.float64), bias.astype(np.float64)
    sum_axes = tuple(range(weight.ndim - 1))
    largest = np.abs(weight).max(axis=sum_axes)
    weight_scale = np.where(largest > 0, largest, 1.0) / 127.0
    integer = np.rint(weight / weight_scale).astype(np.int64)
    folded = np.rint(bias / (in_scale * weight_scale)) - in_zero * integer.sum(axis=sum_axes)
    factors = [fixed_point(factor, 24) for factor in in_scale * weight_scale / out_scale]
    return {
        "weight": integer.astype(np.int8),
        "bias": folded.astype(np.int32),
        "multiplier": np.array([m for m, _ in factors], np.int32),
        "shift": np.array([s for _, s in factors], np.uint8),
    }


def _add(a, b, out_scale):
    """Multipliers of both operands at one common shift, and the bias that folds their zero points.

    The larger factor is normalised to `ADD_MULTIPLIER_BITS`, so that the bias fits in 32 bits with
    room.
    """
    larger = max(a[0], b[0]) / out_scale
    _, shift = fixed_point(larger, ADD_MULTIPLIER_BITS)
    multiplier_a = int(np.rint(a[0] / out_scale * 2.0**shift))
    multiplier_b = int(np.rint(b[0] / out_scale * 2.0**shift))
    bias = -(a[1] * multiplier_a + b[1] * multiplier_b)
    return {
        "multiplier_a": multiplier_a,
        "multiplier_b": multiplier_b,
        "shift": shift,
        "bias": bias,
    }
