# SPDX-License-Identifier: Apache-2.0
"""Instructions as values: named fields to 256-bit words and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from beatmatch.isa.fields import ENGINE_OF, INSTRUCTION_BITS, INSTRUCTION_BYTES, LAYOUTS, Engine, Field, Opcode

OPCODE_MASK = 31


class EncodingError(ValueError):
    """A field that does not exist or a value that does not fit; the text names the field and its range."""


@cache
def positions(opcode: Opcode) -> dict[str, tuple[int, Field]]:
    """Bit position and declaration of each field of an operation."""
    result: dict[str, tuple[int, Field]] = {}
    shift = 0
    for field in LAYOUTS[opcode]:
        result[field.name] = (shift, field)
        shift += field.width
    return result


SIGNED = frozenset({"zero_point", "clip_low", "clip_high", "pad_value"})
"""Fields that hold two's complement values."""


def field_range(field: Field) -> tuple[int, int]:
    """Least and greatest value of a field as the programmer writes it."""
    if field.name in SIGNED:
        return -(1 << field.width - 1), (1 << field.width - 1) - 1
    if field.minus_one:
        return 1, 1 << field.width
    return 0, (1 << field.width) - 1


@dataclass(frozen=True)
class Instruction:
    """One instruction: an operation and its fields as the programmer writes them (``k_rows=16`` is sixteen rows).

    Fields left out are 0, or 1 where the encoding holds the value minus one.
    """

    opcode: Opcode
    fields: dict[str, int]

    def __getattr__(self, name: str) -> int:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"{self.opcode.name} has no field {name!r}") from None

    @property
    def engine(self) -> Engine:
        """The engine that executes it."""
        return ENGINE_OF[self.opcode]

    def word(self) -> int:
        """The 256-bit encoding as an integer."""
        value = 0
        for name, (shift, field) in positions(self.opcode).items():
            raw = int(self.opcode) if name == "opcode" else self.fields[name]
            if field.minus_one:
                raw -= 1
            value |= (raw & ((1 << field.width) - 1)) << shift
        return value

    def to_bytes(self) -> bytes:
        """The 32 bytes that memory holds, least significant first."""
        return self.word().to_bytes(INSTRUCTION_BYTES, "little")


def make(opcode: Opcode, **values: int) -> Instruction:
    """An instruction from named fields; raises EncodingError for unknown names and values out of range."""
    table = positions(opcode)
    for name in values:
        if name not in table or name == "opcode":
            raise EncodingError(
                f"{opcode.name} has no field {name!r}; it has {', '.join(k for k in table if k != 'opcode')}."
            )
    fields: dict[str, int] = {}
    for name, (_, field) in table.items():
        if name == "opcode":
            continue
        low, high = field_range(field)
        value = int(values.get(name, 1 if field.minus_one or field.nonzero else 0))
        if not low <= value <= high:
            low = low or int(field.nonzero)
            raise EncodingError(f"{opcode.name} {name} is {value}; it must be from {low} to {high}.")
        fields[name] = value
    return Instruction(opcode, fields)


def decode(word: int) -> Instruction | None:
    """The instruction that a 256-bit word encodes, or None if its opcode is not one.

    Reserved bits and illegal values are not looked at here: the decoder of the machine refuses those.
    """
    try:
        opcode = Opcode(word & OPCODE_MASK)
    except ValueError:
        return None
    fields: dict[str, int] = {}
    for name, (shift, field) in positions(opcode).items():
        if name == "opcode":
            continue
        raw = (word >> shift) & ((1 << field.width) - 1)
        if name in SIGNED and raw >> field.width - 1:
            raw -= 1 << field.width
        fields[name] = raw + 1 if field.minus_one else raw
    return Instruction(opcode, fields)


def reserved_bits(opcode: Opcode) -> int:
    """Mask of the bits that must be zero in this operation's encoding."""
    used = sum(field.width for field in LAYOUTS[opcode])
    return ((1 << INSTRUCTION_BITS) - 1) ^ ((1 << used) - 1)
