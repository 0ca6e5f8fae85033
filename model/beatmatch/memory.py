# SPDX-License-Identifier: Apache-2.0
"""The memory outside the core: its bytes, its timing, and the agent that answers the memory port.

The stepped model and the benches use the same classes, so both sides see the same memory. The rules are in
`docs/timing.md`, *Memory agent*.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import deque
from dataclasses import dataclass

import numpy as np

PAGE = 4096
"""Bytes of a page; no burst crosses one."""
ADDRESSES = 1 << 64
OKAY, SLVERR, DECERR = 0, 2, 3
CHANNELS = ("ar", "r", "aw", "w", "b")
STALL_BLOCK = 4096
"""Cycles of stalls that are computed at a time."""


class MemoryTimingError(ValueError):
    """A memory timing that makes no sense; the text names the field and the legal range."""


class MemoryImage:
    """Bytes at 64-bit addresses, kept in pages; what was never written is 0."""

    __slots__ = ("pages",)

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}

    @staticmethod
    def _check(address: int, size: int) -> None:
        if not 0 <= address <= address + size <= ADDRESSES:
            raise ValueError(f"{size} bytes at address {address:#x} are not inside the 64-bit address space.")

    def read(self, address: int, size: int) -> np.ndarray:
        """A copy of ``size`` bytes, uint8 [size]."""
        self._check(address, size)
        result = np.zeros(size, np.uint8)
        done = 0
        while done < size:
            number, start = divmod(address + done, PAGE)
            count = min(size - done, PAGE - start)
            page = self.pages.get(number)
            if page is not None:
                result[done : done + count] = np.frombuffer(page, np.uint8, count, start)
            done += count
        return result

    def write(self, address: int, data: np.ndarray | bytes) -> None:
        """Store bytes; an array is taken as the bytes it holds, in C order."""
        raw = data if isinstance(data, bytes | bytearray) else np.ascontiguousarray(data).tobytes()
        self._check(address, len(raw))
        done = 0
        while done < len(raw):
            number, start = divmod(address + done, PAGE)
            count = min(len(raw) - done, PAGE - start)
            self.page(number)[start : start + count] = raw[done : done + count]
            done += count

    def page(self, number: int) -> bytearray:
        """The page that holds addresses ``number * PAGE`` and up, made if need be."""
        page = self.pages.get(number)
        if page is None:
            page = self.pages[number] = bytearray(PAGE)
        return page

    def snapshot(self) -> MemoryImage:
        """An independent copy."""
        image = MemoryImage()
        image.pages = {number: bytearray(page) for number, page in self.pages.items()}
        return image

    def _filled(self) -> dict[int, bytes]:
        return {number: bytes(page) for number, page in self.pages.items() if any(page)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryImage) and self._filled() == other._filled()

    __hash__ = None

    def differences(self, other: MemoryImage, limit: int = 16) -> list[tuple[int, int, int]]:
        """The first differing bytes as (address, byte here, byte there), at most ``limit``."""
        found: list[tuple[int, int, int]] = []
        for number in sorted(self.pages.keys() | other.pages.keys()):
            here, there = self.read(number * PAGE, PAGE), other.read(number * PAGE, PAGE)
            for index in np.flatnonzero(here != there)[: limit - len(found)]:
                found.append((number * PAGE + int(index), int(here[index]), int(there[index])))
            if len(found) == limit:
                break
        return found

    def digest(self) -> str:
        """Sixteen hex digits over all bytes that are not 0; equal images have equal digests."""
        state = hashlib.sha256()
        for number, page in sorted(self._filled().items()):
            state.update(number.to_bytes(8, "little") + page)
        return state.hexdigest()[:16]


@dataclass(frozen=True)
class ErrorRange:
    """Addresses ``first`` to ``last`` (inclusive, bytes) that answer ``response`` to reads, writes or both."""

    first: int
    last: int
    response: int = SLVERR
    reads: bool = True
    writes: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last < ADDRESSES:
            raise MemoryTimingError(f"An error range from {self.first:#x} to {self.last:#x} has no 64-bit addresses.")
        if self.response not in (SLVERR, DECERR):
            raise MemoryTimingError(f"An error range answers {self.response}; it must be 2 (SLVERR) or 3 (DECERR).")


@dataclass(frozen=True)
class MemoryTiming:
    """How fast the memory is, when it hesitates, and where it fails.

    Parameters
    ----------
    read_latency, write_latency : int
        Cycles from the AR handshake to the first R beat, and from the last W handshake to B; 1 to 65,535.
    read_bandwidth, write_bandwidth : (int, int) or None
        Bytes per cycle as a fraction (numerator, denominator); None is one beat in every cycle.
    shared : bool
        Reads and writes share ``read_bandwidth``; ``write_bandwidth`` must be None then.
    stalls : five int
        Probability in 1/256 (0 to 255) that a cycle is a stall, for the channels AR, R, AW, W, B.
    seed : int
        Of the stalls: each is a function of seed, channel and cycle.
    max_reads, max_writes : int
        Bursts the memory holds at a time, 1 and more.
    errors : tuple of ErrorRange
        Where it answers errors; of several the first counts.
    """

    read_latency: int = 50
    write_latency: int = 10
    read_bandwidth: tuple[int, int] | None = None
    write_bandwidth: tuple[int, int] | None = None
    shared: bool = False
    stalls: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    seed: int = 0
    max_reads: int = 256
    max_writes: int = 256
    errors: tuple[ErrorRange, ...] = ()

    def __post_init__(self) -> None:
        def integer(value: object) -> bool:
            return isinstance(value, int) and not isinstance(value, bool)

        for name in ("read_latency", "write_latency"):
            value = getattr(self, name)
            if not integer(value) or not 1 <= value <= 65535:
                raise MemoryTimingError(f"{name} is {value!r}; it must be from 1 to 65535 cycles.")
        for name in ("max_reads", "max_writes"):
            value = getattr(self, name)
            if not integer(value) or value < 1:
                raise MemoryTimingError(f"{name} is {value!r}; it must be 1 or more bursts.")
        for name in ("read_bandwidth", "write_bandwidth"):
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, tuple) or len(value) != 2 or not all(integer(v) and v > 0 for v in value):
                raise MemoryTimingError(
                    f"{name} is {value!r}; it must be None or a pair of positive integers, bytes and cycles."
                )
        if self.shared and self.write_bandwidth is not None:
            raise MemoryTimingError("write_bandwidth must be None if shared is set: read_bandwidth counts for both.")
        if self.shared and self.read_bandwidth is None:
            raise MemoryTimingError("read_bandwidth must be given if shared is set.")
        if not isinstance(self.stalls, tuple) or len(self.stalls) != len(CHANNELS):
            raise MemoryTimingError("stalls must be five numbers, for the channels AR, R, AW, W and B.")
        for name, value in zip(CHANNELS, self.stalls, strict=True):
            if not integer(value) or not 0 <= value <= 255:
                raise MemoryTimingError(f"The stall of channel {name} is {value!r}; it must be from 0 to 255 (in 1/256).")
        if not integer(self.seed) or not 0 <= self.seed < ADDRESSES:
            raise MemoryTimingError(f"seed is {self.seed!r}; it must be from 0 to 2^64 - 1.")
        if not all(isinstance(item, ErrorRange) for item in self.errors):
            raise MemoryTimingError("errors must hold ErrorRange objects only.")

    def to_dict(self) -> dict:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: dict) -> MemoryTiming:
        """Inverse of `to_dict` (lists become tuples); raises MemoryTimingError on an unknown field."""
        known = {item.name for item in dataclasses.fields(cls)}
        for name in data:
            if name not in known:
                raise MemoryTimingError(f"Unknown memory timing field {name!r}; the fields are {', '.join(sorted(known))}.")
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
        values["errors"] = tuple(
            item if isinstance(item, ErrorRange) else ErrorRange(**item) for item in data.get("errors", ())
        )
        return cls(**values)

    def stall_flags(self, first: int, count: int) -> bytes:
        """One byte per cycle from cycle ``first`` on: bit ``i`` is set if channel ``CHANNELS[i]`` stalls in it."""
        cycles = np.arange(first, first + count, dtype=np.uint64)
        flags = np.zeros(count, np.uint8)
        for index, probability in enumerate(self.stalls):
            if not probability:
                continue
            start = (self.seed * 0x9E3779B97F4A7C15 + (index + 1) * 0xD1B54A32D192ED03) % ADDRESSES
            mixed = (cycles + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(start)
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
            draws = (mixed >> np.uint64(56)).astype(np.uint8)
            flags |= (draws < probability).astype(np.uint8) << np.uint8(index)
        return flags.tobytes()


class MemoryAgent:
    """An AXI4 slave over a `MemoryImage`: answers in request order, never interleaved.

    Its attributes are the slave's outputs in the current cycle, a function of what was on the port up to the cycle
    before; `commit` ends a cycle.

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
        "_answers", "_ar_count", "_aw_count", "_bursts", "_cost", "_flags", "_flags_end", "_full", "_idle_data",
        "_image", "_last_was_read", "_read", "_read_errors", "_read_next", "_reads", "_stalls", "_steady", "_timing", "_write",
        "_write_errors", "_write_next", "_writes", "arready", "awready", "bresp", "bvalid", "cycle", "mem_bytes",
        "rdata", "rid", "rlast", "rresp", "rvalid", "wready",
    )  # fmt: skip

    def __init__(self, timing: MemoryTiming, image: MemoryImage, mem_bytes: int) -> None:
        self._timing = timing
        self._image = image
        self.mem_bytes = mem_bytes
        self._idle_data = bytes(mem_bytes)
        self._full = (1 << mem_bytes) - 1
        self._stalls = any(timing.stalls)
        self._steady = not self._stalls and timing.read_bandwidth is None and timing.write_bandwidth is None
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

    def outputs(self) -> MemoryAgent:
        """What the slave drives in this cycle: itself."""
        return self

    def reset(self) -> None:
        """Forget every burst; for a cycle in which the core is in reset, instead of `commit`, or before a run."""
        self._reads: deque = deque()  # (first cycle of data, id, address, beats)
        self._writes: deque = deque()  # (address, beats) without all their data
        self._answers: deque = deque()  # (first cycle, response)
        self._read = None  # burst being read: [id, page bytes, offset, beats left, address]
        self._write = None  # burst being written: [page, offset, beats left, address, response]
        self._ar_count = self._aw_count = 0  # bursts held
        self._read_next = self._write_next = 0  # earliest next beat, in cycles times the bandwidth's numerator
        self._last_was_read = False
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
            self._flags = self._timing.stall_flags(first, STALL_BLOCK)
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
        if self._ar_count:
            if not self.rvalid and not stall & 2:
                self._present(following, waiting)
        if self._answers and not self.bvalid and not stall & 16 and self._answers[0][0] <= following:
            self.bvalid = True
            self.bresp = self._answers.popleft()[1]
        self.arready = self._ar_count < timing.max_reads and not stall & 1
        self.awready = self._aw_count < timing.max_writes and not stall & 4
        ready = not stall & 8
        rate = timing.read_bandwidth if timing.shared else timing.write_bandwidth
        if ready and rate is not None:
            next_beat = self._read_next if timing.shared else self._write_next
            ready = following * rate[0] + rate[0] > next_beat
        self.wready = ready

    def _present(self, cycle: int, write_waiting: bool) -> None:
        """Present the next read beat in this cycle, if its time has come."""
        timing = self._timing
        if self._read is None:
            if not self._reads or self._reads[0][0] > cycle:
                return
        rate = timing.read_bandwidth
        if rate is not None:
            now = cycle * rate[0]
            if now + rate[0] <= self._read_next or (timing.shared and write_waiting and self._last_was_read):
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
        timing = self._timing
        size = self.mem_bytes
        if timing.shared:
            rate = timing.read_bandwidth
            self._read_next = max(self._read_next, cycle * rate[0]) + size * rate[1]
            self._last_was_read = False
        elif timing.write_bandwidth is not None:
            rate = timing.write_bandwidth
            self._write_next = max(self._write_next, cycle * rate[0]) + size * rate[1]
        if self._write is None:
            if not self._writes:
                raise ValueError("A W beat came before its AW.")
            address, length = self._writes.popleft()
            self._write = [self._image.page(address // PAGE), address % PAGE, length + 1, address, OKAY]
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
            self._answers.append((cycle + timing.write_latency, write[4]))
            self._write = None
