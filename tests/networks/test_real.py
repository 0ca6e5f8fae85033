# SPDX-License-Identifier: Apache-2.0
"""Float networks: operators and whole networks give what onnxruntime gives, up to the last bits of float32."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto

from beatmatch.networks import library
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.quantize import sample_inputs
from beatmatch.networks.reference import execute
from beatmatch.networks.weightless import regenerate
from tests.networks.build import INT64, Builder

SHARE = 2e-5
"""Of the largest value: float32 sums of up to a few thousand terms in another order."""


def agree(model: ModelProto, feeds: dict[str, np.ndarray]) -> list[str]:
    """Compare all outputs; the graph's operators."""
    graph = from_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    theirs = session.run(None, feeds)
    ours = execute(graph, feeds)
    for name, wanted in zip(graph.outputs, theirs, strict=True):
        assert ours[name].shape == wanted.shape and ours[name].dtype == wanted.dtype
        assert np.abs(wanted).max() > 0, "an output of zeros would compare nothing"
        assert np.abs(ours[name].astype(np.float64) - wanted).max() <= SHARE * np.abs(wanted).max()
    return [node.op for node in graph.nodes]


# Operator, shapes of float inputs, constants behind them, attributes, the graph's operator.
OPERATORS = {
    "gelu": ("Gelu", [(3, 7)], [], {"opset": 20}, "gelu"),
    "gelu_tanh": ("Gelu", [(3, 7)], [], {"opset": 20, "approximate": "tanh"}, "gelu"),
    "erf": ("Erf", [(3, 7)], [], {}, "erf"),
    "layernorm": ("LayerNormalization", [(2, 3, 8)], [np.linspace(1, 2, 8), np.linspace(-1, 1, 8)], {}, "layernorm"),
    "layernorm_two_axes": ("LayerNormalization", [(2, 3, 8)], [np.ones((3, 8))], {"axis": 1}, "layernorm"),
    "batchnorm": ("BatchNormalization", [(2, 3, 4, 4)], [np.arange(1.0, 4) / k for k in (1, 2, 3, 4)], {}, "batchnorm"),
    "pow": ("Pow", [(3, 4)], [np.array(2.0)], {}, "pow"),
    "div": ("Div", [(3, 4)], [np.array([1.0, 2, 4, 8])], {}, "div"),
    "min": ("Min", [(3, 4), (3, 4)], [], {}, "minimum"),
    "max": ("Max", [(3, 4), (3, 4)], [], {}, "maximum"),
    "mean_last": ("ReduceMean", [(3, 4, 5)], [], {"axes": [-1]}, "reduce"),
    "sum_all": ("ReduceSum", [(3, 4)], [], {"keepdims": 0}, "reduce"),
    "mean_space": ("ReduceMean", [(2, 3, 4, 4)], [], {"axes": [2, 3]}, "avgpool"),
    "hardswish": ("HardSwish", [(3, 40)], [], {}, "hardswish"),
    "hardsigmoid": ("HardSigmoid", [(3, 40)], [], {}, "hardsigmoid"),
    "leaky": ("LeakyRelu", [(3, 4)], [], {"alpha": 0.2}, "leakyrelu"),
    "clip": ("Clip", [(3, 4)], [np.array(-0.5), np.array(0.7)], {}, "clip"),
    "relu": ("Relu", [(3, 4)], [], {}, "relu"),
    "softmax_11": ("Softmax", [(3, 4)], [], {"opset": 11}, "softmax"),
    "sqrt": ("Sqrt", [(3, 4)], [], {}, "unary"),
    "conv_1d": ("Conv", [(2, 3, 20)], [np.linspace(-1, 1, 60).reshape(4, 3, 5)],
                {"pads": [2, 1], "strides": [2]}, "conv"),
    "max_1d": ("MaxPool", [(2, 3, 20)], [], {"kernel_shape": [3], "strides": [2]}, "maxpool"),
    "gemm_turned": ("Gemm", [(7, 5), (4, 7)], [], {"transA": 1, "transB": 1}, "matmul"),
    "gemm_bias_row": ("Gemm", [(5, 7)], [np.ones((7, 4)), np.arange(4.0).reshape(1, 4)], {}, "dense"),
    "pad_reflect": ("Pad", [(2, 5)], [np.array([0, 2, 0, 1])], {"mode": "reflect"}, "pad"),
    "pad_edge": ("Pad", [(2, 5)], [np.array([1, 2, 0, 1])], {"mode": "edge"}, "pad"),
    "expand": ("Expand", [(3, 1)], [np.array([2, 3, 4])], {}, "expand"),
    "squeeze": ("Squeeze", [(3, 1, 4)], [np.array([1])], {}, "reshape"),
}  # fmt: skip


@pytest.mark.parametrize("case", OPERATORS)
def test_operators(case):
    op, shapes, constants, attributes, ours = OPERATORS[case]
    attributes = dict(attributes)
    rng = np.random.default_rng(8)
    b = Builder(attributes.pop("opset", 17))
    names = [b.input(f"x{k}", *shape) for k, shape in enumerate(shapes)]
    names += [b.constant(v, np.int64 if v.dtype.kind == "i" else np.float32) for v in constants]
    b.output(b.node(op, *names, **attributes))
    values = {f"x{k}": rng.normal(size=shape).astype(np.float32) for k, shape in enumerate(shapes)}
    feeds = {name: np.abs(v) if op == "Sqrt" else v * (3 if "hard" in case else 1) for name, v in values.items()}
    assert ours in agree(b.model(), {name: v.astype(np.float32) for name, v in feeds.items()})


@pytest.mark.parametrize("coordinates", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize(
    ("mode", "nearest"),
    [("linear", "floor"), *(("nearest", n) for n in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"))],
)
@pytest.mark.parametrize("size", [(7, 9), (3, 2)])
def test_resize(mode, nearest, coordinates, size):
    b = Builder()
    x = b.input("x", 1, 2, 4, 5)
    attributes = {"mode": mode, "nearest_mode": nearest, "coordinate_transformation_mode": coordinates}
    b.output(b.node("Resize", x, "", "", b.ints(1, 2, *size), **attributes))
    feeds = {"x": np.random.default_rng(2).normal(size=(1, 2, 4, 5)).astype(np.float32)}
    assert agree(b.model(), feeds) == ["resize"]


def test_shape_arithmetic_is_folded_away():
    b = Builder()
    x = b.input("x", "batch", 6, 4)
    rows = b.node("Gather", b.node("Shape", x), b.constant(0, np.int64))
    target = b.node("Concat", b.node("Unsqueeze", rows, b.ints(0)), b.ints(-1), axis=0)
    b.output(b.node("Relu", b.node("Reshape", x, target)))
    graph = from_model(b.model(), {"batch": 3})
    assert [node.op for node in graph.nodes] == ["reshape", "relu"]
    assert graph.tensors[graph.outputs[0]].shape == (3, 24)


def test_embeddings_masks_and_comparisons():
    rng = np.random.default_rng(3)
    b = Builder()
    ids = b.input("ids", 2, 5, kind=INT64)
    table = b.constant(rng.normal(size=(11, 6)))
    rows = b.node("Gather", table, ids)
    mask = b.node("Cast", b.node("Equal", ids, b.constant(3, np.int64)), to=1)
    hidden = b.node("Where", b.node("Less", rows, b.constant(0.0)), b.node("Neg", rows), rows)
    b.output(b.node("Mul", hidden, b.node("Unsqueeze", b.node("Sub", b.constant(1.0), mask), b.ints(2))))
    ops = agree(b.model(), {"ids": rng.integers(0, 11, (2, 5))})
    assert {"gather", "compare", "cast", "where", "unary", "mul"} <= set(ops)


def test_elements_and_blocks_by_index():
    rng = np.random.default_rng(5)
    b = Builder()
    x = b.input("x", 3, 4)
    picked = b.node("GatherElements", x, b.constant(rng.integers(-4, 4, (3, 2)), np.int64), axis=1)
    blocks = b.node("GatherND", x, b.constant([[[1, 2], [0, -1]]], np.int64))
    folded = b.node("GatherElements", b.constant([[7.0]]), b.constant([[0, 0, 0, -1]], np.int64), axis=1)
    b.output(picked, blocks, b.node("Add", x, folded))
    ops = agree(b.model(), {"x": rng.normal(size=(3, 4)).astype(np.float32)})
    assert ops == ["gather_elements", "gather_nd", "add"]


def test_a_batch_normalization_goes_into_its_convolution():
    rng = np.random.default_rng(4)
    b = Builder()
    conv = b.node("Conv", b.input("x", 1, 3, 6, 6), b.constant(rng.normal(size=(4, 3, 3, 3))))
    norm = [b.constant(v) for v in (rng.normal(size=4), rng.normal(size=4), rng.normal(size=4), rng.uniform(1, 2, 4))]
    b.output(b.node("BatchNormalization", conv, *norm))
    assert agree(b.model(), {"x": rng.normal(size=(1, 3, 6, 6)).astype(np.float32)}) == ["conv"]


@pytest.mark.parametrize("name", ["squeezenet1_1", "unet", "shufflenet_v2_x1_0", "mobilenet_v3_large"])
def test_whole_networks(name):
    model = regenerate(onnx.load(str(library.path_of(name)), load_external_data=False))
    assert agree(model, sample_inputs(model, 1)[0])
