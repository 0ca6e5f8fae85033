# SPDX-License-Identifier: Apache-2.0
"""Memory rows to bursts: the twin of `rtl/lib/bm_row_bursts.sv`."""

from __future__ import annotations

from collections import deque

MAX_BEATS = 256
BOUNDARY = 4096
ADDRESS_MASK = (1 << 64) - 1


class RowBursts:
    """A row register, a burst register, and the list of the rows that have begun.

    Within a cycle the caller takes ``head = rows[0] if rows else None`` first, then calls `advance`, then lets its
    gearbox work on ``head`` and pops it if the gearbox says so; a row put by `put` is in the row register from the
    next cycle on.

    Attributes
    ----------
    row_valid : bool
        The row register is occupied.
    valid, address, length : bool, int, int
        The burst register: AR or AW channel; ``length`` is beats minus one.
    inflight : int
        Bursts put into the burst register and not yet answered.
    rows : collections.deque
        Descriptions ``(bytes, zero, meta)`` of the rows begun, oldest first.
    placed : bool
        A burst was put into the burst register by the last `advance`; ``placed_last``: it ends its row;
        ``placed_meta``: its row's meta.
    open_bytes : int
        Bytes (whole beats) of the row in the row register that are in bursts already; 0: it has not begun.
    """

    __slots__ = (
        "_beat", "_bytes", "_depth", "_left", "_meta", "_next", "_outstanding", "_zero", "address", "inflight",
        "length", "open_bytes", "placed", "placed_last", "placed_meta", "row_valid", "rows", "valid",
    )  # fmt: skip

    def __init__(self, mem_bytes: int, outstanding: int) -> None:
        self._beat = mem_bytes
        self._outstanding = outstanding
        self._depth = outstanding + 1
        self.rows: deque = deque()
        self.reset()

    def reset(self) -> None:
        """Everything empty."""
        self.row_valid = self.valid = False
        self.address = self.length = self.inflight = self.open_bytes = 0
        self.rows.clear()
        self.placed = self.placed_last = False
        self.placed_meta = None
        self._next = self._left = self._bytes = 0
        self._zero = False
        self._meta = None

    def put(self, address: int, size: int, zero: bool, meta: object) -> None:
        """Load the row register: only if it was free after `advance` (``not row_valid``) and nothing is halted."""
        self.row_valid = True
        self._next = address & ADDRESS_MASK
        self._bytes = size
        self._left = -(-size // self._beat)
        self._zero = zero
        self._meta = meta
        self.open_bytes = 0

    def advance(self, ready: bool, answered: bool, halt: bool) -> None:
        """One cycle: the handshake of the burst register, a burst or zero row out of the row register."""
        if ready:
            self.valid = False
        self.placed = False
        if self.row_valid and not halt:
            rows = self.rows
            if self._zero:
                if len(rows) < self._depth:
                    rows.append((self._bytes, True, self._meta))
                    self.row_valid = False
            elif not self.valid and self.inflight < self._outstanding and (self.open_bytes or len(rows) < self._depth):
                if not self.open_bytes:
                    rows.append((self._bytes, False, self._meta))
                address = self._next
                beats = (BOUNDARY - (address & BOUNDARY - 1)) // self._beat
                if beats > MAX_BEATS:
                    beats = MAX_BEATS
                if beats >= self._left:
                    beats = self._left
                    self.row_valid = False
                self.valid = self.placed = True
                self.placed_last = not self.row_valid
                self.placed_meta = self._meta
                self.address = address
                self.length = beats - 1
                self.inflight += 1
                self._left -= beats
                size = beats * self._beat
                self._next = (address + size) & ADDRESS_MASK
                self.open_bytes += size
        if answered:
            self.inflight -= 1
