# SPDX-License-Identifier: Apache-2.0
"""Layers as operations of the engines, image by image; dense layers over many images at a time."""

from __future__ import annotations

from beatmatch.compiler.builder import CompileError, Region
from beatmatch.compiler.layers import Add, Conv, Dense, Layer, Pool, Shape
from beatmatch.compiler.plan import Plan, Tensor, param_rows, tiles_of
from beatmatch.compiler.schedule import Schedule, Touch
from beatmatch.config import Config
from beatmatch.isa.fields import Format, Opcode, Space

SP, ACC, PARAM = Space.SCRATCHPAD, Space.ACCUMULATOR, Space.PARAMETER


class Lowering:
    """Adds a layer's operations to the schedule.

    Attributes
    ----------
    config : Config
    plan : Plan
    schedule : Schedule
    tensors : dict of str to Tensor
    weights : dict of str to (Region, int)
        Where the tiles of each layer stand in memory, and the bytes from one to the next.
    params : (Region, dict of str to int, int)
        The parameter rows in memory, the first row of each layer, and the bytes from one to the next.
    blocks : int
        Blocks of the accumulators used so far: they alternate between two halves.
    """

    config: Config
    plan: Plan
    schedule: Schedule
    tensors: dict[str, Tensor]
    weights: dict[str, tuple[Region, int]]
    params: tuple[Region, dict[str, int], int]
    blocks: int

    def _load_params(self, row: int, source: int, rows: int) -> None:
        """Load ``rows`` parameter rows from row ``source`` of the table to row ``row``."""
        raise NotImplementedError

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
        for y, rows, x, columns in _bands(layer, source.shape, slot):
            most = max(1, slot // (rows * columns))
            skip_y, pad_top, height = _axis(layer, 0, source.shape.height, y, rows)
            skip_x, pad_left, width = _axis(layer, 1, source.shape.width, x, columns)
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
                    dilation_x=layer.dilation[1], dilation_y=layer.dilation[0], pad_left=pad_left,
                    pad_top=pad_top, width=width, height=height,
                    src=place * config.act_parts + skip_y * pitch_y + skip_x * pitch_x, src_pitch_x=pitch_x,
                    src_pitch_y=pitch_y, src_kc_stride=1, acc=acc,
                    acc_outer_stride=rows * columns if count > 1 else 0, pad_value=layer.pad_value,
                    k_lanes=(channels - 1) % config.rows + 1, n_lanes=lanes,
                )  # fmt: skip
                position = target_place + (y * shape.width + x) * target.words
                self._drain(layer, acc, rows * columns, first, count, position, target.words)

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


def _bands(layer: Conv, source: Shape, slot: int) -> list[tuple[int, int, int, int]]:
    """(first row, rows, first column, columns) of the output parts that fit the accumulators.

    Rows (or columns) that see nothing but padding stand alone: see `_axis`.
    """
    shape = layer.shape
    seeing = max(1, -(-(source.height + layer.pads[0]) // layer.stride[0]))
    heights = _cuts(shape.height, seeing, max(1, slot // shape.width))
    if shape.width <= slot:
        return [(y, rows, 0, shape.width) for y, rows in heights]
    seeing = max(1, -(-(source.width + layer.pads[1]) // layer.stride[1]))
    widths = _cuts(shape.width, seeing, slot)
    return [(y, 1, x, columns) for y in range(shape.height) for x, columns in widths]


def _cuts(size: int, seeing: int, most: int) -> list[tuple[int, int]]:
    """(first, count) of the parts of one dimension; positions from ``seeing`` on one by one if a part is cut there."""
    parts = [(start, min(most, size - start)) for start in range(0, size, most)]
    result = []
    for start, count in parts:
        result += [(start, count)] if start < seeing else [(start + i, 1) for i in range(count)]
    return result


def _axis(layer: Conv, axis: int, size: int, first: int, count: int) -> tuple[int, int, int]:
    """How matmul walks one dimension from output ``first`` on: (input skipped, padding before, input left).

    If all of it is padding, no position may be met: one stays, and the padding is chosen so that no step hits it.
    """
    lead = layer.pads[axis] - first * layer.stride[axis]
    skip = max(0, -lead)
    if skip < size:
        return skip, max(lead, 0), size - skip
    taps, stride = layer.weight.shape[axis], layer.stride[axis]
    steps = {layer.dilation[axis] * tap + stride * index for tap in range(taps) for index in range(count)}
    free = [pad for pad in range(16) if pad not in steps]
    if not free:
        raise CompileError(f"Layer {layer.name} has outputs that see nothing but padding.")
    return 0, free[0], 1
