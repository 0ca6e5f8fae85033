# SPDX-License-Identifier: Apache-2.0
"""The price of what the core cannot do yet: a declared host beside it that reads and writes the same memory.

Nothing here is measured or exact: it says in the open what such work is taken to cost, so that a network's total means
something, and everything priced so is marked `estimate` wherever it shows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from beatmatch.config import Config
from beatmatch.networks.graph import Graph, Node, Tensor

PASSES = {"softmax": 3, "layernorm": 3}
"""Times that each element is looked at; 1 for operators that are not here."""
PICKS = ("gather", "gather_elements", "gather_nd", "slice", "split")
"""Operators that read only what they write."""
INDEX_BYTES = {"int16": 2, "int32": 4, "int64": 8}


@dataclass(frozen=True)
class Host:
    """A vector unit beside the core.

    Parameters
    ----------
    elements_per_cycle : int
        Elements (or multiply-accumulates) in a cycle of the core.
    bytes_per_cycle : int
        To and from memory, both ways together.
    latency : int
        Cycles from a node's start to its first element.
    """

    elements_per_cycle: int
    bytes_per_cycle: int
    latency: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            low = 0 if name == "latency" else 1
            if isinstance(value, bool) or not isinstance(value, int) or value < low:
                raise ValueError(f"{name} of the host is {value!r}; it must be an integer of at least {low}.")

    @classmethod
    def beside(cls, config: Config, latency: int) -> Host:
        """As wide as the array has columns, with the bandwidth of the memory port and its latency there and back."""
        return cls(config.cols, config.mem_bytes, 2 * latency)

    def cycles(self, work: int, size: int) -> int:
        """Cycles for this many element passes and bytes."""
        return self.latency + max(-(-work // self.elements_per_cycle), -(-size // self.bytes_per_cycle))

    def to_dict(self) -> dict:
        """All fields, ready for JSON."""
        return asdict(self)


def tensor_bytes(tensor: Tensor) -> int:
    """Bytes of a tensor: indices have their type's, everything else is int8, as it is once quantized."""
    return tensor.size * INDEX_BYTES.get(tensor.dtype, 1)


def traffic(graph: Graph, node: Node) -> tuple[dict[str, int], dict[str, int]]:
    """Bytes that a node reads and writes, by tensor."""
    outs = {name: tensor_bytes(graph.tensors[name]) for name in node.outputs}
    reads = {name: tensor_bytes(graph.tensors[name]) for name in dict.fromkeys(node.inputs) if name}
    if node.op in PICKS and node.inputs[0] in reads:
        reads[node.inputs[0]] = min(reads[node.inputs[0]], sum(outs.values()))
    return reads, outs


def work(graph: Graph, node: Node) -> int:
    """Element passes of a node: multiply-accumulates for products."""
    ins = [graph.tensors[name].size for name in node.inputs if name and not graph.tensors[name].constant]
    outs = sum(graph.tensors[name].size for name in node.outputs)
    reduces = node.op in ("reduce", "avgpool", "maxpool", "concat")
    return graph.macs(node) or PASSES.get(node.op, 1) * (max([outs, *ins]) if reduces else outs)
