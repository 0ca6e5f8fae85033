# SPDX-License-Identifier: Apache-2.0
"""The store engine: scratchpad words to rows of memory. Its twin is `rtl/store/bm_store.sv`."""

from __future__ import annotations

from collections import deque

from beatmatch.config import Config
from beatmatch.isa import Error, Instruction
from beatmatch.stations.transfer import Transfer
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

BUFFER = 4
"""Words of the word buffer."""


class Store(Transfer):
    """One station of the stepped machine; parameters and common members as in `Transfer`.

    Attributes
    ----------
    sp_request : int
        Scratchpad word in the read request register; -1: none.
    w_valid, w_data, w_strobe, w_last : bool, bytes, int, bool
        The W register.
    """

    __slots__ = (
        "_answers", "_arriving", "_assembly", "_beat", "_buffer", "_bytes", "_data_offset", "_index", "_issue_offset",
        "_lengths", "_narrow", "_read_offset", "_request", "_requested", "_retire_offset", "_state_offset", "_used",
        "_zeros", "sp_request", "w_data", "w_last", "w_strobe", "w_valid",
    )  # fmt: skip

    def __init__(self, config: Config, trace: TraceWriter, bases: list[int], sizes: list[int]) -> None:
        self._zeros = bytes(config.mem_bytes)
        self._narrow = config.mem_bytes <= config.lanes
        super().__init__(config, trace, bases, sizes, "src", (config.sp_words,))
        self._bytes = trace.words.cast("B")
        self._issue_offset = trace.offset("store", "issue")
        self._retire_offset = trace.offset("store", "retire")
        self._read_offset = trace.offset("store", "sp_read")
        self._state_offset = trace.offset("store", "state")

    def reset(self) -> None:
        """Everything idle and empty."""
        super().reset()
        self.sp_request = -1
        self._request = None  # (bytes, ends its row) of the request register
        self._arriving = None  # (address, bytes, ends its row) of the word that arrives in this cycle
        self._index = 0  # of the next word to request in the row at the head
        self._requested = 0  # words requested or in the buffer
        self._buffer: deque = deque()  # (data, bytes, ends its row)
        self._used = 0  # bytes of the buffer's head that are in beats
        self._assembly = b""  # words collected for a beat
        self._lengths: deque = deque()  # beats - 1 of the bursts whose AW had its handshake
        self._answers: deque = deque()  # (retire, signals, signal at the answer) of the bursts without answer
        self._beat = 0  # of the burst, next into the W register
        self.w_valid = self.w_last = False
        self.w_data = self._zeros
        self.w_strobe = 0

    def busy(self) -> bool:
        """Whether anything is under way, the signal and retire registers included."""
        bursts = self.bursts
        return bool(self._run or bursts.row_valid or bursts.rows or bursts.inflight or self._retire)

    def stuck(self, head: tuple[int, Instruction] | None, granted: bool) -> int:
        """Sequence number of the instruction that can't go on; -1: not stuck."""
        if granted:
            return -1
        if self._run:
            bursts = self.bursts
            return self._seq if self._starting and not (bursts.row_valid or bursts.rows or bursts.inflight) else -1
        return head[0] if head is not None and not self.busy() else -1

    def step(
        self,
        head: tuple[int, Instruction] | None,
        granted: bool,
        halt: bool,
        sp_granted: bool,
        sp_data,
        mem,
    ) -> None:
        """One cycle.

        Parameters
        ----------
        head : queue head
        granted : the wait presented in this cycle is granted
        sp_granted : the read request register is granted
        sp_data : bytes or uint8 [lanes]
            The word read by the grant of the cycle before; looked at only then.
        mem : the memory's outputs (``awready, wready, bvalid, bresp``)
        """
        bursts = self.bursts
        rows = bursts.rows
        self.error = 0
        if not (granted or self._run or bursts.row_valid or rows or bursts.inflight or self._retire
                or self._requested):  # fmt: skip
            return
        base = self._trace.base
        words = self._words
        buffer = self._buffer
        words[base + self._state_offset] = (
            self._run
            + 3 * self._outer
            + 5 * self._row
            + 7 * bursts.inflight
            + 9 * bursts.row_valid
            + 11 * len(rows)
            + 13 * len(buffer)
            + 15 * self.w_valid
        )
        if self._retire:
            words[base + self._retire_offset] = self._retire
            self._retire = self.signal = 0
        front = rows[0] if rows else None
        partial = bursts.row_valid and bursts.open_bytes and len(rows) == 1
        begun = bursts.open_bytes
        run = self._run
        answered = mem.bvalid
        aw_length = bursts.length if bursts.valid and mem.awready else -1
        bursts.advance(aw_length >= 0, answered, halt)

        # W register; `removed` words leave the buffer in this cycle.
        removed = self._drive(mem.wready)
        if aw_length >= 0:
            self._lengths.append(aw_length)

        # Word that arrives, then requests.
        arriving = self._arriving
        if arriving is not None:
            data = sp_data if type(sp_data) is bytes else bytes(sp_data)
            offset = base + self._read_offset
            words[offset] = VALID | arriving[0]
            offset = 4 * offset + 4
            self._bytes[offset : offset + len(data)] = data
            buffer.append((data, arriving[1], arriving[2]))
            self._arriving = None
        if sp_granted and self.sp_request >= 0:
            self._arriving = (self.sp_request, *self._request)
            self.sp_request = -1
        if (
            front is not None
            and self.sp_request < 0
            and self._requested < BUFFER
            and not (halt and partial and self._index * self._lanes >= begun)
        ):
            left = front[0] - self._index * self._lanes
            ends = left <= self._lanes
            self.sp_request = front[2][4] + self._index
            self._request = (left if ends else self._lanes, ends)
            self._requested += 1
            if ends:
                self._index = 0
                rows.popleft()
            else:
                self._index += 1
        self._requested -= removed

        # Answers.
        if answered:
            retire, signals, finish = self._answers.popleft()
            if finish and not halt:
                self._retire = retire
                self.signal = signals
        if bursts.placed:
            meta = bursts.placed_meta
            self._answers.append((meta[0], meta[1], meta[2] and bursts.placed_last))
        if halt:
            return
        if run:
            if granted:
                words[base + self._issue_offset] = self._iteration_header()
            if not bursts.row_valid and (granted or not self._starting):
                self._generate()
        elif granted:
            words[base + self._issue_offset] = self._issue(head)
        if answered and mem.bresp:
            code = Error.BUS_DECERR if mem.bresp == 3 else Error.BUS_SLVERR
            self.error = (int(code), retire & 0xFFFF)

    def _drive(self, ready: bool) -> int:
        """One cycle of the W register and the beat assembly; returns the words removed from the buffer."""
        if ready:
            self.w_valid = False
        buffer = self._buffer
        if not buffer:
            return 0
        data, count, ends_row = buffer[0]
        size = self._mem_bytes
        free = self._lengths and not self.w_valid
        if self._narrow:
            if not free:
                return 0
            start = self._used
            count -= start
            data = data[start : start + size]
            if count > size:
                count = size
                self._used = start + size
                removed = 0
            else:
                buffer.popleft()
                self._used = 0
                removed = 1
        else:
            if count < self._lanes:
                data = data[:count]
            collected = len(self._assembly) + count
            if not ends_row and collected < size:
                self._assembly += data
                buffer.popleft()
                return 1
            if not free:
                return 0
            data = self._assembly + data
            count = collected
            self._assembly = b""
            buffer.popleft()
            removed = 1
        length = self._lengths[0]
        self.w_valid = True
        self.w_data = data if count == size else data[:count] + self._zeros[count:]
        self.w_strobe = (1 << count) - 1
        self.w_last = self._beat == length
        if self.w_last:
            self._lengths.popleft()
            self._beat = 0
        else:
            self._beat += 1
        return removed
