# SPDX-License-Identifier: Apache-2.0
"""Files and names lead to the right reader."""

import onnx
import pytest

from beatmatch.networks import library
from beatmatch.networks.errors import GraphError
from beatmatch.networks.read import read_network
from tests.networks.build import Builder


def test_by_what_it_is(tmp_path):
    (tmp_path / "net.csv").write_text("Layer, M, N, K,\nFC, 2, 3, 4,\n")
    assert read_network(tmp_path / "net.csv").total_macs == 24
    b = Builder()
    b.output(b.node("Relu", b.input("x", "n", 4)))
    onnx.save(b.model(), str(tmp_path / "net.onnx"))
    assert read_network(tmp_path / "net.onnx", {"n": 3}).tensors["x"].shape == (3, 4)
    assert read_network("resnet18").total_macs == library.reference_macs()["resnet18"]


@pytest.mark.parametrize(
    ("source", "dims", "named"),
    [("net.pt", None, "neither .onnx nor .csv"), ("resnet19", None, "resnet18"), ("resnet18", {"n": 1}, "leave n out")],
)
def test_what_leads_nowhere(source, dims, named):
    with pytest.raises(GraphError) as error:
        read_network(source, dims)
    assert named in str(error.value) and str(error.value).endswith(".")
