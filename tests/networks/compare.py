# SPDX-License-Identifier: Apache-2.0
"""Compare each int8 tensor of a quantized model with onnxruntime's, each node on onnxruntime's own inputs."""

import numpy as np
import onnxruntime
from onnx import ModelProto, helper

from beatmatch.networks.graph import Graph
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.reference import execute
from tests.networks.build import INT8, UINT8


def signed(array: np.ndarray) -> np.ndarray:
    """uint8 as the graph has it."""
    return (array.astype(np.int16) - 128).astype(np.int8) if array.dtype == np.uint8 else array


def differences(model: ModelProto, feeds: dict[str, np.ndarray], graph: Graph | None = None) -> dict[str, int]:
    """Largest difference of each tensor that both have, in steps of its scale; the model gets more outputs."""
    graph = graph or from_model(model)
    known = {output.name for output in model.graph.output}
    written = [name for node in model.graph.node for name in node.output if name not in known]
    for name in written:
        if name in graph.tensors and graph.tensors[name].dtype == "int8":
            model.graph.output.append(helper.make_tensor_value_info(name, _kind(model, name), None))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    theirs = dict(zip(names, (signed(v) for v in session.run(None, feeds)), strict=True))
    ours = execute(graph, {name: signed(value) for name, value in feeds.items()}, given=theirs, keep=True)
    shared = [name for name in ours if name in theirs and ours[name].dtype == np.int8]
    assert shared, "nothing was compared"
    return {name: int(np.abs(ours[name].astype(int) - theirs[name]).max()) for name in shared}


def _kind(model: ModelProto, name: str) -> int:
    """The type of a quantized tensor: that of its zero point."""
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    for node in model.graph.node:
        if name in node.output and node.op_type.startswith(("Quantize", "QLinear", "QGemm")):
            return UINT8 if any(kinds.get(n) == UINT8 for n in node.input) else INT8
    return INT8
