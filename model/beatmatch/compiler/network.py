# SPDX-License-Identifier: Apache-2.0
"""Whole networks, and single convolutions, as one program per batch.

Weights, parameters and images are loaded, all layers run, the last output is stored; activations never leave the
chip. Images go through the layers in groups, layer by layer, so that the engines overlap; a convolution is one matmul
instruction per image, with no copy of its activations. Semaphores come from the data flow (`Schedule`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beatmatch import digits, numerics
from beatmatch.compiler.builder import Builder, CompileError, Region, round_up
from beatmatch.compiler.layers import Add, Conv, Dense, Layer, Shape, from_digits
from beatmatch.compiler.lower import Lowering
from beatmatch.compiler.plan import Plan, Tensor, make_plan, param_rows, tiles_of
from beatmatch.compiler.schedule import Schedule, Touch
from beatmatch.compiler.tiles import weight_tiles
from beatmatch.config import Config
from beatmatch.isa.fields import Opcode, Space
from beatmatch.memory import MemoryTiming
from beatmatch.program import Program, Result

SP, ACC, PARAM = Space.SCRATCHPAD, Space.ACCUMULATOR, Space.PARAMETER


def compile_digits(
    network: digits.Network,
    images: np.ndarray,
    config: Config,
    timing: MemoryTiming | None = None,
    labels: list[str] | None = None,
) -> Program:
    """A packaged network over a batch of quantized images, int8 [N, 8, 8, 1]; its result is named ``logits``."""
    layers = from_digits(network.layers)
    return compile_network(layers, network.layers[0].input.name, images, config, timing, network.name, labels)


def compile_network(
    layers: Sequence[Layer],
    name: str,
    x: np.ndarray,
    config: Config,
    timing: MemoryTiming | None = None,
    origin: str = "network",
    labels: list[str] | None = None,
) -> Program:
    """A program that runs ``layers`` over a batch.

    Parameters
    ----------
    layers : sequence of Layer
        In execution order.
    name : str
        What the layers call the input.
    x : ndarray of int8, [N, H, W, C]
    config : Config
    timing : MemoryTiming or None
        None takes the preset's.
    origin : str
    labels : list of str or None
        Filled with the layer of every instruction, ``""`` for those that belong to none: reports show them.

    Returns
    -------
    Program
        Its result has the last layer's name and is [N, H, W, F], int8 (int32 if that layer is raw).

    Raises
    ------
    CompileError
        If an image does not fit on the chip, or a size does not fit its field.
    """
    x = np.asarray(x)
    if x.ndim != 4 or x.dtype != np.int8 or 0 in x.shape:
        raise ValueError(f"The input must be int8 [N, H, W, C] and not empty; it is {x.dtype} {x.shape}.")
    network = _Network(list(layers), name, x, config, timing, f"{origin}, batch {len(x)}")
    program = network.program()
    if labels is not None:
        labels[:] = network.schedule.labels
    return program


class _Network(Lowering):
    def __init__(self, layers: list[Layer], name: str, x: np.ndarray, config: Config, timing, origin: str) -> None:
        self.config, self.layers, self.batch = config, layers, len(x)
        consumers = [layer for layer in layers if name in layer.inputs]
        if all(isinstance(layer, Dense) for layer in consumers):  # flattened: whole words instead of one per pixel
            x = x.reshape(len(x), 1, 1, -1)
        shape = Shape(*x.shape[1:])
        self.build = Builder(config, timing, origin)
        self.schedule = Schedule(self.build)
        self.name = name
        self.plan: Plan = make_plan(layers, name, shape, len(x), config)
        self.tensors = self.plan.tensors
        self.images = self._place_images(x)
        self.params = self._place_params()
        self.weights = self._place_weights()
        self.blocks = 0
        last = self.tensors[layers[-1].name]
        self.output = self.build.region(last.size * config.lanes * self.batch)
        shape, item = last.shape, last.item
        position = last.words * config.lanes
        strides = (last.size * config.lanes, shape.width * position, position, item)
        kind = "int32" if item == 4 else "int8"
        self.build.results[layers[-1].name] = Result(
            self.output.address, kind, (self.batch, shape.height, shape.width, shape.channels), strides
        )

    # ----- memory -----

    def _place_images(self, x: np.ndarray) -> tuple[Region, int]:
        """Images position by position in whole words, and the bytes of one (whole beats)."""
        words = self.tensors[self.name].words * self.config.lanes
        padded = np.zeros((*x.shape[:3], words), np.int8)
        padded[..., : x.shape[3]] = x
        flat = padded.reshape(len(x), -1)
        pitch = round_up(flat.shape[1], self.config.mem_bytes)
        table = np.zeros((len(x), pitch), np.int8)
        table[:, : flat.shape[1]] = flat
        return self.build.region(0, table.tobytes()), pitch

    def _place_params(self) -> tuple[Region, dict[str, int], int]:
        """All parameter rows one after the other, the first row of each layer, and the pitch."""
        cols = self.config.cols
        rows, first = [], {}
        for layer in self.layers:
            first[layer.name] = sum(len(part) for part in rows)
            rows.append(layer.requant.rows(layer.shape.channels, cols))
            if isinstance(layer, Add):
                second = numerics.pack_parameters(np.zeros(cols), np.full(cols, layer.multiplier_b), np.zeros(cols))
                rows.append(np.frombuffer(second, np.uint8)[None])
        table = np.concatenate(rows)
        pitch = round_up(table.shape[1], self.config.mem_bytes)
        padded = np.zeros((len(table), pitch), np.uint8)
        padded[:, : table.shape[1]] = table
        return self.build.region(0, padded.tobytes()), first, pitch

    def _place_weights(self) -> dict[str, tuple[Region, int]]:
        """Tiles of each layer in the order of use, and the bytes from one to the next."""
        config = self.config
        places = {}
        for layer in self.layers:
            if not isinstance(layer, Conv | Dense):
                continue
            table = weight_tiles(layer, self.tensors[layer.inputs[0]], config)
            size = config.rows * config.cols
            resident = layer.name in self.plan.weights
            pitch = size if resident else round_up(size, config.mem_bytes)
            padded = np.zeros((len(table), pitch), np.int8)
            padded[:, :size] = table.reshape(len(table), size)
            places[layer.name] = (self.build.region(0, padded.tobytes() + bytes(config.lanes)), pitch)
        return places

    # ----- the program -----

    def program(self) -> Program:
        """Emit everything in dispatch order: the loads of a group stand before the layers of the group before it."""
        if self.plan.fill:
            self._fill()
        if not self.plan.reload:
            self._load_params(0, 0, sum(param_rows(layer, self.config) for layer in self.layers))
        front, back = self.layers[: self.plan.split], self.layers[self.plan.split :]
        kept = self.tensors[self.name].batch
        loaded: set[str] = set()
        if kept:
            self._load_images(0, range(self.batch))
        groups = [range(i, min(i + self.plan.group, self.batch)) for i in range(0, self.batch, self.plan.group)]
        if front:
            for number, group in enumerate(groups):
                if number == 0 and not kept:
                    self._load_images(0, group[:1])
                    self._load_weights(front[:1], loaded)
                    self._load_images(1, group[1:])
                    self._load_weights(self.layers, loaded)
                for index, layer in enumerate(front):
                    self._layer(layer, group)
                    later = any(self.name in other.inputs for other in front[index + 1 :])
                    if self.name in layer.inputs and not later and not kept and number + 1 < len(groups):
                        self._load_images(0, groups[number + 1])
                if not back:
                    self._store(group)
        self._load_weights(self.layers, loaded)
        for layer in back:
            self._layer(layer, range(self.batch))
        if back:
            self._store(range(self.batch))
        self.schedule.emit()
        return self.build.finish()

    def _fill(self) -> None:
        """Zeros for bytes that are read with a word but never written."""
        config = self.config
        zeros = self.build.region(0, bytes(config.sp_words * config.lanes))
        for first in range(0, config.sp_words, 32768 // config.lanes):
            count = min(32768 // config.lanes, config.sp_words - first)
            self._load(zeros, first * config.lanes, 1, count * config.lanes, 0, first, 0, Touch(SP, first, count))

    def _load(self, region, offset, rows, size, stride, local, local_stride, touch, **fields) -> None:
        self.schedule.add(
            Opcode.LOAD, writes=[touch], transfer=True, local=local, region=region, offset=offset, rows=rows,
            row_bytes=size, stride=stride, local_stride=local_stride, **fields,
        )  # fmt: skip

    def _load_params(self, row: int, source: int, rows: int) -> None:
        config = self.config
        region, _, pitch = self.params
        words = config.param_words
        self._load(
            region, source * pitch, rows, 8 * config.cols, pitch, row * words, words, Touch(PARAM, row, rows),
            dst_space=PARAM,
        )  # fmt: skip

    def _load_weights(self, layers: Sequence[Layer], loaded: set[str]) -> None:
        lanes = self.config.lanes
        for layer in layers:
            if layer.name in loaded or layer.name not in self.plan.weights:
                continue
            loaded.add(layer.name)
            region, pitch = self.weights[layer.name]
            first = self.plan.weights[layer.name]
            k = self.tensors[layer.inputs[0]].size * lanes
            inner, n_tiles = tiles_of(layer, self.config, k)
            words = -(-inner * n_tiles * pitch // lanes)
            for start in range(0, words, 32768 // lanes):
                count = min(32768 // lanes, words - start)
                touch = Touch(SP, first + start, count)
                self._load(region, start * lanes, 1, count * lanes, 0, first + start, 0, touch)

    def _load_images(self, slot: int, images: range) -> None:
        tensor = self.tensors[self.name]
        region, pitch = self.images
        for index, image in enumerate(images):
            first = tensor.at(image if tensor.batch else slot + index)
            size = tensor.size * self.config.lanes
            if size > 65535:
                raise CompileError(f"An image has {size} bytes on the chip; one transfer moves at most 65535.")
            self._load(region, image * pitch, 1, size, 0, first, 0, Touch(SP, first, tensor.size))

    def _store(self, images: range) -> None:
        tensor = self.tensors[self.layers[-1].name]
        lanes = self.config.lanes
        size = tensor.size * lanes
        if size % self.config.mem_bytes:
            self._store_positions(tensor, images)
            return
        step = max(1, 32768 // lanes)
        for index, image in enumerate(images):
            first = tensor.at(image if tensor.batch else index)
            for start in range(0, tensor.size, step):
                count = min(step, tensor.size - start)
                self._store_words(first + start, count, (image * tensor.size + start) * lanes)

    def _store_positions(self, tensor: Tensor, images: range) -> None:
        """Outputs that are no whole beats: one position (or image) at a time into a padded place each."""
        position = tensor.words * self.config.lanes
        pitch = round_up(position, self.config.mem_bytes)
        shape, name = tensor.shape, self.layers[-1].name
        count = shape.height * shape.width
        if not hasattr(self, "_padded"):
            self._padded = self.build.region(self.batch * count * pitch)
            old = self.build.results[name]
            strides = (count * pitch, shape.width * pitch, pitch, tensor.item)
            self.build.results[name] = Result(self._padded.address, old.dtype, old.shape, strides)
        for index, image in enumerate(images):
            first = tensor.at(image if tensor.batch else index)
            self.schedule.add(
                Opcode.STORE, reads=[Touch(SP, first, tensor.size)], transfer=True, local=first, region=self._padded,
                offset=image * count * pitch, rows=count, row_bytes=position, stride=pitch, local_stride=tensor.words,
            )  # fmt: skip

    def _store_words(self, first: int, count: int, offset: int) -> None:
        self.schedule.add(
            Opcode.STORE, reads=[Touch(SP, first, count)], transfer=True, local=first, region=self.output,
            offset=offset, rows=1, row_bytes=count * self.config.lanes, stride=0, local_stride=0,
        )  # fmt: skip
