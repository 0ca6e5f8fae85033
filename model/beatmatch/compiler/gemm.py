# SPDX-License-Identifier: Apache-2.0
"""Matrix products as programs: blocks of the result in the accumulators, operands in rings of slots.

Per step (a block of the result times a piece of the reduction) there is one instruction per engine; per block one
REQUANT and one STORE. Every engine runs ahead of the next as far as the slots reach. The loads of a step end with the
only signal that the step needs: weights wait for it, and matmul follows the tiles.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from beatmatch.compiler.builder import Builder, CompileError, Matrix, Region
from beatmatch.compiler.cut import Block, Step, cut
from beatmatch.compiler.options import check_core, check_operands, scaling
from beatmatch.compiler.requant import Requant
from beatmatch.compiler.tiling import Places, Sizes, Tiling, choose, place
from beatmatch.config import Config
from beatmatch.isa.fields import Format, Opcode, Space
from beatmatch.memory import MemoryTiming
from beatmatch.program import Program

LOOKAHEAD = 3
"""Steps whose loads are dispatched before they are needed."""

TAIL_PIECES = 4
"""Pieces in which the last block leaves the accumulators, so that storing overlaps."""


def compile_gemm(
    a: np.ndarray,
    b: np.ndarray,
    config: Config,
    out: str = "int32",
    requant: Requant | None = None,
    bias: np.ndarray | None = None,
    timing: MemoryTiming | None = None,
    tiling: Tiling | None = None,
) -> Program:
    """A program that computes ``a @ b``.

    Parameters
    ----------
    a : array_like of int8, [M, K]
    b : array_like of int8, [K, N]
    config : Config
    out : str
        ``int8`` (requantised) or ``int32`` (the sum, plus ``bias`` if given).
    requant : Requant or None
        For int8; None takes `fitting_requant`.
    bias : array_like of int32, [N] or None
        For int32.
    timing : MemoryTiming or None
        None takes the preset's.
    tiling : Tiling or None
        None lets `tiling.choose` decide.

    Returns
    -------
    Program
        Its result is ``out`` (see `Builder.output` for results in several pieces).
    """
    a, b = np.asarray(a), np.asarray(b)
    check_core(config, timing)
    check_operands(a, b, "[M, K] and [K, N]")
    scale = scaling(out, requant, bias, a.shape[1], b.shape[1])
    requant = None if out == "int32" and bias is None else scale
    return _Gemm(a, b, config, out, requant, timing, tiling).program()


class _Gemm:
    def __init__(self, a, b, config, out, requant, timing, tiling) -> None:
        (m, k), n = a.shape, b.shape[1]
        build = Builder(config, timing, f"gemm {m} {k} {n} {out}")
        item = np.dtype(out).itemsize
        channels = requant is not None and requant.per_channel
        self.config, self.build, self.requant, self.item = config, build, requant, item
        self.sizes = Sizes(config, m, k, n, item, build.timing.read_latency, channels)
        self.tiling: Tiling
        self.places: Places
        if tiling is None:
            self.tiling, self.places = choose(self.sizes)
        else:
            places = place(self.sizes, tiling)
            if places is None:
                raise CompileError(f"{tiling} does not fit.")
            self.tiling, self.places = tiling, places
        t = self.tiling
        self.a = build.matrix(a, k if t.resident else t.kc * config.rows)
        self.b = build.matrix(b, t.nb * config.cols) if t.weights_sp else None
        self.b_tiles = None if t.weights_sp else self._pack(b)
        self.out = build.output("out", m, n, out, t.nb * config.cols * item)
        self.params = self._parameters(n) if requant is not None else None
        self._semaphores()
        self.blocks, self.steps = cut(self.sizes, t)

    def _pack(self, b: np.ndarray) -> tuple[Region, int]:
        """Weights tile by tile, the reduction first: for the weights engine to read from memory."""
        config, sizes = self.config, self.sizes
        padded = np.zeros((sizes.k_tiles * config.rows, sizes.n_tiles * config.cols), np.int8)
        padded[: b.shape[0], : b.shape[1]] = b
        tiles = padded.reshape(sizes.k_tiles, config.rows, sizes.n_tiles, config.cols).transpose(2, 0, 1, 3)
        size = config.rows * config.cols
        pitch = -(-size // config.mem_bytes) * config.mem_bytes
        table = np.zeros((sizes.n_tiles * sizes.k_tiles, pitch), np.uint8)
        table[:, :size] = np.ascontiguousarray(tiles).view(np.uint8).reshape(-1, size)
        return self.build.region(0, table.tobytes()), pitch

    def _parameters(self, n: int) -> Matrix:
        rows = self.requant.rows(n, self.config.cols)
        return self.build.matrix(rows, rows.shape[1])

    def _semaphores(self) -> None:
        sem, t = self.build.semaphore, self.tiling
        self.loaded = sem("loaded")
        self.slot_free = sem("slot_free", t.slots)
        self.rows_free = sem("rows_free", 2)
        self.acc_full = sem("acc_full")
        self.acc_free = sem("acc_free", 2)
        self.out_full = sem("out_full")
        self.out_free = sem("out_free", t.out_slots)

    # ----- instructions -----

    def program(self) -> Program:
        """Emit everything; the loads of later steps come first, but never before what frees their slots."""
        if self.params is not None and not (self.sizes.channels and self.sizes.n_tiles > self.config.param_rows):
            self._load_params(0, self.params.region, 0, self.params_rows, ())
        ahead = min(self.tiling.slots, LOOKAHEAD)
        pointer = 0
        for step in self.steps:
            while pointer < len(self.steps) and pointer <= step.index + ahead - 1 and self._needs(pointer) < step.index:
                self._loads(self.steps[pointer])
                pointer += 1
            if pointer <= step.index:
                raise AssertionError("a step's loads must not depend on itself")
            self._weights(step)
            self._matmul(step)
            if step.index == step.block.last_step:
                self._drain(step.block)
        return self.build.finish()

    @property
    def params_rows(self) -> int:
        """Rows of the parameter table."""
        return self.sizes.n_tiles if self.requant.per_channel else 1

    def _loads_rows(self, step: Step) -> bool:
        block = step.block
        return not self.tiling.resident or (block.n_block == 0 and step.index == block.first_step)

    def _reloads_params(self, step: Step) -> bool:
        few = self.sizes.n_tiles <= self.config.param_rows
        return self.sizes.channels and not few and step.index == step.block.first_step

    def _needs(self, index: int) -> int:
        """The last step that must be dispatched before the loads of step ``index``."""
        step, needed = self.steps[index], index - self.tiling.slots
        block = step.block
        if self.tiling.resident and self._loads_rows(step) and block.m_block >= 2:
            needed = max(needed, max(b.last_step for b in self.blocks if b.m_block == block.m_block - 2))
        if self._reloads_params(step) and block.index >= 2:
            needed = max(needed, self.blocks[block.index - 2].last_step)
        return needed

    def _loads(self, step: Step) -> None:
        t, sizes, build, block, config = self.tiling, self.sizes, self.build, step.block, self.config
        jobs = []
        if self._reloads_params(step):
            slot = block.index % 2 * (config.param_rows // 2)
            jobs.append(("params", slot))
        if self._loads_rows(step):
            jobs.append(("a", 0))
        if t.weights_sp:
            jobs.append(("b", 0))
        slotted = t.weights_sp or not t.resident
        waited = False
        for position, (kind, slot) in enumerate(jobs):
            signals = [self.loaded] if position == len(jobs) - 1 else []
            if kind == "params":
                self._load_params(slot, self.params.region, block.tile, block.tiles, [(self.rows_free, 1)], signals)
                continue
            waits = []
            if kind == "a" and t.resident:
                waits = [(self.rows_free, 1)]
            elif slotted and not waited:
                waits, waited = [(self.slot_free, 1)], True
            if kind == "a":
                size = sizes.k if t.resident else step.tiles * config.rows
                size = min(size, sizes.k - step.kt * config.rows) if not t.resident else size
                words = sizes.words(size)
                piece = 0 if t.resident else step.kt // t.kc
                build.transfer(
                    Opcode.LOAD, self._a_base(step), self.a.region, self.a.offset(block.m, piece), block.rows,
                    words * config.lanes, self.a.pitch, words, waits, signals,
                )  # fmt: skip
            else:
                words = sizes.words(block.tiles * config.cols)
                k = step.kt * config.rows
                build.transfer(
                    Opcode.LOAD, self._b_base(step), self.b.region, self.b.offset(k, block.n_block),
                    min(step.tiles * config.rows, sizes.k - k), self._b_bytes(words), self.b.pitch, words,
                    waits, signals,
                )  # fmt: skip

    def _b_bytes(self, words: int) -> int:
        return words * self.config.lanes

    def _load_params(self, row, region, first, rows, waits, signals=()) -> None:
        config = self.config
        size = 8 * config.cols
        self.build.transfer(
            Opcode.LOAD, row * config.param_words, region, first * self.params.pitch, rows, size, self.params.pitch,
            config.param_words, waits, signals, dst_space=Space.PARAMETER,
        )  # fmt: skip

    def _a_base(self, step: Step) -> int:
        slot = step.block.m_block % 2 if self.tiling.resident else step.index % self.tiling.slots
        return self.places.a + slot * self.sizes.a_words(self.tiling)

    def _b_base(self, step: Step) -> int:
        return self.places.b + step.index % self.tiling.slots * self.sizes.b_words(self.tiling)

    def _has_loads(self, step: Step) -> bool:
        return self.tiling.weights_sp or self._loads_rows(step)

    def _n_runs(self, block: Block) -> list[tuple[int, int, int]]:
        """(first tile of the block, tiles, lanes): the matrix's last tile may be narrow."""
        cols, n = self.config.cols, self.sizes.n
        narrow = n % cols if block.tile + block.tiles == self.sizes.n_tiles else 0
        if not narrow:
            return [(0, block.tiles, cols)]
        runs = [(0, block.tiles - 1, cols)] if block.tiles > 1 else []
        return [*runs, (block.tiles - 1, 1, narrow)]

    def _weights(self, step: Step) -> None:
        t, sizes, config, block = self.tiling, self.sizes, self.config, step.block
        last = step.kt + step.tiles == sizes.k_tiles
        k_rows = (sizes.k - 1) % config.rows + 1 if last else config.rows
        for index, (first, tiles, lanes) in enumerate(self._n_runs(block)):
            if not t.weights_sp:
                region, pitch = self.b_tiles
                place = ((block.tile + first) * sizes.k_tiles + step.kt) * pitch
                self.build.emit(
                    Opcode.WEIGHTS_MEM, outer=tiles, inner=step.tiles, base=region.base, offset=place, packed=1,
                    inner_stride=pitch, outer_stride=sizes.k_tiles * pitch if tiles > 1 else 0,
                    k_rows=config.rows, n_lanes=config.cols,
                )  # fmt: skip
                continue
            pitch = sizes.words(block.tiles * config.cols) * config.col_parts
            self.build.emit(
                Opcode.WEIGHTS_SP, [(self.loaded, 1)] if index == 0 else [], outer=tiles, inner=step.tiles,
                src=self._b_base(step) * config.col_parts + first, row_stride=pitch,
                inner_stride=pitch * config.rows if step.tiles > 1 else 0, outer_stride=1, k_rows=k_rows,
                n_lanes=lanes,
            )  # fmt: skip

    def _matmul(self, step: Step) -> None:
        t, sizes, config, block = self.tiling, self.sizes, self.config, step.block
        runs = self._n_runs(block)
        start, end = step.index == block.first_step, step.index == block.last_step
        k_lanes = (sizes.k - 1) % config.rows + 1 if step.kt + step.tiles == sizes.k_tiles else config.rows
        size = sizes.k if t.resident else min(step.tiles * config.rows, sizes.k - step.kt * config.rows)
        pitch = sizes.words(size) * config.act_parts
        source = self._a_base(step) * config.act_parts + (step.kt if t.resident else 0)
        slotted = t.weights_sp or not t.resident
        for index, (first, tiles, lanes) in enumerate(runs):
            waits, signals = [], []
            if index == 0 and start:
                waits.append((self.acc_free, 1))
            if index == 0 and not t.weights_sp and self._loads_rows(step):
                waits.append((self.loaded, 1))
            if index == len(runs) - 1:
                signals += [self.slot_free] if slotted else []
                signals += [self.acc_full] if end else []
            walk = {"x": block.rows, "src_pitch_x": pitch, "width": block.rows}
            if pitch > 1023 or block.rows == 1:
                walk = {"y": block.rows, "src_pitch_y": pitch if block.rows > 1 else 0, "height": block.rows}
            self.build.emit(
                Opcode.MATMUL, waits, signals, outer=tiles, kc=step.tiles, src=source, src_kc_stride=1,
                acc=self._acc(block) + first * block.rows, acc_outer_stride=block.rows if tiles > 1 else 0,
                accumulate=0 if start else 1, k_lanes=k_lanes, n_lanes=lanes, **walk,
            )  # fmt: skip

    def _acc(self, block: Block) -> int:
        return block.index % 2 * self.sizes.acc_slot

    # ----- from the accumulators to memory -----

    def _drain(self, block: Block) -> None:
        config, sizes, item = self.config, self.sizes, self.item
        width = block.tiles * config.cols * item
        words = sizes.words(width)
        slot = self.places.out + block.index % self.tiling.out_slots * sizes.out_words(self.tiling)
        last = block is self.blocks[-1]
        count = min(TAIL_PIECES, block.rows) if last else 1
        cuts = [block.rows * i // count for i in range(count + 1)]
        frees_rows = self.tiling.resident and block is [b for b in self.blocks if b.m_block == block.m_block][-1]
        frees_rows = frees_rows or (sizes.channels and sizes.n_tiles > config.param_rows)
        size = min(width, sizes.n * item - block.tile * config.cols * item)
        for piece, (low, high) in enumerate(pairwise(cuts)):
            waits = [(self.acc_full, 1), (self.out_free, 1)] if piece == 0 else []
            signals = [self.out_full, self.acc_free] if piece == count - 1 else [self.out_full]
            self._requant(block, slot, words, low, high - low, waits, signals)
            signals = [self.out_free] if piece == count - 1 else []
            signals += [self.rows_free] if piece == count - 1 and frees_rows else []
            self.build.transfer(
                Opcode.STORE, slot + low * words, self.out.region, self.out.offset(block.m + low, block.n_block),
                high - low, size, self.out.pitch, words, [(self.out_full, 1)], signals,
            )  # fmt: skip

    def _requant(self, block, slot, words, low, rows, waits, signals) -> None:
        config, requant, item = self.config, self.requant, self.item
        tiles, pitch = block.tiles, words * config.col_parts
        fields = {"dst_format": Format.INT8 if item == 1 else Format.INT32, "src_space": Space.ACCUMULATOR}
        fields["src_format"] = Format.INT32
        if requant is not None:
            low_clip, high_clip = requant.low, requant.high
            fields |= {"zero_point": requant.zero_point, "clip_low": low_clip, "clip_high": high_clip}
            few = self.sizes.n_tiles <= config.param_rows
            row = 0
            if requant.per_channel:
                row = block.tile if few else block.index % 2 * (config.param_rows // 2)
            fields |= {"param_mode": 2 if requant.per_channel else 1, "param": row}
        fields["src"] = self._acc(block) + low
        fields["dst"] = slot * config.col_parts + low * pitch
        alike = requant is None or not requant.per_channel
        if alike and pitch == tiles * item and block.rows <= 1023:  # one iteration, tiles fastest
            fields |= {"x": tiles, "y": rows, "src_pitch_x": block.rows, "src_pitch_y": 1, "dst_pitch": item}
        else:
            fields |= {"outer": tiles, "x": rows, "src_pitch_x": 1, "src_outer_stride": block.rows}
            fields |= {"dst_pitch": pitch, "dst_outer_stride": item}
        self.build.emit(Opcode.REQUANT, waits, signals, **fields)
