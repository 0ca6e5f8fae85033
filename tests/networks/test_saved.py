# SPDX-License-Identifier: Apache-2.0
"""Saved results come back as they were, and broken ones are refused in a sentence."""

import json

import pytest

from beatmatch.config import preset
from beatmatch.networks.errors import ResultError
from beatmatch.networks.library import load as load_network
from beatmatch.networks.result import NetworkResult, load
from beatmatch.networks.timing import time_network
from tests.networks.results import random_network


def test_a_result_comes_back(tmp_path):
    for result in (random_network(0), random_network(40), time_network(load_network("resnet18"), preset("mxu128"))):
        path = tmp_path / "result.json"
        path.write_text(json.dumps(result.to_dict()))
        again = load(path)
        assert again == result and json.loads(json.dumps(again.to_dict())) == json.loads(path.read_text())


def test_what_later_versions_add_may_be_missing():
    data = random_network(3).to_dict()
    for row in data["layers"]:
        del row["groups"], row["note"]
    del data["options"]
    assert NetworkResult.from_dict(data).layers[0].groups == 1


def edit(*path, value=None, drop=False):
    def change(data):
        for key in path[:-1]:
            data = data[key]
        if drop:
            del data[path[-1]]
        else:
            data[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit("layers", drop=True), "lacks 'layers'"),
        (edit("layers", 2, "macs", drop=True), "layer 2 lacks 'macs'"),
        (edit("layers", 1, "macs", value="7"), "layer 1: macs is '7'; it must be of type int"),
        (edit("layers", 1, "macs", value=True), "macs is True"),
        (edit("layers", 0, "shape", value=["a"]), "shape must be integers"),
        (edit("layers", 0, value=3), "layer 0 must be an object"),
        (edit("layers", value={}), "layers must be a list"),
        (edit("layers", 1, "start", value=3), "it must begin at"),
        (edit("layers", 1, "start", value=-3), "start is -3; it must be a number that is not negative"),
        (edit("layers", 0, "window_macs", value=float("inf")), "window_macs is inf"),
        (edit("layers", 0, "fill_rows", value=float("nan")), "fill_rows is nan"),
        (edit("layers", 0, "accounting", value={}), "accounting lacks"),
        (edit("traffic", 0, "read", value=None), "traffic row 0: read is None"),
        (edit("config", "rows", value=3), "configuration cannot be taken: .*3"),
        (edit("memory", "read_latency", value=0), "memory cannot be taken: read_latency is 0"),
        (edit("memory", value=None), "memory cannot be taken"),
        (edit("config", value=[]), "configuration cannot be taken"),
        (edit("cycles", value=1), "cycles is 1, but the layers add up to"),
        (edit("cpu_seconds", value="fast"), "cpu_seconds is 'fast'"),
    ],
)
def test_what_is_broken_is_named(change, message):
    data = json.loads(json.dumps(random_network(5, seed=2).to_dict()))
    change(data)
    with pytest.raises(ResultError, match=message):
        NetworkResult.from_dict(data)


@pytest.mark.parametrize(("text", "message"), [("{", "no JSON"), ("[]", "no saved result"), ("{}", "lacks 'network'")])
def test_a_file_that_is_none_is_refused(tmp_path, text, message):
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(ResultError, match=message):
        load(path)
    with pytest.raises(ResultError, match=r"missing\.json cannot be read"):
        load(tmp_path / "missing.json")
