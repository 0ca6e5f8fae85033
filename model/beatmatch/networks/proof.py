# SPDX-License-Identifier: Apache-2.0
"""Layers of a network, made small, as programs for the lockstep run: the proof that the RTL does what was reported.

Every kind of layer that runs on the core appears once for each way in which its sizes meet the array: whole tiles or
parts, one or several, with its kernel, strides, pads and groups. Sizes shrink, the lowering is the network's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from beatmatch import functional
from beatmatch.compiler.requant import fitting_requant
from beatmatch.config import Config
from beatmatch.memory import MemoryTiming
from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph, Node, Tensor
from beatmatch.networks.integer import mean_requant
from beatmatch.networks.lowering.placement import CORE, Placement, place
from beatmatch.networks.lowering.program import lower
from beatmatch.networks.reference import execute
from beatmatch.networks.scales import AddRequant, Quant, Requant
from beatmatch.program import Program

OUTPUTS = 4
"""Output positions along each axis, at most."""
LARGEST = 1024
"""Processing elements of a core whose RTL is quickly built."""


@dataclass(frozen=True)
class Proof:
    """One small program.

    Attributes
    ----------
    layers : tuple of str
        Names of the layers that it stands for.
    program : Program
        Its results have been found equal to the graph's.
    """

    layers: tuple[str, ...]
    program: Program


def provable(config: Config) -> bool:
    """Whether the RTL of a configuration is small enough to be built in a minute or two."""
    return config.peak_macs <= LARGEST


def proofs(graph: Graph, config: Config, timing: MemoryTiming | None = None, seed: int = 1) -> list[Proof]:
    """Small programs for every layer of a network that runs on the core.

    Parameters
    ----------
    graph : Graph
    config : Config
        Whose RTL will run them; the layers are cut for it.
    timing : MemoryTiming or None
        None takes the preset's.
    seed : int
        Of the values.

    Raises
    ------
    GraphError
        If nothing of the network runs on the core, or a program does not compute what its graph does.
    """
    placement = place(graph, config)
    found: dict[str, list[str]] = {}
    small: dict[str, Graph] = {}
    for step in placement.steps:
        if step.where == CORE:
            one = _Shrunk(placement, step.node, step.patches, config, seed).graph
            key = _signature(one)
            small.setdefault(key, one)
            found.setdefault(key, []).append(step.node.name)
    if not small:
        raise GraphError(f"Nothing of {graph.name} runs on the core; there is nothing to prove.")
    return [Proof(tuple(found[key]), _program(one, config, timing, seed)) for key, one in small.items()]


def _signature(graph: Graph) -> str:
    (node,) = graph.nodes
    tensors = [(graph.tensors[name].shape, graph.tensors[name].constant) for name in (*node.inputs, *node.outputs)]
    per_channel = node.requant is not None and np.ndim(node.requant.bias)
    return f"{node.op} {sorted(node.attributes.items())} {tensors} {per_channel}"


def _program(graph: Graph, config: Config, timing: MemoryTiming | None, seed: int) -> Program:
    """Lowered with random operands, and run untimed against the graph."""
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(f"{seed}:{graph.name}".encode()).digest()[:8], "little"))
    feeds = {name: rng.integers(-128, 128, graph.tensors[name].shape).astype(np.int8) for name in graph.inputs}
    placement = place(graph, config, host=False)
    (step,) = placement.steps
    if step.where != CORE:
        raise GraphError(f"Layer {graph.name}, made small, would not run on the core: {step.note}.")
    program = lower(placement, [step], config, timing, feeds).program
    outcome = functional.run(program)
    wanted = execute(graph, feeds)
    for name, array in program.read(outcome.image).items():
        if outcome.error or not np.array_equal(array, wanted[name]):
            why = outcome.text or "its values differ from the graph's"
            raise GraphError(f"The program of layer {graph.name} is wrong ({why}); please report it.")
    return program


class _Shrunk:
    """A graph of one int8 node with the manner of a network's node and the least sizes that show it."""

    def __init__(self, placement: Placement, node: Node, patches: bool, config: Config, seed: int) -> None:
        self.source, self.node, self.config = placement.graph, node, config
        self.graph = Graph(node.name, {}, [], [], [node.outputs[0]], self.source.source)
        ins, (out, *_) = self.source.tensors_of(node)
        self.attributes = dict(node.attributes)
        rule = {"conv": self._conv, "dense": self._dense, "matmul": self._matmul}.get(node.op, self._vector)
        if patches:
            weight = self.source.tensors[node.inputs[1]].shape
            self._dense_of(prod(out.shape) // out.shape[1], prod(weight[1:]), weight[0])
        else:
            rule([t.shape for t in ins if t is not None], out.shape)

    def _channels(self, size: int, unit: int) -> int:
        """At most two whole tiles and the part of one that the size has."""
        return size if size <= 2 * unit else 2 * unit + size % unit

    def _tensor(self, name: str, shape: tuple[int, ...], zero: int = 0, data: np.ndarray | None = None) -> str:
        quant = Quant(np.asarray(0.5), np.asarray(zero))
        self.graph.tensors[name] = Tensor(name, shape, "int8", quant, data=data)
        if data is None and name != self.node.outputs[0]:
            self.graph.inputs.append(name)
        return name

    def _weights(self, shape: tuple[int, ...]) -> str:
        rng = np.random.default_rng(len(self.node.name) + prod(shape))
        return self._tensor("weights", shape, data=rng.integers(-127, 128, shape).astype(np.int8))

    def _requant(self, channels: int, depth: int) -> Requant:
        """The node's own for as many channels, or one per channel that cannot saturate."""
        own = self.node.requant
        if isinstance(own, Requant):
            fields = (np.asarray(f)[:channels] if np.ndim(f) else f for f in (own.bias, own.multiplier, own.shift))
            return Requant(*fields, own.zero_point, own.low, own.high)
        shift = fitting_requant(depth).shift
        return Requant(np.arange(channels) - channels // 2, 1, max(0, shift - 3))

    def _zero(self, index: int = 0) -> int:
        quant = self.source.tensors[self.node.inputs[index]].quant
        return int(quant.zero_point) if quant is not None else 0

    def _finish(self, op: str, inputs: list[str], shape: tuple[int, ...], requant: object) -> None:
        (out, *_) = self.node.outputs
        zero = getattr(requant, "zero_point", None)
        self._tensor(out, shape, self._zero() if zero is None else zero)
        attributes = self.attributes if op == self.node.op else {}
        self.graph.nodes.append(Node(self.node.name, op, tuple(inputs), (out,), attributes, requant))
        self.graph.check()

    def _spatial(self, size: tuple[int, ...], out: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Input and output sizes with at most `OUTPUTS` output positions along each axis, pads kept."""
        a, half = self.attributes, len(out)
        ins, outs, ends = [], [], []
        for axis in range(half):
            reach = (a["kernel"][axis] - 1) * a.get("dilations", (1,) * half)[axis] + 1
            before, after = a["pads"][axis], a["pads"][half + axis]
            count = min(out[axis], OUTPUTS)
            need = (count - 1) * a["strides"][axis] + reach - before - after
            whole = count == out[axis]
            ins.append(size[axis] if whole else max(1, need))
            outs.append(count)
            ends.append(after if whole or need >= 1 else after + need - 1)
        a["pads"] = (*a["pads"][:half], *ends)
        return tuple(ins), tuple(outs)

    def _conv(self, shapes: list[tuple[int, ...]], out: tuple[int, ...]) -> None:
        x, weight = shapes[:2]
        groups, config = self.attributes["groups"], self.config
        per_in, per_out = weight[1], weight[0] // groups
        if groups == 1:
            per_in, per_out = self._channels(per_in, config.rows), self._channels(per_out, config.cols)
        else:
            groups = min(groups, -(-2 * config.cols // per_out) + 1)
        self.attributes["groups"] = groups
        size, outs = self._spatial(x[2:], out[2:])
        name = self._tensor("x", (1, per_in * groups, *size), self._zero())
        weights = self._weights((per_out * groups, per_in, *weight[2:]))
        requant = self._requant(per_out * groups, per_in * prod(weight[2:]))
        self._finish("conv", [name, weights], (1, per_out * groups, *outs), requant)

    def _dense(self, shapes: list[tuple[int, ...]], out: tuple[int, ...]) -> None:
        self._dense_of(prod(out[:-1]), *shapes[1])

    def _dense_of(self, rows: int, depth: int, columns: int) -> None:
        config = self.config
        rows, depth = min(rows, OUTPUTS * OUTPUTS), self._channels(depth, config.rows)
        columns = self._channels(columns, config.cols)
        name = self._tensor("x", (rows, depth), self._zero())
        self._finish("dense", [name, self._weights((depth, columns))], (rows, columns), self._requant(columns, depth))

    def _matmul(self, shapes: list[tuple[int, ...]], out: tuple[int, ...]) -> None:
        a, b = shapes
        lead = tuple(min(size, 2) for size in a[:-2])
        rows, depth = min(a[-2], OUTPUTS * OUTPUTS), self._channels(a[-1], self.config.rows)
        columns = self._channels(b[-1], self.config.cols)
        names = [self._tensor("a", (*lead, rows, depth)), self._tensor("b", (*lead, depth, columns))]
        requant = self.node.requant if isinstance(self.node.requant, Requant) else fitting_requant(depth)
        self._finish("matmul", names, (*lead, rows, columns), requant)

    def _vector(self, shapes: list[tuple[int, ...]], out: tuple[int, ...]) -> None:
        node, (x, *_) = self.node, shapes
        windowed = "kernel" in self.attributes
        axis = 1 if windowed or len(x) == 4 else len(x) - 1
        channels = self._channels(x[axis], self.config.cols)
        shape = tuple(channels if i == axis else min(size, OUTPUTS) for i, size in enumerate(x))
        if windowed:
            size, outs = self._spatial(x[2:], out[2:])
            name = self._tensor("x", (1, channels, *size), self._zero())
            requant = None if node.op == "maxpool" else node.requant or Requant(shift=4)
            if node.op == "avgpool":
                requant = Requant(0, requant.multiplier, requant.shift)
                requant = self._mean(requant)
            self._finish(node.op, [name], (1, channels, *outs), requant)
            return
        own = node.requant
        if node.op == "batchnorm":  # a scale for each channel, which the reference has for the last axis
            name = self._tensor("x", (OUTPUTS, channels))
            self._finish("rescale", [name], (OUTPUTS, channels), self._requant(channels, 1))
            return
        name = self._tensor("x", shape, self._zero())
        if node.op == "add" and (own is None or own.multiplier_b):
            second = self._tensor("y", shape)
            self._finish("add", [name, second], shape, own or AddRequant(1, 1, 0, 1, 0))
        elif node.op == "add":
            bias = np.asarray(own.bias)[:channels] if np.ndim(own.bias) else own.bias
            scale = AddRequant(own.multiplier_a, 0, bias, own.shift, own.zero_point, own.low, own.high)
            self._finish("add", [name], shape, scale)
        else:
            one = own if isinstance(own, Requant) else Requant(low=0 if node.op == "relu" else -128)
            self._finish("rescale", [name], shape, one)

    def _mean(self, requant: Requant) -> Requant:
        """The scaling of a mean from one scale to the same, as the reference derives it."""
        count = prod(self.attributes["kernel"])
        quant = Quant(np.asarray(0.5), np.asarray(self._zero()))
        return mean_requant(quant, Quant(np.asarray(0.5), np.asarray(requant.zero_point)), count, -128, 127)


def names(found: list[Proof]) -> Iterator[str]:
    """File names for the programs, in their order."""
    width = len(str(len(found)))
    return (f"{number:0{width}}.bmp" for number in range(len(found)))
