# SPDX-License-Identifier: Apache-2.0
"""Nodes of the core as one program: tensors stay on the chip while there is room and a later node reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from beatmatch.compiler.builder import CompileError
from beatmatch.compiler.requant import fitting_requant
from beatmatch.compiler.schedule import Touch
from beatmatch.config import Config
from beatmatch.isa.fields import Opcode
from beatmatch.memory import MemoryTiming
from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph, Node, Tensor
from beatmatch.networks.lowering.activations import emit_activations
from beatmatch.networks.lowering.data import pack, results
from beatmatch.networks.lowering.emitter import SP, TRANSFER, Emitter
from beatmatch.networks.lowering.layout import Buffer, Value
from beatmatch.networks.lowering.outputs import fits_pitch
from beatmatch.networks.lowering.placement import Placement, Step, second_operand
from beatmatch.networks.lowering.products import Product, emit_product
from beatmatch.networks.lowering.scratchpad import DoesNotFit
from beatmatch.networks.lowering.vectors import Elementwise, emit_vector
from beatmatch.networks.lowering.windows import Window
from beatmatch.networks.scales import AddRequant, Requant
from beatmatch.program import Program

RESERVES = (8, 4, 2, 1)
"""Parts of the scratchpad that tensors leave to bands and weights, as 1/n: the first that works is taken."""


@dataclass
class Lowered:
    """The program of some nodes.

    Attributes
    ----------
    program : Program
    labels : list of str
        The node of every instruction, ``""`` for none.
    steps : list of Step
    notes : dict of str to str
        How each node was cut.
    moved, work : Counter
        As the emitter keeps them.
    """

    program: Program
    labels: list[str]
    steps: list[Step]
    notes: dict[str, str]
    moved: Counter
    work: Counter


def lower(
    placement: Placement,
    steps: Sequence[Step],
    config: Config,
    timing: MemoryTiming | None = None,
    feeds: Mapping[str, np.ndarray] | None = None,
    weight_timing: MemoryTiming | None = None,
) -> Lowered:
    """One program for nodes of the core that follow each other.

    Parameters
    ----------
    placement : Placement
    steps : sequence of Step
        Of the core, in an order in which they can run.
    config : Config
    timing : MemoryTiming or None
        None takes the preset's.
    feeds : mapping of str to ndarray, optional
        int8 values of the tensors that come from outside: the program then holds them and its weights, and its results
        are the tensors that leave it. Without, it has no data: cycles and traffic only.
    weight_timing : MemoryTiming or None
        Of the memory behind a weight port; None takes the preset's.

    Raises
    ------
    GraphError
        If a node does not fit on the chip, whatever leaves it, or values are asked of a node that is not int8.
    """
    for step in steps if feeds is not None else ():
        if any(placement.graph.tensors[name].dtype != "int8" for name in step.node.outputs):
            raise GraphError(f"Node {step.node.name} ({step.node.op}) is not int8: quantize the network for values.")
    try:
        memories = (timing, weight_timing)
        _Lowering(placement, steps, config, memories, None, config.sp_words, dry=True).look()
        for part in RESERVES:
            try:
                return _Lowering(placement, steps, config, memories, feeds, config.sp_words // part).run()
            except (DoesNotFit, CompileError) as refusal:
                problem = refusal
        raise problem
    except (DoesNotFit, CompileError) as refusal:
        raise GraphError(
            f"{refusal} Take a configuration with a larger scratchpad (sp_words), or a smaller network."
        ) from None


class _Lowering:
    def __init__(self, placement, steps, config, memories, feeds, reserve, dry=False) -> None:
        self.graph: Graph = placement.graph
        self.values: dict[str, Value] = placement.values
        self.steps, self.config, self.feeds = list(steps), config, feeds
        self.inside = {name for step in steps for name in step.node.outputs}
        self.leaving = self._leaving(placement)
        self.readers: Counter = Counter()
        for step in steps:
            self.readers.update(set(self._read(step.node)))
        self.outside = list(dict.fromkeys(
            buffer for step in steps for buffer in self._read(step.node) if buffer.tensor not in self.inside
        ))  # fmt: skip
        outputs = [self._output(step.node) for step in steps]
        origin = f"{self.graph.name}: {steps[0].node.name}" + (f" and {len(steps) - 1} more" if len(steps) > 1 else "")
        buffers = list(dict.fromkeys([*self.outside, *outputs]))
        timing, weight_timing = memories
        self.emitter = Emitter(config, timing, origin, buffers, reserve, feeds is not None, dry, weight_timing)
        self.stored: set[Buffer] = set()

    def _read(self, node: Node) -> list[Buffer]:
        names = dict.fromkeys(name for name in node.inputs if name in self.values)
        return [buffer for name in names for buffer in self.values[name].buffers]

    def _output(self, node: Node) -> Buffer:
        return self.values[node.outputs[0]].pieces[0].buffer

    def _leaving(self, placement: Placement) -> set[Buffer]:
        """Buffers that something outside of this program reads: other nodes, or whoever takes the outputs."""
        own = {id(step.node) for step in self.steps}
        leaving = {buffer for name in self.graph.outputs if name in self.values for buffer in self.values[name].buffers}
        for step in placement.steps:
            if id(step.node) not in own and step.where != "free":
                leaving.update(self._read(step.node))
        return leaving

    def look(self) -> None:
        """Raise DoesNotFit with the first node that has no room even if it has all of it."""
        for step in self.steps:
            self._node(step)

    def run(self) -> Lowered:
        emitter, notes = self.emitter, {}
        if self._has_gaps():
            self._fill()
        for step in self.steps:
            emitter.schedule.label = step.node.name
            notes[step.node.name] = ", ".join(filter(None, [step.note, self._node(step)]))
            self._release(step)
        emitter.schedule.label = ""
        emitter.count("waits", "program", "read", emitter.schedule.bridges * emitter.spare * self.config.lanes)
        emitter.schedule.emit()
        if self.feeds is not None:
            self._place_data()
        program = emitter.build.finish()
        return Lowered(program, emitter.schedule.labels, self.steps, notes, emitter.moved, emitter.work)

    # ----- the chip -----

    def _has_gaps(self) -> bool:
        """Whether bytes are read with a word that no instruction writes."""
        config = self.config
        return max(config.lanes, config.mem_bytes) > config.cols

    def _fill(self) -> None:
        """Zeros for them."""
        emitter, lanes = self.emitter, self.config.lanes
        zeros = emitter.build.region(TRANSFER, bytes(TRANSFER))
        step = TRANSFER // lanes
        for first in range(0, self.config.sp_words, step):
            count = min(step, self.config.sp_words - first)
            emitter.schedule.add(
                Opcode.LOAD, writes=[Touch(SP, first, count)], transfer=True, local=first, region=zeros, offset=0,
                rows=1, row_bytes=count * lanes, stride=0, local_stride=0,
            )  # fmt: skip
            emitter.count("zeros", "program", "read", count * lanes)

    def _admit(self, buffers: list[Buffer]) -> None:
        """Bring operands from memory to the chip where there is room."""
        emitter = self.emitter
        for buffer in buffers:
            if buffer.chip is None:
                first = emitter.room.tensor(buffer.words)
                if first is not None:
                    emitter.move(Opcode.LOAD, buffer, 0, first, 1, buffer.words, 0, 0)
                    buffer.chip = first

    def _release(self, step: Step) -> None:
        for buffer in set(self._read(step.node)):
            self.readers[buffer] -= 1
            self._drop(buffer)
        self._drop(self._output(step.node))

    def _drop(self, buffer: Buffer) -> None:
        if not self.readers[buffer] and buffer.chip is not None:
            self.emitter.room.release(buffer.chip, buffer.words)
            buffer.chip = None

    # ----- nodes -----

    def _node(self, step: Step) -> str:
        try:
            return self._emit(step)
        except DoesNotFit as refusal:
            where = f"Node {step.node.name} ({step.node.op})"
            raise DoesNotFit(f"{where} does not fit on the chip: {refusal}.") from None

    def _emit(self, step: Step) -> str:
        node, out = step.node, self._output(step.node)
        self._admit(list(dict.fromkeys(self._read(node))))
        y = self.values[node.outputs[0]]
        if self.readers[out] and fits_pitch(y.pieces[0], self.config.col_parts):
            out.chip = self.emitter.room.tensor(out.words)
        stored = out in self.leaving or out.chip is None
        if stored:
            self.stored.add(out)
        operands = [self.values[name] for name in node.inputs if name in self.values]
        if node.op in ("conv", "dense"):
            return emit_product(self.emitter, self._product(step), operands[0], y, stored)
        if node.op == "matmul":
            requant = node.requant or fitting_requant(self.graph.tensors[node.inputs[0]].shape[-1])
            return emit_activations(self.emitter, requant, *operands, y, stored)
        what, operands = self._elementwise(node, operands)
        return emit_vector(self.emitter, what, operands, y, stored)

    def _product(self, step: Step) -> Product:
        node, tensor = step.node, self.graph.tensors[step.node.inputs[1]]
        x = self.graph.tensors[node.inputs[0]]
        zero = int(x.quant.zero_point) if x.quant is not None else 0
        requant = node.requant or self._placeholder(tensor, node)
        if node.op == "dense":
            return Product(tensor.name, lambda: tensor.values().T[:, :, None, None], requant=requant)
        if step.patches:
            return Product(tensor.name, lambda: _rows(tensor)[:, :, None, None], requant=requant)
        window = Window.of(node.attributes)
        shape = tensor.shape[:2] + window.kernel
        groups = node.attributes["groups"]
        return Product(tensor.name, lambda: tensor.values().reshape(shape), window, groups, zero, requant)

    def _placeholder(self, weight: Tensor, node: Node) -> Requant:
        """Parameters per channel for a float layer, which says none: time depends on how many there are only."""
        channels = weight.shape[0] if node.op == "conv" else weight.shape[1]
        return Requant(bias=np.zeros(channels, np.int64))

    def _elementwise(self, node: Node, operands: list[Value]) -> tuple[Elementwise, list[Value]]:
        requant = node.requant
        if node.op == "add":
            if requant is None:
                requant = AddRequant(1, 1, 0, 1, 0)
            first, second = requant.multiplier_a, requant.multiplier_b
            operands = operands * 2 if len(operands) == 1 else operands
            if second and second_operand(*operands, self.config) == 0:
                operands, first, second = operands[::-1], second, first
            scale = Requant(requant.bias, first, requant.shift, requant.zero_point, requant.low, requant.high)
            return Elementwise(Opcode.ADD, requant=scale, multiplier_b=second), operands
        if node.op == "maxpool":
            return Elementwise(Opcode.MAXPOOL, Window.of(node.attributes)), operands
        if node.op == "avgpool":
            return Elementwise(Opcode.AVGPOOL, Window.of(node.attributes), requant or Requant(shift=4)), operands
        if node.op == "batchnorm":
            channels = operands[0].channels
            return Elementwise(Opcode.REQUANT, requant=Requant(bias=np.zeros(channels, np.int64))), operands
        return Elementwise(Opcode.REQUANT, requant=requant or Requant()), operands[:1]

    # ----- data -----

    def _place_data(self) -> None:
        emitter, region = self.emitter, self.emitter.activations
        for buffer in self.outside:
            name = buffer.tensor
            patches = next((s.node for s in self.steps if s.patches and s.node.inputs[0] == name), None)
            data = pack(self.feeds[name], self.values[name], self.graph.tensors[name], patches, self.config)
            emitter.build.place(region, buffer.memory, data)
        for name in dict.fromkeys(name for step in self.steps for name in step.node.outputs):
            buffer = self.values[name].pieces[0].buffer
            if buffer in self.stored and buffer in self.leaving:
                found = results(name, region.address + buffer.memory, self.values[name], self.config)
                emitter.build.results.update(found)


def _rows(tensor: Tensor) -> np.ndarray:
    """Weights of a convolution over patches, [out channels, in channels * taps]."""
    return tensor.values().reshape(tensor.shape[0], -1)
