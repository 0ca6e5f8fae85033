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
from beatmatch.compiler.layers import Add, Conv, Dense, Layer, Pool, Shape, from_digits
from beatmatch.compiler.plan import Plan, Tensor, make_plan, param_rows, tiles_of
from beatmatch.compiler.schedule import Schedule, Touch
from beatmatch.config import Config
from beatmatch.isa.fields import Format, Opcode, Space
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


class _Network:
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
            table = self._tiles(layer)
            size = config.rows * config.cols
            resident = layer.name in self.plan.weights
            pitch = size if resident else round_up(size, config.mem_bytes)
            padded = np.zeros((len(table), pitch), np.int8)
            padded[:, :size] = table.reshape(len(table), size)
            places[layer.name] = (self.build.region(0, padded.tobytes() + bytes(config.lanes)), pitch)
        return places

    def _tiles(self, layer: Conv | Dense) -> np.ndarray:
        """Weight tiles, int8 [output tile * inner tile, rows, cols]."""
        config = self.config
        source = self.tensors[layer.inputs[0]]
        if isinstance(layer, Dense):  # the flattened input has the words' padding in it
            shape, weight = source.shape, np.asarray(layer.weight)
            if weight.shape[0] != shape.height * shape.width * shape.channels:
                raise CompileError(f"Layer {layer.name} has weights {weight.shape} for an input {shape}.")
            padded = np.zeros((shape.height * shape.width, source.words * config.lanes, weight.shape[1]), np.int8)
            padded[:, : shape.channels] = weight.reshape(-1, shape.channels, weight.shape[1])
            weight = padded.reshape(1, 1, -1, weight.shape[1])
        else:
            weight = np.asarray(layer.weight)
        height, width, channels, filters = weight.shape
        k_tiles, n_tiles = -(-channels // config.rows), -(-filters // config.cols)
        full = np.zeros((height, width, k_tiles * config.rows, n_tiles * config.cols), np.int8)
        full[:, :, :channels, :filters] = weight
        full = full.reshape(height, width, k_tiles, config.rows, n_tiles, config.cols)
        return full.transpose(4, 0, 1, 2, 3, 5).reshape(-1, config.rows, config.cols)

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
                    last_reader = self.name in layer.inputs and not any(self.name in k.inputs for k in front[index + 1 :])
                    if last_reader and not kept and number + 1 < len(groups):
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
        zeros = self.build.region(config.sp_words * config.lanes)
        self.build._segments.append(type(self.build._segments[0])(zeros.address, bytes(zeros.size)))
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

    # ----- layers -----

    def _layer(self, layer: Layer, images: range) -> None:
        self.schedule.label = layer.name
        self._emit_layer(layer, images)
        self.schedule.label = ""

    def _emit_layer(self, layer: Layer, images: range) -> None:
        if self.plan.reload and not self._piecewise(layer):
            _, first, _ = self.params
            self._load_params(self.plan.params[layer.name], first[layer.name], param_rows(layer, self.config))
        if isinstance(layer, Dense):
            self._dense(layer, images)
            return
        for index, image in enumerate(images):
            places = [self.tensors[key].at(image if self.tensors[key].batch else index) for key in layer.inputs]
            target = self.tensors[layer.name]
            place = target.at(image if target.batch else index)
            match layer:
                case Conv():
                    self._conv(layer, places[0], place)
                case Add():
                    self._add(layer, places, place)
                case Pool():
                    self._pool(layer, places[0], place)

    def _piecewise(self, layer: Layer) -> bool:
        """Whether the parameters of a layer are loaded for each run of its output tiles."""
        return self.plan.reload and param_rows(layer, self.config) > self.config.param_rows // 2

    def _acc_slot(self) -> int:
        config = self.config
        if config.acc_banks == 1:
            return config.acc_rows // 2
        return config.acc_banks // 2 * config.acc_bank_rows

    def _tile_run(self, layer: Layer, first: int, count: int) -> None:
        """Weights of ``count`` output tiles from ``first`` on."""
        config = self.config
        k = self.tensors[layer.inputs[0]].size * config.lanes
        inner, n_tiles = tiles_of(layer, config, k)
        common = {"outer": count, "inner": inner, "k_rows": config.rows, "n_lanes": config.cols}
        if layer.name in self.plan.weights:
            word = self.plan.weights[layer.name]
            words = -(-inner * n_tiles * config.rows // config.col_parts)
            self.schedule.add(
                Opcode.WEIGHTS_SP, reads=[Touch(SP, word, words)], **common, row_stride=1,
                src=word * config.col_parts + first * inner * config.rows,
                inner_stride=config.rows if inner > 1 else 0, outer_stride=inner * config.rows if count > 1 else 0,
            )  # fmt: skip
            return
        region, pitch = self.weights[layer.name]
        self.schedule.add(
            Opcode.WEIGHTS_MEM, **common, packed=1, base=region.base, offset=first * inner * pitch,
            inner_stride=pitch if inner > 1 else 0, outer_stride=inner * pitch if count > 1 else 0,
        )  # fmt: skip

    def _runs(self, layer: Layer, most: int) -> list[tuple[int, int, int]]:
        """(first output tile, tiles, lanes) with at most ``most`` tiles; a narrow last tile stands alone."""
        cols, channels = self.config.cols, layer.shape.channels
        if self._piecewise(layer):
            most = min(most, self.config.param_rows // 2)
        total, narrow = -(-channels // cols), channels % cols
        whole = total - 1 if narrow else total
        runs = [(i, min(most, whole - i), cols) for i in range(0, whole, most)]
        return [*runs, (total - 1, 1, narrow)] if narrow else runs

    def _conv(self, layer: Conv, place: int, target_place: int) -> None:
        config, shape = self.config, layer.shape
        source, target = self.tensors[layer.inputs[0]], self.tensors[layer.name]
        kernel_height, kernel_width, channels, _ = layer.weight.shape
        if channels != source.shape.channels:
            raise CompileError(f"Layer {layer.name} has weights for {channels} channels, not {source.shape.channels}.")
        slot = self._acc_slot()
        for y, rows, x, columns in self._bands(shape, slot):
            most = max(1, slot // (rows * columns))
            top, left = layer.pads[0] - y * layer.stride[0], layer.pads[1] - x * layer.stride[1]
            skip_y, skip_x = max(0, -top), max(0, -left)
            pitch_x = source.words * config.act_parts
            pitch_y = source.shape.width * pitch_x
            for first, count, lanes in self._runs(layer, most):
                acc = self.blocks % 2 * slot
                self.blocks += 1
                self._tile_run(layer, first, count)
                self.schedule.add(
                    Opcode.MATMUL, [Touch(SP, place, source.size)], [Touch(ACC, acc, count * rows * columns)],
                    outer=count, x=columns, y=rows, kx=kernel_width, ky=kernel_height,
                    kc=-(-channels // config.rows), stride_x=layer.stride[1], stride_y=layer.stride[0],
                    dilation_x=layer.dilation[1], dilation_y=layer.dilation[0], pad_left=max(left, 0),
                    pad_top=max(top, 0), width=source.shape.width - skip_x, height=source.shape.height - skip_y,
                    src=place * config.act_parts + skip_y * pitch_y + skip_x * pitch_x, src_pitch_x=pitch_x,
                    src_pitch_y=pitch_y, src_kc_stride=1, acc=acc,
                    acc_outer_stride=rows * columns if count > 1 else 0, pad_value=layer.pad_value,
                    k_lanes=(channels - 1) % config.rows + 1, n_lanes=lanes,
                )  # fmt: skip
                position = target_place + (y * shape.width + x) * target.words
                self._drain(layer, acc, rows * columns, first, count, position, target.words)

    @staticmethod
    def _bands(shape: Shape, slot: int) -> list[tuple[int, int, int, int]]:
        """(first row, rows, first column, columns) of the output parts that fit the accumulators."""
        if shape.width <= slot:
            rows = min(shape.height, slot // shape.width)
            return [(y, min(rows, shape.height - y), 0, shape.width) for y in range(0, shape.height, rows)]
        return [(y, 1, x, min(slot, shape.width - x)) for y in range(shape.height) for x in range(0, shape.width, slot)]

    def _dense(self, layer: Dense, images: range) -> None:
        config = self.config
        source, target = self.tensors[layer.inputs[0]], self.tensors[layer.name]
        inner, _ = tiles_of(layer, config, source.size * config.lanes)
        if inner > 255:
            raise CompileError(f"Layer {layer.name} has {inner} tiles of inputs; at most 255 are possible.")
        slot = self._acc_slot()
        pitch = source.stride * config.act_parts
        for start in range(0, len(images), min(slot, 511)):
            count = min(slot, 511, len(images) - start)
            image = images[start] if source.batch else start
            place = source.at(image)
            most = max(1, slot // count)
            for first, tiles, lanes in self._runs(layer, most):
                acc = self.blocks % 2 * slot
                self.blocks += 1
                self._tile_run(layer, first, tiles)
                self.schedule.add(
                    Opcode.MATMUL, [Touch(SP, place, (count - 1) * source.stride + source.size)],
                    [Touch(ACC, acc, tiles * count)], outer=tiles, y=count, height=count, kc=inner,
                    src=place * config.act_parts, src_pitch_y=pitch if count > 1 else 0, src_kc_stride=1, acc=acc,
                    acc_outer_stride=count if tiles > 1 else 0, k_lanes=config.rows, n_lanes=lanes,
                )  # fmt: skip
                position = target.at(images[start] if target.batch else start)
                self._drain(layer, acc, count, first, tiles, position, target.stride)

    def _scale(self, layer: Layer, first: int = 0, count: int = 1) -> tuple[dict, Touch]:
        requant = layer.requant
        row = self.plan.params[layer.name]
        rows = param_rows(layer, self.config)
        fields = {"zero_point": requant.zero_point, "clip_low": requant.low, "clip_high": requant.high}
        if requant.per_channel and self._piecewise(layer):
            self._load_params(row, self.params[1][layer.name] + first, count)
            fields |= {"param_mode": 2, "param": row}
            rows = count
        elif requant.per_channel:
            fields |= {"param_mode": 2, "param": row + first}
        else:
            fields |= {"param_mode": 1, "param": row}
        return fields, Touch(PARAM, row, rows)

    def _drain(self, layer, acc: int, rows: int, first: int, count: int, place: int, pitch_words: int) -> None:
        """Output tiles from the accumulators to the scratchpad, ``pitch_words`` from one row to the next."""
        config = self.config
        fields, touch = self._scale(layer, first, count)
        raw = getattr(layer, "raw", False)
        item = 4 if raw else 1
        pitch = pitch_words * config.col_parts
        if pitch > 1023:
            raise CompileError(f"Layer {layer.name} would need a pitch of {pitch} operands; the field holds 1023.")
        self.schedule.add(
            Opcode.REQUANT, [Touch(ACC, acc, rows * count), touch],
            [Touch(SP, place, (rows - 1) * pitch_words + self.tensors[layer.name].words)], **fields, outer=count,
            x=rows, src_space=ACC, src_format=Format.INT32, dst_format=Format.INT32 if raw else Format.INT8, src=acc,
            src_pitch_x=1, src_outer_stride=rows if count > 1 else 0, dst=place * config.col_parts + first * item,
            dst_pitch=pitch, dst_outer_stride=item if count > 1 else 0,
        )  # fmt: skip

    def _add(self, layer: Add, places: list[int], place: int) -> None:
        config, shape = self.config, layer.shape
        tensors = [self.tensors[key] for key in layer.inputs]
        target = self.tensors[layer.name]
        pitch = target.words * config.col_parts
        fields, touch = self._scale(layer)
        self.schedule.add(
            Opcode.ADD, [*(Touch(SP, p, t.size) for p, t in zip(places, tensors, strict=True)), touch],
            [Touch(SP, place, target.size)], **fields, outer=-(-shape.channels // config.cols), x=shape.width,
            y=shape.height, src=places[0] * config.col_parts, src_pitch_x=pitch, src_pitch_y=pitch * shape.width,
            src_outer_stride=1, src2=places[1] * config.col_parts, dst=place * config.col_parts, dst_pitch=pitch,
            dst_outer_stride=1,
        )  # fmt: skip

    def _pool(self, layer: Pool, place: int, target_place: int) -> None:
        config, shape = self.config, layer.shape
        source, target = self.tensors[layer.inputs[0]], self.tensors[layer.name]
        pitch = source.words * config.col_parts
        fields, touch = self._scale(layer)
        self.schedule.add(
            Opcode.MAXPOOL if layer.kind == "max" else Opcode.AVGPOOL, [Touch(SP, place, source.size), touch],
            [Touch(SP, target_place, target.size)], **fields, outer=-(-shape.channels // config.cols), x=shape.width,
            y=shape.height, src=place * config.col_parts, src_pitch_x=pitch, src_pitch_y=pitch * source.shape.width,
            src_outer_stride=1, dst=target_place * config.col_parts, dst_pitch=target.words * config.col_parts,
            dst_outer_stride=1, kx=layer.kernel[1], ky=layer.kernel[0], stride_x=layer.stride[1],
            stride_y=layer.stride[0], pad_left=layer.pads[1], pad_top=layer.pads[0], width=source.shape.width,
            height=source.shape.height,
        )  # fmt: skip
