# SPDX-License-Identifier: Apache-2.0
"""Random legal instructions whose every access stays inside given regions and windows.

Sizes and strides are drawn freely and drawn again until they fit; nothing is aligned or regular on purpose.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from beatmatch.config import Config
from beatmatch.isa import Format, Opcode, Space

Fields = dict[str, int]
TRIES = 200
MOST_BEATS = 160
"""Beats that one transfer may take."""
MOST_ROWS = 160
"""Rows that one matmul or vector instruction may stream."""


@dataclass(frozen=True)
class Region:
    """A part of a local memory: first entry and number of entries."""

    start: int
    size: int


@dataclass(frozen=True)
class Window:
    """A base register and its window of `size` bytes."""

    base: int
    size: int


@dataclass(frozen=True)
class Regions:
    """What a program may touch: words, accumulator rows, parameter rows, and windows of memory."""

    scratchpad: Region
    accumulator: Region
    parameter: Region
    sources: tuple[Window, ...]
    parameters: Window
    targets: tuple[Window, ...]


def _until(draw: Callable[[bool], Fields | None]) -> Fields:
    """Draw until it fits; the later half of the tries has no strides."""
    for attempt in range(TRIES):
        fields = draw(attempt < TRIES // 2)
        if fields is not None:
            return fields
    raise RuntimeError("No legal instruction was found: the region is too small for this generator.")


def _outer(rng: random.Random) -> int:
    return rng.choice((1, 1, 1, 2, 2, 3, 4, 6))


def _last(outer: int, ring: int) -> int:
    """The greatest local index of the outer iterations."""
    return min(outer, 1 << ring) - 1 if ring else outer - 1


def _stride(rng: random.Random, room: bool, most: int, *favourites: int) -> int:
    return rng.choice((*favourites, rng.randint(0, most))) if room else 0


def transfer(rng: random.Random, config: Config, regions: Regions, opcode: Opcode, outer: int | None = None) -> Fields:
    """LOAD or STORE."""
    side = "dst" if opcode is Opcode.LOAD else "src"

    def draw(room: bool) -> Fields | None:
        count = outer or _outer(rng)
        window = rng.choice(regions.sources if side == "dst" else regions.targets)
        area = regions.scratchpad
        fields: Fields = {"outer": count}
        if side == "dst" and rng.random() < 0.2:
            words = config.param_words
            area = Region(regions.parameter.start * words, regions.parameter.size * words)
            window = rng.choice((regions.parameters, regions.parameters, window))
            fields["dst_space"] = Space.PARAMETER
        length = min(rng.choice((1, 1, 2, 3, rng.randint(1, 24))), area.size)
        row_bytes = (length - 1) * config.lanes + rng.choice((config.lanes, rng.randint(1, config.lanes)))
        rows = rng.choice((1, 1, 2, 3, 5, rng.randint(1, 12)))
        ring = rng.choice((0, 0, 1, 2, 3))
        row_stride = _stride(rng, room, 3 * length, length, length, 0)
        outer_stride = _stride(rng, room, 3 * length, length * rows, 0)
        extent = _last(count, ring) * outer_stride + (rows - 1) * row_stride + length
        beat = config.mem_bytes
        if extent > area.size or count * rows * -(-row_bytes // beat) > MOST_BEATS:
            return None
        whole = -(-row_bytes // beat)
        memory_row = beat * _stride(rng, room, 4 * whole, whole, whole, 0)
        memory_outer = beat * _stride(rng, room, 6 * whole, whole * rows, 0)
        span = (count - 1) * memory_outer + (rows - 1) * memory_row + row_bytes
        if span > window.size:
            return None
        return fields | {
            "base": window.base,
            "offset": beat * rng.randint(0, (window.size - span) // beat),
            "row_bytes": row_bytes,
            "rows": rows,
            "row_stride": memory_row,
            "outer_stride": memory_outer,
            side: area.start + rng.randint(0, area.size - extent),
            f"{side}_row_stride": row_stride,
            f"{side}_outer_stride": outer_stride,
            f"{side}_ring": ring,
        }

    return _until(draw)


def weights(rng: random.Random, config: Config, regions: Regions, opcode: Opcode, outer: int, inner: int) -> Fields:
    """WEIGHTS_MEM or WEIGHTS_SP with a given number of tiles."""
    full = rng.random() < 0.5

    def draw(room: bool) -> Fields | None:
        fields: Fields = {
            "outer": outer,
            "inner": inner,
            "k_rows": config.rows if full else rng.randint(1, config.rows),
            "n_lanes": config.cols if full else rng.randint(1, config.cols),
        }
        if opcode is Opcode.WEIGHTS_SP:
            size = regions.scratchpad.size * config.col_parts
            ring = rng.choice((0, 0, 1, 2))
            row = _stride(rng, room, 3, 1, 1, config.col_parts)
            step, far = _stride(rng, room, 2 * config.rows, config.rows, 0), _stride(rng, room, 2 * config.rows, 0)
            extent = _last(outer, ring) * far + (inner - 1) * step + (config.rows - 1) * row + 1
            if extent > size:
                return None
            first = regions.scratchpad.start * config.col_parts + rng.randint(0, size - extent)
            return fields | {
                "src": first,
                "row_stride": row,
                "inner_stride": step,
                "outer_stride": far,
                "src_ring": ring,
            }
        window = rng.choice(regions.sources)
        packed = full and rng.random() < 0.5
        beat = config.mem_bytes
        row_bytes = config.rows * config.cols if packed else fields["n_lanes"]
        rows = 1 if packed else config.rows
        row = beat * _stride(rng, room, 3, -(-row_bytes // beat), 1)
        step, far = beat * _stride(rng, room, 3 * rows, rows, 0), beat * _stride(rng, room, 3 * rows, rows, 0)
        span = (outer - 1) * far + (inner - 1) * step + (rows - 1) * row + row_bytes
        if span > window.size:
            return None
        return fields | {
            "base": window.base,
            "offset": beat * rng.randint(0, (window.size - span) // beat),
            "row_stride": row,
            "inner_stride": step,
            "outer_stride": far,
            "packed": int(packed),
        }

    return _until(draw)


def matmul(rng: random.Random, config: Config, regions: Regions, outer: int | None = None) -> Fields:
    """MATMUL: from a plain GEMM tile to a dilated, strided, padded convolution."""

    def draw(room: bool) -> Fields | None:
        count = outer or _outer(rng)
        plain = rng.random() < 0.4
        x = rng.choice((1, 2, 3, config.rows - 1, config.rows, config.rows + 1, rng.randint(1, 24)))
        y = 1 if plain else rng.randint(1, 4)
        kx, ky = (1, 1) if plain else (rng.randint(1, 3), rng.randint(1, 3))
        kc = rng.choice((1, 1, 2, 3))
        inner = kx * ky * kc
        if count * inner * max(x * y, config.rows) > MOST_ROWS * 2 or x * y > regions.accumulator.size:
            return None
        geometry: Fields = {"width": x, "height": 1}
        if not plain:
            geometry = {
                "stride_x": rng.randint(1, 3),
                "stride_y": rng.randint(1, 3),
                "dilation_x": rng.choice((1, 1, 2, 4)),
                "dilation_y": rng.choice((1, 1, 2, 3)),
                "pad_left": rng.choice((0, 1, 2, rng.randint(0, 15))),
                "pad_top": rng.choice((0, 1, rng.randint(0, 15))),
                "width": rng.randint(1, 2 * x + 2),
                "height": rng.randint(1, 8),
            }
        size = regions.scratchpad.size * config.act_parts
        ring, acc_ring = rng.choice((0, 0, 1, 2)), rng.choice((0, 0, 1, 2))
        pitch_x = _stride(rng, room, 3, 1, 1, config.act_parts)
        pitch_y = _stride(rng, room, 2 * geometry["width"], geometry["width"] * pitch_x, 0)
        step, far = _stride(rng, room, 8, 1), _stride(rng, room, 16, 0)
        extent = (
            _last(count, ring) * far
            + (geometry["height"] - 1) * pitch_y
            + (geometry["width"] - 1) * pitch_x
            + (kc - 1) * step
            + 1
        )
        acc_far = _stride(rng, room, 2 * x * y, x * y, 0)
        acc_extent = _last(count, acc_ring) * acc_far + x * y
        if extent > size or acc_extent > regions.accumulator.size:
            return None
        return geometry | {
            "outer": count,
            "keep": int(rng.random() < 0.2),
            "accumulate": int(rng.random() < 0.4),
            "x": x,
            "y": y,
            "kx": kx,
            "ky": ky,
            "kc": kc,
            "src": regions.scratchpad.start * config.act_parts + rng.randint(0, size - extent),
            "src_pitch_x": pitch_x,
            "src_pitch_y": pitch_y,
            "src_kc_stride": step,
            "src_outer_stride": far,
            "src_ring": ring,
            "acc": regions.accumulator.start + rng.randint(0, regions.accumulator.size - acc_extent),
            "acc_outer_stride": acc_far,
            "acc_ring": acc_ring,
            "pad_value": rng.choice((0, rng.randint(-128, 127))),
            "k_lanes": rng.choice((config.rows, rng.randint(1, config.rows))),
            "n_lanes": rng.choice((config.cols, rng.randint(1, config.cols))),
        }

    return _until(draw)


def vector(rng: random.Random, config: Config, regions: Regions, opcode: Opcode, outer: int | None = None) -> Fields:
    """REQUANT, ADD, MAXPOOL or AVGPOOL."""
    pool = opcode in (Opcode.MAXPOOL, Opcode.AVGPOOL)

    def draw(room: bool) -> Fields | None:
        count = outer or _outer(rng)
        accumulator = rng.random() < 0.5
        raw = rng.random() < 0.25
        x, y = rng.choice((1, 2, 3, rng.randint(1, 16))), rng.choice((1, 1, 2, 3))
        width, height, elements = x, y, 1
        fields: Fields = {}
        if pool:
            kx, ky = rng.randint(1, 4), rng.randint(1, 3)
            width, height, elements = rng.randint(1, 2 * x + 2), rng.randint(1, 2 * y + 2), kx * ky
            fields = {
                "kx": kx,
                "ky": ky,
                "stride_x": rng.randint(1, 3),
                "stride_y": rng.randint(1, 3),
                "pad_left": rng.choice((0, 1, rng.randint(0, 7))),
                "pad_top": rng.choice((0, 1, rng.randint(0, 7))),
                "width": width,
                "height": height,
            }
        if count * x * y * elements * (4 if raw else 1) > MOST_ROWS:
            return None
        if accumulator:
            area = regions.accumulator
        else:
            area = Region(regions.scratchpad.start * config.col_parts, regions.scratchpad.size * config.col_parts)
        target = Region(regions.scratchpad.start * config.col_parts, regions.scratchpad.size * config.col_parts)
        ring, dst_ring = rng.choice((0, 0, 1, 2)), rng.choice((0, 0, 1, 2))
        pitch_x = _stride(rng, room, 3, 1, 1)
        pitch_y = _stride(rng, room, 2 * width, width * pitch_x, 0)
        far = _stride(rng, room, 16, 0, x * y)
        extent = _last(count, ring) * far + (height - 1) * pitch_y + (width - 1) * pitch_x + 1
        chunks = 4 if raw else 1
        dst_pitch = _stride(rng, room, 6, chunks, chunks, 1)
        dst_far = _stride(rng, room, 16, x * y * dst_pitch, 0)
        dst_extent = _last(count, dst_ring) * dst_far + (x * y - 1) * dst_pitch + chunks
        if extent > area.size or dst_extent > target.size:
            return None
        mode = rng.choice((0, 1, 1, 2))
        rows = (count if mode == 2 else 1) + (1 if opcode is Opcode.ADD else 0)
        if mode and rows > regions.parameter.size:
            return None
        low, high = sorted((rng.randint(-128, 127), rng.randint(-128, 127)))
        if opcode is Opcode.ADD:
            add_extent = _last(count, dst_ring) * dst_far + (x * y - 1) * dst_pitch + 1
            fields["src2"] = target.start + rng.randint(0, target.size - add_extent)
            if fields["src2"] + dst_extent > target.start + target.size:
                return None
        narrow = rng.random() < 0.3
        return fields | {
            "outer": count,
            "zero_point": rng.choice((0, rng.randint(-128, 127))),
            "clip_low": low if narrow else -128,
            "clip_high": high if narrow else 127,
            "src_space": Space.ACCUMULATOR if accumulator else Space.SCRATCHPAD,
            "src_format": Format.INT32 if accumulator else Format.INT8,
            "dst_format": Format.INT32 if raw else Format.INT8,
            "x": x,
            "y": y,
            "src": area.start + rng.randint(0, area.size - extent),
            "src_pitch_x": pitch_x,
            "src_pitch_y": pitch_y,
            "src_outer_stride": far,
            "src_ring": ring,
            "dst": target.start + rng.randint(0, target.size - dst_extent),
            "dst_pitch": dst_pitch,
            "dst_outer_stride": dst_far,
            "dst_ring": dst_ring,
            "param_mode": mode,
            "param": regions.parameter.start + rng.randint(0, regions.parameter.size - rows) if mode else 0,
        }

    return _until(draw)
