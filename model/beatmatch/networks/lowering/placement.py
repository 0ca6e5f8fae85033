# SPDX-License-Identifier: Apache-2.0
"""Where each node runs and how its output stands: on the core, as a view, or priced as an estimate with the reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import prod

import numpy as np

from beatmatch.config import Config
from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph, Node
from beatmatch.networks.lowering import views
from beatmatch.networks.lowering.layout import Value, collapse, fresh, fresh_like
from beatmatch.networks.lowering.windows import Window
from beatmatch.networks.scales import AddRequant

CORE, FREE, ESTIMATE = "core", "free", "estimate"
WINDOW = ("conv", "maxpool", "avgpool")
HAVE_CLIP = ("conv", "dense", "matmul", "add", "avgpool", "rescale")
"""Operators whose clip bounds can do the Relu or Clip behind them."""
KERNEL, STRIDE, DILATION, PAD = 15, 7, 4, 15
"""Largest values that the instruction's fields hold."""


@dataclass
class Step:
    """One node as it will run.

    Attributes
    ----------
    node : Node
    where : str
    note : str
        The reason for an estimate, or how the node runs where that is not plain.
    patches : bool
        Its input is laid out by the host as one position per window (im2col).
    """

    node: Node
    where: str
    note: str = ""
    patches: bool = False


@dataclass
class Placement:
    """The result of `place`: values by tensor, and a step for every node, in the graph's order."""

    graph: Graph
    values: dict[str, Value] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


class _Refused(Exception):
    """The core cannot do this node; the text says why."""


def place(graph: Graph, config: Config, host: bool = True) -> Placement:
    """Decide for every node.

    Parameters
    ----------
    graph : Graph
    config : Config
    host : bool
        The graph's inputs come from the host, which can lay them out as the core likes.

    Raises
    ------
    GraphError
        If the graph has nothing to run.
    """
    return _Placer(graph, config, host).run()


class _Placer:
    def __init__(self, graph: Graph, config: Config, host: bool) -> None:
        self.graph, self.config = graph, config
        self.readers = graph.consumers()
        self.made = graph.producers()
        self.found = Placement(graph)
        self.values = self.found.values
        self.host = set(graph.inputs) if host else set()
        self.wanted = self._wanted_axes()

    def run(self) -> Placement:
        if not self.graph.nodes:
            raise GraphError(f"{self.graph.name} has no operators; there is nothing to run.")
        for name in self.graph.inputs:
            self._fresh(name)
        for node in self.graph.nodes:
            self.found.steps.append(self._step(node))
        return self.found

    def _wanted_axes(self) -> dict[str, int]:
        """The channels' axis that the readers of a tensor would like, for those that the host writes."""
        wanted: dict[str, int] = {}
        for node in reversed(self.graph.nodes):
            out = self.graph.tensors[node.outputs[0]]
            for index, name in enumerate(node.inputs):
                if not name or self.graph.tensors[name].constant:
                    continue
                rank = len(self.graph.tensors[name].shape)
                if node.op in WINDOW and index == 0:
                    wanted[name] = 1
                elif node.op in ("dense", "matmul"):
                    wanted.setdefault(name, rank - 1)
                elif len(out.shape) == rank and node.outputs[0] in wanted and node.op not in ("transpose", "reshape"):
                    wanted.setdefault(name, wanted[node.outputs[0]])
                elif node.op == "transpose" and node.outputs[0] in wanted:
                    wanted.setdefault(name, node.attributes["perm"][wanted[node.outputs[0]]])
        return wanted

    def _axis(self, name: str) -> int:
        rank = max(1, len(self.graph.tensors[name].shape))
        return self.wanted.get(name, rank - 1)

    def _fresh(self, name: str, axis: int | None = None) -> None:
        shape = self.graph.tensors[name].shape or (1,)
        self.values[name] = fresh(shape, self._axis(name) if axis is None else axis, name, self.config)

    def _step(self, node: Node) -> Step:
        rule = getattr(self, f"_{node.op}", None)
        where = node.operator.where
        try:
            if rule is None and where == FREE:
                raise _Refused("it moves data")
            if rule is not None:
                step = rule(node)
                return step if step is not None else Step(node, CORE)
            note = node.operator.what
        except _Refused as refusal:
            note = str(refusal)
        for name in node.outputs:
            self._fresh(name)
            if node.op == "quantize":
                self.host.add(name)
        return Step(node, ESTIMATE, note)

    # ----- what the core runs -----

    def _input(self, node: Node, index: int = 0, axis: int | None = None) -> Value:
        name = node.inputs[index]
        if name not in self.values:
            raise _Refused("an operand is a constant")
        value = self.values[name]
        if axis is not None and value.axis != axis:
            raise _Refused("the operand's channels are not its innermost axis")
        return value

    def _window(self, node: Node) -> None:
        a = node.attributes
        limits = (("kernel", KERNEL), ("strides", STRIDE), ("dilations", DILATION))
        for name, most in limits:
            if any(not 1 <= size <= most for size in a[name]):
                raise _Refused(f"{name} {'x'.join(map(str, a[name]))} is more than {most}")
        half = len(a["kernel"])
        if any(pad > PAD for pad in a["pads"][:half]):
            raise _Refused(f"pads are more than {PAD}")

    def _conv(self, node: Node) -> Step | None:
        if not self.graph.tensors[node.inputs[1]].constant:
            raise _Refused("its weights are computed")
        if any(name and not self.graph.tensors[name].constant for name in node.inputs[2:]):
            raise _Refused("its bias is computed")
        a, shape = node.attributes, self.graph.tensors[node.outputs[0]].shape
        value, weight = self._input(node, 0, 1), self.graph.tensors[node.inputs[1]].shape
        if self._prefers_patches(node, weight):
            rows = (shape[0], *shape[2:], prod(weight[1:]))
            self.values[node.inputs[0]] = fresh(rows, len(rows) - 1, node.inputs[0], self.config)
            self._fresh(node.outputs[0], 1)
            kernel = "x".join(map(str, a["kernel"]))
            return Step(node, CORE, f"the host lays the input out in patches of {kernel}", patches=True)
        self._window(node)
        if self._sees_padding_only(node):
            raise _Refused("outputs that see nothing but padding")
        if a["groups"] > 1 and (len(value.pieces) > 1 or value.pieces[0].channels.min() < 0):
            raise _Refused("groups over channels that do not stand side by side")
        self._fresh(node.outputs[0], 1)
        return None

    def _sees_padding_only(self, node: Node) -> bool:
        """Whether the first or the last windows of a convolution lie wholly in the padding."""
        a, out = node.attributes, self.graph.tensors[node.outputs[0]].shape
        window, size = Window.of(a), self.graph.tensors[node.inputs[0]].shape
        for axis in range(len(a["kernel"])):
            at = axis + 2 - len(a["kernel"])
            for first in (0, out[axis + 2] - 1):
                low, high, _ = window.sees(at, size[axis + 2], first, 1)
                if low >= high:
                    return True
        return False

    def _prefers_patches(self, node: Node, weight: tuple[int, ...]) -> bool:
        """Whether an input from the host takes fewer tiles as one position per window."""
        name, rows = node.inputs[0], self.config.rows
        if name not in self.host or len(self.readers[name]) > 1 or node.attributes["groups"] > 1:
            return False
        if name in self.graph.outputs:
            return False
        taps = prod(node.attributes["kernel"])
        return -(-weight[1] * taps // rows) < taps * -(-weight[1] // rows)

    def _dense(self, node: Node) -> None:
        rank = len(self.graph.tensors[node.inputs[0]].shape)
        value = self._input(node, 0, rank - 1)
        if any(collapse(p, 3) is None for p in value.pieces):
            raise _Refused("its rows have no regular order")
        self._fresh(node.outputs[0], rank - 1)

    def _matmul(self, node: Node) -> None:
        a, b = (self.graph.tensors[name] for name in node.inputs[:2])
        left = self._input(node, 0, len(a.shape) - 1)
        right = self._input(node, 1, len(b.shape) - 1)
        if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[:-2] != b.shape[:-2]:
            raise _Refused("its operands broadcast")
        zero = [t for t in (a, b) if t.quant is not None and np.any(t.quant.zero_point)]
        if zero:
            raise _Refused("products with a zero point of an activation are known at run time only")
        if len(left.pieces) > 1 or len(right.pieces) > 1 or left.pieces[0].channels.min() < 0:
            raise _Refused("an operand's channels stand in pieces")
        if (right.pieces[0].channels < 0).any():
            raise _Refused("an operand's channels stand in pieces")
        self._fresh(node.outputs[0], len(a.shape) - 1)

    def _add(self, node: Node) -> None:
        out = self.graph.tensors[node.outputs[0]]
        names = [name for name in node.inputs[:2] if name in self.values]
        if isinstance(node.requant, AddRequant) and not node.requant.multiplier_b and len(names) == 1:
            value = self.values[names[0]]
            if np.ndim(node.requant.bias) and value.axis != len(value.shape) - 1:
                raise _Refused("the constant is added along another axis than the channels'")
            if second_operand(value, value, self.config) is None:
                raise _Refused("its operand stands in pieces")
            return self._like(node, value)
        if len(names) < 2 or any(self.graph.tensors[name].shape != out.shape for name in names):
            raise _Refused("an operand is broadcast")
        a, b = (self.values[name] for name in names)
        if a.axis != b.axis or second_operand(a, b, self.config) is None:
            raise _Refused("its operands stand in different pieces")
        return self._like(node, a)

    def _like(self, node: Node, value: Value) -> None:
        """An output whose channels stand as those of a value: gaps included."""
        if any(collapse(p, 3) is None for p in value.pieces):
            raise _Refused("its positions have no regular order")
        name = node.outputs[0]
        shape = self.graph.tensors[name].shape or (1,)
        self.values[name] = fresh_like(value, shape, name, self.config)

    def _rescale(self, node: Node) -> None:
        self._like(node, self._input(node))

    def _relu(self, node: Node) -> Step | None:
        """Free if the operator before can clip; else a pass of the vector unit."""
        name = node.inputs[0]
        before = self.made.get(name)
        value = self._input(node)
        alone = len(self.readers[name]) == 1 and name not in self.graph.outputs
        if before is not None and before.op in HAVE_CLIP and alone and self._runs_on_core(before):
            self.values[node.outputs[0]] = Value(value.shape, value.axis, value.pieces)
            return Step(node, FREE, f"clipped by {before.name}")
        self._like(node, value)
        return None

    _clip = _relu

    def _runs_on_core(self, node: Node) -> bool:
        return any(step.node is node and step.where == CORE for step in self.found.steps)

    def _batchnorm(self, node: Node) -> None:
        """One multiplier and bias per channel: the vector unit's parameters, which are not negative."""
        factor = self.graph.tensors[node.inputs[1]]
        if not factor.constant or (factor.values() < 0).any():
            raise _Refused("a factor is negative or computed")
        self._like(node, self._input(node, 0, 1))

    def _maxpool(self, node: Node) -> None:
        self._pool(node)

    def _avgpool(self, node: Node) -> None:
        a = node.attributes
        if any(a["pads"]) and not a["count_include_pad"]:
            raise _Refused("means over windows of different sizes")
        if node.requant is not None and (any(a["pads"]) or self._overhangs(node)):
            raise _Refused("means over padding")
        self._pool(node)

    def _overhangs(self, node: Node) -> bool:
        """Whether a last window reaches beyond the input."""
        a, (x,), (y,) = node.attributes, *([t.shape for t in part] for part in self.graph.tensors_of(node))
        return any(
            (out - 1) * stride + kernel > size
            for out, stride, kernel, size in zip(y[2:], a["strides"], a["kernel"], x[2:], strict=True)
        )

    def _pool(self, node: Node) -> None:
        value = self._input(node, 0, 1)
        self._window(node)
        if any(size != 1 for size in node.attributes["dilations"]):
            raise _Refused("its window is dilated")
        self._like(node, value)

    # ----- views -----

    def _view(self, node: Node, value: Value | None, index: int = 0) -> Step:
        name = node.outputs[index]
        if value is None:
            raise _Refused("channels that do not begin at whole words move")
        if name in self.wanted and value.axis != self.wanted[name] and self._on_core(name):
            raise _Refused("channels become another axis")
        self.values[name] = value
        return Step(node, FREE)

    def _on_core(self, name: str) -> bool:
        return any(r.operator.where != ESTIMATE and r.op != "transpose" for r in self.readers[name])

    def _reshape(self, node: Node) -> Step:
        shape = self.graph.tensors[node.outputs[0]].shape or (1,)
        return self._view(node, views.reshape(self._input(node), shape, self.config))

    def _transpose(self, node: Node) -> Step:
        return self._view(node, views.transpose(self._input(node), node.attributes["perm"]))

    def _concat(self, node: Node) -> Step:
        parts = [self._input(node, index) for index in range(len(node.inputs))]
        axis, shape = node.attributes["axis"], self.graph.tensors[node.outputs[0]].shape
        return self._view(node, views.concat(parts, axis, shape, self.config))

    def _split(self, node: Node) -> Step:
        value, axis, start, step = self._input(node), node.attributes["axis"], 0, None
        parts = []
        for name in node.outputs:
            shape = self.graph.tensors[name].shape
            parts.append(views.cut(value, axis, start, 1, shape, self.config))
            start += shape[axis]
        if None in parts:
            raise _Refused("channels that do not begin at whole words move")
        for index, part in enumerate(parts):
            step = self._view(node, part, index)
        return step

    def _slice(self, node: Node) -> Step:
        value, a = self._input(node), node.attributes
        shape = self.graph.tensors[node.outputs[0]].shape
        for axis, (start, step) in enumerate(zip(a["starts"], a["steps"], strict=True)):
            sizes = (*value.shape[:axis], shape[axis], *value.shape[axis + 1 :])
            if step < 0:
                raise _Refused("elements in reverse order")
            if (start, step, shape[axis]) != (0, 1, value.shape[axis]):
                value = views.cut(value, axis, start, step, sizes, self.config)
            if value is None:
                break
        return self._view(node, value)

    def _gather(self, node: Node) -> Step:
        """One element along an axis by a constant index is a slice."""
        index = self.graph.tensors[node.inputs[1]]
        value, axis = self._input(node), node.attributes["axis"]
        if not index.constant or index.size != 1 or axis == value.axis:
            raise _Refused(node.operator.what)
        at = int(index.values().reshape(-1)[0]) % value.shape[axis]
        shape = (*value.shape[:axis], 1, *value.shape[axis + 1 :])
        value = views.cut(value, axis, at, 1, shape, self.config)
        return self._view(node, views.reshape(value, self.graph.tensors[node.outputs[0]].shape or (1,), self.config))


def second_operand(a: Value, b: Value, config: Config) -> int | None:
    """Which of two operands of an addition can be the one that is addressed like the sum: 0, 1 or None.

    It has to stand in one piece without gaps between positions, with the sum's channels in every byte.
    """
    for index, (first, second) in enumerate(((b, a), (a, b))):
        pattern = fresh_like(first, first.shape, "", config).pieces[0]
        alone = len(second.pieces) == 1 and np.array_equal(second.pieces[0].channels, pattern.channels)
        if alone and second.pieces[0].words == pattern.words and second.pieces[0].strides == pattern.strides:
            return index
    return None


def where(placement: Placement) -> Counter:
    """How many nodes run where."""
    return Counter(step.where for step in placement.steps)
