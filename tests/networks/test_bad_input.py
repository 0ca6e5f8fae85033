# SPDX-License-Identifier: Apache-2.0
"""What cannot be taken is refused in one sentence that names node, operator and attribute and says what to do."""

import re
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from beatmatch.networks.errors import GraphError
from beatmatch.networks.onnx_import import from_model, read_onnx
from tests.networks.build import INT64, Builder


def refused(build: Callable[[], object]) -> str:
    """The sentence of the error, which must be one sentence."""
    with pytest.raises(GraphError) as error:
        build()
    text = str(error.value)
    assert text.endswith(".") and "\n" not in text
    assert re.search(r"[;:]", text) or " must be " in text, f"it does not say what to do: {text}"
    return text


def model(op: str, *shape: int | str, inputs: tuple = (), count: int = 1, opset: int = 17, **attributes: object):
    """One node called `n` on the input `x`."""
    b = Builder(opset)
    x = b.input("x", *shape)
    outs = b.node(op, x, *(b.constant(v) if isinstance(v, np.ndarray) else v for v in inputs), count=count, name="n",
                  **attributes)  # fmt: skip
    b.output(*([outs] if count == 1 else outs))
    return b.model()


def test_no_file(tmp_path):
    assert "No such file" in refused(lambda: read_onnx(tmp_path / "none.onnx"))


@pytest.mark.parametrize("content", [b"", b"not a network", b"\x08\x08" * 50, bytes(range(256))])
def test_corrupt_files(tmp_path, content):
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    assert "bad.onnx" in refused(lambda: read_onnx(path))


def test_a_truncated_file(tmp_path):
    whole = model("Relu", 4, 4).SerializeToString()
    path = tmp_path / "cut.onnx"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    assert "cut.onnx" in refused(lambda: read_onnx(path))


def test_a_file_larger_than_protobuf_reads(tmp_path):
    path = tmp_path / "huge.onnx"
    with open(path, "wb") as file:
        file.truncate(2**31 + 5)  # sparse: it takes no room
    text = refused(lambda: read_onnx(path))
    assert "2,147,483,653 bytes" in text and "external data" in text


def test_a_tensor_larger_than_any_network_has():
    text = refused(lambda: from_model(model("Relu", 65536, 65536)))
    assert "65536" in text and "smaller" in text


def test_an_operator_that_makes_too_much():
    b = Builder()
    b.output(b.node("Expand", b.input("x", 1, 1), b.ints(65536, 65536), name="n"))
    text = refused(lambda: from_model(b.model()))
    assert text.startswith("Node n (Expand)")


def test_damaged_initializers():
    m = model("Add", 4, inputs=(np.ones(4),))
    m.graph.initializer[0].raw_data = b"\0\0\0"
    assert "damaged" in refused(lambda: from_model(m))


@pytest.mark.parametrize(("dims", "wanted"), [({}, "batch=1"), ({"batch": 0}, "at least 1"), ({"b": 1}, "dimension b")])
def test_dynamic_shapes(dims, wanted):
    bound = {"batch": 2} if "b" in dims else {}
    assert wanted in refused(lambda: from_model(model("Relu", "batch", 4), {**bound, **dims}))


def test_dynamic_shapes_can_be_bound_by_name_or_place():
    assert from_model(model("Relu", "batch", 4), {"batch": 3}).tensors["x"].shape == (3, 4)
    assert from_model(model("Relu", "batch", 4), {"x.0": 5}).tensors["x"].shape == (5, 4)


def test_an_input_without_a_shape():
    m = model("Relu", 4)
    m.graph.input[0].type.tensor_type.ClearField("shape")
    assert refused(lambda: from_model(m)).startswith("Input x has no shape")


def test_zero_sizes():
    assert "size 0 in axis 1" in refused(lambda: from_model(model("Relu", 4, 0)))
    b = Builder()
    b.output(b.node("Slice", b.input("x", 4), b.ints(3), b.ints(3), name="n"))
    assert refused(lambda: from_model(b.model())).startswith("Node n (Slice) makes n_out0 of shape (0,)")


def test_control_flow():
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "body", [], [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])  # fmt: skip
    b = Builder()
    b.input("x", 4)
    b.output(b.node("If", b.input("c", kind=TensorProto.BOOL), name="n", then_branch=body, else_branch=body))
    assert refused(lambda: from_model(b.model())).startswith("Node n (If) is control flow")


def test_shapes_that_depend_on_values():
    b = Builder()
    b.output(b.node("NonZero", b.input("x", 4), name="n"), kind=INT64)
    assert "Node n (NonZero) makes n_out0 of a shape that depends on values" in refused(lambda: from_model(b.model()))
    b = Builder()
    b.output(b.node("Reshape", b.input("x", 4), b.input("s", 2, kind=INT64), name="n"))
    assert "Node n (Reshape)" in refused(lambda: from_model(b.model()))


def test_unsupported_and_unknown_operators():
    assert refused(lambda: from_model(model("CumSum", 4, inputs=(np.array(0, np.int64),)))).startswith(
        "Node n (CumSum)"
    )
    assert "no known operator" in refused(lambda: from_model(model("Gellu", 4)))
    b = Builder()
    b.output(b.node("Magic", b.input("x", 4), domain="my.own", name="n"))
    assert "'my.own'" in refused(lambda: from_model(b.model()))


def test_old_and_future_opsets():
    assert "opset 10" in refused(lambda: from_model(model("Relu", 4, opset=10)))
    m = model("Relu", 4)
    m.opset_import[0].version = 999
    assert "opset 999" in refused(lambda: from_model(m))


def test_missing_external_data(tmp_path):
    m = model("Add", 2000, inputs=(np.ones(2000),))
    path = tmp_path / "net.onnx"
    onnx.save(m, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert from_graph_adds(read_onnx(path)) == 1
    (tmp_path / "weights.bin").unlink()
    text = refused(lambda: read_onnx(path))
    assert "'weights.bin'" in text and "beside net.onnx" in text


def from_graph_adds(graph: object) -> int:
    return sum(node.op == "add" for node in graph.nodes)


def test_external_data_that_is_too_short(tmp_path):
    path = tmp_path / "net.onnx"
    m = model("Add", 2000, inputs=(np.ones(2000),))
    onnx.save(m, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    (tmp_path / "weights.bin").write_bytes(b"\0" * 17)
    assert "c0" in refused(lambda: read_onnx(path))


def test_nan_weights():
    b = Builder()
    w = b.constant([[1.0, np.nan], [2.0, 3.0]], name="w")
    b.output(b.node("MatMul", b.input("x", 2, 2), w, name="n"))
    text = refused(lambda: from_model(b.model()))
    assert "Initializer w, read by Node n (MatMul), holds 1 NaN" in text


@pytest.mark.parametrize(
    ("op", "shape", "attributes", "named"),
    [
        ("Conv", (1, 2, 4, 4, 4), {"inputs": (np.ones((2, 2, 1, 1, 1)),)}, "window of 3 dimensions"),
        ("Conv", (1, 3, 4, 4), {"inputs": (np.ones((2, 2, 1, 1)),), "strides": [1]}, "does not fit its inputs"),
        ("Conv", (1, 2, 4, 4), {"inputs": (np.ones((2, 2, 1, 1)),), "pads": [-1, 0, 0, 0]}, "negative"),
        ("Gemm", (4, 4), {"inputs": (np.ones((4, 4)),), "alpha": 0.5}, "alpha=0.5"),
        ("MaxPool", (1, 1, 4, 4), {"kernel_shape": [2, 2], "count": 2}, "indices"),
        ("MaxPool", (1, 1, 4, 4), {"kernel_shape": [2, 2], "storage_order": 1}, "storage_order=1"),
        ("AveragePool", (1, 1, 5, 5), {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 1, 0, 0],
                                       "count_include_pad": 1, "ceil_mode": 1}, "ceil_mode=1"),
        ("Softmax", (2, 3, 4), {"opset": 11, "axis": 1}, "axis=1"),
        ("Pad", (4,), {"inputs": (np.array([-1, 0], np.int64),)}, "negative pads"),
        ("Pad", (4,), {"inputs": (np.array([1, 0], np.int64),), "mode": "wrap", "opset": 19}, "mode=wrap"),
        ("Resize", (1, 1, 4, 4), {"inputs": ("", np.array([1, 1, 2, 2], np.float32)), "mode": "cubic"}, "mode=cubic"),
        ("Resize", (1, 1, 4, 4), {"inputs": ("", np.array([1, 1, 2, 2], np.float32)),
                                  "coordinate_transformation_mode": "tf_crop_and_resize"}, "tf_crop_and_resize"),
        ("BatchNormalization", (1, 2, 3, 3), {"inputs": (np.ones(2),) * 4, "count": 3, "training_mode": 1}, "training"),
    ],
)  # fmt: skip
def test_attributes_that_are_not_taken(op, shape, attributes, named):
    given = dict(attributes)
    given["inputs"] = tuple(
        v.astype(np.float32) if isinstance(v, np.ndarray) and v.dtype == np.float64 else v
        for v in given.get("inputs", ())
    )
    text = refused(lambda: from_model(typed(op, shape, given)))
    assert text.startswith(f"Node n ({op})") and named in text


def typed(op: str, shape: tuple, given: dict) -> object:
    """As `model`, with constants of the type that they have."""
    b = Builder(given.pop("opset", 17))
    inputs = [v if isinstance(v, str) else b.constant(v, v.dtype) for v in given.pop("inputs", ())]
    outs = b.node(op, b.input("x", *shape), *inputs, name="n", **given)
    b.output(*([outs] if isinstance(outs, str) else outs))
    return b.model()


def test_weights_that_are_computed():
    b = Builder()
    b.output(b.node("Conv", b.input("x", 1, 2, 4, 4), b.input("w", 2, 2, 1, 1), name="n"))
    assert "computes its weights w" in refused(lambda: from_model(b.model()))


def test_quantization_that_is_not_taken():
    def dynamic():
        b = Builder()
        b.output(b.node("DynamicQuantizeLinear", b.input("x", 4), count=3, name="n")[0])
        return b.model()

    def asymmetric():
        b = Builder()
        w = b.dequantize(b.constant(np.ones((4, 4)), np.int8), 0.1, 3)
        b.output(b.pair(b.node("MatMul", b.pair(b.input("x", 2, 4), 0.1, 0), w, name="n"), 0.1, 0))
        return b.model()

    def wrong_axis():
        b = Builder()
        w = b.dequantize(b.constant(np.ones((4, 4)), np.int8), [0.1] * 4, [0] * 4, axis=0)
        b.output(b.pair(b.node("MatMul", b.pair(b.input("x", 2, 4), 0.1, 0), w, name="n"), 0.1, 0))
        return b.model()

    def negative_scale():
        b = Builder()
        b.output(b.pair(b.input("x", 4), -0.1, 0))
        return b.model()

    def sixteen_bits():
        b = Builder(21)
        b.output(b.pair(b.input("x", 4), 0.1, 0, np.int16))
        return b.model()

    def too_far_apart():
        b = Builder()
        w = b.dequantize(b.constant(np.ones((4, 4)), np.int8), 1e6, 0)
        b.output(b.pair(b.node("MatMul", b.pair(b.input("x", 2, 4), 1e6, 0), w, name="n"), 1e-6, 0))
        return b.model()

    for build, named in (
        (dynamic, "statically"), (asymmetric, "symmetrically"), (wrong_axis, "axis 0"),
        (negative_scale, "not positive"), (sixteen_bits, "int16"), (too_far_apart, "2^24"),
    ):  # fmt: skip
        text = refused(lambda build=build: from_model(build()))
        assert text.startswith("Node ") and named in text


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


@pytest.mark.parametrize(
    ("op", "shape", "inputs", "attributes", "named"),
    [
        ("Conv", (1, 4, 8, 8), (ones(8, 3, 3, 3),), {}, "(8, 3, 3, 3) and group=1 for 4 channels"),
        ("Conv", (1, 4, 8, 8), (ones(8, 1, 3, 3),), {"group": 3}, "group=3 for 4 channels"),
        ("Conv", (1, 4, 8, 8), (ones(6, 1, 3, 3),), {"group": 4}, "(6, 1, 3, 3) and group=4"),
        ("Conv", (1, 4, 8, 8), (ones(8, 4, 3, 3),), {"group": 0}, "group=0"),
        ("Conv", (1, 4, 8, 8), (ones(8, 4, 3, 3),), {"kernel_shape": [5, 5]}, "which kernel_shape does not say"),
        ("Conv", (1, 4, 8, 8), (ones(8, 4, 3, 3), ones(5)), {}, "of shape (5,) where (8,) is needed"),
        ("LayerNormalization", (4, 8), (ones(5),), {}, "of shape (5,) where (8,) is needed"),
        ("LayerNormalization", (4, 8), (ones(8), ones(2, 8)), {}, "of shape (2, 8) where (8,) is needed"),
        ("Gemm", (2, 8), (ones(8, 10), ones(7)), {}, "of shape (7,) where (2, 10) is needed"),
        ("Gemm", (2, 8), (ones(8, 10), ones(3, 10)), {}, "of shape (3, 10) where (2, 10) is needed"),
    ],
)
def test_constants_that_do_not_fit(op, shape, inputs, attributes, named):
    text = refused(lambda: from_model(model(op, *shape, inputs=inputs, **attributes)))
    assert text.startswith(f"Node n ({op}) has ") and named in text


def test_a_cycle_and_a_missing_tensor():
    m = model("Relu", 4)
    m.graph.node.append(helper.make_node("Add", ["b", "x"], ["a"], name="one"))
    m.graph.node.append(helper.make_node("Relu", ["a"], ["b"], name="two"))
    assert "depends on its own output" in refused(lambda: from_model(m))
    m = model("Relu", 4)
    m.graph.node[0].input[0] = "lost"
    assert "reads lost, which nothing writes" in refused(lambda: from_model(m))
