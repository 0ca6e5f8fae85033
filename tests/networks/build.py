# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models for the tests, built node by node."""

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

FLOAT, INT8, UINT8, INT64 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT64


class Builder:
    """Nodes are added in order; every method gives the name of an output."""

    def __init__(self, opset: int = 17, name: str = "test") -> None:
        self.opset, self.name = opset, name
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def input(self, name: str, *shape: int | str, kind: int = FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, values: object, dtype: object = np.float32, name: str = "") -> str:
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def node(self, op: str, *inputs: str, count: int = 1, domain: str = "", name: str = "", **attributes) -> str | list:
        base = name or f"{op.lower()}{len(self.nodes)}"
        outs = [f"{base}_out{k}" for k in range(count)]
        self.nodes.append(helper.make_node(op, inputs, outs, name=base, domain=domain, **attributes))
        return outs[0] if count == 1 else outs

    def output(self, *names: str, kind: int = FLOAT) -> None:
        self.outputs += [helper.make_tensor_value_info(name, kind, None) for name in names]

    def quantize(self, x: str, scale: float, zero: int, dtype: object = np.int8) -> str:
        """QuantizeLinear."""
        return self.node("QuantizeLinear", x, self.constant(scale), self.constant(zero, dtype))

    def dequantize(self, q: str, scale: object, zero: object, dtype: object = np.int8, **attributes) -> str:
        """DequantizeLinear."""
        return self.node("DequantizeLinear", q, self.constant(scale), self.constant(zero, dtype), **attributes)

    def pair(self, x: str, scale: float, zero: int, dtype: object = np.int8) -> str:
        """Quantize and dequantize: an edge of a QDQ network."""
        return self.dequantize(self.quantize(x, scale, zero, dtype), scale, zero, dtype)

    def model(self) -> ModelProto:
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)
