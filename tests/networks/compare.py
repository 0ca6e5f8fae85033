# SPDX-License-Identifier: Apache-2.0
"""Compare each int8 tensor of a quantized model with onnxruntime's, each node on onnxruntime's own inputs."""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, helper

from beatmatch.networks import library
from beatmatch.networks.graph import Graph
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.quantize import quantized, sample_inputs
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


def main() -> None:
    """Quantize networks of the library and compare every int8 tensor; minutes for all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m tests.networks.compare resnet18 minilm_l6",
    )
    parser.add_argument("names", nargs="*", metavar="NETWORK", help=f"of {', '.join(library.names())}; all if none")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures, too")
    arguments = parser.parse_args()
    rows = {}
    for name in arguments.names or library.names():
        model = onnx.load(str(library.path_of(name)), load_external_data=False)
        made = quantized(model, sample_inputs(model, 2))
        graph = from_model(made)
        found = differences(made, sample_inputs(model, 1)[0], graph)
        same = graph.total_macs == library.reference_macs()[name]
        rows[name] = {"tensors": len(found), "worst": max(found.values()), "macs_equal": same}
        rows[name]["differing"] = sum(step > 0 for step in found.values())
        print(f"{name}: {rows[name]}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    if any(row["worst"] > 1 or not row["macs_equal"] for row in rows.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
