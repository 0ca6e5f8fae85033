# SPDX-License-Identifier: Apache-2.0
"""Rules of the elementwise operators, of normalizations and reductions."""

from __future__ import annotations

import numpy as np

from beatmatch.networks.translate import Reader, rule
from beatmatch.networks.weightless import Fill

_SIMPLE = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow", "Where": "where", "Relu": "relu",
    "HardSwish": "hardswish", "Sigmoid": "sigmoid", "Tanh": "tanh", "Erf": "erf", "Cast": "cast", "Expand": "expand",
}  # fmt: skip
_UNARY = ("Sqrt", "Exp", "Log", "Neg", "Abs", "Reciprocal", "Floor", "Ceil", "Round", "Not", "Sin", "Cos", "IsNaN")
_COMPARE = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or")


@rule(*_SIMPLE)
def _simple(reader: Reader, node: object) -> None:
    op = _SIMPLE[node.op_type]
    reader.add(node, op, [node.input[0]] if op in ("cast", "expand") else None)


@rule(*_UNARY)
def _unary(reader: Reader, node: object) -> None:
    reader.add(node, "unary", kind=node.op_type.lower())


@rule(*_COMPARE)
def _compare(reader: Reader, node: object) -> None:
    reader.add(node, "compare", kind=node.op_type.lower())


@rule("Min", "Max")
def _extreme(reader: Reader, node: object) -> None:
    if len(node.input) != 2:
        raise reader.refuse(node, f"has {len(node.input)} inputs", "export it with two at a time")
    reader.add(node, {"Min": "minimum", "Max": "maximum"}[node.op_type])


@rule("Clip")
def _clip(reader: Reader, node: object) -> None:
    bounds = (reader.constant(node, k, what) for k, what in ((1, "min"), (2, "max")))
    low, high = (None if v is None else float(v.reshape(-1)[0]) for v in bounds)
    reader.add(node, "clip", [node.input[0]], low=low, high=high)


@rule("LeakyRelu")
def _leaky(reader: Reader, node: object) -> None:
    reader.add(node, "leakyrelu", alpha=reader.attribute(node, "alpha", 0.01))


@rule("HardSigmoid")
def _hard_sigmoid(reader: Reader, node: object) -> None:
    alpha, beta = reader.attribute(node, "alpha", 0.2), reader.attribute(node, "beta", 0.5)
    reader.add(node, "hardsigmoid", alpha=alpha, beta=beta)


@rule("Gelu")
def _gelu(reader: Reader, node: object) -> None:
    reader.add(node, "gelu", approximate=reader.attribute(node, "approximate", "none"))


@rule("Softmax")
def _softmax(reader: Reader, node: object) -> None:
    version = reader.static.version
    axis = reader.axis(node, -1 if version >= 13 else 1)
    if version < 13 and axis != len(reader.shape(node.input[0])) - 1:
        why = f"of opset {version} has axis={axis} and flattens all axes from it on"
        raise reader.refuse(node, why, "export the network with opset 13 or later")
    reader.add(node, "softmax", axis=axis)


@rule("LayerNormalization")
def _layer_norm(reader: Reader, node: object) -> None:
    if any(node.output[1:]):
        raise reader.refuse(node, "gives its mean or deviation as an output", "export the network for inference")
    axis = reader.axis(node, -1)
    for index in (1, 2):
        reader.check_broadcast(node, index, reader.shape(node.input[0])[axis:])
    reader.add(node, "layernorm", axis=axis, epsilon=reader.attribute(node, "epsilon", 1e-5))


@rule("BatchNormalization")
def _batch_norm(reader: Reader, node: object) -> None:
    if any(node.output[1:]) or reader.attribute(node, "training_mode", 0):
        raise reader.refuse(node, "is in training mode", "export the network for inference")
    roles = ("scale", "bias", "mean", "variance")
    scale, shift, mean, variance = (reader.constant(node, k, role) for k, role in enumerate(roles, 1))
    base = node.output[0]
    if any(reader.tensors[name].fill for name in node.input[1:]):
        names = [reader.new(n, scale.shape, fill=Fill(n, 1.0)) for n in (f"{base}/factor", f"{base}/offset")]
    else:
        factor = scale / np.sqrt(variance + reader.attribute(node, "epsilon", 1e-5))
        pairs = (("factor", factor), ("offset", shift - mean * factor))
        names = [reader.new(f"{base}/{role}", v.shape, data=v.astype(np.float32)) for role, v in pairs]
    reader.put(node.name or base, "batchnorm", [node.input[0], *names], [base])


@rule("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")
def _reduce(reader: Reader, node: object) -> None:
    shape = reader.shape(node.input[0])
    axes = reader.attribute(node, "axes")
    if axes is None:
        given = reader.constant(node, 1, "axes")
        axes = range(len(shape)) if given is None or not given.size else given.tolist()
    axes = tuple(sorted(axis % len(shape) for axis in axes))
    kind = node.op_type.removeprefix("Reduce").lower()
    keep = bool(reader.attribute(node, "keepdims", 1))
    if kind == "mean" and len(shape) == 4 and axes == (2, 3):
        global_pool(reader, node, "avgpool", keep)
        return
    reader.add(node, "reduce", [node.input[0]], kind=kind, axes=axes, keepdims=keep)


def global_pool(reader: Reader, node: object, op: str, keep: bool) -> None:
    """Pooling over all positions: a window of the whole input, and a reshape if the axes are dropped."""
    shape, base = reader.shape(node.input[0]), node.output[0]
    space = shape[2:]
    whole = {"kernel": space, "strides": (1,) * len(space), "dilations": (1,) * len(space), "pads": (0, 0) * len(space)}
    if op == "avgpool":
        whole["count_include_pad"] = False
    name = node.name or base
    if keep:
        reader.put(name, op, [node.input[0]], [base], **whole)
        return
    pooled = reader.new(f"{base}/pooled", (*shape[:2], *(1,) * len(space)), reader.tensors[base].dtype)
    reader.put(name, op, [node.input[0]], [pooled], **whole)
    reader.put(f"{name}/squeeze", "reshape", [pooled], [base])
