# SPDX-License-Identifier: Apache-2.0
"""SCALE-Sim's tables: shapes and counts by its own rules, written out again here."""

import math

import numpy as np
import pytest

from beatmatch.networks.errors import GraphError
from beatmatch.networks.reference import execute
from beatmatch.networks.scalesim import read_topology

CONV = """Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1,20,21,7,7,3,8,2,
Conv2DP,9,9,3,3,6,1,1,
Wide,10,12,3,3,4,5,2,3,
Last,1,1,1,1,32,10,1,1:1,

"""
GEMM = "Layer, M, N, K,\nQKT, 12, 14, 30,\nFC, 1, 10, 32,\n"


def write(tmp_path, text: str):
    path = tmp_path / "net.csv"
    path.write_text(text)
    return read_topology(path)


def test_convolutions(tmp_path):
    graph = write(tmp_path, CONV)
    assert [node.name for node in graph.nodes] == ["Conv1", "Conv2DP", "Wide", "Last"]
    assert [node.attributes["groups"] for node in graph.nodes] == [1, 6, 1, 1]
    rows = [
        (20, 21, 7, 7, 3, 8, 2, 2),
        (9, 9, 3, 3, 6, 1, 1, 1),
        (10, 12, 3, 3, 4, 5, 2, 3),
        (1, 1, 1, 1, 32, 10, 1, 1),
    ]
    for node, (h, w, kh, kw, channels, filters, sh, sw) in zip(graph.nodes, rows, strict=True):
        oh, ow = math.ceil((h - kh + sh) / sh), math.ceil((w - kw + sw) / sw)
        assert graph.tensors[node.outputs[0]].shape[2:] == (oh, ow)
        assert graph.macs(node) == oh * ow * kh * kw * channels * filters


def test_matrix_products(tmp_path):
    graph = write(tmp_path, GEMM)
    assert [graph.macs(node) for node in graph.nodes] == [12 * 14 * 30, 1 * 10 * 32]
    assert graph.weightless


def test_they_run(tmp_path):
    graph = write(tmp_path, CONV)
    rng = np.random.default_rng(1)
    feeds = {name: rng.integers(-128, 128, graph.tensors[name].shape).astype(np.int8) for name in graph.inputs}
    outputs = execute(graph, feeds)
    assert set(outputs) == set(graph.outputs)
    assert all(array.dtype == np.int8 and np.unique(array).size > 1 for array in outputs.values())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "is empty"),
        ("Layer, M, N, K,\n", "holds no layer"),
        ("Layer, A, B,\nx, 1, 2,\n", "has the header"),
        ("Layer, M, N, K,\nx, 1, two, 3,\n", "Line 2 of net.csv has 'two' for N"),
        ("Layer, M, N, K,\nx, 1, 0, 3,\n", "'0' for N"),
        ("Layer, M, N, K,\nx, 1,\n", "'' for N"),
        ("Layer, M, N, K,\nx, 1, 2, 3, 2:4,\n", "'2:4' behind its sizes"),
        (CONV + "Big,3,3,7,7,1,1,1,\n", "a filter of 7 x 7 on an input of 3 x 3"),
    ],
)
def test_bad_tables(tmp_path, text, named):
    with pytest.raises(GraphError) as error:
        write(tmp_path, text)
    assert named in str(error.value) and str(error.value).endswith(".")


def test_no_table(tmp_path):
    with pytest.raises(GraphError, match="cannot be read"):
        read_topology(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(GraphError, match="no text"):
        read_topology(tmp_path / "binary.csv")
