# SPDX-License-Identifier: Apache-2.0
"""The elements of one outer iteration of the vector engine: addresses, window flags, range check, as lists.

The RTL finds the same addresses by adding steps, one element per cycle; here they come from the closed formulas of
*Vector* in ``docs/timing.md``, some thousand elements at a time, so that a cycle only looks one up.
"""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Format, Instruction, Opcode, Space

BLOCK = 2048
"""Elements that are worked out at a time."""

POOLS = (Opcode.MAXPOOL, Opcode.AVGPOOL)


class Elements:
    """A block of consecutive elements of one outer iteration.

    Attributes
    ----------
    source : list of int
        Scratchpad word or accumulator row of the first operand; -1 for padding.
    source_part : list of int
        Part of the scratchpad word; 0 for accumulator rows.
    second : list of int
        Column operand of ADD's second source; empty otherwise.
    destination : list of int
        Column operand that the row goes to (its first chunk).
    first, last : list of bool
        The element begins, ends its window.
    state : list of int
        ``5*y + 7*x + 9*wy + 11*wx``: the loop counters' share of the digest while the element is the next one.
    start, stop : int
        Element numbers of the block inside the iteration.
    total : int
        Elements of the iteration.
    bad : int
        Number of the first element of the block with an address out of range; -1 if there is none.
    """

    def __init__(self, config: Config) -> None:
        self._part_shift = config.col_parts.bit_length() - 1
        self._operands = config.sp_words * config.col_parts
        self._acc_rows = config.acc_rows
        self.start = self.stop = self.total = 0
        self.bad = -1

    def begin(self, instruction: Instruction, outer: int) -> None:
        """Elements of this outer iteration, from the first on."""
        f = instruction.fields
        self._f = f
        self._pool = instruction.opcode in POOLS
        self._add = instruction.opcode == Opcode.ADD
        self._accumulator = f["src_space"] == Space.ACCUMULATOR
        self._limit = self._acc_rows if self._accumulator else self._operands
        self._tail = 3 if f["dst_format"] == Format.INT32 else 0
        src_ring, dst_ring = f["src_ring"], f["dst_ring"]
        src_outer = outer % (1 << src_ring) if src_ring else outer
        dst_outer = outer % (1 << dst_ring) if dst_ring else outer
        self._src = f["src"] + src_outer * f["src_outer_stride"]
        self._offset = dst_outer * f["dst_outer_stride"]
        self._window = f["kx"] * f["ky"] if self._pool else 1
        self.total = f["x"] * f["y"] * self._window
        self.block(0)

    def block(self, start: int) -> None:
        """Work out the elements from this number on, at most BLOCK of them."""
        f = self._f
        self.start = start
        self.stop = stop = min(start + BLOCK, self.total)
        number = np.arange(start, stop)
        if self._pool:
            row, inner = np.divmod(number, self._window)
            wy, wx = np.divmod(inner, f["kx"])
            y, x = np.divmod(row, f["x"])
            iy = y * f["stride_y"] + wy - f["pad_top"]
            ix = x * f["stride_x"] + wx - f["pad_left"]
            inside = (iy >= 0) & (iy < f["height"]) & (ix >= 0) & (ix < f["width"])
            source = np.where(inside, self._src + iy * f["src_pitch_y"] + ix * f["src_pitch_x"], -1)
            self.first = (inner == 0).tolist()
            self.last = (inner == self._window - 1).tolist()
            self.state = (5 * y + 7 * x + 9 * wy + 11 * wx).tolist()
        else:
            row = number
            y, x = np.divmod(number, f["x"])
            source = self._src + y * f["src_pitch_y"] + x * f["src_pitch_x"]
            self.first = self.last = [True] * (stop - start)
            self.state = (5 * y + 7 * x).tolist()

        offset = self._offset + row * f["dst_pitch"]
        destination = f["dst"] + offset
        bad = (source >= self._limit) | (destination + self._tail >= self._operands)
        if self._add:
            second = f["src2"] + offset
            bad |= second >= self._operands
            self.second = second.tolist()
        self.bad = start + int(bad.argmax()) if bad.any() else -1
        self.destination = destination.tolist()
        if self._accumulator or not self._part_shift:
            self.source = source.tolist()
            self.source_part = [0] * (stop - start)
        else:
            self.source = (source >> self._part_shift).tolist()  # -1 stays -1
            self.source_part = (source & (1 << self._part_shift) - 1).tolist()
