# SPDX-License-Identifier: Apache-2.0
"""The translation of ONNX nodes into the graph's: the reader that all rules share, and the table of rules.

A rule normalises the attributes of one operator and adds nodes. The rules themselves stand in `rules_elementwise`,
`rules_windows`, `rules_matrices` and `rules_movement`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from beatmatch.networks.errors import GraphError
from beatmatch.networks.extra import need
from beatmatch.networks.graph import Node, Tensor
from beatmatch.networks.static import Static, label

Rule = Callable[["Reader", object], None]
RULES: dict[str, Rule] = {}
"""The rule of every supported ONNX operator."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a function as the rule of some ONNX operators."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


class Reader:
    """What the rules share: tensors known so far, nodes made so far, attributes.

    Attributes
    ----------
    tensors : dict of str to Tensor
    nodes : list of Node
    stored : dict of str to str
        For a float tensor that is a dequantized constant: the name of its integers.
    """

    def __init__(self, static: Static) -> None:
        self.static = static
        self.tensors = dict(static.tensors)
        self.nodes: list[Node] = []
        self.stored: dict[str, str] = {}
        self._helper = need("onnx").helper
        self._names: set[str] = set()

    def read(self) -> None:
        """Translate every node."""
        for node in self.static.nodes:
            handler = RULES.get(node.op_type)
            if handler is None:
                raise GraphError(
                    f"{label(node)} is not supported; write it with supported operators (docs/networks.md lists them) "
                    "or cut the network before it."
                )
            handler(self, node)

    def attribute(self, node: object, name: str, default: object = None) -> object:
        """An attribute's value, texts as str."""
        for found in node.attribute:
            if found.name == name:
                value = self._helper.get_attribute_value(found)
                return value.decode() if isinstance(value, bytes) else value
        return default

    @staticmethod
    def refuse(node: object, why: str, remedy: str) -> GraphError:
        """The error for an attribute that cannot be taken."""
        return GraphError(f"{label(node)} {why}; {remedy}.")

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor."""
        return self.tensors[name].shape

    def constant(self, node: object, index: int, what: str) -> np.ndarray | None:
        """Real values of an input that must be constant, or None if it is left out."""
        if index >= len(node.input) or not node.input[index]:
            return None
        tensor = self.tensors[node.input[index]]
        if tensor.name in self.stored:
            integers = self.tensors[self.stored[tensor.name]]
            return integers.quant.dequantize(integers.values())
        if not tensor.constant:
            remedy = f"export it with constant {what}"
            raise self.refuse(node, f"computes its {what} ({tensor.name}) at run time", remedy)
        return tensor.values()

    def axis(self, node: object, default: int) -> int:
        """The attribute `axis`, made positive."""
        return int(self.attribute(node, "axis", default)) % max(1, len(self.shape(node.output[0])))

    def check_broadcast(self, node: object, index: int, shape: tuple[int, ...]) -> None:
        """Refuse an input that does not broadcast to a shape, which ONNX's own inference of shapes does not look at."""
        if index >= len(node.input) or not node.input[index]:
            return
        given = self.shape(node.input[index])
        behind = shape[len(shape) - len(given) :]
        if len(given) > len(shape) or any(n not in (1, m) for n, m in zip(given, behind, strict=True)):
            why = f"has {node.input[index]} of shape {given} where {shape} is needed"
            raise self.refuse(node, why, "export the network again")

    def is_constant(self, name: str) -> bool:
        """Whether a tensor is a constant, dequantized or not."""
        return name in self.stored or self.tensors[name].constant

    def add(self, node: object, op: str, inputs: list[str] | None = None, **attributes: object) -> None:
        """Add the graph's node for an ONNX node, with the same outputs."""
        inputs = list(node.input) if inputs is None else inputs
        self.put(node.name or node.output[0], op, inputs, [name for name in node.output if name], **attributes)

    def put(self, name: str, op: str, inputs: list[str], outputs: list[str], **attributes: object) -> None:
        """Add a node; a name in use gets a number."""
        unique, number = name, 1
        while unique in self._names:
            unique, number = f"{name}#{number}", number + 1
        self._names.add(unique)
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        self.nodes.append(Node(unique, op, tuple(inputs), tuple(outputs), attributes))

    def new(self, name: str, shape: tuple[int, ...], dtype: str = "float32", **more: object) -> str:
        """Add a tensor and give its name."""
        self.tensors[name] = Tensor(name, tuple(int(n) for n in shape), dtype, **more)
        return name
