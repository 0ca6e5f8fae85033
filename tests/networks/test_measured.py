# SPDX-License-Identifier: Apache-2.0
"""Measured tables are those of the records, records are what runs give, and the rule of the TPU's shapes is kept."""

import json
import re

import pytest

from beatmatch import preset
from beatmatch.networks.library import load, names
from beatmatch.networks.timing import time_network
from beatmatch.networks.tpu_v1 import APPLICATIONS, TABLE_1, tops
from tb.toolchain import ROOT
from tools.measure_networks import BARS, TABLES, paper

RECORDS = {part: json.loads((ROOT / f"docs/data/{part}.json").read_text()) for part in TABLES}


@pytest.mark.parametrize("part", TABLES)
def test_the_pages_table_is_the_records(part):
    page, mark, rows = TABLES[part]
    table = re.search(rf"<!-- {mark} -->\n(.*?)\n<!-- {mark}: end -->", page.read_text(), re.S).group(1)
    assert table == "\n".join(rows(RECORDS[part]))


def test_every_network_and_application_is_measured():
    assert sorted(RECORDS["networks"]) == names()
    assert {name: list(graphs) for name, graphs in RECORDS["tpu_v1"].items()} == {
        name: list(make()) for name, make in APPLICATIONS.items()
    }


@pytest.mark.parametrize("name", ["resnet18", "resnet50", "minilm_l6", "mobilenet_v2"])
def test_networks_take_the_cycles_of_the_record(name):
    result, row = time_network(load(name), preset("mxu128")), RECORDS["networks"][name]
    assert (result.macs, result.cycles, result.memory_bytes) == (row["macs"], row["cycles"], row["memory_bytes"])


@pytest.mark.parametrize("name", ["MLP0", "MLP1", "LSTM0", "LSTM1"])
def test_applications_take_the_cycles_of_the_record(name):
    ((label, graph),) = APPLICATIONS[name]().items()
    result, row = time_network(graph, preset("tpu_v1")), RECORDS["tpu_v1"][name][label]
    assert (result.macs, result.cycles) == (row["macs"], row["cycles"])
    assert round(tops(result.macs, result.cycles), 2) == row["tops"]


@pytest.mark.parametrize("name", APPLICATIONS)
def test_shapes_follow_table_1(name):
    row = TABLE_1[name]
    for graph in APPLICATIONS[name]().values():
        ops = [node.op for node in graph.nodes]
        assert (ops.count("dense"), ops.count("conv")) == (row.fc, row.conv)
        assert (ops.count("rescale"), ops.count("maxpool")) == (row.vector, row.pool)
        assert graph.parameters == pytest.approx(row.weights * 1e6, rel=0.01)
        assert graph.total_macs / graph.parameters == pytest.approx(row.intensity, rel=0.01)
        assert graph.tensors[graph.inputs[0]].shape[0] == row.batch


@pytest.mark.parametrize("name", ["MLP0", "LSTM0"])
def test_bars_that_are_met_stay_met(name):
    theirs = paper()["TOPS"][name]
    for row in RECORDS["tpu_v1"][name].values():
        assert abs(100 * (row["tops"] / theirs - 1)) <= BARS[name]
