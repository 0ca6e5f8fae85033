# SPDX-License-Identifier: Apache-2.0
"""The integer form of operators that have sums: operands, and how the sums become int8."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Node, Tensor
from beatmatch.networks.scales import AddRequant, Quant, Requant, add_requant, sum_requant


@dataclass(frozen=True, eq=False)
class Integer:
    """The integer form of a node: operator, operands, parameters."""

    op: str
    operands: list[Tensor | None]
    requant: Requant | AddRequant | None


def _real(tensor: Tensor) -> np.ndarray:
    """Real values of a constant, with or without a scale."""
    values = tensor.values()
    return np.asarray(values if tensor.quant is None else tensor.quant.dequantize(values), np.float64)


def _weighted(node: Node, operands: list[Tensor | None], out: Tensor, low: int, high: int) -> Integer | None:
    """A convolution or dense layer: the zero point of the input is folded into the bias."""
    x, weight, bias = (*operands, None)[:3]
    if x.quant is None or weight.quant is None or weight.dtype != "int8":
        return None
    channel = 0 if node.op == "conv" else 1
    if weight.quant.axis not in (None, channel):
        raise GraphError(
            f"Node {node.name} ({node.op}) has a weight scale along axis {weight.quant.axis}; quantize its weights per "
            f"tensor or along axis {channel}."
        )
    if np.any(weight.quant.zero_point):
        raise GraphError(
            f"Node {node.name} ({node.op}) has weights with a zero point; quantize them symmetrically (in onnxruntime: "
            "extra_options WeightSymmetric=True)."
        )
    columns = weight.shape[channel]
    others = tuple(axis for axis in range(len(weight.shape)) if axis != channel)
    unit = x.quant.scale * weight.quant.scale
    total = -int(x.quant.zero_point) * weight.values().sum(axis=others, dtype=np.int64)
    if bias is not None:
        if bias.dtype == "int32" and np.allclose(bias.quant.scale, unit, rtol=1e-5, atol=0):
            total = total + bias.values()
        else:
            total = total + np.rint(_real(bias) / unit).astype(np.int64)
    ratio = (
        np.broadcast_to(unit / out.quant.scale, columns) if weight.quant.axis is not None else unit / out.quant.scale
    )
    # A quantizer may use int32 up to its edge, and the zero point's part then steps over it: less than half a step of
    # the output is within rounding, more is refused with the bias.
    within = np.clip(total, -(1 << 31), (1 << 31) - 1)
    total = within if np.all(np.abs(total - within) * ratio < 0.5) else total
    requant = sum_requant(ratio, np.broadcast_to(total, columns), int(out.quant.zero_point), low, high)
    return Integer(node.op, [x, weight], requant)


def _product(node: Node, operands: list[Tensor | None], out: Tensor, low: int, high: int) -> Integer | None:
    """A product of two activations; the zero points stay with the operands: their sums are known at run time only."""
    a, b = operands
    if a.quant is None or b.quant is None or b.quant.axis is not None:
        return None
    ratio = a.quant.scale * b.quant.scale / out.quant.scale
    return Integer("matmul", [a, b], sum_requant(ratio, 0, int(out.quant.zero_point), low, high))


def _sum(node: Node, operands: list[Tensor | None], out: Tensor, low: int, high: int) -> Integer | None:
    """An addition; of a constant per column of the last axis, it is part of the bias."""
    a, b = operands
    if a.constant:
        a, b = b, a
    if a.quant is None or a.constant:
        return None
    if not b.constant:
        return Integer("add", [a, b], add_requant(a.quant, b.quant, out.quant, low, high))
    if b.size not in (1, b.shape[-1] if b.shape else 1) or a.shape != out.shape:
        return Integer("add", [a, b], add_requant(a.quant, b.quant, out.quant, low, high)) if b.quant else None
    bare = add_requant(a.quant, a.quant, out.quant, low, high)
    values = np.rint(np.ldexp(_real(b).reshape(-1) / float(out.quant.scale), bare.shift)).astype(np.int64)
    bias = values - bare.multiplier_a * int(a.quant.zero_point)
    if max(abs(int(bias.min())), abs(int(bias.max()))) >= 1 << 31:
        return Integer("add", [a, b], add_requant(a.quant, b.quant, out.quant, low, high)) if b.quant else None
    return Integer("add", [a, b], replace(bare, multiplier_b=0, bias=int(bias[0]) if bias.size == 1 else bias))


def _scaled(node: Node, operands: list[Tensor | None], out: Tensor, low: int, high: int) -> Integer | None:
    """A product with, or a division by, one positive constant is a rescale; any other has no integer form."""
    a, b = operands
    if node.op == "mul" and a.constant:
        a, b = b, a
    if a.quant is not None and not a.constant and b.constant and b.size == 1 and a.shape == out.shape:
        factor = float(_real(b).reshape(-1)[0])
        if factor > 0 and math.isfinite(factor):
            unit = a.quant.scale * (factor if node.op == "mul" else 1 / factor)
            return Integer("rescale", [a], rescale_requant(Quant(unit, a.quant.zero_point), out.quant, low, high))
    if (low, high) != (-128, 127) or not _all_scaled(operands):
        return None
    return Integer(node.op, operands, None)


def _all_scaled(operands: list[Tensor | None]) -> bool:
    return all(tensor.quant is not None or tensor.constant for tensor in operands)


def _mean(node: Node, operands: list[Tensor | None], out: Tensor, low: int, high: int) -> Integer | None:
    """A mean over a full window; where padding is not counted, smaller windows have a divisor of their own."""
    (x,) = operands
    if x.quant is None:
        return None
    return Integer("avgpool", [x], mean_requant(x.quant, out.quant, math.prod(node.attributes["kernel"]), low, high))


def mean_requant(x: Quant, out: Quant, count: int, low: int, high: int) -> Requant:
    """Parameters of the mean of `count` elements; the bias takes their zero points away."""
    ratio = x.scale / (out.scale * count)
    return sum_requant(ratio, -count * int(x.zero_point), int(out.zero_point), low, high)


def rescale_requant(x: Quant, out: Quant, low: int, high: int) -> Requant:
    """Parameters from one scale and zero point to another."""
    return sum_requant(x.scale / out.scale, -int(x.zero_point), int(out.zero_point), low, high)


SUMS: dict[str, Callable[[Node, list[Tensor | None], Tensor, int, int], Integer | None]] = {
    "conv": _weighted, "dense": _weighted, "matmul": _product, "add": _sum, "avgpool": _mean, "mul": _scaled,
    "div": _scaled,
}  # fmt: skip
"""From a node, its operands, its output and clip bounds to its integer form; None if it has to stay real."""
