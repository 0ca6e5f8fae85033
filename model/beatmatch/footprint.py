# SPDX-License-Identifier: Apache-2.0
"""What an outer iteration of an instruction touches: addresses as arrays, and the first one that is illegal.

Local operands are given as byte addresses of each operand's first byte, so that activations, weights, words and
results can be compared whatever rows and cols are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from beatmatch.config import Config
from beatmatch.isa.encode import Instruction
from beatmatch.isa.fields import Format, Opcode, Space
from beatmatch.program import Base


@dataclass(frozen=True)
class Access:
    """Operands of equal size in one local memory.

    Attributes
    ----------
    space : Space
        Units of ``first``: scratchpad bytes, accumulator rows, parameter rows.
    first : numpy.ndarray of int64
        First unit of each operand, in the order in which the engine touches them.
    size : int
        Units per operand.
    used : int
        Units that matter: the rest of the operand is read and dropped, or left alone.
    element : numpy.ndarray or None
        For the vector engine: which output element each operand belongs to.
    """

    space: Space
    first: np.ndarray
    size: int
    used: int
    element: np.ndarray | None = None


@dataclass
class Footprint:
    """Everything that one outer iteration reads and writes, and the first address that is illegal, as a sentence."""

    reads: list[Access] = field(default_factory=list)
    writes: list[Access] = field(default_factory=list)
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0, object))
    memory_size: int = 0
    problem: str | None = None

    def limit(self, what: str, values: np.ndarray, most: int) -> None:
        """Note an address at or above ``most``."""
        if self.problem is None and values.size and int(values.max()) >= most:
            self.problem = f"{what} {int(values.max())} is out of range; it must be from 0 to {most - 1}."


def footprint(instruction: Instruction, iteration: int, config: Config, bases: tuple[Base, ...]) -> Footprint:
    """What one outer iteration touches; illegal operands are reported and left out."""
    result = Footprint()
    match instruction.opcode:
        case Opcode.LOAD | Opcode.STORE:
            _transfer(result, instruction, iteration, config, bases)
        case Opcode.WEIGHTS_MEM | Opcode.WEIGHTS_SP:
            _weights(result, instruction, iteration, config, bases)
        case Opcode.MATMUL:
            _matmul(result, instruction, iteration, config)
        case _:
            _vector(result, instruction, iteration, config)
    return result


def _ring(iteration: int, ring: int) -> int:
    return iteration % (1 << ring) if ring else iteration


def _memory(result: Footprint, offsets: np.ndarray, size: int, base: Base, number: int, config: Config) -> None:
    """Check memory rows against alignment and window, then note their addresses."""
    beat = config.mem_bytes
    unaligned = (base.address % beat + offsets) % beat != 0
    outside = np.array([int(offset) + size > base.size for offset in (offsets.min(), offsets.max())])
    if result.problem is None and unaligned.any():
        offset = int(offsets[unaligned.argmax()])
        result.problem = f"Offset {offset} from base register {number} gives no multiple of {beat} bytes."
    if result.problem is None and outside.any():
        result.problem = (
            f"{size} bytes at offset {int(offsets.max())} leave the window of base register {number}, "
            f"which has {base.size} bytes."
        )
    result.memory = offsets.astype(object) + base.address
    result.memory_size = size


def _transfer(result: Footprint, i: Instruction, iteration: int, config: Config, bases: tuple[Base, ...]) -> None:
    load = i.opcode == Opcode.LOAD
    side = "dst" if load else "src"
    rows = np.arange(i.rows, dtype=np.int64)
    offsets = i.offset + rows * i.row_stride + iteration * i.outer_stride
    _memory(result, offsets, i.row_bytes, bases[i.base], i.base, config)
    local = i.fields[side] + rows * i.fields[f"{side}_row_stride"]
    local += _ring(iteration, i.fields[f"{side}_ring"]) * i.fields[f"{side}_outer_stride"]
    words = -(-i.row_bytes // config.lanes)
    if load and i.dst_space == Space.PARAMETER:
        result.limit("Parameter word", local + words - 1, config.param_rows * config.param_words)
        touched = np.unique((local[:, None] + np.arange(words)) // config.param_words)
        result.writes.append(Access(Space.PARAMETER, touched, 1, 1))
        return
    result.limit("Scratchpad word", local + words - 1, config.sp_words)
    access = Access(Space.SCRATCHPAD, local * config.lanes, words * config.lanes, i.row_bytes)
    (result.writes if load else result.reads).append(access)


def _weights(result: Footprint, i: Instruction, iteration: int, config: Config, bases: tuple[Base, ...]) -> None:
    tile, row = np.divmod(np.arange(i.inner * config.rows, dtype=np.int64), config.rows)
    wanted = (tile < i.inner - 1) | (row < i.k_rows)
    steps = (row * i.row_stride + tile * i.inner_stride)[wanted]
    if i.opcode == Opcode.WEIGHTS_SP:
        operands = i.src + steps + _ring(iteration, i.src_ring) * i.outer_stride
        result.limit("Column operand", operands, config.sp_words * config.col_parts)
        result.reads.append(Access(Space.SCRATCHPAD, operands * config.cols, config.cols, i.n_lanes))
        return
    size = i.n_lanes
    if i.packed:
        steps, size = np.arange(i.inner, dtype=np.int64) * i.inner_stride, config.rows * config.cols
    _memory(result, i.offset + steps + iteration * i.outer_stride, size, bases[i.base], i.base, config)


def _matmul(result: Footprint, i: Instruction, iteration: int, config: Config) -> None:
    ky, kx, y, x = np.ix_(*(np.arange(n, dtype=np.int64) for n in (i.ky, i.kx, i.y, i.x)))
    iy, ix = y * i.stride_y + ky * i.dilation_y - i.pad_top, x * i.stride_x + kx * i.dilation_x - i.pad_left
    inside = (iy >= 0) & (iy < i.height) & (ix >= 0) & (ix < i.width)
    pixels = np.unique((iy * i.src_pitch_y + ix * i.src_pitch_x)[inside])
    start = i.src + _ring(iteration, i.src_ring) * i.src_outer_stride
    for blocks, lanes in ((np.arange(i.kc - 1), config.rows), (np.array([i.kc - 1]), i.k_lanes)):
        operands = (start + pixels[:, None] + blocks * i.src_kc_stride).reshape(-1)
        if operands.size:
            result.limit("Activation operand", operands, config.sp_words * config.act_parts)
            result.reads.append(Access(Space.SCRATCHPAD, operands * config.rows, config.rows, lanes))
    first = i.acc + _ring(iteration, i.acc_ring) * i.acc_outer_stride
    rows = np.arange(first, first + i.y * i.x, dtype=np.int64)
    result.limit("Accumulator row", rows, config.acc_rows)
    if i.accumulate:
        result.reads.append(Access(Space.ACCUMULATOR, rows, 1, 1))
    result.writes.append(Access(Space.ACCUMULATOR, rows, 1, 1))


def _vector(result: Footprint, i: Instruction, iteration: int, config: Config) -> None:
    y, x = (v.reshape(-1) for v in np.mgrid[0 : i.y, 0 : i.x].astype(np.int64))
    element = np.arange(len(y))
    if i.param_mode:
        row = i.param + (iteration if i.param_mode == 2 else 0)
        rows = np.arange(row, row + (2 if i.opcode == Opcode.ADD else 1))
        result.limit("Parameter row", rows, config.param_rows)
        result.reads.append(Access(Space.PARAMETER, rows, 1, 1))
    if i.opcode in (Opcode.MAXPOOL, Opcode.AVGPOOL):
        wy, wx = (v.reshape(-1, 1) for v in np.mgrid[0 : i.ky, 0 : i.kx].astype(np.int64))
        iy, ix = y * i.stride_y + wy - i.pad_top, x * i.stride_x + wx - i.pad_left
        inside = (iy >= 0) & (iy < i.height) & (ix >= 0) & (ix < i.width)
        steps, owner = (iy * i.src_pitch_y + ix * i.src_pitch_x)[inside], np.broadcast_to(element, iy.shape)[inside]
    else:
        steps, owner = y * i.src_pitch_y + x * i.src_pitch_x, element
    source = i.src + steps + _ring(iteration, i.src_ring) * i.src_outer_stride
    operands = config.sp_words * config.col_parts
    if i.src_space == Space.ACCUMULATOR:
        result.limit("Accumulator row", source, config.acc_rows)
        result.reads.append(Access(Space.ACCUMULATOR, source, 1, 1))
    else:
        result.limit("Source operand", source, operands)
        result.reads.append(Access(Space.SCRATCHPAD, source * config.cols, config.cols, config.cols, owner))
    target = i.dst + element * i.dst_pitch + _ring(iteration, i.dst_ring) * i.dst_outer_stride
    if i.opcode == Opcode.ADD:
        second = target - i.dst + i.src2
        result.limit("Second operand", second, operands)
        result.reads.append(Access(Space.SCRATCHPAD, second * config.cols, config.cols, config.cols, element))
    count = 4 if i.dst_format == Format.INT32 else 1
    result.limit("Destination operand", target + count - 1, operands)
    size = count * config.cols
    result.writes.append(Access(Space.SCRATCHPAD, target * config.cols, size, size, element))
