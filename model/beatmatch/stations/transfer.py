# SPDX-License-Identifier: Apache-2.0
"""Two-dimensional transfers: what load and store have in common. The twin of `rtl/lib/bm_transfer_rows.sv`."""

from __future__ import annotations

from beatmatch.config import Config
from beatmatch.isa import Error, Instruction
from beatmatch.stations.control import ISSUE, LAST, signals_of, sync_of
from beatmatch.stations.row_bursts import RowBursts
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID


class Transfer:
    """Issues transfers and generates their rows; base class of the load and store engines.

    A row's meta is ``(retire, signals, ends, space, local)``: the retire slot's header, the signal register's value,
    whether the row ends an iteration that signals, and where its first word is.

    Parameters
    ----------
    bases, sizes : list of int
        The sixteen base registers and their windows, in bytes; read at issue.

    Attributes
    ----------
    bursts : RowBursts
    signal : int
        The signal register (12 bits).
    error : 0 or (code, seq)
        Raised by the last `step`.
    """

    __slots__ = (
        "_base", "_bases", "_count", "_each", "_head", "_head_sync", "_lanes", "_limit", "_limits", "_local",
        "_local_first", "_local_outer", "_local_prefix", "_local_row_stride", "_local_stride", "_mem_bytes",
        "_offset", "_outer", "_outer_offset", "_outer_stride", "_retire", "_ring", "_row", "_row_bytes",
        "_row_stride", "_row_words", "_rows", "_run", "_seq", "_signals", "_size", "_sizes", "_space", "_starting",
        "_sync", "_trace", "_words", "bursts", "error", "signal",
    )  # fmt: skip

    def __init__(
        self,
        config: Config,
        trace: TraceWriter,
        bases: list[int],
        sizes: list[int],
        prefix: str,
        limits: tuple[int, ...],
    ) -> None:
        self._trace = trace
        self._words = trace.words
        self._bases = bases
        self._sizes = sizes
        self._lanes = config.lanes
        self._mem_bytes = config.mem_bytes
        self._local_prefix = prefix
        self._limits = limits
        self.bursts = RowBursts(config.mem_bytes, config.outstanding)
        self.reset()

    def reset(self) -> None:
        """Everything idle and empty."""
        self.bursts.reset()
        self.signal = 0
        self.error = 0
        self._retire = 0  # header of the retire slot; 0: not valid
        self._run = self._starting = self._each = False
        self._outer = self._row = self._seq = 0
        self._head = None
        self._head_sync = 0

    def wait_request(self, head: tuple[int, Instruction] | None) -> int:
        """The wait presented in this cycle: -1 for none, else 18 bits of sync and `ISSUE`."""
        if self._run:
            return self._sync if self._starting and not self.bursts.row_valid else -1
        if head is None:
            return -1
        if head is not self._head:
            self._head = head
            self._head_sync = sync_of(head[1]) | ISSUE
        return self._head_sync

    def pending(self) -> bool:
        """Whether bursts are unanswered."""
        return self.bursts.inflight != 0

    def _issue(self, head: tuple[int, Instruction]) -> int:
        """Load the registers; returns the issue slot's header."""
        seq, instruction = head
        f = instruction.fields
        prefix = self._local_prefix
        self._run = True
        self._seq = seq
        self._each = bool(f["each"])
        self._sync = sync_of(instruction)
        self._signals = signals_of(instruction)
        self._count = f["outer"]
        self._rows = f["rows"]
        self._space = f.get("dst_space", 0)
        self._limit = self._limits[self._space]
        self._ring = (1 << f[prefix + "_ring"]) - 1
        self._row_bytes = f["row_bytes"]
        self._row_words = -(-f["row_bytes"] // self._lanes)
        self._row_stride = f["row_stride"]
        self._outer_stride = f["outer_stride"]
        self._local_row_stride = f[prefix + "_row_stride"]
        self._local_stride = f[prefix + "_outer_stride"]
        self._local = self._local_outer = self._local_first = f[prefix]
        self._offset = self._outer_offset = f["offset"]
        self._base = self._bases[f["base"]]
        self._size = self._sizes[f["base"]]
        return VALID | seq | (LAST if not self._each or self._count == 1 else 0)

    def _iteration_header(self) -> int:
        """The issue slot's header of a further iteration."""
        return VALID | self._seq | self._outer << 16 | (LAST if self._outer == self._count - 1 else 0)

    def _generate(self) -> None:
        """Generate one row into the free row register, or raise the error it has."""
        offset = self._offset
        address = self._base + offset
        local = self._local
        self._starting = False
        if address % self._mem_bytes:
            self.error = (int(Error.UNALIGNED), self._seq)
            return
        if offset + self._row_bytes > self._size:
            self.error = (int(Error.WINDOW), self._seq)
            return
        if local + self._row_words > self._limit:
            self.error = (int(Error.LOCAL_RANGE), self._seq)
            return
        outer = self._outer
        last_row = self._row == self._rows - 1
        last_outer = outer == self._count - 1
        retire = VALID | self._seq | outer << 16 | (LAST if last_outer else 0)
        meta = (retire, self._signals, last_row and (self._each or last_outer), self._space, local)
        self.bursts.put(address, self._row_bytes, False, meta)
        if not last_row:
            self._row += 1
            self._offset = offset + self._row_stride
            self._local = local + self._local_row_stride
            return
        self._row = 0
        if last_outer:
            self._outer = 0
            self._run = False
            return
        self._outer = outer = outer + 1
        self._starting = self._each
        self._offset = self._outer_offset = self._outer_offset + self._outer_stride
        if self._ring and not outer & self._ring:
            self._local_outer = self._local_first
        else:
            self._local_outer += self._local_stride
        self._local = self._local_outer
