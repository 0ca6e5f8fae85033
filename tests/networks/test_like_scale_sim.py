# SPDX-License-Identifier: Apache-2.0
"""`like.scale_sim` against what SCALE-Sim 3.0.0 itself reported, and its tables written and read again."""

import csv
from collections import Counter
from math import prod
from pathlib import Path

import pytest

from beatmatch.config import PRESETS
from beatmatch.networks import library
from beatmatch.networks.graph import Graph
from beatmatch.networks.like.compare import compare
from beatmatch.networks.like.scale_sim import DATAFLOWS, report
from beatmatch.networks.products import products
from beatmatch.networks.result import LayerResult, NetworkResult
from beatmatch.networks.scalesim import read_topology
from beatmatch.networks.scalesim_write import topology, write_topology

TABLE = Path(__file__).with_name("scale_sim_cycles.csv")
ROWS = list(csv.DictReader(TABLE.read_text().splitlines()))


def layer_of(row: dict, folder: Path) -> Graph:
    """The graph of one row of the measured table, through a topology table of one line."""
    sizes = row["sizes"].replace(" ", ",")
    header = "Layer,M,N,K," if row["kind"] == "gemm" else "Layer,H,W,FH,FW,C,N,S,"
    name = "DP" if row["kind"] == "depthwise" else "layer"
    path = folder / "one.csv"
    path.write_text(f"{header}\n{name},{sizes},\n")
    return read_topology(path)


def test_the_table_covers_what_differs():
    kinds = Counter((row["dataflow"], row["kind"]) for row in ROWS)
    assert set(kinds) == {(flow, kind) for flow in DATAFLOWS for kind in ("gemm", "conv", "depthwise")}
    weight_stationary = [row for row in ROWS if row["dataflow"] == "ws"]
    assert len(weight_stationary) >= 60
    assert len({(row["rows"], row["cols"]) for row in weight_stationary}) >= 8


def test_every_measured_layer_is_equal(tmp_path):
    """Cycles, and both utilizations to the last digit."""
    wrong = []
    for row in ROWS:
        (product,) = products(layer_of(row, tmp_path))
        array = int(row["rows"]), int(row["cols"])
        found = report(product.rows, product.columns, product.length, *array, row["dataflow"])
        ours = product.count, found.cycles * product.count, str(found.utilization), str(found.mapping)
        theirs = int(row["lines"]), int(row["cycles"]), row["utilization"], row["mapping"]
        if ours != theirs:
            wrong.append((row, ours))
    assert wrong == []


def test_a_cycle_more_would_be_seen(tmp_path, monkeypatch):
    row = {**ROWS[0], "cycles": str(int(ROWS[0]["cycles"]) + 1)}
    monkeypatch.setitem(globals(), "ROWS", [row])
    with pytest.raises(AssertionError):
        test_every_measured_layer_is_equal(tmp_path)


@pytest.mark.parametrize("flow", DATAFLOWS)
def test_folds_and_streaming(flow):
    """By hand: 10 x 20 x 30 on 8 x 16; the array is skewed by 22 cycles, and operands that stay take 8."""
    down, across, stream, stay = {"ws": (30, 20, 10, 8), "os": (10, 20, 30, 0), "is": (30, 10, 20, 8)}[flow]
    found = report(10, 20, 30, 8, 16, flow)
    folds = len(range(0, down, 8)) * len(range(0, across, 16))
    assert (found.folds, found.streaming, found.cycles) == (folds, folds * stream, folds * (stay + 22 + stream) - 1)


@pytest.mark.parametrize(
    ("sizes", "flow", "text"), [((0, 1, 1, 4, 4), "ws", "m is 0"), ((1, 1, 1, 4, 4), "rs", "'rs'")]
)
def test_refusals(sizes, flow, text):
    with pytest.raises(ValueError, match=text):
        report(*sizes, flow)


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "regnet_y_400mf", "minilm_l6", "whisper_tiny_encoder"])
def test_a_written_table_is_the_same_work(name, tmp_path):
    """Convolutions with groups, depthwise, along one axis, and products in batches: the same products come back."""
    graph = library.load(name)
    write_topology(graph, tmp_path / "net.csv")
    again = Counter()
    for found in products(read_topology(tmp_path / "net.csv")):
        again[found.rows, found.columns, found.length] += found.count
    wanted = Counter()
    for found in products(graph):
        wanted[found.rows, found.columns, found.length] += found.count
    assert again == wanted
    assert len({row[0] for row in topology(graph)}) == len(topology(graph))


def test_products_are_all_of_the_work():
    for name in ("bert_base", "mobilenet_v3_large", "unet"):
        graph = library.load(name)
        assert sum(found.macs for found in products(graph)) == graph.total_macs
        assert all(
            prod((found.rows, found.columns, found.length, found.count)) == found.macs for found in products(graph)
        )


def test_side_by_side(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("Layer,M,N,K,\nfirst,10,20,30,\nsecond,1,1,1,\n")
    graph, config = read_topology(path), PRESETS["tiny"]
    layers, now = [], 0
    for name, op, cycles in (
        ("first", "dense", 500),
        ("pool", "maxpool", 7),
        ("second", "dense", 30),
        ("view", "reshape", 0),
    ):
        layers.append(LayerResult(name, op, "estimate", (1,), 0, now, now + cycles, None, 0, 0, 0, "estimate"))
        now += cycles
    result = NetworkResult("net", "", config, {}, layers, [], 0.0, 0.0)
    rows = compare(graph, result)
    first, second = (report(*sizes, config.rows, config.cols).cycles for sizes in ((10, 20, 30), (1, 1, 1)))
    assert [row.layer for row in rows] == ["first", "pool", "second", "total"]
    assert [row.scale_sim for row in rows] == [first, None, second, first + second]
    assert [row.ours for row in rows] == [500, 7, 30, 530]
    assert rows[-1].ratio == 530 / (first + second)
    assert "7 cycles" in rows[-1].why and "folds" in rows[0].why
