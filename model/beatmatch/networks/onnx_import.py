# SPDX-License-Identifier: Apache-2.0
"""An ONNX file becomes a graph: read, bind, expand, infer, translate, fuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

# Each of these enters its rules in the table when it is imported.
from beatmatch.networks import rules_elementwise, rules_matrices, rules_movement, rules_windows  # noqa: F401
from beatmatch.networks.errors import GraphError
from beatmatch.networks.fuse import fuse
from beatmatch.networks.graph import Graph, Quant, Tensor
from beatmatch.networks.onnx_file import load, prepare
from beatmatch.networks.qoperator import expand
from beatmatch.networks.static import Static
from beatmatch.networks.translate import Reader


def read_onnx(path: str | Path, dims: Mapping[str, int] | None = None) -> Graph:
    """The graph of an ONNX file.

    Parameters
    ----------
    path : str or Path
    dims : mapping of str to int, optional
        Sizes of dynamic dimensions, by name or as `input.axis`.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        Naming node, operator and attribute, and what to do.
    """
    return _graph(load(path, dims), Path(path).stem, str(path))


def from_model(model: object, dims: Mapping[str, int] | None = None, name: str = "network") -> Graph:
    """The graph of an `onnx.ModelProto` in memory, which is left as it is; as `read_onnx`."""
    copy = type(model)()
    copy.CopyFrom(model)
    return _graph(prepare(copy, dims), model.graph.name or name, "memory")


def _graph(model: object, name: str, source: str) -> Graph:
    expand(model)
    reader = Reader(Static(model))
    reader.read()
    constants = {tensor.name for tensor in model.graph.initializer}
    graph = Graph(
        name,
        reader.tensors,
        reader.nodes,
        [value.name for value in model.graph.input if value.name not in constants],
        [value.name for value in model.graph.output],
        source,
    )
    _make_signed(graph)
    fuse(graph, reader.stored)
    graph.check()
    return graph


def _make_signed(graph: Graph) -> None:
    """Shift unsigned tensors by 128, values and zero points alike: the real values stay the same."""
    unsigned = {name for name, tensor in graph.tensors.items() if tensor.dtype == "uint8"}
    for node in graph.nodes:
        touched = [name for name in (*node.inputs, *node.outputs) if name in unsigned]
        if touched and not (node.operator.moves or node.op in ("quantize", "dequantize")):
            raise GraphError(f"Node {node.name} ({node.op}) computes with uint8 tensor {touched[0]}; quantize to int8.")
    graph.nodes = [
        replace(node, attributes={**node.attributes, "value": node.attributes["value"] - 128})
        if node.op == "pad" and node.inputs[0] in unsigned
        else node
        for node in graph.nodes
    ]
    for name in unsigned:
        graph.tensors[name] = _signed(graph.tensors[name])


def _signed(tensor: Tensor) -> Tensor:
    quant, data, fill = tensor.quant, tensor.data, tensor.fill
    if quant is not None:
        quant = Quant(quant.scale, quant.zero_point - 128, quant.axis)
    if data is not None:
        data = (data.astype(np.int16) - 128).astype(np.int8)
    if fill is not None:
        fill = replace(fill, mean=fill.mean - 128, low=fill.low - 128, high=fill.high - 128)
    return replace(tensor, dtype="int8", quant=quant, data=data, fill=fill)
