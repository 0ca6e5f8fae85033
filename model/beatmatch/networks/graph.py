# SPDX-License-Identifier: Apache-2.0
"""Networks as a small typed graph: static shapes, normalised operators, integer parameters, multiply-accumulates.

Everything that reads a network (ONNX, SCALE-Sim tables) makes a `Graph`, and everything that uses one (lowering,
reference execution, reports) starts from it. Axes are in ONNX's order: activations of a convolution are [N, C, H, W] or
[N, C, W], its weights [out channels, in channels / groups, kernel...], a dense layer's weights [K, N].

Three kinds of tensors occur: `int8` with a `Quant` (unsigned ones are shifted by 128 on import), `float32`, and
integers for indices. A node between int8 tensors states in `requant` how its sums become int8 on the machine; a node
in float32 has its shapes and multiply-accumulates only, which is what timing needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np

from beatmatch.networks.errors import GraphError
from beatmatch.networks.operators import OPERATORS, Operator
from beatmatch.networks.scales import AddRequant, Quant, Requant
from beatmatch.networks.weightless import Fill

__all__ = ["DTYPES", "AddRequant", "Fill", "Graph", "GraphError", "Node", "Quant", "Requant", "Tensor"]

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "float32", "float64", "float16", "bool")


@dataclass(frozen=True, eq=False)
class Tensor:
    """One edge of the graph.

    Parameters
    ----------
    name : str
    shape : tuple of int
        Static, every size at least 1; `()` is a scalar.
    dtype : str
        One of `DTYPES`.
    quant : Quant, optional
        Scale and zero point of an int8 tensor.
    data : ndarray, optional
        Values of a constant that has them.
    fill : Fill, optional
        A constant without values: `values` makes some from a seed. Shapes, cycles and traffic mean something, results
        do not.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    quant: Quant | None = None
    data: np.ndarray | None = None
    fill: Fill | None = None

    @property
    def constant(self) -> bool:
        """Whether the values are part of the network."""
        return self.data is not None or self.fill is not None

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    def values(self) -> np.ndarray:
        """Values of a constant; made anew in each call for a weightless one."""
        if self.data is not None:
            return self.data
        if self.fill is None:
            raise ValueError(f"{self.name} is no constant; it has values only in an execution.")
        return self.fill.values(self.shape, self.dtype)


@dataclass(frozen=True, eq=False)
class Node:
    """One operator.

    Parameters
    ----------
    name : str
        Unique in the graph.
    op : str
        A key of `operators.OPERATORS`, where attributes are listed too.
    inputs, outputs : tuple of str
        Names of tensors; an omitted optional input is the empty string.
    attributes : dict
        Complete: defaults are filled in, negative axes made positive, pads explicit (begins, then ends).
    requant : Requant or AddRequant, optional
        Integer parameters of a node between int8 tensors, for operators that have sums.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict = field(default_factory=dict)
    requant: Requant | AddRequant | None = None

    @property
    def operator(self) -> Operator:
        """What the operator is and where it runs."""
        return OPERATORS[self.op]


@dataclass(eq=False)
class Graph:
    """A network: nodes in an order in which they can run.

    Parameters
    ----------
    name : str
    tensors : dict of str to Tensor
        Every edge and every constant.
    nodes : list of Node
        In topological order.
    inputs, outputs : list of str
        Names of the tensors that the host gives and takes.
    source : str
        What the graph was read from, for reports.
    """

    name: str
    tensors: dict[str, Tensor]
    nodes: list[Node]
    inputs: list[str]
    outputs: list[str]
    source: str = ""

    def tensors_of(self, node: Node) -> tuple[list[Tensor | None], list[Tensor]]:
        """The node's input tensors (None where an optional one is left out) and its output tensors."""
        ins = [self.tensors[name] if name else None for name in node.inputs]
        return ins, [self.tensors[name] for name in node.outputs]

    def macs(self, node: Node) -> int:
        """Multiply-accumulates of one node, the ones on padding included, as every counter counts them."""
        ins, outs = self.tensors_of(node)
        count = node.operator.macs
        return count([t.shape if t else None for t in ins], [t.shape for t in outs], node.attributes) if count else 0

    @property
    def total_macs(self) -> int:
        """Multiply-accumulates of all nodes."""
        return sum(self.macs(node) for node in self.nodes)

    @property
    def parameters(self) -> int:
        """Number of constant elements that nodes read."""
        used = {name for node in self.nodes for name in node.inputs if name and self.tensors[name].constant}
        return sum(self.tensors[name].size for name in used)

    @property
    def weightless(self) -> bool:
        """Whether any constant was made from a seed: then values mean nothing, and no accuracy is claimed."""
        return any(tensor.fill is not None for tensor in self.tensors.values())

    def consumers(self) -> dict[str, list[Node]]:
        """Nodes that read each tensor."""
        found: dict[str, list[Node]] = {name: [] for name in self.tensors}
        for node in self.nodes:
            for name in dict.fromkeys(filter(None, node.inputs)):
                found[name].append(node)
        return found

    def producers(self) -> dict[str, Node]:
        """The node that writes each tensor that is not a constant or an input."""
        return {name: node for node in self.nodes for name in node.outputs}

    def where(self) -> Counter:
        """How many nodes run where: `core`, `free`, `estimate`."""
        return Counter(node.operator.where for node in self.nodes)

    def layers(self) -> Iterator[tuple[Node, int]]:
        """Nodes that have multiply-accumulates, with their number."""
        return ((node, macs) for node in self.nodes if (macs := self.macs(node)))

    def check(self) -> None:
        """Raise GraphError unless names, order, shapes and attributes are whole."""
        known = {name for name, tensor in self.tensors.items() if tensor.constant} | set(self.inputs)
        names = Counter(node.name for node in self.nodes)
        for tensor in self.tensors.values():
            if any(size < 1 for size in tensor.shape):
                raise GraphError(f"Tensor {tensor.name} has the shape {tensor.shape}; every size must be at least 1.")
            if tensor.data is not None and tensor.data.shape != tensor.shape:
                raise GraphError(f"Constant {tensor.name} has values of shape {tensor.data.shape}, not {tensor.shape}.")
        for node in self.nodes:
            if names[node.name] > 1:
                raise GraphError(f"{names[node.name]} nodes are called {node.name}; names must be unique.")
            if node.op not in OPERATORS:
                raise GraphError(f"Node {node.name} has the operator {node.op!r}, which the graph does not know.")
            missing = set(node.operator.attributes) - set(node.attributes)
            if missing:
                raise GraphError(f"Node {node.name} ({node.op}) lacks the attributes {', '.join(sorted(missing))}.")
            late = [name for name in node.inputs if name and name not in known]
            if late:
                raise GraphError(f"Node {node.name} ({node.op}) reads {late[0]}, which nothing before it writes.")
            known.update(node.outputs)
        lost = [name for name in self.outputs if name not in known]
        if lost:
            raise GraphError(f"Output {lost[0]} of {self.name} is written by no node.")
