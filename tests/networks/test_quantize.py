# SPDX-License-Identifier: Apache-2.0
"""Quantization by onnxruntime: its own result is taken node by node, and made once per content."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime import quantization

from beatmatch.networks import library, quantize
from beatmatch.networks.errors import GraphError
from beatmatch.networks.onnx_import import from_model
from beatmatch.networks.quantize import quantized, sample_inputs
from beatmatch.networks.reference import execute
from tests.networks.build import Builder
from tests.networks.compare import differences, signed


def network() -> tuple[onnx.ModelProto, list[dict[str, np.ndarray]]]:
    """A small float network with a residual connection, and calibration data."""
    rng = np.random.default_rng(11)
    b = Builder()
    x = b.input("x", 1, 3, 12, 12)

    def conv(source: str, out: int, into: int, **attributes: object) -> str:
        weight, bias = b.constant(rng.normal(size=(out, into, 3, 3)) / 4), b.constant(rng.normal(size=out) / 4)
        return b.node("Conv", source, weight, bias, pads=[1, 1, 1, 1], **attributes)

    first = b.node("Relu", conv(x, 8, 3, strides=[2, 2]))
    second = b.node("Relu", b.node("Add", conv(first, 8, 8), first))
    pooled = b.node("MaxPool", second, kernel_shape=[2, 2], strides=[2, 2])
    joined = b.node("Concat", pooled, b.node("Sigmoid", pooled), axis=1)
    flat = b.node("Flatten", b.node("GlobalAveragePool", joined))
    b.output(b.node("Gemm", flat, b.constant(rng.normal(size=(16, 10))), b.constant(rng.normal(size=10))))
    return b.model(), [{"x": rng.normal(size=(1, 3, 12, 12)).astype(np.float32)} for _ in range(4)]


def test_a_quantized_network_is_int8_and_right_node_by_node(tmp_path):
    model, samples = network()
    made = quantized(model, samples, folder=tmp_path)
    graph = from_model(made)
    inner = [node for node in graph.nodes if node.op not in ("quantize", "dequantize")]
    assert all(graph.tensors[node.outputs[0]].dtype == "int8" for node in inner)
    assert graph.total_macs == from_model(model).total_macs
    assert max(differences(made, samples[0]).values()) <= 1


def test_the_other_format_is_right_node_by_node(tmp_path):
    model, samples = network()

    class Reader(quantization.CalibrationDataReader):
        left = iter(samples)

        def get_next(self):
            return next(self.left, None)

    onnx.save(model, str(tmp_path / "float.onnx"))
    target = str(tmp_path / "qoperator.onnx")
    quantization.quantize_static(str(tmp_path / "float.onnx"), target, Reader(), per_channel=True,
                                 quant_format=quantization.QuantFormat.QOperator)  # fmt: skip
    made = onnx.load(target)
    assert any(node.op_type == "QLinearConv" for node in made.graph.node)
    assert max(differences(made, samples[0]).values()) <= 1


def test_whole_networks_have_the_top_1_of_onnxruntime(tmp_path):
    model, samples = network()
    made = quantized(model, samples, folder=tmp_path)
    graph = from_model(made)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for feeds in samples:
        ours = execute(graph, {name: signed(value) for name, value in feeds.items()})[graph.outputs[0]]
        assert ours.argmax() == session.run(None, feeds)[0].argmax()


def test_the_same_content_is_quantized_once(tmp_path, monkeypatch):
    model, samples = network()
    first = quantized(model, samples, folder=tmp_path)
    monkeypatch.setattr(quantize, "_quantize", lambda *_: pytest.fail("it was quantized again"))
    assert quantized(model, samples, folder=tmp_path).SerializeToString() == first.SerializeToString()
    monkeypatch.undo()
    other = [{"x": samples[0]["x"] * 2}]
    quantized(model, other, folder=tmp_path)
    assert len(list(tmp_path.glob("*.onnx"))) == 2


def test_real_weights_need_calibration_data(tmp_path):
    with pytest.raises(GraphError, match="needs calibration data"):
        quantized(network()[0], folder=tmp_path)


def test_what_onnxruntime_cannot_quantize_is_a_sentence(tmp_path):
    model, samples = network()
    samples[0]["x"] = samples[0]["x"][:, :2]
    with pytest.raises(GraphError, match=r"^onnxruntime cannot quantize the network \(.*its own tools\.$"):
        quantized(model, samples, folder=tmp_path)
    assert not list(tmp_path.glob("*.onnx"))


def test_a_weightless_network_is_quantized_from_its_seed(tmp_path):
    model = onnx.load(str(library.path_of("squeezenet1_1")), load_external_data=False)
    made = quantized(model, folder=tmp_path)
    graph = from_model(made)
    assert graph.total_macs == library.reference_macs()["squeezenet1_1"]
    assert max(differences(made, sample_inputs(model, 1)[0]).values()) <= 1
