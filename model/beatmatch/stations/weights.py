# SPDX-License-Identifier: Apache-2.0
"""The weights engine: tiles from memory or scratchpad into the FIFO. Its twin is `rtl/weights/bm_weights.sv`."""

from __future__ import annotations

from beatmatch.config import Config
from beatmatch.isa import Error, Instruction, Opcode
from beatmatch.stations.control import ISSUE, LAST, signals_of, sync_of
from beatmatch.stations.gearbox import Gearbox
from beatmatch.stations.row_bursts import RowBursts
from beatmatch.stations.scratchpad import Scratchpad
from beatmatch.stations.weight_fifo import WeightFifo
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

WEIGHTS = 2
"""Number of weights on the memory port."""


class Weights:
    """One station of the stepped machine; it steps before matmul in a cycle.

    A row's meta is ``(retire, signals, ends)``: the retire slot's header, the signal register's value, and whether
    the row ends an iteration that signals. A scratchpad row is ``(word, first byte, bytes, zero, meta)``.

    Parameters
    ----------
    config : Config
    trace : TraceWriter
    bases, sizes : list of int
        The sixteen base registers and their windows, in bytes; read at issue.
    scratchpad : Scratchpad
        Its ``weights_data`` is read in the cycle after a grant.
    fifo : WeightFifo

    Attributes
    ----------
    bursts : RowBursts
    gearbox : Gearbox
        Its word register is written to the FIFO in its first cycle.
    sp_request : int
        Scratchpad word requested in this cycle; -1: none.
    signal : int
        The signal register (12 bits).
    error : 0 or (code, seq)
        Raised by the last `step`.
    """

    __slots__ = (
        "_arrived",
        "_at",
        "_base",
        "_bases",
        "_bytes",
        "_cols",
        "_count",
        "_each",
        "_fifo",
        "_first",
        "_from_sp",
        "_head",
        "_head_sync",
        "_inner",
        "_inner_count",
        "_inner_stride",
        "_issue_offset",
        "_k_rows",
        "_lanes",
        "_mem_bytes",
        "_opening",
        "_operands",
        "_outer",
        "_outer_at",
        "_outer_stride",
        "_part_shift",
        "_read_offset",
        "_request",
        "_retire",
        "_retire_offset",
        "_ring",
        "_row",
        "_row_bytes",
        "_row_count",
        "_row_stride",
        "_rows",
        "_run",
        "_scratchpad",
        "_seq",
        "_signals",
        "_size",
        "_sizes",
        "_state_offset",
        "_sync",
        "_tile_at",
        "_tiles",
        "_trace",
        "_waits",
        "_words",
        "_write_offset",
        "_write_row",
        "_write_tile",
        "bursts",
        "error",
        "gearbox",
        "signal",
        "sp_request",
    )  # fmt: skip

    def __init__(
        self,
        config: Config,
        trace: TraceWriter,
        bases: list[int],
        sizes: list[int],
        scratchpad: Scratchpad,
        fifo: WeightFifo,
    ) -> None:
        self._trace = trace
        self._words = trace.words
        self._bytes = trace.words.cast("B")
        self._bases = bases
        self._sizes = sizes
        self._scratchpad = scratchpad
        self._fifo = fifo
        self._rows = config.rows
        self._cols = config.cols
        self._lanes = config.lanes
        self._tiles = config.fifo_tiles
        self._mem_bytes = config.mem_bytes
        self._part_shift = config.col_parts.bit_length() - 1
        self._operands = config.sp_words * config.col_parts
        self.bursts = RowBursts(config.mem_bytes, config.outstanding)
        self.gearbox = Gearbox(config.mem_bytes, config.cols)
        self._issue_offset = trace.offset("weights", "issue")
        self._retire_offset = trace.offset("weights", "retire")
        self._read_offset = trace.offset("weights", "sp_read")
        self._write_offset = trace.offset("weights", "fifo_write")
        self._state_offset = trace.offset("weights", "state")
        self.reset()

    def reset(self) -> None:
        """Everything idle and empty, all slots free."""
        self.bursts.reset()
        self.gearbox.reset()
        self._fifo.reset()
        self.signal = 0
        self.error = 0
        self.sp_request = -1
        self._retire = 0  # header of the retire slot; 0: not valid
        self._request = self._arrived = None
        self._run = self._opening = self._waits = False
        self._outer = self._inner = self._row = self._seq = 0
        self._write_tile = self._write_row = 0
        self._head = None
        self._head_sync = 0

    # ----- pure functions of the registers -----

    def wait_request(self, head: tuple[int, Instruction] | None) -> int:
        """The wait presented in this cycle: -1 for none, else 18 bits of sync and `ISSUE`."""
        if self._run:
            if not self._waits or self._fifo.reserved == self._tiles:
                return -1
            full = self._request is not None if self._from_sp else self.bursts.row_valid
            return -1 if full else self._sync
        if head is None:
            return -1
        if head is not self._head:
            self._head = head
            self._head_sync = sync_of(head[1]) | ISSUE
        return self._head_sync

    def read_ready(self, _granted: bool, halt: bool) -> bool:
        """Ready for a read beat in this cycle; the FIFO never refuses a word."""
        rows = self.bursts.rows
        return halt or self.gearbox.ready(rows[0] if rows else None, self.gearbox.valid)

    def _in_flight(self) -> bool:
        """Something is between the row's generation and its write."""
        bursts = self.bursts
        return bool(
            bursts.row_valid
            or bursts.rows
            or bursts.inflight
            or self.gearbox.valid
            or self._request is not None
            or self._arrived is not None
        )

    def busy(self) -> bool:
        """Whether anything is under way, the signal and retire registers included."""
        return bool(self._run or self._retire or self._in_flight())

    def pending(self) -> bool:
        """Whether bursts are unanswered."""
        return self.bursts.inflight != 0

    def stuck(self, head: tuple[int, Instruction] | None, granted: bool) -> int:
        """Sequence number of the instruction that can't go on; -1: not stuck."""
        if self._in_flight():
            return -1
        if self._run:
            if not self._row and self._fifo.reserved == self._tiles:
                return self._seq if self._fifo.count == self._tiles else -1
            return self._seq if self._waits and not granted else -1
        return head[0] if head is not None and not granted and not self._retire else -1

    # ----- one cycle -----

    def step(
        self, head: tuple[int, Instruction] | None, granted: bool, halt: bool, sp_granted: bool, ar_ready: bool, beat
    ) -> None:
        """One cycle.

        Parameters
        ----------
        head : queue head
        granted : the wait presented in this cycle is granted
        halt : an error has been registered
        sp_granted : the scratchpad read requested in this cycle is granted
        ar_ready : the AR register has its handshake (``port.ar_id == WEIGHTS``)
        beat : the memory's outputs (``rdata, rresp, rlast``) if a beat for weights has its handshake
            (``port.r_id == WEIGHTS``), else None
        """
        bursts, gearbox, fifo = self.bursts, self.gearbox, self._fifo
        rows, words, base = bursts.rows, self._words, self._trace.base
        request, arrived = self._request, self._arrived
        self.error = 0
        if not (granted or self._run or self._retire or request or arrived or rows) and not (
            bursts.row_valid or bursts.inflight or gearbox.valid
        ):
            words[base + self._state_offset] = 9 * fifo.reserved + 11 * fifo.count
            return
        words[base + self._state_offset] = (
            self._run
            + 3 * self._outer
            + 5 * self._inner
            + 7 * self._row
            + 9 * fifo.reserved
            + 11 * fifo.count
            + 13 * bursts.inflight
            + 15 * bursts.row_valid
            + 17 * len(rows)
            + 19 * gearbox.valid
            + 21 * (request is not None)
        )
        if self._retire:
            words[base + self._retire_offset] = self._retire
            self._retire = self.signal = 0
        slot_free = fifo.reserved < self._tiles
        sp_quiet = request is None and arrived is None
        mem_quiet = not (bursts.row_valid or rows or gearbox.valid)

        # Rows that arrive are written in this cycle.
        taken = gearbox.valid
        if arrived is not None:
            self._arrive(arrived, halt)
        elif taken and not halt:
            self._write(gearbox.data, gearbox.meta, gearbox.last)
        if request is not None and (sp_granted or request[3]):
            self._arrived = request
            self._request = None
        else:
            self._arrived = None

        front = rows[0] if rows else None
        bursts.advance(ar_ready, beat is not None and beat.rlast, halt)
        if halt:
            gearbox.flush()
        else:
            if self._run:
                if granted:
                    last = LAST if self._outer == self._count - 1 else 0
                    words[base + self._issue_offset] = VALID | self._seq | self._outer << 16 | last
                if (
                    (granted or not self._waits)
                    and (self._row or slot_free)
                    and (not self._opening or (mem_quiet if self._from_sp else sp_quiet))
                    and (self._request is None if self._from_sp else not bursts.row_valid)
                ):
                    self._generate()
            elif granted:
                words[base + self._issue_offset] = self._issue(head)
            if beat is not None and beat.rresp:
                code = Error.BUS_DECERR if beat.rresp == 3 else Error.BUS_SLVERR
                self.error = (int(code), front[2][0] & 0xFFFF)
            if gearbox.step(front, None if beat is None else beat.rdata, taken):
                rows.popleft()
        request = self._request
        self.sp_request = -1 if request is None or request[3] else request[0]

    def _arrive(self, row: tuple, halt: bool) -> None:
        """A row that the scratchpad gave, or a zero row of a scratchpad instruction."""
        word, first, size, zero, meta = row
        data = bytes(self._cols)
        if not zero:
            content = self._scratchpad.weights_data.tobytes()
            offset = self._trace.base + self._read_offset
            self._words[offset] = VALID | word
            offset = 4 * offset + 4
            self._bytes[offset : offset + self._lanes] = content
            data = content[first : first + size] + data[size:]
        if not halt:
            self._write(data, meta, True)

    def _write(self, data: bytes, meta: tuple, last: bool) -> None:
        """Write a row to the FIFO; ``last``: it ends a memory row."""
        fifo, tile, row = self._fifo, self._write_tile, self._write_row
        offset = self._trace.base + self._write_offset
        self._words[offset] = VALID | tile << 8 | row
        offset = 4 * offset + 4
        self._bytes[offset : offset + self._cols] = data
        memoryview(fifo.memory[tile, row]).cast("B")[:] = data
        if row == self._rows - 1:
            fifo.tile_done()
            self._write_row = 0
            self._write_tile = (tile + 1) % self._tiles
        else:
            self._write_row = row + 1
        retire, signals, ends = meta
        if ends and last:
            self._retire = retire
            self.signal = signals

    def _issue(self, head: tuple[int, Instruction]) -> int:
        """Load the registers; returns the issue slot's header."""
        self._seq, instruction = head
        f = instruction.fields
        self._from_sp = instruction.opcode == Opcode.WEIGHTS_SP
        self._run = self._opening = True
        self._sync = sync_of(instruction)
        self._signals = signals_of(instruction)
        self._each = bool(f["each"])
        self._count = f["outer"]
        self._inner_count = f["inner"]
        self._row_stride, self._inner_stride, self._outer_stride = f["row_stride"], f["inner_stride"], f["outer_stride"]
        if self._from_sp:
            self._ring = (1 << f["src_ring"]) - 1
            self._first = f["src"]
        else:
            self._ring = 0
            self._first = f["offset"]
            self._base = self._bases[f["base"]]
            self._size = self._sizes[f["base"]]
        packed = not self._from_sp and f["packed"]
        self._row_count = 1 if packed else self._rows
        self._row_bytes = self._rows * self._cols if packed else f["n_lanes"]
        self._k_rows = f["k_rows"]
        self._at = self._tile_at = self._outer_at = self._first
        return VALID | self._seq | (LAST if not self._each or self._count == 1 else 0)

    def _generate(self) -> None:
        """Generate one row into the free row (or request) register, or raise the error it has."""
        row, at, size = self._row, self._at, self._row_bytes
        last_row = row == self._row_count - 1
        last_inner = self._inner == self._inner_count - 1
        last_outer = self._outer == self._count - 1
        zero = last_inner and row >= self._k_rows and self._row_count > 1
        if not zero:
            code = 0
            if self._from_sp:
                if at >= self._operands:
                    code = Error.LOCAL_RANGE
            elif (self._base + at) % self._mem_bytes:
                code = Error.UNALIGNED
            elif at + size > self._size:
                code = Error.WINDOW
            if code:
                self.error = (int(code), self._seq)
                return
        last = LAST if last_outer or not self._each else 0
        retire = VALID | self._seq | self._outer << 16 | last
        meta = (retire, self._signals, last_row and last_inner and (self._each or last_outer))
        if self._from_sp:
            part = at & (1 << self._part_shift) - 1
            self._request = (at >> self._part_shift, part * self._cols, size, zero, meta)
        else:
            self.bursts.put(self._base + at, size, zero, meta)
        if row == 0:
            self._fifo.reserve()
        self._opening = self._waits = False
        if not last_row:
            self._row = row + 1
            self._at = at + self._row_stride
            return
        self._row = 0
        if not last_inner:
            self._inner += 1
            self._at = self._tile_at = self._tile_at + self._inner_stride
            return
        self._inner = 0
        if last_outer:
            self._outer = 0
            self._run = False
            return
        self._outer += 1
        self._waits = self._each
        index = self._outer & self._ring if self._ring else self._outer
        self._at = self._tile_at = self._outer_at = self._first + index * self._outer_stride
