# SPDX-License-Identifier: Apache-2.0
"""How fast the memory is, when it hesitates, and where it fails."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from beatmatch.memory.dram import Dram
from beatmatch.memory.errors import MemoryTimingError, check_fields, is_integer
from beatmatch.memory.image import ADDRESSES

OKAY, SLVERR, DECERR = 0, 2, 3
CHANNELS = ("ar", "r", "aw", "w", "b")


@dataclass(frozen=True)
class ErrorRange:
    """Addresses ``first`` to ``last`` (inclusive, bytes) that answer ``response`` to reads, writes or both."""

    first: int
    last: int
    response: int = SLVERR
    reads: bool = True
    writes: bool = True

    def __post_init__(self) -> None:
        for name in ("first", "last", "response"):
            if not is_integer(getattr(self, name)):
                raise MemoryTimingError(f"{name} of an error range is {getattr(self, name)!r}; it must be an integer.")
        for name in ("reads", "writes"):
            if not isinstance(getattr(self, name), bool):
                shown = getattr(self, name)
                raise MemoryTimingError(f"{name} of an error range is {shown!r}; it must be True or False.")
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
        Of the stalls: each is a function of seed, port, channel and cycle.
    max_reads, max_writes : int
        Bursts the memory holds at a time, 1 and more.
    errors : tuple of ErrorRange
        Where it answers errors; of several the first counts.
    dram : Dram or None
        Rows, banks and refresh; the latencies come on top of its times, and its data bus, which ``shared`` must say,
        carries ``read_bandwidth``. None is a memory without any.
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
    dram: Dram | None = None

    def __post_init__(self) -> None:
        for name in ("read_latency", "write_latency"):
            value = getattr(self, name)
            if not is_integer(value) or not 1 <= value <= 65535:
                raise MemoryTimingError(f"{name} is {value!r}; it must be from 1 to 65535 cycles.")
        for name in ("max_reads", "max_writes"):
            value = getattr(self, name)
            if not is_integer(value) or value < 1:
                raise MemoryTimingError(f"{name} is {value!r}; it must be 1 or more bursts.")
        for name in ("read_bandwidth", "write_bandwidth"):
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, tuple) or len(value) != 2 or not all(is_integer(v) and v > 0 for v in value):
                raise MemoryTimingError(
                    f"{name} is {value!r}; it must be None or a pair of positive integers, bytes and cycles."
                )
        if not isinstance(self.shared, bool):
            raise MemoryTimingError(f"shared is {self.shared!r}; it must be True or False.")
        if self.shared and self.write_bandwidth is not None:
            raise MemoryTimingError("write_bandwidth must be None if shared is set: read_bandwidth counts for both.")
        if self.shared and self.read_bandwidth is None:
            raise MemoryTimingError("read_bandwidth must be given if shared is set.")
        if not isinstance(self.stalls, tuple) or len(self.stalls) != len(CHANNELS):
            raise MemoryTimingError("stalls must be five numbers, for the channels AR, R, AW, W and B.")
        for name, value in zip(CHANNELS, self.stalls, strict=True):
            if not is_integer(value) or not 0 <= value <= 255:
                raise MemoryTimingError(
                    f"The stall of channel {name} is {value!r}; it must be from 0 to 255 (in 1/256)."
                )
        if not is_integer(self.seed) or not 0 <= self.seed < ADDRESSES:
            raise MemoryTimingError(f"seed is {self.seed!r}; it must be from 0 to 2^64 - 1.")
        if not isinstance(self.errors, tuple) or not all(isinstance(item, ErrorRange) for item in self.errors):
            raise MemoryTimingError("errors must be a tuple of ErrorRange objects.")
        if self.dram is not None and not isinstance(self.dram, Dram):
            raise MemoryTimingError(f"dram is {self.dram!r}; it must be None or a Dram.")
        if self.dram is not None and not self.shared:
            raise MemoryTimingError("shared must be set with dram, and read_bandwidth given: that of its data bus.")

    def to_dict(self) -> dict:
        """All fields, ready for JSON; dram only if there is one."""
        data = dataclasses.asdict(self)
        if self.dram is None:
            del data["dram"]
        return data

    @classmethod
    def from_dict(cls, data: dict) -> MemoryTiming:
        """Inverse of `to_dict` (lists become tuples); raises MemoryTimingError on an unknown field."""
        if not isinstance(data, dict) or not isinstance(data.get("errors", ()), list | tuple):
            raise MemoryTimingError("A memory timing must be an object with its fields, errors a list.")
        check_fields("memory timing", data, (item.name for item in dataclasses.fields(cls)))
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
        values["errors"] = tuple(
            item if isinstance(item, ErrorRange) else ErrorRange(**item) for item in data.get("errors", ())
        )
        if values.get("dram") is not None and not isinstance(values["dram"], Dram):
            values["dram"] = Dram.from_dict(values["dram"])
        return cls(**values)

    def stall_flags(self, first: int, count: int, port: int = 0) -> bytes:
        """One byte per cycle from cycle ``first`` on: bit ``i`` is set if channel ``CHANNELS[i]`` stalls in it.

        ``port``: 0 for the memory port, 1 for the weight port, whose stalls are independent of those of the other.
        """
        cycles = np.arange(first, first + count, dtype=np.uint64)
        flags = np.zeros(count, np.uint8)
        for index, probability in enumerate(self.stalls):
            if not probability:
                continue
            channel = len(CHANNELS) * port + index + 1
            start = (self.seed * 0x9E3779B97F4A7C15 + channel * 0xD1B54A32D192ED03) % ADDRESSES
            mixed = (cycles + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(start)
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
            draws = (mixed >> np.uint64(56)).astype(np.uint8)
            flags |= (draws < probability).astype(np.uint8) << np.uint8(index)
        return flags.tobytes()
