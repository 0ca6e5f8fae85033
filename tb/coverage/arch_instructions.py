# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: operations and their options, as dispatched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from beatmatch.isa import ENGINE_OF, Format, Instruction, Opcode, Space
from beatmatch.isa.encode import field_range, positions
from tb.coverage.group import ARCHITECTURAL, bucket, buckets, group
from tb.coverage.window import Window

VECTOR = (Opcode.REQUANT, Opcode.ADD, Opcode.MAXPOOL, Opcode.AVGPOOL)
POOLS = (Opcode.MAXPOOL, Opcode.AVGPOOL)
WEIGHTS = (Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP)
NAMES = tuple(opcode.name for opcode in Opcode)
COUNTS = ("outer", "inner", "rows", "row_bytes", "x", "y", "kx", "ky", "kc", "stride_x", "stride_y", "width", "height")
RINGS = ("src_ring", "dst_ring", "acc_ring")
OUTER = (1, 2, 4, 16, 128)


def _all(w: Window, *opcodes: Opcode) -> Iterator[Instruction]:
    """Different instructions dispatched in the window, of these operations (of all if none is named)."""
    return (item for item in w.facts.instructions() if not opcodes or item.opcode in opcodes)


def _with(field: str) -> tuple[Opcode, ...]:
    return tuple(opcode for opcode in Opcode if field in positions(opcode))


@group(ARCHITECTURAL, "An operation was dispatched, with and without waits and signals in each iteration.",
       (f"{name} each={each}" for name, each in product(NAMES, (0, 1))))  # fmt: skip
def operation(w: Window) -> Iterable[str]:
    return (f"{item.opcode.name} each={item.each}" for item in _all(w))


@group(ARCHITECTURAL, "An operation was dispatched with a number of outer iterations.",
       (f"{name} outer={size}" for name, size in product(NAMES, buckets(OUTER))))  # fmt: skip
def outer_iterations(w: Window) -> Iterable[str]:
    return (f"{item.opcode.name} outer={bucket(OUTER, item.outer)}" for item in _all(w))


@group(ARCHITECTURAL, "A count was at its least value, and in the top quarter of what its field holds.",
       (f"{opcode.name}.{name} {end}" for name in COUNTS for opcode in _with(name) for end in ("least",
       "large")))  # fmt: skip
def count_extremes(w: Window) -> Iterable[str]:
    for item in _all(w):
        for name in COUNTS:
            if name not in item.fields:
                continue
            _, high = field_range(positions(item.opcode)[name][1])
            if item.fields[name] == 1:
                yield f"{item.opcode.name}.{name} least"
            if item.fields[name] * 4 >= high * 3:
                yield f"{item.opcode.name}.{name} large"


@group(ARCHITECTURAL,
       "A transfer: one or several rows and iterations, local memory, distance of its rows on both sides.",
       [f"{kind} {what}" for kind in ("LOAD scratchpad", "LOAD parameter", "STORE") for what in (
           "one row", "several rows", "rows dense", "rows with gaps", "rows on one another", "local dense",
           "local gaps",
           "local same", "partial word", "whole words", "partial beat", "whole beats", "below one word",
           "several words")])  # fmt: skip
def transfer(w: Window) -> Iterable[str]:
    lanes, beat = w.config.lanes, w.config.mem_bytes
    for item in _all(w, Opcode.LOAD, Opcode.STORE):
        side = "dst" if item.opcode is Opcode.LOAD else "src"
        kind = "STORE"
        if side == "dst":
            kind = "LOAD parameter" if item.dst_space == Space.PARAMETER else "LOAD scratchpad"
        words = -(-item.row_bytes // lanes)
        yield f"{kind} {'one row' if item.rows == 1 else 'several rows'}"
        yield f"{kind} {'partial word' if item.row_bytes % lanes else 'whole words'}"
        yield f"{kind} {'partial beat' if item.row_bytes % beat else 'whole beats'}"
        yield f"{kind} {'below one word' if item.row_bytes < lanes else 'several words'}"
        if item.rows > 1:
            dense = -(-item.row_bytes // beat) * beat
            step = item.row_stride
            apart = "rows on one another" if step < dense else "rows dense" if step == dense else "rows with gaps"
            yield f"{kind} {apart}"
            local = item.fields[f"{side}_row_stride"]
            yield f"{kind} {'local same' if not local else 'local dense' if local == words else 'local gaps'}"


@group(ARCHITECTURAL, "A ring of local addresses of each size, unused by too few iterations and wrapping.",
       (f"{opcode.name}.{name}={ring} {how}" for name in RINGS for opcode in _with(name) for ring in range(4)
        for how in (("straight",) if ring == 0 else ("short", "wraps"))))  # fmt: skip
def rings(w: Window) -> Iterable[str]:
    for item in _all(w):
        for name in RINGS:
            if name in item.fields:
                ring = item.fields[name]
                how = "straight" if not ring else "wraps" if item.outer > 1 << ring else "short"
                yield f"{item.opcode.name}.{name}={ring} {how}"


@group(ARCHITECTURAL, "A base register was used by an engine that talks to memory.",
       (f"{name} base={index}" for name, index in product(("LOAD", "WEIGHTS_MEM", "STORE"), range(16))))  # fmt: skip
def base_registers(w: Window) -> Iterable[str]:
    return (f"{item.opcode.name} base={item.base}" for item in _all(w, Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE))


@group(ARCHITECTURAL, "A transfer starts at its window's first byte, or ends exactly at its last.",
       (f"{name} {end}" for name, end in product(("LOAD", "WEIGHTS_MEM", "STORE"), ("first byte",
       "last byte"))))  # fmt: skip
def window_edges(w: Window) -> Iterable[str]:
    for item in _all(w, Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE):
        if item.offset == 0:
            yield f"{item.opcode.name} first byte"
        size = w.facts.windows.get(item.base, 0)
        if item.opcode is Opcode.WEIGHTS_MEM:
            rows, length = (1, w.config.peak_macs) if item.packed else (item.k_rows, item.n_lanes)
            end = item.offset + (item.outer - 1) * item.outer_stride + (item.inner - 1) * item.inner_stride
        else:
            rows, length = item.rows, item.row_bytes
            end = item.offset + (item.outer - 1) * item.outer_stride
        end += (rows - 1) * item.row_stride + length
        if size and end == size:
            yield f"{item.opcode.name} last byte"


@group(ARCHITECTURAL, "Weights: full tiles and tails, packed, one or several tiles per iteration.",
       [f"{name} {what}" for name in ("WEIGHTS_MEM", "WEIGHTS_SP") for what in (
           "full", "k_rows tail", "n_lanes tail", "both tails", "one tile", "several tiles", "one k_row", "one lane",
           "rows in place", "rows dense", "rows apart")] + ["WEIGHTS_MEM packed",
           "WEIGHTS_MEM packed several"])  # fmt: skip
def weight_tiles(w: Window) -> Iterable[str]:
    rows, cols = w.config.rows, w.config.cols
    for item in _all(w, *WEIGHTS):
        name = item.opcode.name
        tails = (item.k_rows < rows, item.n_lanes < cols)
        yield f"{name} {('full', 'n_lanes tail', 'k_rows tail', 'both tails')[2 * tails[0] + tails[1]]}"
        yield f"{name} {'one tile' if item.inner == 1 else 'several tiles'}"
        if item.k_rows == 1:
            yield f"{name} one k_row"
        if item.n_lanes == 1:
            yield f"{name} one lane"
        dense = 1 if item.opcode is Opcode.WEIGHTS_SP else -(-item.n_lanes // w.config.mem_bytes) * w.config.mem_bytes
        yield f"{name} rows {'in place' if not item.row_stride else 'dense' if item.row_stride == dense else 'apart'}"
        if item.fields.get("packed"):
            yield "WEIGHTS_MEM packed"
            if item.inner > 1:
                yield "WEIGHTS_MEM packed several"


@group(ARCHITECTURAL, "A matrix product keeps or swaps its first tile, overwrites or adds, with each or at once.",
       (f"keep={keep} accumulate={add} each={each}" for keep, add, each in product((0, 1), repeat=3)))  # fmt: skip
def matmul_modes(w: Window) -> Iterable[str]:
    return (f"keep={i.keep} accumulate={i.accumulate} each={i.each}" for i in _all(w, Opcode.MATMUL))


SHAPE = ("kx", "ky", "kc", "stride_x", "stride_y", "dilation_x", "dilation_y")


@group(ARCHITECTURAL,
       "A matrix product used a loop, a stride, a dilation or padding of a convolution; rows against the array.",
       [f"{name}{size}" for name in SHAPE for size in ("=1", ">1")]
       + [f"{name}{size}" for name in ("pad_left", "pad_top", "pad_value") for size in ("=0", ">0")]
       + ["pad_value<0", "pad_left=15", "pad_top=15", "pitch_x=0", "pitch_y=0", "k_lanes full", "k_lanes tail",
           "k_lanes 1",
          "n_lanes full", "n_lanes tail", "n_lanes 1", "M=1", "M<rows", "M=rows", "M>rows"])  # fmt: skip
def matmul_shape(w: Window) -> Iterable[str]:
    config = w.config
    for item in _all(w, Opcode.MATMUL):
        for name in SHAPE:
            yield f"{name}{'=1' if item.fields[name] == 1 else '>1'}"
        for name in ("pad_left", "pad_top", "pad_value"):
            value = item.fields[name]
            yield f"{name}{'=0' if value == 0 else '>0' if value > 0 else '<0'}"
            if value == 15 and name != "pad_value":
                yield f"{name}=15"
        for name in ("pitch_x", "pitch_y"):
            if not item.fields[f"src_{name}"]:
                yield f"{name}=0"
        for name, full in (("k_lanes", config.rows), ("n_lanes", config.cols)):
            value = item.fields[name]
            yield f"{name} {'full' if value == full else 'tail'}"
            if value == 1:
                yield f"{name} 1"
        m = item.x * item.y
        if m == 1:
            yield "M=1"
        yield "M<rows" if m < config.rows else "M=rows" if m == config.rows else "M>rows"


@group(ARCHITECTURAL, "A vector operation from each space, to each format, with each kind of parameters.",
       (f"{op.name} {space} {form} mode={mode}" for op, space, form, mode in product(
           VECTOR, ("scratchpad", "accumulator"), ("int8", "int32"), range(3))))  # fmt: skip
def vector_modes(w: Window) -> Iterable[str]:
    for item in _all(w, *VECTOR):
        space = "scratchpad" if item.src_space == Space.SCRATCHPAD else "accumulator"
        form = "int8" if item.dst_format == Format.INT8 else "int32"
        yield f"{item.opcode.name} {space} {form} mode={item.param_mode}"


@group(ARCHITECTURAL, "Bounds and zero point of a vector operation.",
       (f"{op.name} {what}" for op, what in product(VECTOR, (
           "full range", "narrow", "one value", "zero_point=0", "zero_point>0", "zero_point<0"))))  # fmt: skip
def vector_bounds(w: Window) -> Iterable[str]:
    for item in _all(w, *VECTOR):
        name = item.opcode.name
        low, high, zero = item.clip_low, item.clip_high, item.zero_point
        yield f"{name} {'one value' if low == high else 'full range' if (low, high) == (-128, 127) else 'narrow'}"
        yield f"{name} zero_point{'=0' if not zero else '>0' if zero > 0 else '<0'}"


WINDOWS = ("kx=1", "kx>1", "ky=1", "ky>1", "stride_x=1", "stride_x>1", "stride_y=1", "stride_y>1", "pad_left=0",
    "pad_left>0",
           "pad_top=0", "pad_top>0", "window in the padding", "window over the right edge",
           "window over the bottom")  # fmt: skip


@group(ARCHITECTURAL, "Windows of a pooling operation.", (f"{op.name} {what}" for op, what in product(POOLS, WINDOWS)))
def pool_windows(w: Window) -> Iterable[str]:
    for item in _all(w, *POOLS):
        name = item.opcode.name
        for field in ("kx", "ky", "stride_x", "stride_y"):
            yield f"{name} {field}{'=1' if item.fields[field] == 1 else '>1'}"
        for field in ("pad_left", "pad_top"):
            yield f"{name} {field}{'>0' if item.fields[field] else '=0'}"
        right = (item.x - 1) * item.stride_x - item.pad_left
        bottom = (item.y - 1) * item.stride_y - item.pad_top
        if right >= item.width or bottom >= item.height or item.pad_left >= item.kx or item.pad_top >= item.ky:
            yield f"{name} window in the padding"
        if right < item.width < right + item.kx:
            yield f"{name} window over the right edge"
        if bottom < item.height < bottom + item.ky:
            yield f"{name} window over the bottom"


def _part(bins: str, count: int) -> tuple[str, ...]:
    return tuple(f"{bins} part {index} of {size}" for size in (2, 4, 8)[:count] for index in range(size))


@group(ARCHITECTURAL, "A narrow operand began in each part of a scratchpad word.",
       (name for who in ("matmul source", "weights source", "vector source", "vector result", "vector second")
        for name in _part(who, 3)))  # fmt: skip
def parts(w: Window) -> Iterable[str]:
    act, col = w.config.act_parts, w.config.col_parts
    for item in _all(w):
        if item.opcode is Opcode.MATMUL and act > 1:
            yield f"matmul source part {item.src % act} of {act}"
        elif item.opcode is Opcode.WEIGHTS_SP and col > 1:
            yield f"weights source part {item.src % col} of {col}"
        elif ENGINE_OF[item.opcode] == ENGINE_OF[Opcode.ADD] and col > 1:
            if item.src_space == Space.SCRATCHPAD:
                yield f"vector source part {item.src % col} of {col}"
            yield f"vector result part {item.dst % col} of {col}"
            if item.opcode is Opcode.ADD:
                yield f"vector second part {item.src2 % col} of {col}"
