# SPDX-License-Identifier: Apache-2.0
"""The matrix unit: the twin of `rtl/matmul/bm_matmul.sv`; see *Matmul* in docs/timing.md."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Error, Instruction
from beatmatch.stations.array import Array
from beatmatch.stations.control import ISSUE, LAST, signals_of, sync_of
from beatmatch.stations.scratchpad import Scratchpad
from beatmatch.stations.weight_fifo import WeightFifo
from beatmatch.stations.writer import TraceWriter
from beatmatch.timing import cycles
from beatmatch.trace import VALID

ADD, SWAP, PAD = 1 << 12, 1 << 13, 1 << 14


class Row:
    """An activation row between its generation and its commit."""

    __slots__ = ("acc", "add", "ends", "header", "lanes", "pad", "pad_value", "part", "retire", "signal", "swap",
                 "useful", "word")  # fmt: skip


class Matmul:
    """One station of the stepped machine; it steps after weights in a cycle, and ends the FIFO's cycle.

    Parameters
    ----------
    config : Config
    trace : TraceWriter
    scratchpad : Scratchpad
        Its ``matmul_data`` is read in the cycle after ``sp_read`` was presented.
    fifo : WeightFifo
    digest : bool
        Write the digest of the array (0 otherwise).

    Attributes
    ----------
    sp_read : int
        Scratchpad word requested in this cycle, granted always; -1: none.
    acc_pre : int
        Accumulator row whose old value is read in this cycle (it commits in the next, and adds); -1: none.
    acc_row : int
        Accumulator row that commits in this cycle; -1: none.
    acc_add : bool
        It adds.
    acc_data : numpy.ndarray
        int32 [cols], the row's sums.
    signal : int
        The signal register (12 bits).
    error : 0 or (code, seq)
        Raised by the last `step`.
    array : Array
        The processing elements; `Array.registers` names them one by one.
    """

    __slots__ = (
        "_acc", "_acc_limit", "_address", "_adds", "_array_offset", "_array_rows", "_at", "_bad", "_bytes",
        "_commits", "_count", "_data", "_each", "_edge", "_edge_acts", "_edge_first", "_edge_weights", "_fields",
        "_fifo", "_head", "_head_sync", "_height", "_issue_offset", "_ix0", "_iy0", "_kc", "_kc_count",
        "_kx", "_kx_count", "_ky", "_ky_count", "_lanes", "_lanes_used", "_last", "_last_tile", "_loader_row",
        "_loading", "_operands", "_outer", "_pad", "_part_shift", "_pitch_x", "_pitch_y", "_read_offset", "_request",
        "_retire", "_retire_offset", "_ring", "_row_offset", "_rows", "_run", "_scratchpad", "_seq", "_shadow_full",
        "_shift_offset", "_signal", "_slot", "_state_offset", "_stride_x", "_stride_y", "_swaps", "_sync",
        "_tile_acc", "_tile_address", "_tile_end", "_tiles", "_trace", "_useful", "_waits", "_width", "_words", "_x",
        "_x_count", "_y", "_y_count", "_zeros", "acc_add", "acc_data", "acc_pre", "acc_row", "array", "error",
        "signal", "sp_read",
    )  # fmt: skip

    def __init__(
        self, config: Config, trace: TraceWriter, scratchpad: Scratchpad, fifo: WeightFifo, digest: bool = True
    ) -> None:
        self._trace = trace
        self._words = trace.words
        self._scratchpad = scratchpad
        self._fifo = fifo
        self.array = Array(config, digest)
        self._array_rows = config.rows
        self._tiles = config.fifo_tiles
        self._lanes = config.lanes
        self._part_shift = config.act_parts.bit_length() - 1
        self._operands = config.sp_words * config.act_parts
        self._acc_limit = config.acc_rows
        self._ring: list[Row | None] = [None] * cycles("edge_to_commit", config)  # by cycle of X
        self._zeros = np.zeros(config.rows, np.int8)
        self._issue_offset = trace.offset("matmul", "issue")
        self._retire_offset = trace.offset("matmul", "retire")
        self._read_offset = trace.offset("matmul", "sp_read")
        self._row_offset = trace.offset("matmul", "row")
        self._shift_offset = trace.offset("matmul", "shift")
        self._array_offset = trace.offset("matmul", "array")
        self._state_offset = trace.offset("matmul", "state")
        self._bytes = trace.array.view(np.uint8)
        self.reset()

    def reset(self) -> None:
        """Everything idle and empty, all weights 0."""
        self.array.reset()
        self.sp_read = self.acc_pre = self.acc_row = -1
        self.acc_add = False
        self.acc_data = None
        self.signal = 0
        self.error = 0
        self._retire = 0  # header of the retire slot; 0: not valid
        self._rows = 0  # between generation and commit
        self._request = self._data = self._edge = self._commits = None
        self._ring[:] = [None] * len(self._ring)
        self._at = 0
        self._edge_acts = self._edge_weights = None
        self._edge_first = False
        self._loading = self._shadow_full = False
        self._loader_row = self._slot = 0
        self._run = self._swaps = self._waits = self._last = False
        self._seq = self._outer = self._ky = self._kx = self._kc = self._y = self._x = 0
        self._head = None
        self._head_sync = 0

    # ----- pure functions of the registers -----

    def _shadow_wait(self) -> bool:
        """A tile's first row waits for the shadow registers."""
        if not self._swaps:
            return False
        return not self._shadow_full or (self._request is not None and self._request.swap)

    def wait_request(self, head: tuple[int, Instruction] | None) -> int:
        """The wait presented in this cycle: -1 for none, else 18 bits of sync and `ISSUE`."""
        if self._run:
            if self._swaps and self._shadow_wait():
                return -1
            if self._waits:
                return self._sync
            if not self._last or self._bad:
                return -1
        if head is None:
            return -1
        if head is not self._head:
            self._head = head
            self._head_sync = sync_of(head[1]) | ISSUE
        return self._head_sync

    def busy(self) -> bool:
        """Whether anything is under way, the signal and retire registers included; the loader does not count."""
        return bool(self._run or self._rows or self._retire)

    def pending(self) -> bool:
        """Whether rows are between generation and commit."""
        return self._rows != 0

    def stuck(self, head: tuple[int, Instruction] | None, granted: bool) -> int:
        """Sequence number of the instruction that can't go on; -1: not stuck."""
        if self._rows:
            return -1
        if self._swaps and self._shadow_wait():
            return self._seq if not self._loading and not self._fifo.count else -1
        if granted or self.wait_request(head) < 0:
            return -1
        return self._seq if self._run else head[0]

    def levels(self, head: tuple[int, Instruction] | None, granted: bool) -> tuple[bool, bool, bool, bool, int]:
        """What this cycle is: active, weight shift, weight stall, wait (at most one), and the useful MACs in it."""
        if self._edge is not None:
            return True, False, False, False, self._edge.useful
        if self._swaps and self._shadow_wait():
            stall = not self._loading and not self._fifo.count
            return False, not stall, stall, False, 0
        return False, False, False, not granted and self.wait_request(head) >= 0, 0

    # ----- one cycle -----

    def step(self, head: tuple[int, Instruction] | None, granted: bool, halt: bool) -> None:
        """One cycle.

        Parameters
        ----------
        head : queue head
        granted : the wait presented in this cycle is granted
        halt : an error has been registered
        """
        fifo, array, words, base = self._fifo, self.array, self._words, self._trace.base
        self.error = 0
        words[base + self._array_offset] = array.digest
        start = not (halt or self._loading or self._shadow_full) and fifo.count > 0
        if not (granted or self._run or self._rows or self._retire or start or self._loading):
            if self._shadow_full or fifo.count:
                words[base + self._state_offset] = 15 * self._shadow_full + 21 * fifo.count
            array.step(None, False, self._edge_weights, False)
            self._edge_weights = None
            fifo.commit()
            return
        words[base + self._state_offset] = (
            self._run
            + 3 * self._outer
            + 5 * self._ky
            + 7 * self._kx
            + 9 * self._kc
            + 11 * self._y
            + 13 * self._x
            + 15 * self._shadow_full
            + 17 * self._loading
            + 19 * self._loader_row
            + 21 * fifo.count
        )
        if self._retire:
            words[base + self._retire_offset] = self._retire
            self._retire = self.signal = 0
        self._step_array(halt)
        request = self._request
        self._generate(head, granted, halt)

        if start:
            fifo.begin()
            self._loading = self._shadow_full = True
        elif request is not None and request.swap:
            self._shadow_full = False
        if self._loading:
            row = self._loader_row
            words[base + self._shift_offset] = VALID | self._slot << 8 | row
            self._edge_weights = fifo.memory[self._slot, row].copy()
            self._edge_first = row == 0
            self._loader_row = row + 1
            if row == self._array_rows - 1:
                fifo.release()
                self._loading = False
                self._loader_row = 0
                self._slot = (self._slot + 1) % self._tiles
        else:
            self._edge_weights = None
        fifo.commit()

    def _step_array(self, halt: bool) -> None:
        """Rows from the request register to their commit."""
        words, base = self._words, self._trace.base
        row = self._commits
        if row is not None:
            self._rows -= 1
            if row.ends and not halt:
                self._retire = row.retire
                self.signal = row.signal

        edge, array, ring = self._edge, self.array, self._ring
        if edge is not None:
            words[base + self._row_offset] = edge.header
            array.step(self._edge_acts, edge.swap, self._edge_weights, self._edge_first)
        else:
            array.step(None, False, self._edge_weights, self._edge_first)
        ring[self._at] = edge
        self._at = at = (self._at + 1) % len(ring)
        self._commits = row = ring[at]
        if row is None:
            self.acc_row = -1
        else:
            self.acc_row = row.acc
            self.acc_add = row.add
            self.acc_data = array.row()
        row = ring[at + 1 - len(ring)]
        self.acc_pre = row.acc if row is not None and row.add else -1

        self._edge = row = self._data
        if row is not None:
            if row.pad:
                acts = self._zeros.copy()
                acts[: row.lanes] = row.pad_value
            else:
                word = self._scratchpad.matmul_data
                offset = base + self._read_offset
                words[offset] = VALID | row.word
                offset = 4 * offset + 4
                self._bytes[offset : offset + self._lanes] = word
                acts = word[row.part : row.part + self._array_rows].view(np.int8).copy()
                if row.lanes < self._array_rows:
                    acts[row.lanes :] = 0
            self._edge_acts = acts
        self._data = self._request

    def _generate(self, head: tuple[int, Instruction] | None, granted: bool, halt: bool) -> None:
        """The sequencer: a row into the request register, an instruction from the queue."""
        request = None
        issue = granted
        if self._run:
            offset = self._trace.base + self._issue_offset
            if self._waits and granted:
                issue = False
                self._words[offset] = (
                    VALID | self._seq | self._outer << 16 | (LAST if self._outer == self._count - 1 else 0)
                )
            if not halt and (granted or not self._waits) and not (self._swaps and self._shadow_wait()):
                if self._bad:
                    self.error = (int(Error.LOCAL_RANGE), self._seq)
                else:
                    request = self._row()
                    self._rows += 1
                    self._advance()
        if issue:
            self._issue(head)
        self._request = request
        self.sp_read = -1 if request is None or request.pad else request.word

    def _issue(self, head: tuple[int, Instruction]) -> None:
        """Load the registers of an instruction."""
        self._seq, instruction = head
        f = self._fields = instruction.fields
        self._run = True
        self._sync = sync_of(instruction)
        self._signal = signals_of(instruction)
        self._each = bool(f["each"])
        self._count, self._ky_count, self._kx_count, self._kc_count = f["outer"], f["ky"], f["kx"], f["kc"]
        self._y_count, self._x_count = f["y"], f["x"]
        self._stride_y, self._stride_x = f["stride_y"], f["stride_x"]
        self._height, self._width = f["height"], f["width"]
        self._pitch_y, self._pitch_x = f["src_pitch_y"], f["src_pitch_x"]
        last = not self._each or self._count == 1
        self._words[self._trace.base + self._issue_offset] = VALID | self._seq | (LAST if last else 0)
        self._start_tile()

    def _start_tile(self) -> None:
        """What is constant in a tile, and its first row."""
        f, outer = self._fields, self._outer
        first_tile = not (self._ky or self._kx or self._kc)
        src_outer = outer % (1 << f["src_ring"]) if f["src_ring"] else outer
        acc_outer = outer % (1 << f["acc_ring"]) if f["acc_ring"] else outer
        self._tile_address = f["src"] + self._kc * f["src_kc_stride"] + src_outer * f["src_outer_stride"]
        self._tile_acc = f["acc"] + acc_outer * f["acc_outer_stride"]
        self._iy0 = self._ky * f["dilation_y"] - f["pad_top"]
        self._ix0 = self._kx * f["dilation_x"] - f["pad_left"]
        self._adds = bool(f["accumulate"]) or not first_tile
        self._lanes_used = f["k_lanes"] if self._kc == self._kc_count - 1 else self._array_rows
        self._useful = self._lanes_used * f["n_lanes"]
        self._swaps = not (f["keep"] and first_tile and outer == 0)
        self._waits = self._each and first_tile and outer != 0
        self._last_tile = (
            self._ky == self._ky_count - 1 and self._kx == self._kx_count - 1 and self._kc == self._kc_count - 1
        )
        self._locate()

    def _locate(self) -> None:
        """Where the current row reads and writes."""
        iy = self._y * self._stride_y + self._iy0
        ix = self._x * self._stride_x + self._ix0
        self._pad = pad = not (0 <= iy < self._height and 0 <= ix < self._width)
        self._address = address = self._tile_address + iy * self._pitch_y + ix * self._pitch_x
        self._acc = acc = self._tile_acc + self._y * self._x_count + self._x
        self._bad = acc >= self._acc_limit or (not pad and address >= self._operands)
        self._tile_end = self._x == self._x_count - 1 and self._y == self._y_count - 1
        self._last = self._tile_end and self._last_tile and self._outer == self._count - 1

    def _row(self) -> Row:
        """The current row, as it enters the request register."""
        row = Row()
        row.pad, row.pad_value = self._pad, self._fields["pad_value"]
        row.word = self._address >> self._part_shift
        row.part = (self._address & (1 << self._part_shift) - 1) * self._array_rows
        row.swap, row.add, row.acc = self._swaps, self._adds, self._acc
        row.lanes, row.useful = self._lanes_used, self._useful
        row.header = VALID | row.acc | (ADD if row.add else 0) | (SWAP if row.swap else 0) | (PAD if row.pad else 0)
        last_outer = self._outer == self._count - 1
        row.ends = self._tile_end and self._last_tile and (self._each or last_outer)
        row.retire = VALID | self._seq | self._outer << 16 | (LAST if last_outer or not self._each else 0)
        row.signal = self._signal
        return row

    def _advance(self) -> None:
        """Go to the next row: x, y, kc, kx, ky, outer; x fastest."""
        self._swaps = self._waits = False
        self._x += 1
        if self._x < self._x_count:
            self._locate()
            return
        self._x = 0
        self._y += 1
        if self._y < self._y_count:
            self._locate()
            return
        self._y = 0
        self._kc += 1
        if self._kc == self._kc_count:
            self._kc = 0
            self._kx += 1
            if self._kx == self._kx_count:
                self._kx = 0
                self._ky += 1
                if self._ky == self._ky_count:
                    self._ky = 0
                    self._outer += 1
                    if self._outer == self._count:
                        self._outer = 0
                        self._run = False
                        return
        self._start_tile()
