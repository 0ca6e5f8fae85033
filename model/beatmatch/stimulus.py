# SPDX-License-Identifier: Apache-2.0
"""The stimulus row: everything that drives the core's inputs in one clock cycle, declared once.

A row is a sequence of 32-bit words: flags of both buses in word 0, AXI4-Lite addresses in word 1, AXI4-Lite write
data in word 2, the read beat of the memory port from word 3 on, and behind it that of the weight port if there is
one. The stepped model writes these rows, the bench top takes them apart again (`sv_include` is generated from this
table).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beatmatch.config import Config


@dataclass(frozen=True)
class Input:
    """One input of the core: the port's name, its word and first bit in the row, its width in bits."""

    port: str
    word: int
    shift: int
    width: int

    @property
    def name(self) -> str:
        """The port without its direction suffix."""
        return self.port[:-1].rstrip("_")


def _place() -> tuple[Input, ...]:
    flags = (
        ("rst_ni", 1),
        ("s_axil_awvalid_i", 1),
        ("s_axil_wvalid_i", 1),
        ("s_axil_bready_i", 1),
        ("s_axil_arvalid_i", 1),
        ("s_axil_rready_i", 1),
        ("m_axi_arready_i", 1),
        ("m_axi_awready_i", 1),
        ("m_axi_wready_i", 1),
        ("m_axi_rvalid_i", 1),
        ("m_axi_rlast_i", 1),
        ("m_axi_bvalid_i", 1),
        ("m_axi_rid_i", 2),
        ("m_axi_rresp_i", 2),
        ("m_axi_bid_i", 2),
        ("m_axi_bresp_i", 2),
        ("s_axil_wstrb_i", 4),
        ("m_axi_weights_arready_i", 1),
        ("m_axi_weights_rvalid_i", 1),
        ("m_axi_weights_rlast_i", 1),
        ("m_axi_weights_rresp_i", 2),
        ("m_axi_weights_rid_i", 2),
    )
    placed = []
    shift = 0
    for port, width in flags:
        placed.append(Input(port, 0, shift, width))
        shift += width
    placed.append(Input("s_axil_awaddr_i", 1, 0, 12))
    placed.append(Input("s_axil_araddr_i", 1, 16, 12))
    placed.append(Input("s_axil_wdata_i", 2, 0, 32))
    return tuple(placed)


INPUTS: tuple[Input, ...] = _place()
"""All inputs except the read data, which fill the row from `RDATA_WORD` on."""

RDATA_WORD = 3
CLEAR_MEMORIES = 31
"""Bit of word 0 that has the bench top zero the core's memories, which a reset leaves as they are; not an input."""
SHIFT: dict[str, int] = {item.name: item.shift for item in INPUTS}
"""First bit of an input in its word, by name (``SHIFT["m_axi_rid"]``)."""


def words(config: Config) -> int:
    """Words of one row."""
    return weight_rdata_word(config) + (config.mem_bytes // 4 if config.weight_port else 0)


def weight_rdata_word(config: Config) -> int:
    """First word of the weight port's read data, behind those of the memory port."""
    return RDATA_WORD + config.mem_bytes // 4


def pack(config: Config, rdata: int = 0, weight_rdata: int = 0, **inputs: int) -> np.ndarray:
    """One row, uint32 [words]: inputs by name, those left out are 0.

    Raises KeyError for an unknown name and ValueError for a value that does not fit.
    """
    row = [0] * words(config)
    known = {item.name: item for item in INPUTS}
    for name, value in inputs.items():
        item = known[name]
        if not 0 <= value < 1 << item.width:
            raise ValueError(f"{name} is {value}; it has {item.width} bits.")
        row[item.word] |= value << item.shift
    beats = rdata | weight_rdata << 8 * config.mem_bytes
    for index in range(RDATA_WORD, len(row)):
        row[index] = beats & 0xFFFFFFFF
        beats >>= 32
    return np.array(row, dtype=np.uint32)


def unpack(config: Config, row: np.ndarray) -> dict[str, int]:
    """Inputs of a row by name, ``rdata`` (and ``weight_rdata``) included; the inverse of `pack`."""
    values = {item.name: (int(row[item.word]) >> item.shift) & ((1 << item.width) - 1) for item in INPUTS}
    middle = weight_rdata_word(config)
    values["rdata"] = int.from_bytes(np.ascontiguousarray(row[RDATA_WORD:middle], dtype="<u4").tobytes(), "little")
    if config.weight_port:
        beat = np.ascontiguousarray(row[middle:], dtype="<u4").tobytes()
        values["weight_rdata"] = int.from_bytes(beat, "little")
    return values


class StimulusWriter:
    """A block of stimulus rows, written one cycle after the other.

    Attributes
    ----------
    words : memoryview
        All rows as one flat sequence of uint32; ``words[base + word] = value`` drives a word in the current cycle.
    array : numpy.ndarray
        The same memory, uint32, flat.
    base : int
        Offset in words of the row of the current cycle.
    """

    def __init__(self, config: Config, cycles: int = 1024) -> None:
        self.cycles = cycles
        self.width = words(config)
        self.array = np.zeros(cycles * self.width, dtype=np.uint32)
        self.words = memoryview(self.array)
        self.base = 0

    def next(self) -> bool:
        """Go to the next cycle's row; True when the block is full (take `rows`, then `rewind`)."""
        self.base += self.width
        return self.base == len(self.array)

    def rows(self) -> np.ndarray:
        """The finished rows, uint32 [cycles, words]; a view that `rewind` overwrites."""
        return self.array.reshape(self.cycles, self.width)[: self.base // self.width]

    def rewind(self) -> None:
        """Clear the block and start again at its first row."""
        self.array[: self.base] = 0
        self.base = 0


def sv_include() -> str:
    """Declarations that take a row apart, for the bench top (`stim`, MEM_BITS and WEIGHT_PORT are in its scope)."""
    lines = [
        "// Generated from model/beatmatch/stimulus.py by `make generate`; do not edit.",
        "// SPDX-License-Identifier: Apache-2.0",
        "//",
        "// Inputs of bm_core by port name, taken out of the stimulus row `stim`.",
        "",
    ]
    for item in INPUTS:
        low = 32 * item.word + item.shift
        if item.width == 1:
            lines.append(f"wire {item.port} = stim[{low}];")
        else:
            lines.append(f"wire [{item.width - 1}:0] {item.port} = stim[{low + item.width - 1}:{low}];")
    lines.append(f"wire clear_memories = stim[{CLEAR_MEMORIES}];")
    lines.append(f"wire [MEM_BITS-1:0] m_axi_rdata_i = stim[{32 * RDATA_WORD} +: MEM_BITS];")
    lines.append("// Without a weight port its read data are not looked at, and the row does not have them.")
    lines.append("localparam int WEIGHT_RDATA = WEIGHT_PORT * MEM_BITS;")
    lines.append(f"wire [MEM_BITS-1:0] m_axi_weights_rdata_i = stim[{32 * RDATA_WORD} + WEIGHT_RDATA +: MEM_BITS];")
    return "\n".join(lines) + "\n"
