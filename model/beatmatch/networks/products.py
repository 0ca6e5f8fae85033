# SPDX-License-Identifier: Apache-2.0
"""The matrix products behind a network's layers: what the models of other tools are written in."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from beatmatch.networks.graph import Graph, Node


@dataclass(frozen=True)
class Product:
    """A layer as products of matrices of one shape: ``[rows, length] @ [length, columns]``.

    Attributes
    ----------
    layer : str
        The node's name.
    rows : int
        M: positions of the output, of all images of the batch.
    columns : int
        N: output channels of one group.
    length : int
        K: multiply-accumulates per result.
    count : int
        How many there are: groups of a convolution, or the leading axes of a `matmul`.
    """

    layer: str
    rows: int
    columns: int
    length: int
    count: int = 1

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all of them."""
        return self.rows * self.columns * self.length * self.count


def product_of(graph: Graph, node: Node) -> Product | None:
    """The products of one node; None if it has no multiply-accumulates."""
    if node.op not in ("conv", "dense", "matmul"):
        return None
    (first, second, *_), (out,) = graph.tensors_of(node)
    if node.op == "conv":
        groups = node.attributes["groups"]
        rows = out.shape[0] * prod(out.shape[2:])
        return Product(node.name, rows, out.shape[1] // groups, prod(second.shape[1:]), groups)
    if node.op == "dense":
        return Product(node.name, prod(out.shape[:-1]), out.shape[-1], first.shape[-1])
    rows, columns = (1, 1, *out.shape)[-2:]
    return Product(node.name, rows, columns, first.shape[-1], prod(out.shape[:-2]))


def products(graph: Graph) -> list[Product]:
    """The products of every layer that has multiply-accumulates, in the order of the graph."""
    return [found for node in graph.nodes if (found := product_of(graph, node))]
