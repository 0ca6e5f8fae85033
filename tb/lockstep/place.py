# SPDX-License-Identifier: Apache-2.0
"""From a differing slot to the field, the engine, the row and the column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beatmatch.config import Config
from beatmatch.trace import VALID, PlacedSlot

REQUESTERS = ("frontend", "load", "weights")
"""Who reads memory, by AXI id."""


@dataclass(frozen=True)
class Place:
    """Where in a slot two records differ: the field with its two values, and the place in the array."""

    field: str
    expected: str
    actual: str
    row: int | None = None
    col: int | None = None


def header_text(placed: PlacedSlot, header: int) -> str:
    """Header fields by name; a field that does not fit the declaration shows as raw bits."""
    if placed.slot.kind == "event" and not header & VALID:
        return "no event"
    parts, shift = [], 0
    for name, width in placed.slot.fields:
        parts.append(f"{name}={(header >> shift) & ((1 << width) - 1)}")
        shift += width
    rest = (header & ~VALID if placed.slot.kind == "event" else header) >> shift
    if rest:
        parts.append(f"beyond=0x{rest << shift:x}")
    return " ".join(parts) or "-"


def slot_text(placed: PlacedSlot, words: np.ndarray) -> str:
    """A slot's content in one line, data as hex with the highest byte first."""
    if placed.slot.kind == "digest":
        return f"0x{int(words[0]):08x}"
    parts = [header_text(placed, int(words[0]))]
    for name, (offset, count) in placed.data.items():
        value = words[offset - placed.offset : offset - placed.offset + count]
        parts.append(f"{name}=0x{_hex(value)}")
    return " ".join(parts)


def _hex(words: np.ndarray) -> str:
    return "".join(f"{int(word):08x}" for word in words[::-1])


def find_place(config: Config, placed: PlacedSlot, expected: np.ndarray, actual: np.ndarray) -> Place:
    """The first differing field of a slot (uint32 words of that slot on both sides)."""
    slot = placed.slot
    if slot.kind == "digest":
        return Place("digest", slot_text(placed, expected), slot_text(placed, actual))
    left, right = int(expected[0]), int(actual[0])
    if slot.kind == "event" and (left ^ right) & VALID:
        return Place(
            "valid", slot_text(placed, expected), slot_text(placed, actual), *_header_row(placed, left | right)
        )
    shift = 0
    for name, width in slot.fields:
        mask = (1 << width) - 1
        a, b = (left >> shift) & mask, (right >> shift) & mask
        if a != b:
            return Place(name, f"{name}={a}", f"{name}={b}", *_header_row(placed, left))
        shift += width
    for name, (offset, count) in placed.data.items():
        start = offset - placed.offset
        a, b = expected[start : start + count], actual[start : start + count]
        differ = np.flatnonzero(a != b)
        if len(differ):
            word = int(differ[0])
            byte = 4 * word + _first_byte(int(a[word]) ^ int(b[word]))
            row, col = _lane(config, placed, left, name, word, byte)
            return Place(name, f"{name}=0x{_hex(a)}", f"{name}=0x{_hex(b)}", row, col)
    return Place("header", f"0x{left:08x}", f"0x{right:08x}")


def _first_byte(difference: int) -> int:
    return (difference & -difference).bit_length() - 1 >> 3


def field_of(placed: PlacedSlot, header: int, wanted: str) -> int | None:
    """A header field by name; None if the slot has no such field."""
    shift = 0
    for name, width in placed.slot.fields:
        if name == wanted:
            return (header >> shift) & ((1 << width) - 1)
        shift += width
    return None


def _header_row(placed: PlacedSlot, header: int) -> tuple[int | None, int | None]:
    """A weight row that the header names."""
    return (field_of(placed, header, "row"), None) if placed.slot.name in ("fifo_write", "shift") else (None, None)


def _lane(
    config: Config, placed: PlacedSlot, header: int, data: str, word: int, byte: int
) -> tuple[int | None, int | None]:
    """Row and column of a data byte."""
    station, name = placed.station, placed.slot.name
    if data != "data" or station in ("port", "load", "store"):
        return None, None
    if station == "accumulator":
        return None, word
    if name == "fifo_write":
        return field_of(placed, header, "row"), byte
    if station == "matmul":  # activations enter by row
        return byte % config.rows, None
    return None, byte % config.cols


def engine_of(placed: PlacedSlot, header: int) -> str | None:
    """Whose work a slot shows; the header decides for the shared memory port."""
    station, name = placed.station, placed.slot.name
    if station == "accumulator":
        return "matmul" if name == "write" else "vector"
    if station == "port":
        if name in ("aw", "w"):
            return "store"
        if name == "ar":
            requester = field_of(placed, header, "id")
            return REQUESTERS[requester] if requester is not None and requester < len(REQUESTERS) else None
        return None
    return None if station == "host" else station
