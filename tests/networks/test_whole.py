# SPDX-License-Identifier: Apache-2.0
"""A whole network, quantized by onnxruntime, as one program: the values that leave the machine are the graph's."""

import numpy as np
import onnx
import pytest

from beatmatch import functional, preset
from beatmatch.networks import library
from beatmatch.networks.lowering.placement import CORE, place
from beatmatch.networks.lowering.program import lower
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.quantize import quantized
from beatmatch.networks.reference import execute
from beatmatch.networks.timing import parts
from beatmatch.networks.weightless import regenerate


@pytest.fixture(scope="module")
def resnet():
    """ResNet-18 with weights from its seed, its graph in int8, and every tensor for one image."""
    model = regenerate(onnx.load(str(library.path_of("resnet18")), load_external_data=False))
    name = model.graph.input[0].name
    image = np.random.default_rng(1).normal(size=(1, 3, 224, 224)).astype(np.float32)
    graph = from_model(quantized(model, [{name: image}]))
    return graph, {name: image, **execute(graph, {name: image}, keep=True)}


def test_resnet18_is_one_program_with_the_graphs_values(resnet):
    graph, values = resnet
    config = preset("mxu128")
    placement = place(graph, config)
    core = [[step for step in steps if step.where == CORE] for kind, steps in parts(placement) if kind == CORE]
    (steps,) = filter(None, core)
    assert len(steps) == 31
    program = lower(placement, steps, config, feeds=values).program
    outcome = functional.run(program)
    assert not outcome.error and not outcome.overflow
    ((name, found),) = program.read(outcome.image).items()
    assert found.shape == (1, 1000)
    assert np.array_equal(found, values[name])
    assert len(np.unique(found)) > 20
