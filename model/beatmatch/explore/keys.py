# SPDX-License-Identifier: Apache-2.0
"""Names for results by all that they depend on: the layer's content, configuration, memory, and the package's sources.

Two layers with equal content have the same time on the same machine, whatever they are called and wherever they stand.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np

from beatmatch.explore.changes import Machine
from beatmatch.networks.graph import Graph, Node, Tensor

PACKAGE = Path(__file__).parents[1]
SHOWN = ("commands", "report")
"""Packages that only show results."""


@cache
def sources() -> str:
    """Digest of what computes results: all sources of the package, and the record of what has been in lockstep."""
    state = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in SHOWN:
            state.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    state.update((PACKAGE / "data/fidelity.json").read_bytes())
    return state.hexdigest()


def digest(value: object) -> str:
    """SHA-256 over plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def memory_digest(machine: Machine) -> str:
    """Twelve hex digits that name a memory, as `Config.digest` names a configuration."""
    return digest(machine.memory.to_dict())[:12]


def machine_key(machine: Machine) -> list[str]:
    """What a result depends on besides the network."""
    return [sources(), machine.config.digest(), digest(machine.memory.to_dict())]


def layer_key(graph: Graph, node: Node) -> str:
    """Digest of a node's content: operator, attributes, shapes, types, which inputs are constants or the same, scaling.

    Names and the values of constants are left out: time does not depend on them.
    """
    ins, outs = graph.tensors_of(node)
    same = [node.inputs.index(name) for name in node.inputs]
    tensors = [_tensor(tensor) for tensor in (*ins, *outs)]
    return digest([node.op, plain(node.attributes), len(ins), tensors, same, plain(node.requant)])


def nameless(graph: Graph, node: Node) -> Graph:
    """The node alone, with names by place: equal layers give equal graphs, and so equal notes and refusals."""
    names = {name: f"input {index}" for index, name in reversed([*enumerate(node.inputs)]) if name}
    names |= {name: f"output {index}" for index, name in enumerate(node.outputs)}
    tensors = {new: dataclasses.replace(graph.tensors[old], name=new) for old, new in names.items()}
    ins, outs = ([names.get(name, "") for name in side] for side in (node.inputs, node.outputs))
    alone = dataclasses.replace(node, name="layer", inputs=tuple(ins), outputs=tuple(outs))
    given = [name for name in dict.fromkeys(ins) if name and not tensors[name].constant]
    return Graph("layer", tensors, [alone], given, outs, "")


def network_key(graph: Graph) -> str:
    """Digest of a whole graph: its layers and how they are connected, by name."""
    nodes = [[node.name, list(node.inputs), list(node.outputs), layer_key(graph, node)] for node in graph.nodes]
    return digest([nodes, graph.inputs, graph.outputs])


def _tensor(tensor: Tensor | None) -> object:
    if tensor is None:
        return None
    return [list(tensor.shape), tensor.dtype, tensor.constant, plain(tensor.quant)]


def plain(value: object) -> object:
    """A value as JSON can hold it; arrays by digest."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
