# SPDX-License-Identifier: Apache-2.0
"""Small changes that keep a graph's meaning: biases into layers, real constants, nothing unread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from beatmatch.networks.graph import Graph, Node, Tensor
from beatmatch.networks.weightless import Fill


def fuse_bias(graph: Graph, stored: dict[str, str]) -> None:
    """Take the addition of a constant behind a dense layer into it, as exporters write linear layers in two nodes."""
    readers = graph.consumers()
    gone: set[str] = set()
    merged: dict[str, Node] = {}
    for node in graph.nodes:
        users = readers[node.outputs[0]]
        if node.op != "dense" or len(node.inputs) > 2 or len(users) != 1 or users[0].op != "add":
            continue
        after = users[0]
        bias = next(name for name in after.inputs if name != node.outputs[0]) if len(set(after.inputs)) == 2 else ""
        columns = graph.tensors[node.outputs[0]].shape[-1]
        is_constant = bias and (bias in stored or graph.tensors[bias].constant)
        if not is_constant or graph.tensors[bias].shape != (columns,) or node.outputs[0] in graph.outputs:
            continue
        merged[node.name] = replace(node, inputs=(*node.inputs, bias), outputs=after.outputs)
        gone.add(after.name)
        _move_before(graph, bias, node)
    graph.nodes = [merged.get(node.name, node) for node in graph.nodes if node.name not in gone]


def fuse_batchnorm(graph: Graph) -> None:
    """Take the factors of a batch normalization into the real convolution before it."""
    readers = graph.consumers()
    gone: set[str] = set()
    merged: dict[str, Node] = {}
    for node in graph.nodes:
        users = readers[node.outputs[0]]
        if node.op != "conv" or len(users) != 1 or users[0].op != "batchnorm" or node.outputs[0] in graph.outputs:
            continue
        weight, *bias = (graph.tensors[name] for name in node.inputs[1:])
        factor, offset = (graph.tensors[name] for name in users[0].inputs[1:])
        if not all(tensor.constant and tensor.dtype == "float32" for tensor in (weight, *bias, factor, offset)):
            continue
        names = [f"{node.name}/{role}" for role in ("weight", "bias")]
        if any(tensor.fill for tensor in (weight, *bias, factor, offset)):
            values = [{"fill": replace(weight.fill or Fill(""), name=names[0])}, {"fill": Fill(names[1])}]
        else:
            scaled = weight.data * factor.data.reshape(-1, *(1,) * (weight.data.ndim - 1))
            shift = offset.data + (bias[0].data * factor.data if bias else 0)
            values = [{"data": scaled.astype(np.float32)}, {"data": shift.astype(np.float32)}]
        for name, shape, value in zip(names, (weight.shape, factor.shape), values, strict=True):
            graph.tensors[name] = Tensor(name, shape, "float32", **value)
        merged[node.name] = replace(node, inputs=(node.inputs[0], *names), outputs=users[0].outputs)
        gone.add(users[0].name)
    graph.nodes = [merged.get(node.name, node) for node in graph.nodes if node.name not in gone]


def _move_before(graph: Graph, name: str, node: Node) -> None:
    """The dequantize of a constant may stand anywhere; its reader has just moved up."""
    maker = next((other for other in graph.nodes if name in other.outputs), None)
    if maker is not None and graph.nodes.index(maker) > graph.nodes.index(node):
        graph.nodes.remove(maker)
        graph.nodes.insert(graph.nodes.index(node), maker)


def plain_constants(graph: Graph, stored: dict[str, str]) -> None:
    """Make the real values of dequantized constants that are still read as such, in place of the dequantize."""
    made = {node.outputs[0]: node for node in graph.nodes if node.op == "dequantize" and node.outputs[0] in stored}
    read = {name for node in graph.nodes for name in node.inputs}
    for name, node in made.items():
        if name in read or name in graph.outputs:
            integers = graph.tensors[stored[name]]
            if integers.fill:
                graph.tensors[name] = Tensor(name, integers.shape, "float32", fill=Fill(name))
            else:
                graph.tensors[name] = Tensor(
                    name, integers.shape, "float32", data=integers.quant.dequantize(integers.data)
                )
        graph.nodes.remove(node)


def drop_unused(graph: Graph) -> None:
    """Drop nodes whose outputs nothing reads, then tensors that no node has."""
    wanted = set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if wanted.intersection(node.outputs):
            wanted.update(filter(None, node.inputs))
            kept.append(node)
    graph.nodes = kept[::-1]
    named = {name for node in kept for name in (*node.inputs, *node.outputs)} | set(graph.inputs) | wanted
    graph.tensors = {name: tensor for name, tensor in graph.tensors.items() if name in named}
