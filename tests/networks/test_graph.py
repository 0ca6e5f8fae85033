# SPDX-License-Identifier: Apache-2.0
"""The graph checks itself, counts itself, and its operators' table is whole."""

from dataclasses import replace

import numpy as np
import pytest

from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph, Node, Tensor
from beatmatch.networks.operators import OPERATORS
from beatmatch.networks.real import REAL
from beatmatch.networks.weightless import Fill


def small() -> Graph:
    """Two dense layers and an activation, in float."""
    tensors = [
        Tensor("x", (2, 3), "float32"), Tensor("w", (3, 5), "float32", data=np.ones((3, 5), np.float32)),
        Tensor("v", (5, 4), "float32", fill=Fill("v")), Tensor("h", (2, 5), "float32"),
        Tensor("r", (2, 5), "float32"), Tensor("y", (2, 4), "float32"),
    ]  # fmt: skip
    nodes = [
        Node("one", "dense", ("x", "w"), ("h",)), Node("act", "relu", ("h",), ("r",)),
        Node("two", "dense", ("r", "v"), ("y",)),
    ]  # fmt: skip
    return Graph("small", {t.name: t for t in tensors}, nodes, ["x"], ["y"])


def test_what_a_graph_says_of_itself():
    graph = small()
    graph.check()
    assert graph.total_macs == 2 * 3 * 5 + 2 * 5 * 4
    assert [node.name for node, _ in graph.layers()] == ["one", "two"]
    assert graph.parameters == 15 + 20
    assert graph.weightless
    assert graph.where() == {"core": 3}
    assert [node.name for node in graph.consumers()["h"]] == ["act"]
    assert graph.producers()["y"].name == "two"


def _rename(graph: Graph) -> None:
    graph.nodes[1] = replace(graph.nodes[1], name="one")


def _unknown(graph: Graph) -> None:
    graph.nodes[1] = replace(graph.nodes[1], op="magic")


def _incomplete(graph: Graph) -> None:
    graph.nodes[1] = replace(graph.nodes[1], op="clip")


def _disordered(graph: Graph) -> None:
    graph.nodes.reverse()


def _lost(graph: Graph) -> None:
    graph.outputs.append("z")


def _empty(graph: Graph) -> None:
    graph.tensors["h"] = Tensor("h", (2, 0), "float32")


def _misshapen(graph: Graph) -> None:
    graph.tensors["w"] = Tensor("w", (3, 5), "float32", data=np.ones((5, 3)))


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (_rename, "2 nodes are called one"), (_unknown, "the operator 'magic'"), (_incomplete, "attributes high, low"),
        (_disordered, "reads r, which nothing before it writes"), (_lost, "Output z of small"),
        (_empty, "shape (2, 0)"), (_misshapen, "values of shape (5, 3)"),
    ],
)  # fmt: skip
def test_a_damaged_graph_is_refused(damage, named):
    graph = small()
    damage(graph)
    with pytest.raises(GraphError) as error:
        graph.check()
    assert named in str(error.value)


def test_every_operator_can_be_computed_and_placed():
    assert set(REAL) | {"quantize", "dequantize", "rescale"} == set(OPERATORS)
    assert {operator.where for operator in OPERATORS.values()} == {"core", "free", "estimate"}


def test_weightless_values_come_from_name_and_seed():
    fill = Fill("w", 0.5, 0.1, 0.3, 0.6)
    values = fill.values((64, 300), "float32")
    assert np.array_equal(values, fill.values((64, 300), "float32"))
    assert not np.array_equal(values, replace(fill, seed=1).values((64, 300), "float32"))
    assert not np.array_equal(values, replace(fill, name="v").values((64, 300), "float32"))
    assert values.min() >= np.float32(0.3) and values.max() <= np.float32(0.6)
    integers = Fill("q", 0, 40, -127, 127).values((100, 100), "int8")
    assert integers.dtype == np.int8 and 30 < integers.std() < 45


def test_an_activation_has_no_values():
    with pytest.raises(ValueError, match="x is no constant"):
        small().tensors["x"].values()
