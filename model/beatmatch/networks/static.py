# SPDX-License-Identifier: Apache-2.0
"""Give every edge of an ONNX model a static shape, and compute what depends on shapes and constants alone."""

from __future__ import annotations

import graphlib
import math
from collections.abc import Iterator

import numpy as np

from beatmatch.networks.errors import GraphError
from beatmatch.networks.extra import need
from beatmatch.networks.graph import DTYPES, Tensor
from beatmatch.networks.onnx_file import DOMAINS
from beatmatch.networks.weightless import Fill, fill_of

LARGEST_TENSOR = 2**31
"""Elements of one tensor; more is a mistake in a shape rather than a network."""
LARGEST_FOLDED = 2**27
"""Elements of a constant that is computed here."""
_LARGEST_SHOWN = 4096
"""Elements of a constant that shape inference is shown: shapes, axes and scales are far smaller."""
_KEPT = ("DequantizeLinear",)
"""Never computed here even if constant: the integers behind it are what runs."""


def label(node: object) -> str:
    """A node as errors name it."""
    return f"Node {node.name or node.output[0]} ({node.op_type})"


class Static:
    """A model whose tensors are known.

    Attributes
    ----------
    tensors : dict of str to Tensor
    nodes : list of onnx.NodeProto
        What is left to run, in order.

    Raises
    ------
    GraphError
        Naming the node whose shape cannot be inferred or is not usable.
    """

    def __init__(self, model: object) -> None:
        self.onnx = need("onnx")
        self.model = model
        opsets = {entry.domain: entry.version for entry in model.opset_import}
        self.version = opsets.get("", opsets.get("ai.onnx", 0))
        self.tensors: dict[str, Tensor] = {}
        self.nodes: list[object] = []
        for tensor in model.graph.initializer:
            self._add_initializer(tensor)
        for value in model.graph.input:
            if value.name not in self.tensors:
                kind = value.type.tensor_type
                shape = tuple(dim.dim_value for dim in kind.shape.dim)
                self._check_size(f"Input {value.name}", value.name, shape)
                self.tensors[value.name] = Tensor(value.name, shape, self._dtype(kind.elem_type, value.name))
        for node in self._ordered():
            self._visit(node)

    def _dtype(self, code: int, name: str) -> str:
        try:
            dtype = self.onnx.helper.tensor_dtype_to_np_dtype(code).name
        except KeyError:
            dtype = f"number {code}"
        if dtype not in DTYPES:
            raise GraphError(f"Tensor {name} is of type {dtype}; export or quantize it as one of {', '.join(DTYPES)}.")
        return dtype

    @staticmethod
    def _check_size(who: str, name: str, shape: tuple[int, ...]) -> None:
        if math.prod(shape) > LARGEST_TENSOR:
            raise GraphError(
                f"{who} makes {name} of shape {shape}; at most {LARGEST_TENSOR:,} elements are taken: bind or export "
                "smaller dimensions."
            )

    def _add_initializer(self, tensor: object) -> None:
        name, dtype = tensor.name, self._dtype(tensor.data_type, tensor.name)
        shape = tuple(tensor.dims)
        self._check_size("An initializer", name, shape)
        fill = fill_of(tensor)
        if fill:
            self.tensors[name] = Tensor(name, shape, dtype, fill=fill)
            return
        try:
            data = self.onnx.numpy_helper.to_array(tensor)
        except Exception as error:  # numpy and onnx raise several types for truncated or inconsistent data
            raise GraphError(
                f"Initializer {name} of shape {shape} has damaged data ({type(error).__name__}); export it again."
            ) from None
        if data.dtype.kind == "f" and np.isnan(data).any():
            users = [label(node) for node in self.model.graph.node if name in node.input]
            raise GraphError(
                f"Initializer {name}, read by {users[0] if users else 'no node'}, holds {int(np.isnan(data).sum())} "
                "NaN; train or export the network again."
            )
        self.tensors[name] = Tensor(name, shape, dtype, data=data)

    def _ordered(self) -> Iterator[object]:
        """The nodes in an order in which they can run: their own, if it is one."""
        nodes = list(self.model.graph.node)
        writer = {name: k for k, node in enumerate(nodes) for name in node.output if name}
        after = {k: {writer[n] for n in node.input if n in writer} for k, node in enumerate(nodes)}
        if all(k > max(before, default=-1) for k, before in after.items()):
            return iter(nodes)
        try:
            return iter([nodes[k] for k in graphlib.TopologicalSorter(after).static_order()])
        except graphlib.CycleError as error:
            first = label(nodes[error.args[1][0]])
            raise GraphError(f"{first} depends on its own output; export the network again.") from None

    def _visit(self, node: object) -> None:
        for name in filter(None, node.input):
            if name not in self.tensors:
                raise GraphError(f"{label(node)} reads {name}, which nothing writes; export the network again.")
        ins = [self.tensors[name] for name in node.input if name]
        if node.op_type == "Shape" and not node.attribute:
            data = np.array(ins[0].shape, np.int64)
            self.tensors[node.output[0]] = Tensor(node.output[0], data.shape, "int64", data=data)
            return
        for tensor in self._infer(node):
            self._check_size(label(node), tensor.name, tensor.shape)
            self.tensors[tensor.name] = tensor
        outs = [self.tensors[name] for name in node.output if name]
        if all(t.constant for t in ins) and node.op_type not in _KEPT and self._fold(node, ins, outs):
            return
        for tensor in outs:
            if 0 in tensor.shape:
                raise GraphError(
                    f"{label(node)} makes {tensor.name} of shape {tensor.shape}, which holds nothing; bind or export "
                    "sizes of at least 1."
                )
        self.nodes.append(node)

    def _infer(self, node: object) -> Iterator[Tensor]:
        onnx = self.onnx
        try:
            if node.domain not in ("", "ai.onnx"):
                raise onnx.defs.SchemaError
            # Gelu came to the standard in opset 20; Microsoft's of the same name may stand in an older network.
            schema = onnx.defs.get_schema(node.op_type, max(self.version, 20 if node.op_type == "Gelu" else 0), "")
        except onnx.defs.SchemaError:
            known = f"of opset {self.version}" if node.domain in DOMAINS[:2] else f"of the domain {node.domain}"
            raise GraphError(
                f"{label(node)} is no known operator {known}; export the network with standard operators."
            ) from None
        kinds, data = {}, {}
        for name in filter(None, node.input):
            tensor = self.tensors[name]
            code = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(tensor.dtype))
            kinds[name] = onnx.helper.make_tensor_type_proto(code, tensor.shape)
            if tensor.data is not None and tensor.size <= _LARGEST_SHOWN:
                data[name] = onnx.numpy_helper.from_array(np.asarray(tensor.data), name)
        opsets = [onnx.helper.make_opsetid("", schema.since_version)]
        try:
            found = onnx.shape_inference.infer_node_outputs(schema, node, kinds, data, opset_imports=opsets)
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[-1].rstrip(".")
            raise GraphError(f"{label(node)} does not fit its inputs ({reason}); export the network again.") from None
        for name in filter(None, node.output):
            kind = found[name].tensor_type if name in found else None
            dims = kind.shape.dim if kind is not None and kind.HasField("shape") else None
            if dims is None or any(dim.WhichOneof("value") != "dim_value" for dim in dims):
                raise GraphError(
                    f"{label(node)} makes {name} of a shape that depends on values; export the network so that shapes "
                    "are constants."
                )
            yield Tensor(name, tuple(dim.dim_value for dim in dims), self._dtype(kind.elem_type, name))

    def _fold(self, node: object, ins: list[Tensor], outs: list[Tensor]) -> bool:
        """Compute the outputs if possible; those of weightless constants are weightless in turn."""
        if any(tensor.fill for tensor in ins):
            for tensor in outs:
                self.tensors[tensor.name] = Tensor(tensor.name, tensor.shape, tensor.dtype, fill=Fill(tensor.name))
            return True
        if any(tensor.size > LARGEST_FOLDED for tensor in outs) or node.op_type.startswith("Random"):
            return False
        results = self._evaluated(node, ins, outs)
        for tensor, result in zip(outs, results, strict=True):
            data = np.asarray(result)
            self.tensors[tensor.name] = Tensor(tensor.name, data.shape, data.dtype.name, data=data)
        return True

    def _evaluated(self, node: object, ins: list[Tensor], outs: list[Tensor]) -> list[np.ndarray]:
        """Values of a node's outputs by ONNX's own evaluator."""
        helper = self.onnx.helper
        if node.op_type == "GatherElements":  # the evaluator wants more data than indices
            axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
            return [np.take_along_axis(ins[0].data, ins[1].data % ins[0].shape[axis], axis)]
        infos = {
            t.name: helper.make_tensor_value_info(t.name, helper.np_dtype_to_tensor_dtype(np.dtype(t.dtype)), t.shape)
            for t in (*ins, *outs)
        }
        unique = [infos[name] for name in dict.fromkeys(t.name for t in ins)]
        graph = helper.make_graph([node], "fold", unique, [infos[t.name] for t in outs])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.version)])
        try:
            return need("onnx.reference").ReferenceEvaluator(model).run(None, {t.name: t.data for t in ins})
        except Exception as error:  # the evaluator raises whatever numpy does
            raise GraphError(f"{label(node)} of constants cannot be computed ({error}); export it again.") from None
