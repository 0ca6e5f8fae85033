# Generated from rtl/host/bm_csr.rdl by `make generate`; do not edit.
# SPDX-License-Identifier: Apache-2.0
"""The registers of a core: byte addresses and fields."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Register:
    """One register, or ``count`` of them ``stride`` bytes apart.

    ``fields`` maps a name to (low bit, width); ``access`` is r, w or rw. 64-bit registers are two words,
    the low one first.
    """

    name: str
    address: int
    bits: int
    access: str
    fields: dict[str, tuple[int, int]]
    count: int = 1
    stride: int = 0

    def unpack(self, value: int) -> dict[str, int]:
        """Fields of a value of the register by name."""
        return {name: (value >> low) & ((1 << width) - 1) for name, (low, width) in self.fields.items()}

    def pack(self, **values: int) -> int:
        """A value of the register from fields by name; those left out are 0."""
        places = ((value, *self.fields[name]) for name, value in values.items())
        return sum((value & ((1 << width) - 1)) << low for value, low, width in places)


ID = Register("ID", 0x000, 32, "r", {"version": (0, 16), "letters": (16, 16)})
CTRL = Register("CTRL", 0x004, 32, "w", {"start": (0, 1)})
STATUS = Register("STATUS", 0x008, 32, "r", {"busy": (0, 1), "done": (1, 1), "error": (2, 1), "overflow": (3, 1)})
ERROR = Register("ERROR", 0x00C, 32, "r", {"code": (0, 8), "engine": (8, 4)})
ERROR_SEQ = Register("ERROR_SEQ", 0x010, 32, "r", {"seq": (0, 16)})
PROG_LEN = Register("PROG_LEN", 0x014, 32, "rw", {"length": (0, 32)})
PROG_ADDR = Register("PROG_ADDR", 0x018, 64, "rw", {"address": (0, 64)})
CYCLE_LIMIT = Register("CYCLE_LIMIT", 0x020, 32, "rw", {"limit": (0, 32)})
CONFIG_ARRAY = Register("CONFIG_ARRAY", 0x040, 32, "r", {"rows": (0, 9), "cols": (16, 9)})
CONFIG_SCRATCHPAD = Register("CONFIG_SCRATCHPAD", 0x044, 32, "r", {"words": (0, 18), "banks": (24, 4)})
CONFIG_ACCUMULATOR = Register("CONFIG_ACCUMULATOR", 0x048, 32, "r", {"rows": (0, 13), "banks": (24, 4)})
CONFIG_DEPTH = Register("CONFIG_DEPTH", 0x04C, 32, "r", {"fifo_tiles": (0, 5), "queue": (8, 6), "param_rows": (16, 8)})
CONFIG_MEMORY = Register("CONFIG_MEMORY", 0x050, 32, "r", {"bits": (0, 11), "outstanding": (16, 7)})
CYCLES = Register("CYCLES", 0x080, 64, "r", {"count": (0, 64)})
ACTIVE = Register("ACTIVE", 0x088, 64, "r", {"count": (0, 64)})
WEIGHT_SHIFT = Register("WEIGHT_SHIFT", 0x090, 64, "r", {"count": (0, 64)})
WEIGHT_STALL = Register("WEIGHT_STALL", 0x098, 64, "r", {"count": (0, 64)})
NON_MATRIX = Register("NON_MATRIX", 0x0A0, 64, "r", {"count": (0, 64)})
RAW_STALL = Register("RAW_STALL", 0x0A8, 64, "r", {"count": (0, 64)})
INPUT_STALL = Register("INPUT_STALL", 0x0B0, 64, "r", {"count": (0, 64)})
USEFUL_MACS = Register("USEFUL_MACS", 0x0B8, 64, "r", {"count": (0, 64)})
BASE = Register("BASE", 0x100, 64, "rw", {"address": (0, 64)}, 16, 8)
SIZE = Register("SIZE", 0x180, 64, "rw", {"bytes": (0, 64)}, 16, 8)
ID_VERSION_VALUE = 1
ID_LETTERS_VALUE = 16973

REGISTERS: tuple[Register, ...] = (
    ID,
    CTRL,
    STATUS,
    ERROR,
    ERROR_SEQ,
    PROG_LEN,
    PROG_ADDR,
    CYCLE_LIMIT,
    CONFIG_ARRAY,
    CONFIG_SCRATCHPAD,
    CONFIG_ACCUMULATOR,
    CONFIG_DEPTH,
    CONFIG_MEMORY,
    CYCLES,
    ACTIVE,
    WEIGHT_SHIFT,
    WEIGHT_STALL,
    NON_MATRIX,
    RAW_STALL,
    INPUT_STALL,
    USEFUL_MACS,
    BASE,
    SIZE,
)
"""All registers in address order."""
