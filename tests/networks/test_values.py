# SPDX-License-Identifier: Apache-2.0
"""Every quantized operator against onnxruntime: each node alone, on the integers that onnxruntime gave its inputs."""

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, helper

from beatmatch.networks.graph import Graph
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.reference import execute
from tests.networks.build import INT8, UINT8, Builder

RNG_SEED = 20


def compare(model: ModelProto, feeds: dict[str, np.ndarray], optimize: bool = False) -> tuple[Graph, dict[str, int]]:
    """Largest difference of each quantized tensor, in steps of its scale."""
    graph = from_model(model)
    known = {output.name for output in model.graph.output}
    written = {name for node in model.graph.node for name in node.output}
    for name in written - known:
        if name in graph.tensors and graph.tensors[name].dtype == "int8":
            model.graph.output.append(helper.make_tensor_value_info(name, _kind(model, name), None))
    options = onnxruntime.SessionOptions()
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    theirs = dict(zip(names, (_signed(v) for v in session.run(None, feeds)), strict=True))
    signed = {name: _signed(value) for name, value in feeds.items()}
    ours = execute(graph, signed, given=theirs, keep=True)
    shared = [name for name in ours if name in theirs and ours[name].dtype == np.int8]
    assert shared, "nothing was compared"
    return graph, {name: int(np.abs(ours[name].astype(int) - theirs[name]).max()) for name in shared}


def _kind(model: ModelProto, name: str) -> int:
    unsigned = {
        node.output[0]
        for node in model.graph.node
        if node.op_type == "QuantizeLinear"
        and any(c.name == node.input[2] and c.data_type == UINT8 for c in model.graph.initializer)
    }
    return UINT8 if name in unsigned else INT8


def _signed(array: np.ndarray) -> np.ndarray:
    return (array.astype(np.int16) - 128).astype(np.int8) if array.dtype == np.uint8 else array


def weights(b: Builder, rng: np.random.Generator, *shape: int, axis: int = 0, channels: bool = True) -> str:
    values = b.constant(rng.integers(-127, 128, shape), np.int8)
    scale = rng.uniform(0.002, 0.01, shape[axis] if channels else ()).astype(np.float32)
    return b.dequantize(values, scale, np.zeros(scale.shape), **({"axis": axis} if channels else {}))


CONVOLUTIONS = {
    "plain": ((8, 6, 3, 3), {}),
    "padded": ((8, 6, 3, 3), {"pads": [1, 1, 1, 1]}),
    "asymmetric": ((8, 6, 3, 2), {"pads": [0, 1, 2, 0]}),
    "strided": ((8, 6, 3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 3]}),
    "dilated": ((8, 6, 3, 3), {"pads": [2, 2, 2, 2], "dilations": [2, 2]}),
    "grouped": ((8, 3, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
    "depthwise": ((6, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
    "multiplied": ((12, 1, 3, 3), {"group": 6}),
    "same_upper": ((8, 6, 4, 4), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "same_lower": ((8, 6, 4, 4), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    "pointwise": ((8, 6, 1, 1), {}),
}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions(case, dtype):
    rng = np.random.default_rng(RNG_SEED)
    shape, attributes = CONVOLUTIONS[case]
    zero = int(rng.integers(-20, 20)) + (128 if dtype is np.uint8 else 0)
    b = Builder()
    x = b.pair(b.input("x", 2, 6, 11, 9), 0.03, zero, dtype)
    bias = b.constant(rng.normal(size=shape[0]))
    out = b.node("Relu", b.node("Conv", x, weights(b, rng, *shape), bias, **attributes))
    b.output(b.pair(out, 0.05, zero, dtype))
    graph, worst = compare(b.model(), {"x": rng.normal(size=(2, 6, 11, 9)).astype(np.float32)})
    assert [node.op for node in graph.nodes] == ["quantize", "conv", "dequantize"]
    assert max(worst.values()) <= 1


@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("turned", [0, 1])
def test_dense_layers(turned, channels):
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    x = b.pair(b.input("x", 7, 40), 0.03, -5)
    shape = (12, 40) if turned else (40, 12)
    w = weights(b, rng, *shape, axis=1 - turned, channels=channels)
    first = b.pair(b.node("Gemm", x, w, b.constant(rng.normal(size=12)), transB=turned), 0.06, 3)
    second = b.node("Add", b.node("MatMul", first, weights(b, rng, 12, 5, axis=1)), b.constant(rng.normal(size=5)))
    b.output(b.pair(second, 0.02, 1))
    graph, worst = compare(b.model(), {"x": rng.normal(size=(7, 40)).astype(np.float32)})
    assert [node.op for node in graph.nodes] == ["quantize", "dense", "dense", "dequantize"]
    assert max(worst.values()) <= 1


ELEMENTWISE = {
    "Add": ("add", {}), "Sub": ("sub", {}), "Mul": ("mul", {}), "Sigmoid": ("sigmoid", {}), "Tanh": ("tanh", {}),
    "HardSwish": ("hardswish", {}), "HardSigmoid": ("hardsigmoid", {"alpha": 0.1}), "LeakyRelu": ("leakyrelu", {}),
    "Erf": ("erf", {}), "Softmax": ("softmax", {"axis": 1}), "Relu": ("rescale", {}),
}  # fmt: skip


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_elementwise(op):
    rng = np.random.default_rng(RNG_SEED)
    ours, attributes = ELEMENTWISE[op]
    b = Builder()
    operands = [b.pair(b.input("x", 3, 5, 6), 0.02, 4)]
    feeds = {"x": rng.normal(size=(3, 5, 6)).astype(np.float32)}
    if op in ("Add", "Sub", "Mul"):
        operands.append(b.pair(b.input("y", 3, 5, 6), 0.013, -9))
        feeds["y"] = rng.normal(size=(3, 5, 6)).astype(np.float32)
    b.output(b.pair(b.node(op, *operands, **attributes), 0.017, -11))
    graph, worst = compare(b.model(), feeds)
    assert [node.op for node in graph.nodes if "quantize" not in node.op] == [ours]
    assert max(worst.values()) <= 1


POOLS = {
    "max": ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "max_ceil": ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    "average": ("AveragePool", {"kernel_shape": [2, 3], "strides": [2, 2]}),
    "average_padded": ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "average_counted": ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    "average_ceil": ("AveragePool", {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    "global": ("GlobalAveragePool", {}),
    "global_max": ("GlobalMaxPool", {}),
    "mean": ("ReduceMean", {"axes": [2, 3], "keepdims": 0}),
}


@pytest.mark.parametrize("case", POOLS)
def test_pools(case):
    rng = np.random.default_rng(RNG_SEED)
    op, attributes = POOLS[case]
    b = Builder()
    x = b.pair(b.input("x", 2, 4, 9, 7), 0.03, 6)
    b.output(b.pair(b.node(op, x, **attributes), 0.021, -3))
    graph, worst = compare(b.model(), {"x": rng.normal(size=(2, 4, 9, 7)).astype(np.float32)})
    assert all(node.operator.where != "estimate" or "quantize" in node.op for node in graph.nodes)
    assert max(worst.values()) <= 1


def test_a_product_of_activations_and_what_scales_it():
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    q, k = (b.pair(b.input(name, 2, 3, 8, 16), 0.02, zero) for name, zero in (("q", 3), ("k", -7)))
    scores = b.pair(b.node("MatMul", q, b.node("Transpose", k, perm=[0, 1, 3, 2])), 0.12, 2)
    scaled = b.pair(b.node("Div", scores, b.constant(4.0)), 0.03, 1)
    b.output(b.pair(b.node("Softmax", scaled, axis=-1), 1 / 256, -128))
    feeds = {name: rng.normal(size=(2, 3, 8, 16)).astype(np.float32) for name in ("q", "k")}
    graph, worst = compare(b.model(), feeds)
    ops = [node.op for node in graph.nodes if "quantize" not in node.op]
    assert ops == ["transpose", "matmul", "rescale", "softmax"]
    assert graph.total_macs == 2 * 3 * 8 * 8 * 16
    assert max(worst.values()) <= 1


def test_a_constant_per_column_is_part_of_an_additions_bias():
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    x = b.pair(b.input("x", 6, 10), 0.02, 4)
    c = b.dequantize(b.constant(rng.integers(-128, 128, 10), np.int8), 0.011, 5)
    b.output(b.pair(b.node("Add", c, x), 0.03, -2))
    graph, worst = compare(b.model(), {"x": rng.normal(size=(6, 10)).astype(np.float32)})
    (node,) = (node for node in graph.nodes if node.op == "add")
    assert node.requant.multiplier_b == 0 and node.requant.bias.shape == (10,)
    assert max(worst.values()) <= 1


MOVES = {
    "Transpose": ({"perm": [0, 2, 1]}, "transpose"),
    "Flatten": ({}, "reshape"),
    "Split": ({"axis": 2}, "split"),
}


@pytest.mark.parametrize("op", MOVES)
def test_what_moves_values_is_exact(op):
    rng = np.random.default_rng(RNG_SEED)
    attributes, ours = MOVES[op]
    b = Builder()
    x = b.pair(b.input("x", 3, 4, 6), 0.02, 4)
    outs = b.node(op, x, count=2 if op == "Split" else 1, **attributes)
    for out in outs if op == "Split" else [outs]:
        b.output(b.pair(out, 0.02, 4))
    graph, worst = compare(b.model(), {"x": rng.normal(size=(3, 4, 6)).astype(np.float32)})
    assert [node.op for node in graph.nodes if "quantize" not in node.op] == [ours]
    assert max(worst.values()) == 0


def test_concatenation_slices_pads_gathers_and_resizes():
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    x, y = b.pair(b.input("x", 1, 4, 6, 6), 0.02, 4), b.pair(b.input("y", 1, 2, 6, 6), 0.03, -4)
    joined = b.pair(b.node("Concat", x, y, axis=1), 0.02, 4)
    cut = b.pair(b.node("Slice", joined, b.ints(-1, 1), b.ints(-7, 6), b.ints(1, 3), b.ints(-2, 2)), 0.02, 4)
    padded = b.pair(b.node("Pad", cut, b.ints(0, 0, 1, 0, 0, 0, 0, 2), b.constant(0.5)), 0.02, 4)
    sized = b.node("Resize", padded, "", b.constant([1, 1, 2, 2]), mode="nearest", nearest_mode="floor",
                   coordinate_transformation_mode="asymmetric")  # fmt: skip
    picked = b.pair(b.node("Gather", b.pair(sized, 0.02, 4), b.ints(2, 0, -1), axis=1), 0.02, 4)
    b.output(picked)
    feeds = {n: rng.normal(size=(1, c, 6, 6)).astype(np.float32) for n, c in (("x", 4), ("y", 2))}
    graph, worst = compare(b.model(), feeds)
    ops = [node.op for node in graph.nodes if "quantize" not in node.op]
    assert ops == ["rescale", "concat", "slice", "pad", "resize", "gather"]
    assert max(worst.values()) <= 1
