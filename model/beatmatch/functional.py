# SPDX-License-Identifier: Apache-2.0
"""The functional tier: what a program computes, without time.

Values, errors and the overflow flag are those of the machine for every program that the checker passes; whole outer
iterations are executed at once as matrix products. Host events and the cycle limit belong to time and are left out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from beatmatch import numerics
from beatmatch.config import Config
from beatmatch.isa.fields import INSTRUCTION_BYTES, Engine, Error, Format, Opcode, Space
from beatmatch.isa.legality import check as check_legal
from beatmatch.memory import ADDRESSES, DECERR, MemoryImage, MemoryTiming
from beatmatch.program import Program
from beatmatch.sequence import Halt, Hooks, Node, Sequencer, inner_tiles

PRODUCT = 1 << 14
"""Largest magnitude of a product of two int8 values."""


@dataclass
class Outcome:
    """What is left after a functional run.

    Attributes
    ----------
    image : MemoryImage
        Memory after the run.
    error : Error
        NONE after a normal end.
    engine : Engine
        Who raised the error.
    seq : int
        Sequence number of the instruction.
    text : str
        The error in a sentence; empty after a normal end.
    overflow : bool
        The sticky flag of the accumulators.
    """

    image: MemoryImage
    error: Error = Error.NONE
    engine: Engine = Engine.FRONTEND
    seq: int = 0
    text: str = ""
    overflow: bool = False


def run(program: Program) -> Outcome:
    """Execute a program; errors of the machine are part of the outcome, not exceptions."""
    return FunctionalMachine(program).run()


def rung(iteration: int, ring: int) -> int:
    """Outer index that local addresses use."""
    return iteration & ((1 << ring) - 1) if ring else iteration


def exact_product(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Matrix product of int8 arrays [M, K] and [K, N] as exact int64.

    Floating point is exact here: 1,024 products of at most 2^14 fit the 24 bits of a float32.
    """
    left, right = a.astype(np.float32), w.astype(np.float32)
    total = (left[:, :1024] @ right[:1024]).astype(np.int64)
    for start in range(1024, a.shape[1], 1024):
        total += (left[:, start : start + 1024] @ right[start : start + 1024]).astype(np.int64)
    return total


class FunctionalMachine(Hooks):
    """All state that programs can see, and one method per kind of instruction.

    Attributes
    ----------
    sp : numpy.ndarray of uint8, [words, lanes]
    acc : numpy.ndarray of int32, [rows, cols]
    params : numpy.ndarray of uint8, [param_rows * param_words, lanes]
    image : MemoryImage
    overflow : bool
    """

    def __init__(self, program: Program) -> None:
        config = program.config
        self.program = program
        self.config: Config = config
        self.sp = np.zeros((config.sp_words, config.lanes), np.uint8)
        self.acc = np.zeros((config.acc_rows, config.cols), np.int32)
        self.params = np.zeros((config.param_rows * config.param_words, config.lanes), np.uint8)
        self.image = program.memory()
        self.overflow = False
        self.acts = self.sp.view(np.int8).reshape(-1, config.rows)
        self.columns = self.sp.reshape(-1, config.cols)
        self._instructions = program.decoded()
        self._tiles: deque = deque()  # weight tiles between the two engines
        self._source: np.ndarray | None = None  # tiles of the iteration that weights is in
        self._taken: list[np.ndarray] = []  # tiles of the iteration that matmul is in
        self._held = np.zeros((config.rows, config.cols), np.int8)  # weights in the array
        self._fetch_error = self._find_fetch_error()
        self._walks: dict[int, tuple] = {}

    def run(self) -> Outcome:
        """Execute the program to its end or first error."""
        outcome = Outcome(self.image)
        try:
            if not self._instructions:
                raise Halt(Error.PROGRAM, Engine.FRONTEND, 0, "The program has no instructions.")
            unit = max(INSTRUCTION_BYTES, self.config.mem_bytes)
            if self.program.address % unit:
                raise Halt(Error.PROGRAM, Engine.FRONTEND, 0, f"The program's address must be a multiple of {unit}.")
            if self._fetch_error is not None and self._fetch_error[0] < 0:
                self._raise_fetch_error()
            config = self.config
            order = Sequencer(self._instructions, self.program.semaphores, config.queue_depth, config.fifo_tiles, self)
            order.run()
        except Halt as halt:
            outcome.error, outcome.engine, outcome.seq, outcome.text = halt.code, halt.engine, halt.seq, halt.text
        outcome.overflow = self.overflow
        return outcome

    # ----- frontend -----

    def decode(self, index: int) -> None:
        """Refuse what the decoder refuses."""
        if self._fetch_error is not None and index >= self._fetch_error[0]:
            self._raise_fetch_error()
        problem = check_legal(self.program.instructions[index], self.config)
        if problem is not None:
            raise Halt(problem[0], Engine.FRONTEND, index, f"Instruction {index}: {problem[1]}")

    def _find_fetch_error(self) -> tuple[int, int] | None:
        """First entry (-1: the header) that the memory answers with an error, and the response."""
        size, beat = INSTRUCTION_BYTES * (1 + len(self._instructions)), self.config.mem_bytes
        for start in range(0, size, beat):
            response = self._response(self.program.address + start, beat, reads=True)
            if response:
                return start // INSTRUCTION_BYTES - 1, response
        return None

    def _raise_fetch_error(self) -> None:
        entry, response = self._fetch_error
        raise Halt(_bus_error(response), Engine.FRONTEND, entry, f"Memory refused to give instruction {entry}.")

    def _response(self, address: int, size: int, reads: bool, memory: MemoryTiming | None = None) -> int:
        for item in (memory or self.program.timing).errors:
            if (item.reads if reads else item.writes) and item.first < address + size and address <= item.last:
                return item.response
        return 0

    # ----- the order that the sequencer gives -----

    def tile(self, engine: Engine, node: Node, iteration: int, tile: int) -> None:
        """Pass a weight tile from the weights engine to the array."""
        if engine is Engine.WEIGHTS:
            if tile == 0:
                self._source = self._read_weights(node, iteration)
            self._tiles.append(self._source[tile])
            return
        if not (node.instruction.keep and iteration == 0 and tile == 0):
            self._held = self._tiles.popleft()
        self._taken.append(self._held)

    def work(self, node: Node, iteration: int) -> None:
        """Execute one outer iteration."""
        match node.engine:
            case Engine.LOAD:
                self._load(node, iteration)
            case Engine.MATMUL:
                self._matmul(node, iteration)
            case Engine.VECTOR:
                self._vector(node, iteration)
            case Engine.STORE:
                self._store(node, iteration)

    # ----- memory transfers -----

    def _rows(self, node: Node, offsets: np.ndarray, size: int, words: np.ndarray | None, limit: int) -> list[int]:
        """Addresses of memory rows at ``offsets`` from the base register.

        The first illegal one raises after the rows before it are known to be legal; the caller transfers none of them,
        which no later read of this run can notice.
        """
        base = self.program.bases[node.instruction.base]
        beat = self.config.mem_bytes
        unaligned = (base.address % beat + offsets) % beat != 0
        outside = offsets + size > base.size if base.size < 1 << 62 else np.zeros(len(offsets), bool)
        bad = unaligned | outside
        beyond = np.zeros(len(offsets), bool) if words is None else words >= limit
        failing = np.flatnonzero(bad | beyond)
        if len(failing):
            row = int(failing[0])
            at = f"{node.instruction.opcode.name} instruction {node.index}, offset {int(offsets[row])}"
            if unaligned[row]:
                raise Halt(Error.UNALIGNED, node.engine, node.index, f"{at}: the address is not a multiple of {beat}.")
            if outside[row]:
                text = f"{at}: {size} bytes leave the window of {base.size} bytes."
                raise Halt(Error.WINDOW, node.engine, node.index, text)
            self._range(node, "local word", int(words[row]), limit)
        return [(base.address + int(offset)) % ADDRESSES for offset in offsets]

    def _range(self, node: Node, what: str, value: int, limit: int) -> None:
        text = f"{node.instruction.opcode.name} instruction {node.index}: {what} {value} is beyond {limit - 1}."
        raise Halt(Error.LOCAL_RANGE, node.engine, node.index, text)

    def _fetch_row(self, node: Node, address: int, size: int) -> np.ndarray:
        memory = self.program.timing
        if node.engine is Engine.WEIGHTS:
            memory = self.program.weight_timing or memory
        if memory.errors:
            beat = self.config.mem_bytes
            for start in range(address, address + size, beat):
                response = self._response(start, beat, reads=True, memory=memory)
                if response:
                    text = f"Memory refused the read at {start:#x}."
                    raise Halt(_bus_error(response), node.engine, node.index, text)
        if address + size > ADDRESSES:
            left = ADDRESSES - address
            return np.concatenate([self.image.read(address, left), self.image.read(0, size - left)])
        return self.image.read(address, size)

    def _load(self, node: Node, iteration: int) -> None:
        i = node.instruction
        lanes = self.config.lanes
        target = self.sp if i.dst_space == Space.SCRATCHPAD else self.params
        rows = np.arange(i.rows, dtype=np.int64)
        words = -(-i.row_bytes // lanes)
        first = i.dst + rows * i.dst_row_stride + rung(iteration, i.dst_ring) * i.dst_outer_stride
        offsets = i.offset + rows * i.row_stride + iteration * i.outer_stride
        addresses = self._rows(node, offsets, i.row_bytes, first + words - 1, len(target))
        flat = target.reshape(-1)
        for address, word in zip(addresses, first.tolist(), strict=True):
            start = word * lanes
            flat[start : start + i.row_bytes] = self._fetch_row(node, address, i.row_bytes)

    def _store(self, node: Node, iteration: int) -> None:
        i = node.instruction
        lanes = self.config.lanes
        rows = np.arange(i.rows, dtype=np.int64)
        words = -(-i.row_bytes // lanes)
        first = i.src + rows * i.src_row_stride + rung(iteration, i.src_ring) * i.src_outer_stride
        offsets = i.offset + rows * i.row_stride + iteration * i.outer_stride
        addresses = self._rows(node, offsets, i.row_bytes, first + words - 1, len(self.sp))
        flat = self.sp.reshape(-1)
        for address, word in zip(addresses, first.tolist(), strict=True):
            if self.program.timing.errors:
                self._check_write(node, address, i.row_bytes)
            data = flat[word * lanes : word * lanes + i.row_bytes]
            left = min(len(data), ADDRESSES - address)
            self.image.write(address, data[:left])
            if left < len(data):
                self.image.write(0, data[left:])

    def _check_write(self, node: Node, address: int, size: int) -> None:
        beat = self.config.mem_bytes
        for start in range(address, address + size, beat):
            response = self._response(start, beat, reads=False)
            if response:
                raise Halt(_bus_error(response), node.engine, node.index, f"Memory refused the write at {start:#x}.")

    # ----- weights -----

    def _read_weights(self, node: Node, iteration: int) -> np.ndarray:
        """Tiles of one outer iteration, int8 [inner, rows, cols]."""
        i, config = node.instruction, self.config
        tiles = np.zeros((i.inner, config.rows, config.cols), np.uint8)
        tile, row = np.divmod(np.arange(i.inner * config.rows, dtype=np.int64), config.rows)
        wanted = (tile < i.inner - 1) | (row < i.k_rows)
        if i.opcode == Opcode.WEIGHTS_MEM and i.packed:
            offsets = i.offset + np.arange(i.inner, dtype=np.int64) * i.inner_stride + iteration * i.outer_stride
            size = config.rows * config.cols
            for index, address in enumerate(self._rows(node, offsets, size, None, 0)):
                tiles[index] = self._fetch_row(node, address, size).reshape(config.rows, config.cols)
            return tiles.view(np.int8)
        tile, row = tile[wanted], row[wanted]
        steps = row * i.row_stride + tile * i.inner_stride
        if i.opcode == Opcode.WEIGHTS_MEM:
            offsets = i.offset + steps + iteration * i.outer_stride
            addresses = self._rows(node, offsets, i.n_lanes, None, 0)
            data = np.stack([self._fetch_row(node, address, i.n_lanes) for address in addresses])
        else:
            operands = i.src + steps + rung(iteration, i.src_ring) * i.outer_stride
            if operands.max() >= len(self.columns):
                self._range(node, "column operand", int(operands.max()), len(self.columns))
            data = self.columns[operands][:, : i.n_lanes]
        tiles[tile, row, : i.n_lanes] = data
        return tiles.view(np.int8)

    # ----- matmul -----

    def _matmul(self, node: Node, iteration: int) -> None:
        i, config = node.instruction, self.config
        weights, self._taken = self._taken, []
        operand, inside = self._activations(node)
        operand = operand + rung(iteration, i.src_ring) * i.src_outer_stride
        if inside.any():
            top = int(operand[inside].max())
            if top >= len(self.acts):
                self._range(node, "activation operand", top, len(self.acts))
        count = i.x * i.y
        start = i.acc + rung(iteration, i.acc_ring) * i.acc_outer_stride
        if start + count > config.acc_rows:
            self._range(node, "accumulator row", start + count - 1, config.acc_rows)
        rows = self.acts[np.where(inside, operand, 0)]  # [tiles, rows of a tile, lanes]
        rows[~inside] = i.pad_value
        if i.k_lanes < config.rows:
            rows[i.kc - 1 :: i.kc, :, i.k_lanes :] = 0
        self._accumulate(rows, np.stack(weights), self.acc[start : start + count], bool(i.accumulate))

    def _activations(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        """Operand addresses of iteration 0, [tiles, rows], and which of them are not padding."""
        word = self.program.instructions[node.index]
        if word not in self._walks:
            i = node.instruction
            ky, kx, kc, y, x = np.ix_(*(np.arange(n, dtype=np.int64) for n in (i.ky, i.kx, i.kc, i.y, i.x)))
            iy = y * i.stride_y + ky * i.dilation_y - i.pad_top
            ix = x * i.stride_x + kx * i.dilation_x - i.pad_left
            inside = (iy >= 0) & (iy < i.height) & (ix >= 0) & (ix < i.width) & (kc >= 0)
            address = i.src + iy * i.src_pitch_y + ix * i.src_pitch_x + kc * i.src_kc_stride
            shape = (inner_tiles(i), i.x * i.y)
            if len(self._walks) > 64:
                self._walks.clear()
            self._walks[word] = (address.reshape(shape), inside.reshape(shape))
        return self._walks[word]

    def _accumulate(self, rows: np.ndarray, weights: np.ndarray, acc: np.ndarray, add: bool) -> None:
        tiles, count, lanes = rows.shape
        bound = tiles * lanes * PRODUCT
        if add:
            old = acc.astype(np.int64)
            bound += int(np.abs(old).max())
        if bound < 1 << 31:  # no partial sum can overflow: one product does it all
            total = exact_product(rows.transpose(1, 0, 2).reshape(count, -1), weights.reshape(tiles * lanes, -1))
            acc[:] = total + old if add else total
            return
        for index in range(tiles):
            product = exact_product(rows[index], weights[index])
            if add or index:
                product, lost = numerics.accumulate(acc, product)
                self.overflow |= bool(lost.any())
            acc[:] = product

    # ----- vector -----

    def _vector(self, node: Node, iteration: int) -> None:
        i = node.instruction
        bias, multiplier, shift, second = self._parameters(node, iteration)
        y, x = (v.reshape(-1) for v in np.mgrid[0 : i.y, 0 : i.x].astype(np.int64))
        outer = rung(iteration, i.dst_ring) * i.dst_outer_stride + (y * i.x + x) * i.dst_pitch
        top = i.dst + int(outer.max()) + (3 if i.dst_format == Format.INT32 else 0)
        if top >= len(self.columns):
            self._range(node, "destination operand", top, len(self.columns))
        if i.opcode == Opcode.ADD:
            a = self._operand(node, iteration, y * i.src_pitch_y + x * i.src_pitch_x)
            other = i.src2 + outer
            if other.max() >= len(self.columns):
                self._range(node, "second operand", int(other.max()), len(self.columns))
            exact = numerics.add_exact(a, self.columns[other].view(np.int8), bias, multiplier, second)
        elif i.opcode == Opcode.REQUANT:
            a = self._operand(node, iteration, y * i.src_pitch_y + x * i.src_pitch_x)
        else:
            a = self._pool(node, iteration, y, x)
        if i.dst_format == Format.INT32:
            raw = numerics.wrap32(exact) if i.opcode == Opcode.ADD else numerics.requantise_raw(a, bias)
            data = raw.astype("<i4").view(np.uint8).reshape(-1, self.config.cols)
            self.columns[((i.dst + outer)[:, None] + np.arange(4)).reshape(-1)] = data
            return
        if i.opcode == Opcode.ADD:
            value = numerics.clip(numerics.round_half_even(exact, shift) + i.zero_point, i.clip_low, i.clip_high)
        else:
            value = numerics.requantise(a, bias, multiplier, shift, i.zero_point, i.clip_low, i.clip_high)
        self.columns[i.dst + outer] = value.astype(np.int8).view(np.uint8)

    def _parameters(self, node: Node, iteration: int) -> tuple:
        i, config = node.instruction, self.config
        if not i.param_mode:
            return 0, 1, 0, 1
        row = i.param + (iteration if i.param_mode == 2 else 0)
        last = row + (i.opcode == Opcode.ADD)
        if last >= config.param_rows:
            self._range(node, "parameter row", last, config.param_rows)
        table = self.params.reshape(config.param_rows, -1)
        bias, multiplier, shift = numerics.unpack_parameters(table[row])
        second = numerics.unpack_parameters(table[last])[1] if last > row else 1
        return bias, multiplier, shift, second

    def _operand(self, node: Node, iteration: int, steps: np.ndarray) -> np.ndarray:
        """First operands at ``steps`` from the source address, int64 [..., cols]."""
        i = node.instruction
        address = i.src + steps + rung(iteration, i.src_ring) * i.src_outer_stride
        memory = self.acc if i.src_space == Space.ACCUMULATOR else self.columns.view(np.int8)
        if address.size and address.max() >= len(memory):
            self._range(node, "source operand", int(address.max()), len(memory))
        return memory[address].astype(np.int64)

    def _pool(self, node: Node, iteration: int, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        i = node.instruction
        wy, wx = (v.reshape(-1, 1) for v in np.mgrid[0 : i.ky, 0 : i.kx].astype(np.int64))
        iy, ix = y * i.stride_y + wy - i.pad_top, x * i.stride_x + wx - i.pad_left
        inside = (iy >= 0) & (iy < i.height) & (ix >= 0) & (ix < i.width)
        window = np.zeros((*inside.shape, self.config.cols), np.int64)
        window[inside] = self._operand(node, iteration, (iy * i.src_pitch_y + ix * i.src_pitch_x)[inside])
        return (numerics.pool_max if i.opcode == Opcode.MAXPOOL else numerics.pool_sum)(window, inside)


def _bus_error(response: int) -> Error:
    return Error.BUS_DECERR if response == DECERR else Error.BUS_SLVERR
