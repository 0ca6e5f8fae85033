# SPDX-License-Identifier: Apache-2.0
"""A DRAM: its channels, banks and rows, and its times in core cycles. The rules are in `docs/memory.md`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from beatmatch.memory.errors import MemoryTimingError, check_fields, is_integer

MAPPINGS = ("row-bank-column", "bank-row-column")
"""Fields of an address from the highest to the lowest; the channel is below the bank."""
PAGE_POLICIES = ("open", "closed")
TIMES = ("trcd", "trp", "tcl", "tcwl", "tras", "trtp", "twr", "twtr", "trtw")
LONGEST = 65535
LONGEST_REFRESH = (1 << 24) - 1
SMALLEST_BLOCK = 256
"""Of a row, and of what stays in a channel: a burst of 4 KiB has at most 16 parts."""
MOST_BANKS = 512

_SIZES = {
    "channels": (1, 64),
    "interleave": (SMALLEST_BLOCK, 1 << 16),
    "banks": (1, 64),
    "rows": (1, 1 << 32),
    "row_bytes": (SMALLEST_BLOCK, 1 << 16),
    "access_bytes": (1, 4096),
}
"""Legal range of each size, all of them powers of two."""


@dataclass(frozen=True)
class Dram:
    """What a `MemoryTiming` needs to know of a DRAM; its data rate is the timing's ``read_bandwidth``.

    Parameters
    ----------
    channels : int
        Each with a data bus and banks of its own; the rate is that of all.
    interleave : int
        Bytes in a row that stay in one channel, if there are several.
    banks, rows, row_bytes : int
        Banks of a channel, rows of a bank, bytes of a row.
    access_bytes : int
        Least bytes that the data bus carries at a time, aligned.
    mapping : str
        ``row-bank-column`` (neighbouring rows are in different banks) or ``bank-row-column`` (in the same).
    page_policy : str
        ``open``: a row stays open until another is needed; ``closed``: it is closed behind every part of a burst.
    trcd, trp, tcl, tcwl : int
        Cycles from activation to column command, from precharge to activation, from column command to the first
        data of a read, and to those of a write.
    tras, trtp, twr : int
        Least cycles before a precharge: from activation, from a read's column command, from a write's last data.
    twtr, trtw : int
        Turnaround: from a write's last data to a read's column command, from a read's last data to a write's first.
    trefi, trfc : int
        Of every ``trefi`` cycles the last ``trfc`` are refresh; both 0 for a memory without.

    Raises
    ------
    MemoryTimingError
        A field is outside its range, or two do not go together.
    """

    channels: int = 1
    interleave: int = 256
    banks: int = 8
    rows: int = 1 << 15
    row_bytes: int = 8192
    access_bytes: int = 64
    mapping: str = "row-bank-column"
    page_policy: str = "open"
    trcd: int = 14
    trp: int = 14
    tcl: int = 14
    tcwl: int = 10
    tras: int = 32
    trtp: int = 8
    twr: int = 15
    twtr: int = 8
    trtw: int = 2
    trefi: int = 0
    trfc: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in _SIZES.items():
            value = getattr(self, name)
            if not is_integer(value) or not low <= value <= high or value & (value - 1):
                raise MemoryTimingError(f"{name} is {value!r}; it must be a power of two from {low} to {high}.")
        if self.channels * self.banks > MOST_BANKS:
            found = f"{self.channels} channels with {self.banks} banks each"
            raise MemoryTimingError(f"{found} are too many; there may be {MOST_BANKS} banks in all.")
        for name, legal in (("mapping", MAPPINGS), ("page_policy", PAGE_POLICIES)):
            if getattr(self, name) not in legal:
                raise MemoryTimingError(f"{name} is {getattr(self, name)!r}; it must be {' or '.join(legal)}.")
        for name in TIMES:
            value = getattr(self, name)
            if not is_integer(value) or not 0 <= value <= LONGEST:
                raise MemoryTimingError(f"{name} is {value!r}; it must be from 0 to {LONGEST} cycles.")
        for name in ("trefi", "trfc"):
            value = getattr(self, name)
            if not is_integer(value) or not 0 <= value <= LONGEST_REFRESH:
                raise MemoryTimingError(f"{name} is {value!r}; it must be from 0 to {LONGEST_REFRESH} cycles.")
        if (self.trefi, self.trfc) != (0, 0) and not 0 < self.trfc < self.trefi:
            raise MemoryTimingError(
                f"trfc is {self.trfc} of trefi {self.trefi} cycles; it must be 1 or more and less, or both 0."
            )
        if self.channels > 1 and self.interleave > self.row_bytes:
            raise MemoryTimingError(
                f"interleave is {self.interleave} bytes; a channel may keep at most a row of {self.row_bytes}."
            )
        if self.access_bytes > self.block:
            raise MemoryTimingError(
                f"access_bytes is {self.access_bytes}; a row, or what stays in a channel, holds only {self.block}."
            )

    @property
    def block(self) -> int:
        """Bytes that are certainly in one row: bursts are cut at its multiples."""
        return self.interleave if self.channels > 1 else self.row_bytes

    @property
    def working(self) -> int:
        """Cycles without refresh in each period of ``trefi``; very many without refresh."""
        return self.trefi - self.trfc if self.trefi else 1 << 62

    @property
    def period(self) -> int:
        """Cycles from refresh to refresh; very many without refresh."""
        return self.trefi or 1 << 62

    def to_dict(self) -> dict:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: object) -> Dram:
        """Inverse of `to_dict`; fields that are not there have their defaults."""
        check_fields("DRAM", data, (item.name for item in dataclasses.fields(cls)))
        return cls(**data)


@dataclass(frozen=True)
class DramCounters:
    """What a DRAM did since it was made.

    Attributes
    ----------
    hits, misses, conflicts : int
        Parts of bursts that found their row open, no row open, another row open.
    turnarounds : int
        Changes of a data bus from reading to writing or back.
    refresh_cycles : int
        Cycles in which it was being refreshed.
    """

    hits: int
    misses: int
    conflicts: int
    turnarounds: int
    refresh_cycles: int

    def __add__(self, other: DramCounters) -> DramCounters:
        """Those of two runs, one after the other."""
        return DramCounters(*map(sum, zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)))

    @property
    def parts(self) -> int:
        """Parts of bursts that it served."""
        return self.hits + self.misses + self.conflicts

    def to_dict(self) -> dict:
        """All counters, ready for JSON."""
        return dataclasses.asdict(self)
