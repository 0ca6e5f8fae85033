# SPDX-License-Identifier: Apache-2.0
"""The six applications of the TPU paper (ISCA 2017) as graphs: shapes by a rule from its Table 1 and its text.

The paper gives the number of layers, the weights, the multiply-accumulates per weight and the batch of each
application, not its layer sizes. docs/tpu_v1_applications.md states the rule that fixes them and why; where it leaves a
choice, every choice is a variant, and results are ranges over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt, sqrt

from beatmatch.networks.graph import Graph, Node, Tensor
from beatmatch.networks.weightless import Fill

MILLION = 1_000_000
CLOCK_MHZ = 700


@dataclass(frozen=True)
class Table1:
    """A row of the paper's Table 1.

    Attributes
    ----------
    fc, conv, vector, pool : int
        Layers.
    weights : int
        In millions.
    intensity : int
        Multiply-accumulates per weight.
    batch : int
    """

    fc: int
    conv: int
    vector: int
    pool: int
    weights: int
    intensity: int
    batch: int


TABLE_1 = {
    "MLP0": Table1(5, 0, 0, 0, 20, 200, 200),
    "MLP1": Table1(4, 0, 0, 0, 5, 168, 168),
    "LSTM0": Table1(24, 0, 34, 0, 52, 64, 64),
    "LSTM1": Table1(37, 0, 19, 0, 34, 96, 96),
    "CNN0": Table1(0, 16, 0, 0, 8, 2888, 8),
    "CNN1": Table1(4, 72, 0, 13, 100, 1750, 32),
}


class _Net:
    """A graph that grows layer by layer; weights have no values."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.graph = Graph(name, {}, [], ["x"], [], "Table 1 of the TPU paper")
        self.graph.tensors["x"] = Tensor("x", shape, "float32")
        self.now = "x"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.graph.tensors[self.now].shape

    def _add(self, op: str, shape: tuple[int, ...], inputs: tuple[str, ...] = (), **attributes) -> None:
        name = f"{op}{len(self.graph.nodes)}"
        out = f"{name}/out"
        self.graph.tensors[out] = Tensor(out, shape, "float32")
        self.graph.nodes.append(Node(name, op, (self.now, *inputs), (out,), attributes))
        self.now = out

    def _weights(self, shape: tuple[int, ...]) -> str:
        name = f"weights{len(self.graph.nodes)}"
        self.graph.tensors[name] = Tensor(name, shape, "float32", fill=Fill(name))
        return name

    def dense(self, columns: int) -> None:
        batch, depth = self.shape
        self._add("dense", (batch, columns), (self._weights((depth, columns)),))

    def vector(self) -> None:
        """A pass of the vector unit over every element, as a table of sigmoid or tanh values is read."""
        self._add("rescale", self.shape)

    def take(self, columns: int) -> None:
        self._add("slice", (self.shape[0], columns), starts=(0, 0), steps=(1, 1))

    def conv(self, channels: int, kernel: int) -> None:
        batch, depth, height, width = self.shape
        pads = (kernel // 2,) * 4
        weights = self._weights((channels, depth, kernel, kernel))
        window = {"kernel": (kernel, kernel), "strides": (1, 1), "dilations": (1, 1), "pads": pads, "groups": 1}
        self._add("conv", (batch, channels, height, width), (weights,), **window)

    def pool(self) -> None:
        window = {"kernel": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1)}
        self._add("maxpool", self.shape, **window)

    def mean(self) -> None:
        """The mean over all positions, 2 x 2 of them at a time while they are many."""
        batch, channels, size, _ = self.shape
        for window in (*(2,) * (size // 15), size // 2 ** (size // 15)):
            size //= window
            taken = {"kernel": (window,) * 2, "strides": (window,) * 2, "dilations": (1, 1), "pads": (0,) * 4}
            self._add("avgpool", (batch, channels, size, size), **taken, count_include_pad=0)
        self._add("reshape", (batch, channels))

    def finish(self) -> Graph:
        self.graph.outputs = [self.now]
        self.graph.check()
        return self.graph


def _square(name: str) -> dict[str, Graph]:
    """Fully connected layers of one size, square."""
    row = TABLE_1[name]
    size = isqrt(row.weights * MILLION // row.fc)
    net = _Net(name, (row.batch, size))
    for _ in range(row.fc):
        net.dense(size)
    return {f"{size} x {size}": net.finish()}


def _lstm0() -> dict[str, Graph]:
    """Square layers; the vector layers are spread over them from the first one on."""
    row = TABLE_1["LSTM0"]
    size = isqrt(row.weights * MILLION // row.fc)
    net = _Net("LSTM0", (row.batch, size))
    for index in range(row.fc):
        net.dense(size)
        for _ in range(row.vector // row.fc + (index < row.vector % row.fc)):
            net.vector()
    return {f"{size} x {size}": net.finish()}


def _lstm1() -> dict[str, Graph]:
    """Cells of 600: four gates at once, a vector layer over them, and a projection between two cells."""
    row, size = TABLE_1["LSTM1"], 600
    net = _Net("LSTM1", (row.batch, size))
    for index in range(row.vector):
        net.dense(4 * size)
        net.vector()
        net.take(size)
        if index < row.fc - row.vector:
            net.dense(size)
    return {"600 x 2400 and 600 x 600": net.finish()}


def _cnn0() -> dict[str, Graph]:
    """Each weight meets every position of every image, so an image has intensity / batch = 19 x 19 positions."""
    row, found = TABLE_1["CNN0"], {}
    side = isqrt(row.intensity // row.batch)
    for kernel in (1, 3, 5):
        channels = round(sqrt(row.weights * MILLION / row.conv) / kernel)
        net = _Net("CNN0", (row.batch, channels, side, side))
        for _ in range(row.conv):
            net.conv(channels, kernel)
        found[f"{kernel} x {kernel}, {channels} channels"] = net.finish()
    return found


def _cnn1() -> dict[str, Graph]:
    """Convolutions over 14 x 14 or 28 x 28 positions; the intensity says how many weights they have."""
    row, found = TABLE_1["CNN1"], {}
    for side in (14, 28):
        share = (row.intensity - row.batch) / (row.batch * side * side - row.batch)
        for kernel in (1, 3):
            channels = round(sqrt(share * row.weights * MILLION / row.conv) / kernel)
            rest, more = (1 - share) * row.weights * MILLION, row.fc - 1  # channels * size + more * size^2
            size = round((sqrt(channels**2 + 4 * more * rest) - channels) / (2 * more))
            net = _Net("CNN1", (row.batch, channels, side, side))
            for index in range(row.conv):
                net.conv(channels, kernel)
                if index % (row.conv // row.pool) == 0 and index // (row.conv // row.pool) < row.pool:
                    net.pool()
            net.mean()
            for _ in range(row.fc):
                net.dense(size)
            found[f"{side} x {side}, {kernel} x {kernel}, {channels} channels, {size} x {size}"] = net.finish()
    return found


APPLICATIONS: dict[str, Callable[[], dict[str, Graph]]] = {
    "MLP0": lambda: _square("MLP0"),
    "MLP1": lambda: _square("MLP1"),
    "LSTM0": _lstm0,
    "LSTM1": _lstm1,
    "CNN0": _cnn0,
    "CNN1": _cnn1,
}
"""By the paper's name, what makes the graphs of all variants by their description."""


def tops(macs: int, cycles: int) -> float:
    """Tera-operations a second at the paper's clock; a multiply-accumulate is two."""
    return 2 * macs * CLOCK_MHZ / cycles / 1e6
