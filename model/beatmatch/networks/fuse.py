# SPDX-License-Identifier: Apache-2.0
"""Fuse dequantize, operator, activation and quantize into one node between int8 tensors.

What stays between float tensors afterwards was not quantized; what nothing reads is dropped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph, Node, Quant, Tensor
from beatmatch.networks.integer import SUMS, rescale_requant
from beatmatch.networks.real import compute
from beatmatch.networks.simplify import drop_unused, fuse_batchnorm, fuse_bias, plain_constants

ACTIVATIONS = ("relu", "clip")
RESHAPES = ("reshape", "transpose")


def fuse(graph: Graph, stored: dict[str, str]) -> None:
    """Fuse in place.

    Parameters
    ----------
    graph : Graph
        As translated, with `quantize` and `dequantize` nodes.
    stored : dict of str to str
        The integers of each dequantized constant.
    """
    _spread_quant(graph)
    fuse_batchnorm(graph)
    fuse_bias(graph, stored)
    _Fusion(graph, stored).run()
    plain_constants(graph, stored)
    drop_unused(graph)


def _spread_quant(graph: Graph) -> None:
    """Give int8 tensors that values only move through the scale of where they come from or go to."""
    for order, first, second in ((graph.nodes, "inputs", "outputs"), (graph.nodes[::-1], "outputs", "inputs")):
        for node in order:
            known = graph.tensors.get(getattr(node, first)[0])
            if not node.operator.moves or known is None or known.quant is None:
                continue
            others = getattr(node, second)
            for name in others if node.op in ("concat", "split") else others[:1]:
                if graph.tensors[name].dtype == "int8" and graph.tensors[name].quant is None:
                    graph.tensors[name] = replace(graph.tensors[name], quant=known.quant)


class _Fusion:
    """One pass over a graph."""

    def __init__(self, graph: Graph, stored: dict[str, str]) -> None:
        self.graph, self.stored = graph, stored
        self.made = graph.producers()
        self.read = graph.consumers()
        self.gone: set[str] = set()

    def run(self) -> None:
        """Replace the nodes of the graph."""
        nodes: list[Node] = []
        for node in self.graph.nodes:
            if node.name not in self.gone:
                nodes += (None if node.op == "dequantize" else self._fused(node)) or [node]
        self.graph.nodes = nodes

    def _integers(self, name: str) -> str | None:
        """The int8 tensor behind a real one, or None."""
        if name in self.stored:
            return self.stored[name]
        node = self.made.get(name)
        return node.inputs[0] if node is not None and node.op == "dequantize" else None

    def _only_reader(self, name: str) -> Node | None:
        readers = self.read[name]
        return readers[0] if len(readers) == 1 and name not in self.graph.outputs else None

    def _end(self, output: str) -> tuple[list[Node], Node] | None:
        """Activations and changes of shape behind an output, and the quantize that ends the pattern."""
        chain: list[Node] = []
        reader = self._only_reader(output)
        while reader is not None and reader.op in (*ACTIVATIONS, *RESHAPES):
            chain.append(reader)
            reader = self._only_reader(reader.outputs[0])
        if reader is None or reader.op != "quantize" or self._quant(reader.outputs[0]).axis is not None:
            return None
        return chain, reader

    def _quant(self, name: str) -> Quant:
        return self.graph.tensors[name].quant

    def _fused(self, node: Node) -> list[Node] | None:
        """The nodes that replace one, or None if it stays as it is."""
        if node.op == "quantize":
            return self._between(node)
        ends = [self._end(name) for name in node.outputs]
        if any(self.graph.tensors[name].dtype != "float32" for name in node.outputs):
            return None
        if None in ends:
            return self._moved_before(node) if node.operator.moves and len(node.outputs) == 1 else None
        inputs = self._inputs(node)
        if inputs is None:
            return None
        bounding = [other for chain, _ in ends[:1] for other in (node, *chain) if other.op in ACTIVATIONS]
        low, high = self._bounds(bounding, self._quant(ends[0][1].outputs[0]))
        shaped = [self._shaped(name, chain, end) for name, (chain, end) in zip(node.outputs, ends, strict=True)]
        outputs = [name for name, _ in shaped]
        made = self._make(node, inputs, outputs, low, high, (low, high) != (-128, 127))
        if made is not None:
            self.gone.update(other.name for chain, end in ends for other in (*chain, end))
            made += [move for _, moves in shaped for move in moves]
        return made

    def _shaped(self, output: str, chain: list[Node], end: Node) -> tuple[str, list[Node]]:
        """The int8 tensor that a node writes, and the changes of shape from it to what the quantize wrote."""
        moves = [other for other in chain if other.op in RESHAPES]
        names = [*(f"{name}/int8" for name in (output, *(move.outputs[0] for move in moves[:-1]))), end.outputs[0]]
        if not moves:
            return end.outputs[0], []
        for name, real in zip(names, (output, *(move.outputs[0] for move in moves[:-1])), strict=False):
            self.graph.tensors[name] = Tensor(name, self.graph.tensors[real].shape, "int8", self._quant(end.outputs[0]))
        pairs = zip(moves, names, names[1:], strict=False)
        return names[0], [replace(move, inputs=(a,), outputs=(b,)) for move, a, b in pairs]

    def _inputs(self, node: Node) -> list[str] | None:
        """Integers behind every input that is an activation; constants without a scale stay real."""
        found = []
        for name in node.inputs:
            tensor = self.graph.tensors.get(name)
            integers = self._integers(name) if name else None
            if integers is None and name and tensor.dtype.startswith("float") and not tensor.constant:
                return None
            if (
                integers is not None
                and not self.graph.tensors[integers].constant
                and self._quant(integers).axis is not None
            ):
                return None
            found.append(integers or name)
        return found

    def _bounds(self, chain: list[Node], quant: Quant) -> tuple[int, int]:
        """What activations leave of the int8 range."""
        low, high = -128, 127
        for node in chain:
            least, most = (0.0, None) if node.op == "relu" else (node.attributes["low"], node.attributes["high"])
            if least is not None:
                low = max(low, int(quant.quantize(np.float64(least).reshape(()))))
            if most is not None:
                high = min(high, int(quant.quantize(np.float64(most).reshape(()))))
        return low, max(low, high)

    def _make(
        self, node: Node, inputs: list[str], outputs: list[str], low: int, high: int, clipped: bool
    ) -> list[Node] | None:
        operands = [self.graph.tensors[name] if name else None for name in inputs]
        out = self.graph.tensors[outputs[0]]
        try:
            if node.op in SUMS:
                result = SUMS[node.op](node, operands, out, low, high)
                if result is None:
                    return None
                names = self._keep(result.operands)
                return [Node(node.name, result.op, names, tuple(outputs), node.attributes, result.requant)]
            if node.op in ACTIVATIONS:
                return self._rescale(node.name, inputs[0], outputs[0], low, high)
        except ValueError as error:
            if isinstance(error, GraphError):
                raise
            text = str(error).rstrip(".")
            raise GraphError(
                f"Node {node.name} ({node.op}): {text}; calibrate and quantize the network again."
            ) from None
        if node.operator.moves:
            return self._moved(node, inputs, outputs, low, high, clipped)
        return None if clipped else [Node(node.name, node.op, tuple(inputs), tuple(outputs), node.attributes)]

    def _moved_before(self, node: Node) -> list[Node] | None:
        """A node that moves values behind a dequantize: it moves the integers, which become real after it."""
        source = self._integers(node.inputs[0])
        inputs = [source, *node.inputs[1:]]
        if source is None or node.op == "concat" or node.op == "pad":
            return None
        tensor, out = self.graph.tensors[source], self.graph.tensors[node.outputs[0]]
        quant = tensor.quant
        if quant.axis is not None:
            if node.op != "transpose":
                return None
            quant = replace(quant, axis=node.attributes["perm"].index(quant.axis))
        name = f"{out.name}/int8"
        self.graph.tensors[name] = Tensor(name, out.shape, tensor.dtype, quant)
        move = replace(node, inputs=tuple(inputs), outputs=(name,))
        back = Node(f"{node.name}/dequantize", "dequantize", (name,), (out.name,))
        self.made[out.name] = back
        if not tensor.constant or any(n and not self.graph.tensors[n].constant for n in inputs):
            return [move, back]
        self.stored[out.name] = name
        if tensor.fill:
            moved = replace(self.graph.tensors[name], fill=replace(tensor.fill, name=name))
        else:
            values = [self.graph.tensors[n].values() for n in inputs]
            moved = replace(self.graph.tensors[name], data=compute(self.graph, move, values)[0])
        self.graph.tensors[name] = moved
        return [back]

    def _keep(self, operands: list[Tensor | None]) -> tuple[str, ...]:
        """Enter tensors that the integer form made, such as a bias in units of the sums."""
        for tensor in operands:
            if tensor is not None:
                self.graph.tensors[tensor.name] = tensor
        return tuple(tensor.name if tensor is not None else "" for tensor in operands)

    def _between(self, node: Node) -> list[Node] | None:
        """A quantize right behind a dequantize."""
        source = self._integers(node.inputs[0])
        if source is None or self._quant(source).axis is not None or self._quant(node.outputs[0]).axis is not None:
            return None
        if self._quant(source).same(self._quant(node.outputs[0])):
            return [Node(node.name, "reshape", (source,), node.outputs)]
        return self._rescale(node.name, source, node.outputs[0], -128, 127)

    def _rescale(self, name: str, source: str, target: str, low: int, high: int) -> list[Node]:
        requant = rescale_requant(self._quant(source), self._quant(target), low, high)
        return [Node(name, "rescale", (source,), (target,), {}, requant)]

    def _moved(
        self, node: Node, inputs: list[str], outputs: list[str], low: int, high: int, clipped: bool
    ) -> list[Node] | None:
        """A node that moves values, behind a rescale of every operand of another scale than the output's."""
        quant = self._quant(outputs[0])
        if any(not self._quant(name).same(quant) for name in outputs):
            return None
        made, names = [], list(inputs)
        for k in range(len(inputs) if node.op == "concat" else 1):
            tensor = self.graph.tensors[inputs[k]]
            if tensor.quant is None:
                return None
            if tensor.quant.same(quant) and not clipped:
                continue
            names[k] = f"{node.name}/rescaled{k}"
            self.graph.tensors[names[k]] = Tensor(names[k], tensor.shape, "int8", quant)
            made += self._rescale(names[k], inputs[k], names[k], low, high)
        attributes = node.attributes
        if node.op == "pad":
            attributes = {**attributes, "value": int(quant.quantize(np.float64(attributes["value"]).reshape(())))}
        return [*made, Node(node.name, node.op, tuple(names), tuple(outputs), attributes)]
