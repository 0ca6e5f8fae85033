# SPDX-License-Identifier: Apache-2.0
"""Reads the program in chunks. The twin of `rtl/frontend/bm_fetch.sv`."""

from __future__ import annotations

from collections import deque

from beatmatch.config import Config
from beatmatch.isa.fields import INSTRUCTION_BYTES, Error
from beatmatch.stations.gearbox import Gearbox

ADDRESS_MASK = (1 << 64) - 1
SEQ_MASK = 0xFFFF
BUFFER_ENTRIES = 16
CHUNK_ENTRIES = 8
DECERR = 3


class Fetch:
    """AR register, chunks on their way, gearbox, and the 16-entry buffer that decode takes from.

    Attributes
    ----------
    valid, address, length : bool, int, int
        The AR register; ``length`` is beats minus one. `bursts` is this object: the memory port's view.
    buffer : collections.deque of bytes
        Fetched entries of 32 bytes, oldest first.
    inflight : int
        Bursts put into the AR register whose last beat has not come.
    seq : int
        Sequence number of the entry in the gearbox's word register; 65535 is the header.
    error : (Error, int) or None
        Bus error of this cycle with its sequence number; valid after `step`.
    active : bool
        Something may happen by itself: while False, `step` is needed only for an entry that is popped.
    """

    __slots__ = (
        "_align", "_beat_bytes", "_bytes", "_entries", "_gear", "_left", "_next", "_reserved", "_rows", "active",
        "address", "buffer", "bursts", "error", "inflight", "length", "seq", "valid",
    )  # fmt: skip

    def __init__(self, config: Config) -> None:
        self._beat_bytes = config.mem_bytes
        self._align = max(INSTRUCTION_BYTES, config.mem_bytes)
        self._gear = Gearbox(config.mem_bytes, INSTRUCTION_BYTES)
        self._rows: deque = deque()
        self.buffer: deque = deque()
        self.bursts = self
        self.reset()

    def reset(self) -> None:
        """Everything empty."""
        self.valid = self.active = False
        self.address = self.length = self.inflight = 0
        self.seq = SEQ_MASK
        self.error = None
        self.buffer.clear()
        self._rows.clear()
        self._gear.reset()
        self._left = 0  # entries not requested yet
        self._next = 0  # address of the next chunk
        self._entries = 0  # entries of the next chunk
        self._reserved = 0  # entries in the buffer or on their way
        self._bytes = 0  # taken from the bus

    def start(self, address: int, length: int) -> bool:
        """Begin a program in the first cycle of its run, before `step`; False if it is empty or not aligned."""
        if length == 0 or address % self._align:
            return False
        self._next = address
        self._left = length + 1
        self._plan()
        self.active = True
        return True

    def _plan(self) -> None:
        """Size of the next chunk: up to the next multiple of 256 bytes, or the end of the program."""
        to_boundary = CHUNK_ENTRIES - (self._next // INSTRUCTION_BYTES) % CHUNK_ENTRIES
        self._entries = min(to_boundary, self._left)

    def read_ready(self, granted: bool, halt: bool) -> bool:
        """Whether a beat is accepted in this cycle (asked by the memory port)."""
        return halt or self._gear.ready(self._rows[0] if self._rows else None, True)

    @property
    def word_valid(self) -> bool:
        """An entry is in the word register: it is pushed into the buffer at the end of the cycle."""
        return self._gear.valid

    def step(self, halt: bool, ar_taken: bool, beat: bytes | None, response: int, last: bool, popped: bool) -> None:
        """One cycle.

        Parameters
        ----------
        halt : bool
            Nothing new is requested; beats are dropped.
        ar_taken : bool
            The AR register has its handshake in this cycle.
        beat : bytes or None
            A beat accepted in this cycle, with its ``response`` and ``last``.
        popped : bool
            Decode took an entry out of the buffer in this cycle (it is removed already).
        """
        gear = self._gear
        self.error = None
        if beat is not None:
            if response and not halt:
                entry = self._bytes // INSTRUCTION_BYTES
                self.error = (Error.BUS_DECERR if response == DECERR else Error.BUS_SLVERR, entry - 1 & SEQ_MASK)
            self._bytes += self._beat_bytes
            if last:
                self.inflight -= 1
        put = False
        if halt:
            gear.flush()
        else:
            put = (
                self._left
                and (ar_taken or not self.valid)
                and BUFFER_ENTRIES - self._reserved >= self._entries
            )  # fmt: skip
            if gear.valid:
                self.buffer.append(gear.data)
                self.seq = self.seq + 1 & SEQ_MASK
            rows = self._rows
            if gear.step(rows[0] if rows else None, beat, True):
                rows.popleft()
        if popped:
            self._reserved -= 1
        if ar_taken:
            self.valid = False
        if put:
            entries = self._entries
            size = entries * INSTRUCTION_BYTES
            self.valid = True
            self.address = self._next
            self.length = -(-size // self._beat_bytes) - 1
            self.inflight += 1
            self._reserved += entries
            self._rows.append((size, False, None))
            self._left -= entries
            self._next = self._next + size & ADDRESS_MASK
            self._plan()
        self.active = bool(self._left or self.inflight or self._rows or gear.valid)
