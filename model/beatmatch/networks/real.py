# SPDX-License-Identifier: Apache-2.0
"""Each operator on real arrays, float32 in and out unless it counts, compares or moves."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from beatmatch.networks.graph import Graph, Node
from beatmatch.networks.resize import resize
from beatmatch.networks.windows import convolve, pool_count, pool_maximum, pool_sum

Values = list[np.ndarray | None]
_erf = np.frompyfunc(math.erf, 1, 1)


def erf(x: np.ndarray) -> np.ndarray:
    """Error function of float32 values."""
    return np.asarray(_erf(x), np.float32)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _gelu(x: np.ndarray, approximate: str) -> np.ndarray:
    if approximate == "tanh":
        return x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _layer_norm(x: np.ndarray, scale: np.ndarray, bias: np.ndarray | None, axis: int, epsilon: float) -> np.ndarray:
    axes = tuple(range(axis, x.ndim))
    centred = x - x.mean(axis=axes, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + np.float32(epsilon))
    return normal * scale + (0 if bias is None else bias)


def _column(values: np.ndarray, rank: int) -> np.ndarray:
    """Values per channel, to broadcast against [N, C, space...]."""
    return values.reshape(1, -1, *(1,) * (rank - 2))


def _conv(v: Values, a: dict, shapes: list[tuple[int, ...]]) -> np.ndarray:
    total = convolve(v[0], v[1], a, shapes[0][2:], 0.0)
    return total if len(v) < 3 else total + _column(v[2], total.ndim)


def _average(v: Values, a: dict, shapes: list[tuple[int, ...]]) -> np.ndarray:
    out = shapes[0][2:]
    return pool_sum(v[0], a, out, 0.0) / pool_count(v[0].shape, a, out)


def _pad(v: Values, a: dict, shapes: list[tuple[int, ...]]) -> np.ndarray:
    rank = v[0].ndim
    widths = [(a["pads"][k], a["pads"][k + rank]) for k in range(rank)]
    more = {"constant_values": v[0].dtype.type(a["value"])} if a["mode"] == "constant" else {}
    return np.pad(v[0], widths, mode=a["mode"], **more)


def _slice(v: Values, a: dict, shapes: list[tuple[int, ...]]) -> np.ndarray:
    index = []
    for start, step, size in zip(a["starts"], a["steps"], shapes[0], strict=True):
        stop = start + size * step
        index.append(slice(start, stop if stop >= 0 else None, step))
    return v[0][tuple(index)]


def _split(v: Values, a: dict, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    return np.split(v[0], np.cumsum(a["sizes"])[:-1], axis=a["axis"])


def _gather(v: Values, a: dict, shapes: list[tuple[int, ...]]) -> np.ndarray:
    return np.take(v[0], v[1].astype(np.int64), axis=a["axis"], mode="wrap" if v[1].min() < 0 else "raise")


_REDUCTIONS = {"mean": np.mean, "sum": np.sum, "max": np.max, "min": np.min}
_UNARY = {
    "neg": np.negative, "reciprocal": np.reciprocal, "not": np.logical_not, "round": np.rint, "sqrt": np.sqrt,
    "exp": np.exp, "log": np.log, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "sin": np.sin, "cos": np.cos,
    "isnan": np.isnan,
}  # fmt: skip
_COMPARE = {
    "equal": np.equal, "less": np.less, "greater": np.greater, "lessorequal": np.less_equal, "and": np.logical_and,
    "greaterorequal": np.greater_equal, "or": np.logical_or,
}  # fmt: skip

REAL: dict[str, Callable[[Values, dict, list[tuple[int, ...]]], np.ndarray | list[np.ndarray]]] = {
    "conv": _conv,
    "dense": lambda v, a, s: v[0] @ v[1] + (v[2] if len(v) > 2 else 0),
    "matmul": lambda v, a, s: v[0] @ v[1],
    "add": lambda v, a, s: v[0] + v[1],
    "sub": lambda v, a, s: v[0] - v[1],
    "mul": lambda v, a, s: v[0] * v[1],
    "div": lambda v, a, s: v[0] / v[1] if v[0].dtype.kind == "f" else v[0] // v[1],
    "pow": lambda v, a, s: v[0] ** v[1],
    "minimum": lambda v, a, s: np.minimum(v[0], v[1]),
    "maximum": lambda v, a, s: np.maximum(v[0], v[1]),
    "where": lambda v, a, s: np.where(v[0], v[1], v[2]),
    "compare": lambda v, a, s: _COMPARE[a["kind"]](v[0], v[1]),
    "relu": lambda v, a, s: np.maximum(v[0], 0),
    "clip": lambda v, a, s: np.clip(v[0], a["low"], a["high"]),
    "leakyrelu": lambda v, a, s: np.where(v[0] < 0, v[0] * a["alpha"], v[0]),
    "hardswish": lambda v, a, s: v[0] * np.clip(v[0] / 6 + 0.5, 0, 1),
    "hardsigmoid": lambda v, a, s: np.clip(v[0] * a["alpha"] + a["beta"], 0, 1),
    "sigmoid": lambda v, a, s: _sigmoid(v[0]),
    "tanh": lambda v, a, s: np.tanh(v[0]),
    "erf": lambda v, a, s: erf(v[0]),
    "gelu": lambda v, a, s: _gelu(v[0], a["approximate"]),
    "unary": lambda v, a, s: _UNARY[a["kind"]](v[0]),
    "softmax": lambda v, a, s: _softmax(v[0], a["axis"]),
    "layernorm": lambda v, a, s: _layer_norm(v[0], v[1], v[2] if len(v) > 2 else None, a["axis"], a["epsilon"]),
    "batchnorm": lambda v, a, s: v[0] * _column(v[1], v[0].ndim) + _column(v[2], v[0].ndim),
    "reduce": lambda v, a, s: _REDUCTIONS[a["kind"]](v[0], axis=a["axes"], keepdims=a["keepdims"]),
    "maxpool": lambda v, a, s: pool_maximum(v[0], a, s[0][2:]),
    "avgpool": _average,
    "resize": lambda v, a, s: resize(v[0], a, s[0]),
    "concat": lambda v, a, s: np.concatenate(v, axis=a["axis"]),
    "split": _split,
    "slice": _slice,
    "pad": _pad,
    "reshape": lambda v, a, s: v[0].reshape(s[0]),
    "transpose": lambda v, a, s: v[0].transpose(a["perm"]),
    "gather": _gather,
    "gather_elements": lambda v, a, s: np.take_along_axis(v[0], v[1] % v[0].shape[a["axis"]], a["axis"]),
    "gather_nd": lambda v, a, s: v[0][tuple(np.moveaxis(v[1], -1, 0))],
    "expand": lambda v, a, s: np.broadcast_to(v[0], s[0]),
    "cast": lambda v, a, s: v[0],
}
"""From input values, attributes and output shapes to the output or outputs."""


def compute(graph: Graph, node: Node, values: Values) -> list[np.ndarray]:
    """Outputs of one node from its inputs, each of the type and shape that the graph states."""
    outs = graph.tensors_of(node)[1]
    result = REAL[node.op](values, node.attributes, [tensor.shape for tensor in outs])
    results = result if isinstance(result, list) else [result]
    made = []
    for tensor, array in zip(outs, results, strict=True):
        if array.shape != tensor.shape:
            raise ValueError(f"{node.name} ({node.op}) made {array.shape}; the graph says {tensor.shape}.")
        # A quantized output is still real here: its scale is applied by the caller.
        real = tensor.quant is not None and not node.operator.moves
        made.append(np.asarray(array, np.float32 if real else tensor.dtype))
    return made
