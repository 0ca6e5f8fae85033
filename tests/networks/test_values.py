# SPDX-License-Identifier: Apache-2.0
"""Every quantized operator against onnxruntime: each node alone, on the integers that onnxruntime gave its inputs."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import ModelProto

from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph
from beatmatch.networks.onnx_import import from_model
from tests.networks.build import INT8, Builder
from tests.networks.compare import differences

RNG_SEED = 20


def compare(model: ModelProto, feeds: dict[str, np.ndarray]) -> tuple[Graph, dict[str, int]]:
    """The graph, and the largest difference of each of its tensors."""
    graph = from_model(model)
    return graph, differences(model, feeds, graph)


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


@pytest.mark.parametrize("op", ["QLinearConv", "QGemm", "QLinearMatMul", "QLinearAdd", "QLinearGlobalAveragePool",
                                "QLinearConcat", "QLinearSigmoid"])  # fmt: skip
def test_the_operators_of_the_other_format(op):
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    x = b.input("x", 2, 4, 6, 6, kind=INT8) if "Gemm" not in op else b.input("x", 5, 4, kind=INT8)
    xs, xz, ys, yz = (b.constant(0.03), b.constant(3, np.int8), b.constant(0.05), b.constant(-4, np.int8))
    w = {"QLinearConv": (8, 4, 3, 3), "QGemm": (6, 4), "QLinearMatMul": (6, 7)}.get(op, ())
    weight = b.constant(rng.integers(-127, 128, w), np.int8)
    ws, wz = b.constant(rng.uniform(0.002, 0.01, w[:1])), b.constant(np.zeros(w[:1]), np.int8)
    bias = b.constant(rng.integers(-3000, 3000, w[:1]), np.int32)
    one, none = b.constant(0.01), b.constant(0, np.int8)
    more = {"domain": "com.microsoft"}
    out = {
        "QLinearConv": lambda: b.node(op, x, xs, xz, weight, ws, wz, ys, yz, bias, pads=[1, 1, 1, 1]),
        "QGemm": lambda: b.node(op, x, xs, xz, weight, ws, wz, bias, ys, yz, transB=1, **more),
        "QLinearMatMul": lambda: b.node(op, x, xs, xz, weight, one, none, ys, yz),
        "QLinearAdd": lambda: b.node(op, x, xs, xz, x, xs, xz, ys, yz, **more),
        "QLinearGlobalAveragePool": lambda: b.node(op, x, xs, xz, ys, yz, channels_last=0, **more),
        "QLinearConcat": lambda: b.node(op, ys, yz, x, xs, xz, x, xs, xz, axis=1, **more),
        "QLinearSigmoid": lambda: b.node(op, x, xs, xz, ys, yz, **more),
    }[op]()  # fmt: skip
    b.output(out, kind=INT8)
    shape = (2, 4, 6, 6) if "Gemm" not in op else (5, 4)
    graph, worst = compare(b.model(), {"x": rng.integers(-128, 128, shape).astype(np.int8)})
    assert all("quantize" not in node.op for node in graph.nodes)
    assert max(worst.values()) <= 1


def test_a_wrong_parameter_would_be_seen():
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    x = b.pair(b.input("x", 7, 40), 0.03, -5)
    b.output(b.pair(b.node("MatMul", x, weights(b, rng, 40, 12, axis=1)), 0.06, 3))
    model, feeds = b.model(), {"x": rng.normal(size=(7, 40)).astype(np.float32)}
    graph = from_model(model)
    (place,) = (k for k, node in enumerate(graph.nodes) if node.op == "dense")
    right = graph.nodes[place]
    for wrong in (
        replace(right.requant, bias=right.requant.bias + 40 * 127),
        replace(right.requant, multiplier=right.requant.multiplier // 64 * 62),
        replace(right.requant, shift=right.requant.shift - 1),
        replace(right.requant, zero_point=right.requant.zero_point + 2),
        replace(right.requant, high=20),
    ):
        graph.nodes[place] = replace(right, requant=wrong)
        assert max(differences(model, feeds, graph).values()) > 1
    graph.nodes[place] = right
    assert max(differences(model, feeds, graph).values()) <= 1


def test_what_changes_shape_between_an_operator_and_its_quantization_is_int8_too():
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    x = b.pair(b.input("x", 2, 3, 4), 0.02, 4)
    out = b.node("Relu", b.node("Transpose", b.node("Flatten", b.node("Gelu", x, domain="com.microsoft")), perm=[1, 0]))
    b.output(b.pair(out, 0.02, -128))
    graph, worst = compare(b.model(), {"x": rng.normal(size=(2, 3, 4)).astype(np.float32)})
    assert [node.op for node in graph.nodes] == ["quantize", "gelu", "reshape", "transpose", "dequantize"]
    assert max(worst.values()) <= 1


@pytest.mark.parametrize(("beyond", "taken"), [(100_000, True), (100_000_000, False)])
def test_a_bias_at_the_edge_of_int32(beyond, taken):
    b = Builder()
    w = b.dequantize(b.constant(np.full((4, 2), 50), np.int8), 0.1, 0)
    bias = b.constant([float(0.01 * (2**31 + beyond))] * 2)
    x = b.pair(b.input("x", 3, 4), 0.1, 0)
    b.output(b.pair(b.node("Gemm", x, w, bias, name="n"), 0.01 * 2**24, 0))
    if not taken:
        with pytest.raises(GraphError, match=r"^Node n \(dense\): bias"):
            from_model(b.model())
        return
    assert max(compare(b.model(), {"x": np.ones((3, 4), np.float32)})[1].values()) <= 1


def test_a_batch_normalization_of_quantized_constants():
    rng = np.random.default_rng(RNG_SEED)
    b = Builder()
    x = b.pair(b.input("x", 2, 3, 4, 4), 0.02, 4)
    factor, offset = (b.dequantize(b.constant(rng.integers(20, 120, 3), np.int8), 0.01, -5) for _ in range(2))
    mean, variance = b.constant([0.1, 0.2, -0.3]), b.constant([0.5, 1, 2])
    b.output(b.pair(b.node("BatchNormalization", x, factor, offset, mean, variance), 0.03, 2))
    graph, worst = compare(b.model(), {"x": rng.normal(size=(2, 3, 4, 4)).astype(np.float32)})
    assert [node.op for node in graph.nodes] == ["quantize", "batchnorm", "dequantize"]
    assert max(worst.values()) <= 1
