# SPDX-License-Identifier: Apache-2.0
"""Write the operators of the QOperator format as their QDQ patterns, so that one fusion serves both formats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from beatmatch.networks.errors import GraphError
from beatmatch.networks.extra import need

_DYNAMIC = ("DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "DynamicQuantizeMatMul", "MatMulIntegerToFloat")


class _Expansion:
    """Nodes and initializers that replace one quantized node."""

    def __init__(self, node: object, model: object, constants: dict[str, object]) -> None:
        self.node, self.model, self.constants = node, model, constants
        self.helper, self.numpy = need("onnx").helper, need("onnx").numpy_helper
        self.nodes: list[object] = []
        self.ins = list(node.input) + [""] * 9
        self.base = node.name or node.output[0]

    def attributes(self, *drop: str) -> dict:
        """The node's attributes but the named ones."""
        found = {a.name: self.helper.get_attribute_value(a) for a in self.node.attribute}
        return {key: value for key, value in found.items() if key not in drop}

    def real(self, value: str, scale: str, zero: str, role: str, axis: int | None = None) -> str:
        """Add a DequantizeLinear; a per-channel scale runs along `axis`."""
        name = f"{self.base}/{role}"
        extra = {} if axis is None or not self._vector(scale) else {"axis": axis}
        inputs = [value, scale, zero] if zero else [value, scale]
        self.nodes.append(self.helper.make_node("DequantizeLinear", inputs, [name], name=name, **extra))
        return name

    def bias(self, value: str, x_scale: str, w_scale: str) -> str:
        """A DequantizeLinear of an int32 bias in units of both scales; the empty name for none."""
        if not value:
            return ""
        missing = [name for name in (x_scale, w_scale) if name not in self.constants]
        if missing:
            raise GraphError(
                f"Node {self.base} ({self.node.op_type}) has a computed scale {missing[0]}; quantize the network "
                "statically, so that scales are constants."
            )
        scales = [self.numpy.to_array(self.constants[name]) for name in (x_scale, w_scale)]
        name = f"{self.base}/bias_scale"
        product = np.asarray(scales[0] * scales[1], np.float32)
        product = product.reshape(-1) if product.size > 1 else product.reshape(())
        tensor = self.numpy.from_array(product, name)
        self.model.graph.initializer.append(tensor)
        self.constants[name] = tensor
        return self.real(value, name, "", "bias", 0)

    def inner(self, op: str, inputs: list[str], scale: str, zero: str, **attributes: object) -> None:
        """Add the operator itself and its QuantizeLinear."""
        name = f"{self.base}/real"
        while inputs and not inputs[-1]:
            inputs.pop()
        quantize = [name, scale, zero] if zero else [name, scale]
        self.nodes.append(self.helper.make_node(op, inputs, [name], name=self.base, **attributes))
        self.nodes.append(
            self.helper.make_node("QuantizeLinear", quantize, [self.node.output[0]], name=f"{name}/quantize")
        )

    def _vector(self, scale: str) -> bool:
        return scale in self.constants and np.prod(self.constants[scale].dims, dtype=int) > 1


def _conv(e: _Expansion) -> None:
    x, xs, xz, w, ws, wz, ys, yz, b = e.ins[:9]
    inputs = [e.real(x, xs, xz, "x"), e.real(w, ws, wz, "weight", 0), e.bias(b, xs, ws)]
    e.inner("Conv", inputs, ys, yz, **e.attributes())


def _matmul(e: _Expansion) -> None:
    a, sa, za, b, sb, zb, ys, yz = e.ins[:8]
    e.inner("MatMul", [e.real(a, sa, za, "a"), e.real(b, sb, zb, "b", 1)], ys, yz)


def _gemm(e: _Expansion) -> None:
    a, sa, za, b, sb, zb, c, ys, yz = e.ins[:9]
    attributes = e.attributes()
    axis = 0 if attributes.get("transB") else 1
    if not ys:
        raise GraphError(f"Node {e.base} (QGemm) has a float output; quantize the network with int8 outputs.")
    e.inner("Gemm", [e.real(a, sa, za, "a"), e.real(b, sb, zb, "b", axis), e.bias(c, sa, sb)], ys, yz, **attributes)


def _binary(op: str) -> Callable[[_Expansion], None]:
    def expand(e: _Expansion) -> None:
        a, sa, za, b, sb, zb, ys, yz = e.ins[:8]
        e.inner(op, [e.real(a, sa, za, "a"), e.real(b, sb, zb, "b")], ys, yz)

    return expand


def _unary(op: str, *drop: str) -> Callable[[_Expansion], None]:
    def expand(e: _Expansion) -> None:
        if e.attributes().get("channels_last"):
            raise GraphError(
                f"Node {e.base} ({e.node.op_type}) has channels_last=1; export the network with channels first."
            )
        x, xs, xz, ys, yz = e.ins[:5]
        e.inner(op, [e.real(x, xs, xz, "x")], ys, yz, **e.attributes("channels_last", *drop))

    return expand


def _concat(e: _Expansion) -> None:
    ys, yz = e.ins[:2]
    parts = list(e.node.input)[2:]
    real = [e.real(*parts[k : k + 3], role=f"x{k // 3}") for k in range(0, len(parts), 3)]
    e.inner("Concat", real, ys, yz, **e.attributes())


_RULES: dict[str, Callable[[_Expansion], None]] = {
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "QGemm": _gemm,
    "QLinearAdd": _binary("Add"),
    "QLinearMul": _binary("Mul"),
    "QLinearConcat": _concat,
    "QLinearGlobalAveragePool": _unary("GlobalAveragePool"),
    "QLinearAveragePool": _unary("AveragePool"),
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearSoftmax": _unary("Softmax", "opset"),
}


def expand(model: object) -> object:
    """Replace QOperator nodes of a model in place; Q, DQ and Gelu of Microsoft's domain become the standard ones.

    Raises
    ------
    GraphError
        For dynamic quantization and for scales that are not constants.
    """
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type in _DYNAMIC:
            raise GraphError(
                f"Node {node.name or node.output[0]} ({node.op_type}) quantizes at run time; quantize the network "
                "statically, with calibration data."
            )
        if node.op_type in ("QuantizeLinear", "DequantizeLinear", "Gelu") and node.domain == "com.microsoft":
            node.domain = ""
        rule = _RULES.get(node.op_type)
        if rule is None:
            nodes.append(node)
            continue
        expansion = _Expansion(node, model, constants)
        rule(expansion)
        nodes += expansion.nodes
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(copies)
    return model
