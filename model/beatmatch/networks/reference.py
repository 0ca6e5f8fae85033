# SPDX-License-Identifier: Apache-2.0
"""Run a graph on numpy: integers exactly as the machine rounds them, everything else in float32.

The integer sums are computed in float64 by BLAS, which is exact: a sum of n products of int8 is at most n * 2^14, and n
is far below 2^39.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from beatmatch import numerics
from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import AddRequant, Graph, Node, Requant, Tensor
from beatmatch.networks.integer import mean_requant
from beatmatch.networks.real import compute
from beatmatch.networks.windows import convolve, pool_count, pool_sum


def execute(
    graph: Graph,
    feeds: Mapping[str, np.ndarray],
    given: Mapping[str, np.ndarray] | None = None,
    keep: bool = False,
) -> dict[str, np.ndarray]:
    """Values of the outputs, or of every tensor.

    Parameters
    ----------
    graph : Graph
    feeds : mapping of str to ndarray
        Every input. Those that the file has as uint8 are int8 here, 128 less.
    given : mapping of str to ndarray, optional
        Values that replace what nodes computed for those that read them: so each node can be compared alone.
    keep : bool
        Give every tensor that a node wrote, as the node wrote it.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    GraphError
        If an input is missing or of another type or shape.
    """
    known: dict[str, np.ndarray] = {}
    for name in graph.inputs:
        known[name] = _fed(graph.tensors[name], feeds)
    given = given or {}
    results: dict[str, np.ndarray] = {}
    last = {name: k for k, node in enumerate(graph.nodes) for name in node.inputs}
    for k, node in enumerate(graph.nodes):
        values = [_value(graph.tensors[name], known) if name else None for name in node.inputs]
        for name, array in zip(node.outputs, run_node(graph, node, values), strict=True):
            if keep or name in graph.outputs:
                results[name] = array
            known[name] = given.get(name, array)
        for name in node.inputs:
            if last.get(name) == k:
                known.pop(name, None)
    for name in graph.outputs:
        if name not in results:
            results[name] = _value(graph.tensors[name], known)
    return results


def _fed(tensor: Tensor, feeds: Mapping[str, np.ndarray]) -> np.ndarray:
    array = feeds.get(tensor.name)
    if array is None:
        raise GraphError(f"Input {tensor.name} is missing; give {tensor.dtype} of shape {tensor.shape}.")
    array = np.asarray(array)
    if array.shape != tensor.shape or array.dtype != tensor.dtype:
        raise GraphError(
            f"Input {tensor.name} is {array.dtype} of shape {array.shape}; give {tensor.dtype} of shape {tensor.shape}."
        )
    return array


def _value(tensor: Tensor, known: Mapping[str, np.ndarray]) -> np.ndarray:
    return known[tensor.name] if tensor.name in known else tensor.values()


def run_node(graph: Graph, node: Node, values: list[np.ndarray | None]) -> list[np.ndarray]:
    """Outputs of one node from the values of its inputs."""
    ins, outs = graph.tensors_of(node)
    if node.requant is not None:
        return [_INTEGER[node.op](node, values, ins, outs[0]).astype(np.int8)]
    if node.op == "quantize":
        return [outs[0].quant.quantize(values[0])]
    if node.op == "dequantize":
        return [ins[0].quant.dequantize(values[0])]
    if node.operator.moves:
        return compute(graph, node, values)
    real = [
        tensor.quant.dequantize(value) if tensor is not None and tensor.quant is not None else value
        for tensor, value in zip(ins, values, strict=True)
    ]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        results = compute(graph, node, real)
    return [
        tensor.quant.quantize(array) if tensor.quant is not None else array
        for tensor, array in zip(outs, results, strict=True)
    ]


def _requantised(sums: np.ndarray, requant: Requant, axis: int = -1) -> np.ndarray:
    """The machine's rule, with parameters per channel along an axis."""
    moved = np.moveaxis(sums, axis, -1).astype(np.int64)
    fields = (requant.bias, requant.multiplier, requant.shift)
    result = numerics.requantise(moved, *fields, requant.zero_point, requant.low, requant.high)
    return np.moveaxis(result, -1, axis)


def _conv(node: Node, values: list, ins: list[Tensor], out: Tensor) -> np.ndarray:
    sums = convolve(values[0], values[1], node.attributes, out.shape[2:], float(ins[0].quant.zero_point))
    return _requantised(sums, node.requant, 1)


def _dense(node: Node, values: list, ins: list[Tensor], out: Tensor) -> np.ndarray:
    return _requantised(values[0].astype(np.float64) @ values[1].astype(np.float64), node.requant)


def _matmul(node: Node, values: list, ins: list[Tensor], out: Tensor) -> np.ndarray:
    a, b = (v.astype(np.float64) - float(t.quant.zero_point) for v, t in zip(values, ins, strict=True))
    return _requantised(a @ b, node.requant)


def _add(node: Node, values: list, ins: list[Tensor], out: Tensor) -> np.ndarray:
    p: AddRequant = node.requant
    a, b = (v.astype(np.int64) for v in values) if p.multiplier_b else (values[0].astype(np.int64), np.int64(0))
    exact = numerics.add_exact(a, b, p.bias, p.multiplier_a, p.multiplier_b)
    return numerics.clip(numerics.round_half_even(exact, p.shift) + p.zero_point, p.low, p.high)


def _rescale(node: Node, values: list, ins: list[Tensor], out: Tensor) -> np.ndarray:
    return _requantised(values[0], node.requant)


def _average(node: Node, values: list, ins: list[Tensor], out: Tensor) -> np.ndarray:
    """Where padding is not counted, each number of elements has parameters of its own, as the lowering splits it."""
    quant, p, space = ins[0].quant, node.requant, out.shape[2:]
    counts = pool_count(values[0].shape, node.attributes, space)
    counted = node.attributes["count_include_pad"]
    sums = pool_sum(values[0], node.attributes, space, float(quant.zero_point) if counted else 0.0)
    result = np.empty(sums.shape, np.int64)
    for count in np.unique(counts):
        own = mean_requant(quant, out.quant, int(count), p.low, p.high)
        result = np.where(counts == count, _requantised(sums, own), result)
    return result


_INTEGER: dict[str, Callable[[Node, list, list[Tensor], Tensor], np.ndarray]] = {
    "conv": _conv, "dense": _dense, "matmul": _matmul, "add": _add, "rescale": _rescale, "avgpool": _average,
}  # fmt: skip
