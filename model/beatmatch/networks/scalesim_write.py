# SPDX-License-Identifier: Apache-2.0
"""A graph as SCALE-Sim's topology table, in the columns of its convolutions, which hold matrix products too.

Only layers with multiply-accumulates have a row. What the table cannot say is said so that the work stays the same:

- padding is part of the input's size, and rows and columns that no window reaches are left out;
- a depthwise convolution has `DP` in its name; groups are a row each;
- a matrix product of M, N, K is a 1 x 1 convolution of M x 1 pixels, K channels and N filters, a row for each of a
  batch; so is a convolution of several images, with dilation, or with strides that differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from beatmatch.networks.graph import Graph, Node
from beatmatch.networks.products import Product, product_of

HEADER = (
    "Layer name", "IFMAP Height", "IFMAP Width", "Filter Height", "Filter Width", "Channels", "Num Filter", "Strides",
)  # fmt: skip
DEPTHWISE = "DP"
"""A name with these letters is a depthwise convolution."""


def topology(graph: Graph) -> list[tuple]:
    """The rows of the table: name, then the seven sizes of `HEADER`."""
    return [row for node in graph.nodes if (product := product_of(graph, node)) for row in _rows(graph, node, product)]


def write_topology(graph: Graph, path: str | Path) -> None:
    """Write the table; every line ends with a comma, as SCALE-Sim wants it."""
    lines = [",".join(map(str, row)) + ",\n" for row in (HEADER, *topology(graph))]
    Path(path).write_text("".join(lines))


def _rows(graph: Graph, node: Node, product: Product) -> Iterator[tuple]:
    name = node.name.replace(",", "_").replace(DEPTHWISE, DEPTHWISE.title())
    sizes = _window(graph, node) if node.op == "conv" else None
    if sizes is None:
        sizes = (product.rows, 1, 1, 1, product.length, product.columns, 1)
    elif product.count > 1 and product.count == graph.tensors[node.inputs[0]].shape[1]:
        height, width, down, across, _, filters, stride = sizes
        yield f"{name}_{DEPTHWISE}", height, width, down, across, product.count, filters, stride
        return
    for index in range(product.count):
        yield (name if product.count == 1 else f"{name}_{index}", *sizes)


def _window(graph: Graph, node: Node) -> tuple | None:
    """The sizes of one group of a convolution; None if the table cannot hold it."""
    x, weight = (graph.tensors[name].shape for name in node.inputs[:2])
    out = graph.tensors[node.outputs[0]].shape
    flat = (1,) * (4 - len(weight))  # a convolution along one axis is one row high
    kernel, pixels = flat + weight[2:], flat + out[2:]
    strides = {step for step, count in zip(node.attributes["strides"], out[2:], strict=True) if count > 1} or {1}
    if x[0] > 1 or max(node.attributes["dilations"]) > 1 or len(strides) > 1:
        return None
    (stride,) = strides
    height, width = ((count - 1) * stride + size for count, size in zip(pixels, kernel, strict=True))
    return height, width, *kernel, weight[1], out[1] // node.attributes["groups"], stride
