# SPDX-License-Identifier: Apache-2.0
"""The digits networks through QDQ ONNX: onnxruntime, this package and the networks' own reference side by side."""

import numpy as np
import onnxruntime
import pytest

from beatmatch.digits.network import NAMES, load
from beatmatch.digits.reference import reference
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.reference import execute
from tests.networks.digits_onnx import export


@pytest.mark.parametrize("name", NAMES)
def test_digits_have_the_same_top_1_everywhere(name):
    network = load(name)
    images = network.quantize(network.images)
    own = reference(network.layers, images)["logits"].reshape(len(images), -1)
    model = export(network)
    graph = from_model(model)
    assert all(node.op not in ("quantize", "dequantize") for node in graph.nodes), "everything is int8"
    assert all(graph.tensors[name].dtype == "int8" for node in graph.nodes for name in node.outputs)

    feed = images.transpose(0, 3, 1, 2)
    values = execute(graph, {"image": feed}, keep=True)
    logits = values[graph.outputs[0]]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    runtime = session.run(None, {"image": feed})[0]

    assert np.abs(logits.astype(int) - own).max() <= 1, "scales that passed through float32 move a multiplier by one"
    assert np.array_equal(logits.argmax(1), own.argmax(1))
    assert np.array_equal(logits.argmax(1), runtime.argmax(1))
    assert network.accuracy(logits) == network.accuracy(own) == network.accuracy(runtime)
