# SPDX-License-Identifier: Apache-2.0
"""A network in, where its cycles went out: programs of the core on the fast tier, and priced work between them."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from beatmatch import fidelity
from beatmatch.accounting import Accounting
from beatmatch.compiler.builder import default_timing, default_weight_timing, round_up
from beatmatch.config import Config
from beatmatch.fast import run_fast
from beatmatch.isa.encode import OPCODE_MASK
from beatmatch.isa.fields import ENGINE_OF, INSTRUCTION_BYTES, Engine, Opcode
from beatmatch.memory import MemoryTiming
from beatmatch.networks.errors import GraphError
from beatmatch.networks.estimates import Host, tensor_bytes, traffic, work
from beatmatch.networks.graph import Graph, Node
from beatmatch.networks.lowering.placement import CORE, ESTIMATE, FREE, Placement, Step, place
from beatmatch.networks.lowering.program import Lowered, lower
from beatmatch.networks.result import LayerResult, NetworkResult, Traffic


def time_network(
    graph: Graph,
    config: Config,
    timing: MemoryTiming | None = None,
    host: Host | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    weight_timing: MemoryTiming | None = None,
) -> NetworkResult:
    """Cycles, accounting and memory traffic of a network, by layer.

    Parameters
    ----------
    graph : Graph
        Float layers count as the int8 layers that they become when they are quantized.
    config : Config
    timing : MemoryTiming or None
        None takes the preset's.
    host : Host or None
        Prices what the core cannot do; None takes one as wide as the array.
    progress : callable or None
        Called with nodes done, all nodes, and the name of the node that comes next.
    weight_timing : MemoryTiming or None
        Of the memory behind a weight port; None takes the preset's.

    Raises
    ------
    GraphError
        If a layer does not fit on the chip.
    """
    return _Timer(graph, config, timing, host, progress, weight_timing).run(True)


def time_layer(
    graph: Graph, node: Node, config: Config, timing: MemoryTiming | None = None, host: Host | None = None
) -> LayerResult:
    """One node alone, its operands and results in memory; parameters as `time_network`."""
    alone = Graph(node.name, graph.tensors, [node], _operands(graph, node), list(node.outputs), graph.source)
    (layer,) = _Timer(alone, config, timing, host, None).run(False).layers
    return layer


def _operands(graph: Graph, node: Node) -> list[str]:
    return [name for name in dict.fromkeys(node.inputs) if name and not graph.tensors[name].constant]


def parts(placement: Placement) -> Iterator[tuple[str, list[Step]]]:
    """Nodes in an order in which they can run: (``core``, nodes of one program) and (``estimate``, nodes) in turn.

    What can run without an estimate runs first, so that programs are long.
    """
    graph = placement.graph
    known = {name for name, tensor in graph.tensors.items() if tensor.constant} | set(graph.inputs) | {""}
    left = placement.steps
    kinds = (CORE, ESTIMATE)
    while left:
        moved = False
        for kind in kinds:
            found, rest = [], []
            for step in left:
                if step.where in (kind, FREE) and known.issuperset(step.node.inputs):
                    known.update(step.node.outputs)
                    found.append(step)
                else:
                    rest.append(step)
            left = rest
            if found:
                moved = True
                yield kind, found
        if not moved:
            raise GraphError(f"Node {left[0].node.name} reads what nothing before it writes.")


@dataclass
class _Sums:
    """What is known of the memory's traffic so far."""

    rows: list[Traffic]
    counted: set[tuple[bool, str]]


class _Timer:
    def __init__(self, graph, config, timing, host, progress, weight_timing=None) -> None:
        self.graph, self.config = graph, config
        self.timing = timing or default_timing(config)
        self.weight_timing = (weight_timing or default_weight_timing(config)) if config.weight_port else None
        self.host = host or Host.beside(config, self.timing.read_latency)
        self.progress = progress or (lambda done, total, name: None)
        self.sums = _Sums([], set())
        self.leaving: Counter = Counter()
        self.layers: list[LayerResult] = []
        self.now = 0
        self.reasons: list[str] = []

    def run(self, host: bool) -> NetworkResult:
        began = time.process_time()
        placement = place(self.graph, self.config, host)
        self.leaving = _leaving(placement)
        total = len(placement.steps)
        for kind, steps in parts(placement):
            self.progress(len(self.layers), total, steps[0].node.name)
            if kind == ESTIMATE:
                for step in steps:
                    self._free(step) if step.where == FREE else self._price(step)
                continue
            core = [step for step in steps if step.where == CORE]
            if core:
                self._core(lower(placement, core, self.config, self.timing, None, self.weight_timing))
            for step in steps:
                if step.where == FREE:
                    self._free(step)
        self.progress(total, total, "")
        spent = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        reason = self.reasons[0] if self.reasons else ""
        return NetworkResult(
            self.graph.name, self.graph.source, self.config, self.timing.to_dict(), self.layers, self.sums.rows,
            round(spent, 3), round(peak, 1), reason, self._options(),
        )  # fmt: skip

    def _options(self) -> dict:
        """What the result depends on besides configuration and memory."""
        found: dict = {"host": self.host.to_dict()}
        if self.weight_timing is not None:
            found["weight_memory"] = self.weight_timing.to_dict()
        return found

    # ----- the core -----

    def _core(self, lowered: Lowered) -> None:
        result = run_fast(lowered.program)
        if result.error:
            raise GraphError(
                f"The program of {lowered.program.origin} stopped with {result.error.name} at instruction "
                f"{result.error_seq}: please report it with the network and the configuration."
            )
        standing = fidelity.of(self.config, lowered.program, result.error)
        if not standing.exact or not self.reasons:
            self.reasons.insert(0, standing.reason)
        names = [step.node.name for step in lowered.steps]
        ends = _ends(lowered, result, names)
        found = result.events.accounting([result.start, *(result.start + end for end in ends)])
        rows = self._ledger(lowered)
        made = window_macs(
            [
                (lowered.work[name, "tile_rows"], self.graph.macs(step.node))
                for name, step in zip(names, lowered.steps, strict=True)
            ],
            [accounting.active for accounting in found],
        )
        start = 0
        for step, end, accounting, macs in zip(lowered.steps, ends, found, made, strict=True):
            self._layer(step, start, end, accounting, rows[step.node.name], lowered, standing.label, macs)
            start = end
        self.now += result.cycles

    def _layer(self, step: Step, start: int, end: int, accounting: Accounting, rows, lowered, label: str, made) -> None:
        node = step.node
        macs = self.graph.macs(node)
        active, lanes = (lowered.work[node.name, key] for key in ("tile_rows", "lanes"))
        fill_cols = lanes / (active * self.config.cols) if active else 0.0
        fill_rows = macs / (active * self.config.peak_macs * fill_cols) if active else 0.0
        self.layers.append(LayerResult(
            node.name, node.op, CORE, self.graph.tensors[node.outputs[0]].shape, macs, self.now + start, self.now + end,
            accounting, sum(row.read for row in rows), sum(row.written for row in rows),
            sum(row.minimum for row in rows), label, lowered.notes[node.name], fill_rows, fill_cols, made,
            node.attributes.get("groups", 1),
        ))  # fmt: skip

    def _ledger(self, lowered: Lowered) -> dict[str, list[Traffic]]:
        """Traffic of every layer of a program; the instructions themselves are its first layer's."""
        first = lowered.steps[0].node.name
        moved = Counter(lowered.moved)
        size = (1 + len(lowered.program.instructions)) * INSTRUCTION_BYTES
        moved[first, "instructions", "program", "read"] += round_up(size, self.config.mem_bytes)
        rows: dict[str, list[Traffic]] = {step.node.name: [] for step in lowered.steps}
        for layer, tensor, kind in dict.fromkeys((key[0] or first, *key[1:3]) for key in moved):
            read, written = (
                sum(moved[owner, tensor, kind, way] for owner in {layer, "" if layer == first else layer})
                for way in ("read", "written")
            )
            row = self._row(tensor, kind, layer, read, written)
            rows[layer].append(row)
        return rows

    def _row(self, tensor: str, kind: str, layer: str, read: int, written: int) -> Traffic:
        """A row of the traffic table; the minimum counts once per tensor, and only for what has to move."""
        graph, minimum = self.graph, 0
        if kind == "activation":
            kind = "input" if tensor in graph.inputs else "output" if tensor in self.leaving else kind
        key = (kind == "parameters", tensor)  # nodes are often called as their outputs
        if key not in self.sums.counted and kind in ("input", "output", "weights"):
            self.sums.counted.add(key)
            minimum = min(tensor_bytes(graph.tensors[tensor]), read + written)  # a table of which rows are picked
            if kind == "output":
                minimum = min(minimum, self.leaving[tensor])
        if kind == "parameters":
            (node,) = (node for node in graph.nodes if node.name == tensor)
            minimum = 8 * self._channels(node) if key not in self.sums.counted else 0
            self.sums.counted.add(key)
        self.sums.rows.append(row := Traffic(tensor, kind, layer, read, written, minimum))
        return row

    def _channels(self, node: Node) -> int:
        """Channels whose scaling differs."""
        tensor = self.graph.tensors[node.inputs[1]] if node.op in ("conv", "dense") else None
        if tensor is None:
            return 1
        return tensor.shape[0] if node.op == "conv" else tensor.shape[1]

    # ----- beside the core -----

    def _free(self, step: Step) -> None:
        node = step.node
        shape = self.graph.tensors[node.outputs[0]].shape
        self.layers.append(LayerResult(
            node.name, node.op, FREE, shape, 0, self.now, self.now, None, 0, 0, 0, "free", step.note
        ))  # fmt: skip

    def _price(self, step: Step) -> None:
        node, graph = step.node, self.graph
        reads, outs = traffic(graph, node)
        rows = [self._row(name, self._kind(name), node.name, size, 0) for name, size in reads.items()]
        rows += [self._row(name, self._kind(name), node.name, 0, size) for name, size in outs.items()]
        cycles = self.host.cycles(work(graph, node), sum(reads.values()) + sum(outs.values()))
        self.layers.append(LayerResult(
            node.name, node.op, ESTIMATE, graph.tensors[node.outputs[0]].shape, graph.macs(node), self.now,
            self.now + cycles, None, sum(row.read for row in rows), sum(row.written for row in rows),
            sum(row.minimum for row in rows), ESTIMATE, step.note,
        ))  # fmt: skip
        self.now += cycles

    def _kind(self, name: str) -> str:
        return "weights" if self.graph.tensors[name].constant else "activation"


def _leaving(placement: Placement) -> Counter:
    """Bytes of the network's outputs by the tensor that holds them, of which they may be views."""
    graph, found = placement.graph, Counter()
    for name in dict.fromkeys(graph.outputs):
        value = placement.values.get(name)
        if value is None:
            continue
        for piece in value.pieces:
            channels = int((piece.channels >= 0).sum())
            found[piece.buffer.tensor] += tensor_bytes(graph.tensors[name]) * channels // value.channels
    return found


def window_macs(layers: Sequence[tuple[int, int]], windows: Sequence[int]) -> list[float]:
    """Multiply-accumulates in each window, from (array rows, multiply-accumulates) of each layer.

    Parameters
    ----------
    layers : sequence of (int, int)
        In the order in which the array takes them; a layer's rows share its multiply-accumulates equally.
    windows : sequence of int
        Cycles of each window in which a row entered the array; together the rows of all layers.
    """
    left = [[rows, macs / rows] for rows, macs in layers if rows]
    made = []
    for active in windows:
        macs = 0.0
        while active:
            rows = min(active, left[0][0])
            macs += rows * left[0][1]
            active -= rows
            left[0][0] -= rows
            if not left[0][0]:
                left.pop(0)
        made.append(macs)
    return made


def _ends(lowered: Lowered, result, names: list[str]) -> list[int]:
    """The cycle after each node's last result, from the program's start; the last node's is the program's end."""
    latest = dict.fromkeys(names, 0)
    engines = [ENGINE_OF[Opcode(word & OPCODE_MASK)] for word in lowered.program.instructions]
    for engine in (Engine.MATMUL, Engine.VECTOR):
        owners = [label for label, one in zip(lowered.labels, engines, strict=True) if one is engine]
        cycles, _ = result.events.words(engine.name.lower(), "retire")
        for owner, cycle in zip(owners, (cycles - result.start + 1).tolist(), strict=True):
            if owner:
                latest[owner] = max(latest[owner], cycle)
    ends, now = [], 0
    for name in names:
        now = max(now, latest[name])
        ends.append(now)
    ends[-1] = result.cycles
    return ends
