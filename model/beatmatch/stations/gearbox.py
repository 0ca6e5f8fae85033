# SPDX-License-Identifier: Apache-2.0
"""Memory beats to words, row by row: the twin of `rtl/lib/bm_gearbox.sv`."""

from __future__ import annotations


class Gearbox:
    """Turns beats of ``mem_bytes`` into words of ``out_bytes``; bytes past the row are 0.

    A row is described by a tuple ``(bytes, zero, meta)``: how many bytes it has, whether it is a zero row (one
    zero word, no beat), and anything that goes with it. The caller passes the description at the head of its
    row list and removes it when `step` says so.

    Attributes
    ----------
    valid : bool
        The word register is occupied.
    data : bytes
        The word, ``out_bytes`` long.
    bytes : int
        Bytes of the row in the word, 1 to ``out_bytes``.
    last : bool
        The word is the last of its row.
    index : int
        Number of the word in its row, from 0.
    meta : object
        What came with the row.
    """

    __slots__ = (
        "_assembly", "_beat", "_consumed", "_next", "_zeros", "bytes", "data", "index", "last", "mem_bytes", "meta",
        "narrow", "out_bytes", "valid",
    )  # fmt: skip

    def __init__(self, mem_bytes: int, out_bytes: int) -> None:
        self.mem_bytes = mem_bytes
        self.out_bytes = out_bytes
        self.narrow = mem_bytes <= out_bytes
        self._zeros = bytes(out_bytes)
        self.reset()

    def reset(self) -> None:
        """Everything empty."""
        self.valid = False
        self.data = self._zeros
        self.bytes = 0
        self.last = False
        self.index = 0
        self.meta = None
        self._next = 0  # number of the next word of the row at the head
        self._assembly = b""  # beats of that word
        self._beat = None  # the beat register, if a beat is wider than a word
        self._consumed = 0  # bytes of it that have left

    def ready(self, head: tuple | None, taken: bool) -> bool:
        """Whether a beat is accepted in this cycle (not halted); ``taken``: the word register is emptied in it."""
        if head is None or head[1]:
            return False
        if self.narrow:
            return taken or not self.valid
        if self._beat is None:
            return True
        if self.valid and not taken:
            return False
        return self._consumed + self.out_bytes == self.mem_bytes and (self._next + 1) * self.out_bytes < head[0]

    def step(self, head: tuple | None, beat: bytes | None, taken: bool) -> bool:
        """One cycle (not halted); ``beat`` is a beat accepted in it. True: remove the head of the row list."""
        if taken:
            self.valid = False
        if head is None:
            return False
        total, zero, meta = head
        size = self.out_bytes
        if zero:
            if self.valid:
                return False
            self.valid = self.last = True
            self.data = self._zeros
            self.bytes = total if total < size else size
            self.index = 0
            self.meta = meta
            return True
        left = total - self._next * size
        if self.narrow:
            if beat is None:
                return False
            word = self._assembly + beat if self._assembly else beat
            count = len(word)
            if count < size and count < left:
                self._assembly = word
                return False
            self._assembly = b""
        else:
            held = self._beat
            if held is None or self.valid:
                if beat is not None:
                    self._beat = beat
                return False
            start = self._consumed
            word = held[start : start + size]
            start += size
            if start == self.mem_bytes or left <= size:
                self._beat = beat
                self._consumed = 0
            else:
                self._consumed = start
        self.valid = True
        self.meta = meta
        self.index = self._next
        if left <= size:
            self.bytes = left
            self.data = word if left == size else word[:left] + self._zeros[left:]
            self.last = True
            self._next = 0
            return True
        self.bytes = size
        self.data = word
        self.last = False
        self._next += 1
        return False

    def flush(self) -> None:
        """One cycle while halted: the word register is emptied (beats are accepted and dropped)."""
        self.valid = False
