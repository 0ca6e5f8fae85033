# SPDX-License-Identifier: Apache-2.0
"""The trace record: what the core says about every clock cycle, declared once.

A record is a row of 32-bit words with a fixed layout per configuration: station by station, slot by slot.
The first word of a slot is its header, fields packed from bit 0 upwards. An *event* slot has a valid bit (31)
and is all zero in a cycle without the event; a *level* slot is driven every cycle; a *digest* slot is one word
over internal registers, every cycle. Data words follow the header, least significant byte first.

RTL and model produce the same matrix of records; equality of the two matrices is the lockstep comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from beatmatch.config import Config

VALID = 1 << 31


@dataclass(frozen=True)
class Slot:
    """One slot of a record.

    ``fields`` are (name, width) of the header word from bit 0; ``data`` are (name, size) of the words behind it,
    where the size is a number of words or the name of a size in `sizes`.
    """

    name: str
    kind: str
    fields: tuple[tuple[str, int], ...] = ()
    data: tuple[tuple[str, int | str], ...] = ()


_SYNC = (("seq", 16), ("iteration", 8), ("last", 1))
_SP_READ = Slot("sp_read", "event", (("address", 20),), (("data", "lane_words"),))

STATIONS: dict[str, tuple[Slot, ...]] = {
    "host": (
        Slot(
            "axil",
            "level",
            (("awready", 1), ("wready", 1), ("bvalid", 1), ("bresp", 2), ("arready", 1), ("rvalid", 1), ("rresp", 2)),
            (("rdata", 1),),
        ),
        Slot(
            "status",
            "level",
            (
                ("busy", 1),
                ("done", 1),
                ("error", 1),
                ("halt", 1),
                ("overflow", 1),
                ("active", 1),
                ("weight_shift", 1),
                ("weight_stall", 1),
                ("raw_stall", 1),
                ("input_stall", 1),
            ),
        ),
        Slot("error", "event", (("seq", 16), ("engine", 4), ("code", 8))),
    ),
    "frontend": (
        Slot("fetch", "event", (("seq", 16),)),
        Slot("dispatch", "event", (("seq", 16), ("engine", 4)), (("instruction", 8),)),
        Slot("semaphores", "digest"),
        Slot("queues", "digest"),
    ),
    "port": (
        Slot("ar", "event", (("len", 8), ("id", 2)), (("address", 2),)),
        Slot("aw", "event", (("len", 8),), (("address", 2),)),
        Slot("w", "event", (("last", 1),), (("strobe", "strobe_words"), ("data", "beat_words"))),
        Slot("ready", "level", (("rready", 1), ("bready", 1))),
    ),
    "load": (
        Slot("issue", "event", _SYNC),
        Slot("retire", "event", _SYNC),
        Slot("write", "event", (("address", 20), ("space", 2)), (("enable", "enable_words"), ("data", "lane_words"))),
        Slot("state", "digest"),
    ),
    "weights": (
        Slot("issue", "event", _SYNC),
        Slot("retire", "event", _SYNC),
        _SP_READ,
        Slot("fifo_write", "event", (("row", 8), ("tile", 4)), (("data", "col_words"),)),
        Slot("state", "digest"),
    ),
    "matmul": (
        Slot("issue", "event", _SYNC),
        Slot("retire", "event", _SYNC),
        _SP_READ,
        Slot("row", "event", (("acc", 12), ("add", 1), ("swap", 1), ("pad", 1))),
        Slot("shift", "event", (("row", 8), ("tile", 4))),
        Slot("array", "digest"),
        Slot("state", "digest"),
    ),
    "accumulator": (
        Slot("write", "event", (("address", 12), ("add", 1), ("overflow", 1)), (("data", "cols"),)),
        Slot("read", "event", (("address", 12),), (("data", "cols"),)),
    ),
    "vector": (
        Slot("issue", "event", _SYNC),
        Slot("retire", "event", _SYNC),
        _SP_READ,
        Slot("param_read", "event", (("address", 7),)),
        Slot("write", "event", (("address", 20),), (("data", "col_words"),)),
        Slot("state", "digest"),
    ),
    "store": (
        Slot("issue", "event", _SYNC),
        Slot("retire", "event", _SYNC),
        _SP_READ,
        Slot("state", "digest"),
    ),
    "weight_port": (
        Slot("ar", "event", (("len", 8),), (("address", 2),)),
        Slot("ready", "level", (("rready", 1),)),
    ),
}
"""Stations in record order; within a station, slots in record order. See `stations` for those of a configuration."""


def stations(config: Config) -> dict[str, tuple[Slot, ...]]:
    """The stations that a configuration has, with their slots."""
    return {name: slots for name, slots in STATIONS.items() if name != "weight_port" or config.weight_port}


def sizes(config: Config) -> dict[str, int]:
    """Named data sizes in 32-bit words for this configuration."""
    return {
        "lane_words": config.lanes // 4,
        "enable_words": -(-config.lanes // 32),
        "col_words": config.cols // 4,
        "cols": config.cols,
        "beat_words": config.mem_bytes // 4,
        "strobe_words": -(-config.mem_bytes // 32),
    }


@dataclass(frozen=True)
class PlacedSlot:
    """A slot with its place: ``offset`` and ``words`` count 32-bit words; ``data`` maps a name to (offset, words)."""

    station: str
    slot: Slot
    offset: int
    words: int
    data: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class TraceLayout:
    """Where every slot of a record stands for one configuration."""

    words: int
    slots: tuple[PlacedSlot, ...]
    stations: dict[str, tuple[int, int]]

    def slot(self, station: str, name: str) -> PlacedSlot:
        """The slot of this name; KeyError if there is none."""
        for placed in self.slots:
            if placed.station == station and placed.slot.name == name:
                return placed
        raise KeyError(f"{station}.{name}")


@cache
def layout(config: Config) -> TraceLayout:
    """The record layout of a configuration."""
    named = sizes(config)
    placed: list[PlacedSlot] = []
    places: dict[str, tuple[int, int]] = {}
    offset = 0
    for station, slots in stations(config).items():
        start = offset
        for slot in slots:
            data: dict[str, tuple[int, int]] = {}
            cursor = offset + 1
            for name, size in slot.data:
                words = named[size] if isinstance(size, str) else size
                data[name] = (cursor, words)
                cursor += words
            placed.append(PlacedSlot(station, slot, offset, cursor - offset, data))
            offset = cursor
        places[station] = (start, offset - start)
    return TraceLayout(offset, tuple(placed), places)


def unpack(slot: Slot, header: int) -> dict[str, int]:
    """Header fields of a slot by name."""
    values: dict[str, int] = {}
    shift = 0
    for name, width in slot.fields:
        values[name] = (header >> shift) & ((1 << width) - 1)
        shift += width
    return values
