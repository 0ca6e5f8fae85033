# SPDX-License-Identifier: Apache-2.0
"""The agent that answers the memory port; its rules are in `docs/timing.md`, *Memory agent*."""

from __future__ import annotations

from collections import deque

from beatmatch.memory.banks import READ, WRITE, DramState
from beatmatch.memory.dram import DramCounters
from beatmatch.memory.image import PAGE, MemoryImage
from beatmatch.memory.timing import OKAY, ErrorRange, MemoryTiming

STALL_BLOCK = 4096
"""Cycles of stalls that are computed at a time."""


class MemoryAgent:
    """An AXI4 slave over a `MemoryImage`: answers in request order, never interleaved.

    Its attributes are the slave's outputs in the current cycle, a function of what was on the port up to the cycle
    before; `commit` ends a cycle. ``port`` is that of `MemoryTiming.stall_flags`.

    Attributes
    ----------
    arready, awready, wready, rvalid, rlast, bvalid : bool
    rid, rresp, bresp : int
    rdata : bytes
        A beat of ``mem_bytes``; 0 if it is not valid or an error.
    cycle : int
        Number of cycles ended since construction; resets do not touch it.
    """

    __slots__ = (
        "_answers", "_ar_count", "_aw_count", "_dram", "_flags", "_flags_end", "_full", "_idle_data", "_image",
        "_last_was_read", "_passes", "_port", "_rates", "_read", "_read_errors", "_read_next", "_reads", "_shared",
        "_stalls", "_steady", "_timing", "_write", "_write_errors", "_write_next", "_writes", "arready", "awready",
        "bresp", "bvalid", "cycle", "mem_bytes", "rdata", "rid", "rlast", "rresp", "rvalid", "wready",
    )  # fmt: skip

    def __init__(self, timing: MemoryTiming, image: MemoryImage, mem_bytes: int, port: int = 0) -> None:
        self._timing = timing
        self._port = port
        self._image = image
        self.mem_bytes = mem_bytes
        self._idle_data = bytes(mem_bytes)
        self._full = (1 << mem_bytes) - 1
        self._stalls = any(timing.stalls)
        self._dram = None
        self._rates = timing.read_bandwidth, timing.write_bandwidth  # of the port's channels
        self._shared = timing.shared
        if timing.dram is not None:  # its data bus is apart from the port's channels
            self._dram = DramState(timing.dram, timing.read_bandwidth, mem_bytes)
            self._rates, self._shared = (None, None), False
        self._steady = not self._stalls and self._rates == (None, None)
        self._flags = b""
        self._flags_end = 0
        self._read_errors = tuple(item for item in timing.errors if item.reads)
        self._write_errors = tuple(item for item in timing.errors if item.writes)
        self.cycle = 0
        self.reset()

    @property
    def image(self) -> MemoryImage:
        """The bytes behind the agent."""
        return self._image

    @property
    def dram(self) -> DramCounters | None:
        """What the DRAM did so far, if it is one."""
        return None if self._dram is None else self._dram.counters(self.cycle)

    def outputs(self) -> MemoryAgent:
        """What the slave drives in this cycle: itself."""
        return self

    def reset(self) -> None:
        """Forget every burst; for a cycle in which the core is in reset, instead of `commit`, or before a run."""
        self._reads: deque = deque()  # (first cycle of data, id, address, beats - 1)
        self._passes: deque = deque()  # with a DRAM: the first cycle of each beat that is to come
        self._writes: deque = deque()  # (address, beats - 1) without all their data
        self._answers: deque = deque()  # (first cycle, response)
        self._read = None  # burst being read: [id, page bytes, offset, beats left, address]
        self._write = None  # burst being written: [page, offset, beats left, address, response, beats]
        self._ar_count = self._aw_count = 0  # bursts held
        self._read_next = self._write_next = 0  # earliest next beat, in cycles times the bandwidth's numerator
        self._last_was_read = False
        if self._dram is not None:
            self._dram.reset()
        self.rvalid = self.rlast = self.bvalid = False
        self.rid = self.rresp = self.bresp = 0
        self.rdata = self._idle_data
        self.arready = self.awready = self.wready = True
        if self._stalls:
            stall = self._stall(self.cycle)
            self.arready, self.awready, self.wready = not stall & 1, not stall & 4, not stall & 8

    def skip_reset_cycle(self) -> None:
        """End a cycle in which the core is in reset."""
        self.cycle += 1
        self.reset()

    def _stall(self, cycle: int) -> int:
        if not self._flags_end - STALL_BLOCK <= cycle < self._flags_end or not self._flags:
            first = cycle - cycle % STALL_BLOCK
            self._flags = self._timing.stall_flags(first, STALL_BLOCK, self._port)
            self._flags_end = first + STALL_BLOCK
        return self._flags[cycle % STALL_BLOCK]

    def _check(self, address: int, length: int) -> None:
        """Refuse a burst that AXI4 or this core's rules forbid."""
        if address % self.mem_bytes or address % PAGE + (length + 1) * self.mem_bytes > PAGE:
            raise ValueError(f"A burst of {length + 1} beats at {address:#x} is unaligned or crosses 4 KiB.")

    @staticmethod
    def _response(errors: tuple[ErrorRange, ...], address: int, size: int) -> int:
        for item in errors:
            if item.first < address + size and address <= item.last:
                return item.response
        return OKAY

    def commit(
        self,
        ar: tuple[int, int, int] | None,
        aw: tuple[int, int] | None,
        w: tuple[bytes, int, bool] | None,
        rready: bool,
        bready: bool,
    ) -> None:
        """End a cycle.

        Parameters
        ----------
        ar : (id, address, beats - 1) while ARVALID, else None
        aw : (address, beats - 1) while AWVALID, else None
        w : (data, strobe, last) while WVALID, else None; data is ``mem_bytes`` bytes, strobe an int
        rready, bready : the core's ready signals
        """
        now = self.cycle
        self.cycle = following = now + 1
        if self._steady and ar is None and aw is None and w is None and not self._ar_count and not self._aw_count:
            return  # nothing is held and nothing comes: the outputs stay as they are
        timing = self._timing
        # Handshakes of this cycle.
        if self.rvalid and rready:
            if self.rlast:
                self._ar_count -= 1
                self.rlast = False
            self.rvalid = False
            self.rid = self.rresp = 0
            self.rdata = self._idle_data
        if self.bvalid and bready:
            self.bvalid = False
            self.bresp = 0
            self._aw_count -= 1
        if ar is not None and self.arready:
            self._check(ar[1], ar[2])
            if self._dram is not None:
                passes = self._dram.arrive(ar[1], ar[2] + 1, READ, now)
                self._passes.extend(cycle + timing.read_latency for cycle in passes)
            self._reads.append((now + timing.read_latency, *ar))
            self._ar_count += 1
        if aw is not None and self.awready:
            self._check(*aw)
            self._writes.append(aw)
            self._aw_count += 1
        waiting = False
        if w is not None:
            if self.wready:
                self._accept(w, now)
            else:
                waiting = True
        # Outputs of the next cycle.
        stall = self._stall(following) if self._stalls else 0
        if self._ar_count and not self.rvalid and not stall & 2:
            self._present(following, waiting)
        if self._answers and not self.bvalid and not stall & 16 and self._answers[0][0] <= following:
            self.bvalid = True
            self.bresp = self._answers.popleft()[1]
        self.arready = self._ar_count < timing.max_reads and not stall & 1
        self.awready = self._aw_count < timing.max_writes and not stall & 4
        ready = not stall & 8
        rate = self._rates[0 if self._shared else 1]
        if ready and rate is not None:
            next_beat = self._read_next if self._shared else self._write_next
            ready = following * rate[0] + rate[0] > next_beat
        self.wready = ready

    def _present(self, cycle: int, write_waiting: bool) -> None:
        """Present the next read beat in this cycle, if its time has come."""
        if self._read is None and (not self._reads or self._reads[0][0] > cycle):
            return
        if self._dram is not None:
            if self._passes[0] > cycle:
                return
            self._passes.popleft()
        rate = self._rates[0]
        if rate is not None:
            now = cycle * rate[0]
            if now + rate[0] <= self._read_next or (self._shared and write_waiting and self._last_was_read):
                return
            self._read_next = max(self._read_next, now) + self.mem_bytes * rate[1]
            self._last_was_read = True
        if self._read is None:
            _, identity, address, length = self._reads.popleft()
            self._read = [identity, self._image.page(address // PAGE), address % PAGE, length + 1, address]
        read = self._read
        size = self.mem_bytes
        start = read[2]
        self.rvalid = True
        self.rid = read[0]
        self.rdata = bytes(read[1][start : start + size])
        self.rresp = OKAY
        if self._read_errors:
            self.rresp = self._response(self._read_errors, read[4], size)
            if self.rresp:
                self.rdata = self._idle_data
        read[2] = start + size
        read[3] -= 1
        read[4] += size
        if not read[3]:
            self.rlast = True
            self._read = None

    def _accept(self, beat: tuple[bytes, int, bool], cycle: int) -> None:
        """Take a write beat in this cycle."""
        size = self.mem_bytes
        rate = self._rates[0 if self._shared else 1]
        if self._shared:
            self._read_next = max(self._read_next, cycle * rate[0]) + size * rate[1]
            self._last_was_read = False
        elif rate is not None:
            self._write_next = max(self._write_next, cycle * rate[0]) + size * rate[1]
        if self._write is None:
            if not self._writes:
                raise ValueError("A W beat came before its AW.")
            address, length = self._writes.popleft()
            self._write = [self._image.page(address // PAGE), address % PAGE, length + 1, address, OKAY, length + 1]
        write = self._write
        data, strobe, last = beat
        response = self._response(self._write_errors, write[3], size) if self._write_errors else OKAY
        if response:
            write[4] = max(write[4], response)
        elif strobe == self._full:
            write[0][write[1] : write[1] + size] = data
        else:
            for index in range(size):
                if strobe >> index & 1:
                    write[0][write[1] + index] = data[index]
        write[1] += size
        write[2] -= 1
        write[3] += size
        if last != (not write[2]):
            raise ValueError("WLAST does not end the burst that AWLEN announced.")
        if last:
            written = cycle
            if self._dram is not None:
                written = max(self._dram.arrive(write[3] - write[5] * size, write[5], WRITE, cycle))
            self._answers.append((written + self._timing.write_latency, write[4]))
            self._write = None
