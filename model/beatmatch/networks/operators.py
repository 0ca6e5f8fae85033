# SPDX-License-Identifier: Apache-2.0
"""The operators of the graph: their attributes, their multiply-accumulates, and where they run.

`core` runs on Beatmatch's own matrix or vector unit and is timed exactly. `free` moves no data: it is another view of
it, as long as channels begin at whole words. `estimate` is work that the RTL cannot do yet: it is priced on a declared
host and marked so wherever it shows. What is usual for an operator may not be possible for a node's shapes: the
lowering (`lowering.placement`) says where each node runs, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

Shapes = list[tuple[int, ...] | None]


def _conv_macs(ins: Shapes, outs: Shapes, attributes: dict) -> int:
    return prod(outs[0]) * prod(ins[1][1:])


def _matmul_macs(ins: Shapes, outs: Shapes, attributes: dict) -> int:
    return prod(outs[0]) * ins[0][-1]


@dataclass(frozen=True)
class Operator:
    """One operator.

    Parameters
    ----------
    where : str
        `core`, `free` or `estimate`.
    what : str
        The formula or the ONNX operators behind it, and what limits it, in a phrase.
    attributes : tuple of str
        Every attribute that a node of it must have.
    macs : callable, optional
        From input shapes, output shapes and attributes to multiply-accumulates; None for none.
    moves : bool
        The values of the output are values of the first input: int8 in, int8 out, same scale.
    """

    where: str
    what: str
    attributes: tuple[str, ...] = ()
    macs: Callable[[Shapes, Shapes, dict], int] | None = None
    moves: bool = False


_WINDOW = ("kernel", "strides", "pads", "dilations")


def _elementwise(what: str, *attributes: str) -> Operator:
    return Operator("estimate", what, attributes)


OPERATORS: dict[str, Operator] = {
    "conv": Operator(
        "core",
        "inputs x, weight, bias (optional): grouped, depthwise, strided, dilated, padded, 1-D and 2-D",
        (*_WINDOW, "groups"),
        _conv_macs,
    ),
    "dense": Operator("core", "inputs x [..., K], constant weight [K, N], bias [N] (optional)", (), _matmul_macs),
    "matmul": Operator(
        "core", "two activations [..., M, K] and [..., K, N] without zero points; not broadcast", (), _matmul_macs
    ),
    "add": Operator("core", "two operands of one shape; a broadcast operand is an estimate", ()),
    "rescale": Operator("core", "int8 to int8 of another scale or zero point, or clipped", ()),
    "maxpool": Operator("core", "maximum over a window; padding is skipped", (*_WINDOW,), moves=True),
    "avgpool": Operator(
        "core", "mean over a window; global pooling is a window of the whole input", (*_WINDOW, "count_include_pad")
    ),
    "concat": Operator("free", "joined along the channels, each part where it stands", ("axis",), moves=True),
    "split": Operator("free", "parts along an axis, by where they are read", ("axis", "sizes"), moves=True),
    "slice": Operator(
        "free", "start and step per axis (numpy's), the rest from the output's shape", ("starts", "steps"), moves=True
    ),
    "pad": Operator("estimate", "pads as begins then ends over all axes", ("pads", "mode", "value"), moves=True),
    "reshape": Operator("free", "Reshape, Flatten, Squeeze, Unsqueeze; Identity, Dropout", (), moves=True),
    "transpose": Operator("free", "permutation of axes", ("perm",), moves=True),
    "resize": Operator(
        "estimate",
        "nearest or linear; coordinate and nearest modes as ONNX names them",
        ("mode", "coordinates", "nearest", "scales"),
        moves=False,
    ),
    "gather": Operator("estimate", "rows by index along an axis, embedding tables among them", ("axis",), moves=True),
    "gather_elements": Operator(
        "estimate", "elements by index along an axis, an index for each", ("axis",), moves=True
    ),
    "gather_nd": Operator("estimate", "elements or blocks by index tuples", (), moves=True),
    "expand": Operator("estimate", "broadcast to the output's shape", (), moves=True),
    "quantize": Operator("estimate", "float32 to int8 at the network's border", ()),
    "dequantize": Operator("estimate", "int8 to float32 at the network's border", ()),
    "cast": Operator("estimate", "between number types", ()),
    "sub": _elementwise("a - b"),
    "mul": _elementwise("a * b"),
    "div": _elementwise("a / b"),
    "pow": _elementwise("a to the power b"),
    "minimum": _elementwise("the smaller of a and b"),
    "maximum": _elementwise("the larger of a and b"),
    "where": _elementwise("a where the condition holds, else b"),
    "compare": _elementwise("Equal, Less, Greater and their kin, by kind", "kind"),
    "relu": Operator("core", "max(x, 0); fused as the lower clip of the node before it where that is int8", ()),
    "clip": Operator("core", "between low and high; fused like relu", ("low", "high")),
    "leakyrelu": _elementwise("x, or alpha * x below 0", "alpha"),
    "hardswish": _elementwise("x * hardsigmoid(x) with 1/6 and 1/2"),
    "hardsigmoid": _elementwise("clip(alpha * x + beta, 0, 1)", "alpha", "beta"),
    "sigmoid": _elementwise("1 / (1 + exp(-x))"),
    "tanh": _elementwise("tanh(x)"),
    "erf": _elementwise("error function"),
    "gelu": _elementwise("x * Phi(x); approximate is none or tanh", "approximate"),
    "unary": _elementwise("Sqrt, Exp, Log, Neg, Abs, Reciprocal, Floor, Not, Sin, Cos, by kind", "kind"),
    "softmax": _elementwise("along an axis", "axis"),
    "layernorm": _elementwise("inputs x, scale, bias (optional); over the axes from axis on", "axis", "epsilon"),
    "batchnorm": Operator("core", "per channel of axis 1: inputs x, factor (not negative), offset", ()),
    "reduce": _elementwise("mean, sum, max, min over axes, by kind", "kind", "axes", "keepdims"),
}
