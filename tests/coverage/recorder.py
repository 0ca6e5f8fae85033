# SPDX-License-Identifier: Apache-2.0
"""Trace records and stimulus rows made by hand, a cycle and a slot at a time."""

from __future__ import annotations

import numpy as np

from beatmatch import stimulus
from beatmatch.config import Config
from beatmatch.isa import ENGINE_OF, Instruction
from beatmatch.trace import VALID, layout
from tb.coverage.collector import Coverage
from tb.coverage.groups import GROUPS

CONFIG = Config(4, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4)
SPACING = 2
RESTING = ("rst_n", "s_axil_bready", "s_axil_rready", "m_axi_arready", "m_axi_awready", "m_axi_wready")


class Recorder:
    """Records of `cycles` cycles in which nothing happens until something is written into them."""

    def __init__(self, cycles: int = 120, config: Config = CONFIG) -> None:
        self.config = config
        self.layout = layout(config)
        self.records = np.zeros((cycles, self.layout.words), np.uint32)
        self.rows = np.zeros((cycles, stimulus.words(config)), np.uint32)
        for name in RESTING:
            self.drive(slice(None), **{name: 1})

    def event(self, at, station: str, slot: str, data: dict[str, list[int]] | None = None, **fields: int) -> Recorder:
        """An event (or level) of a slot in a cycle, or several, with header fields and data words."""
        placed = self.layout.slot(station, slot)
        header, shift = (VALID if placed.slot.kind == "event" else 0), 0
        for name, width in placed.slot.fields:
            header |= fields.pop(name, 0) << shift
            shift += width
        assert not fields, f"{station}.{slot} has no {fields}"
        self.records[at, placed.offset] |= np.uint32(header)
        for name, values in (data or {}).items():
            start, words = placed.data[name]
            self.records[at, start : start + words] = np.array(values, np.int64).astype(np.uint32)
        return self

    def drive(self, at, rdata: list[int] | None = None, **inputs: int) -> Recorder:
        """Inputs of the core in a cycle, or several."""
        for item in stimulus.INPUTS:
            if item.name in inputs:
                mask = np.uint32(((1 << item.width) - 1) << item.shift)
                value = np.uint32(inputs.pop(item.name) << item.shift)
                self.rows[at, item.word] = self.rows[at, item.word] & ~mask | value
        assert not inputs, f"no such input: {inputs}"
        if rdata is not None:
            self.rows[at, stimulus.RDATA_WORD :] = rdata
        return self

    def busy(self, first: int = 1, last: int | None = None, **flags: int) -> Recorder:
        """A run from a cycle on, with further status flags."""
        return self.event(slice(first, last), "host", "status", busy=1, **flags)

    def dispatch(self, *instructions: Instruction, at: int = 3) -> Recorder:
        """Instructions are dispatched, a few cycles apart, with sequence numbers from 0."""
        for seq, item in enumerate(instructions):
            words = np.frombuffer(item.to_bytes(), "<u4").tolist()
            engine = int(ENGINE_OF[item.opcode])
            self.event(at + SPACING * seq, "frontend", "dispatch", {"instruction": words}, seq=seq, engine=engine)
        return self

    def write(self, at: int, address: int, data: int, strobe: int = 15) -> Recorder:
        """A register write whose address and data are taken in a cycle and whose response is valid two cycles later."""
        self.event(slice(None), "host", "axil", awready=1, wready=1, arready=1)
        self.drive(at, s_axil_awvalid=1, s_axil_awaddr=address, s_axil_wvalid=1, s_axil_wdata=data, s_axil_wstrb=strobe)
        return self.event(at + 2, "host", "axil", bvalid=1)

    def read(self, at: int, address: int) -> Recorder:
        """A register read in the same way."""
        self.event(slice(None), "host", "axil", awready=1, wready=1, arready=1)
        return self.drive(at, s_axil_arvalid=1, s_axil_araddr=address).event(at + 2, "host", "axil", rvalid=1)

    def beat(self, at, ident: int = 0, last: int = 0, resp: int = 0, rdata: list[int] | None = None) -> Recorder:
        """A read beat that is taken."""
        self.event(at, "port", "ready", rready=1)
        return self.drive(at, rdata, m_axi_rvalid=1, m_axi_rid=ident, m_axi_rlast=last, m_axi_rresp=resp)

    def burst(self, at: int, ident: int = 0, length: int = 0, address: int = 0x1000) -> Recorder:
        """An AR handshake."""
        return self.event(at, "port", "ar", {"address": [address & 0xFFFFFFFF, address >> 32]}, len=length, id=ident)

    def fetch(self, *words: int, at: int = 2, address: int = 0x1000) -> Recorder:
        """The header (zeros) and instruction words are fetched."""
        data = bytes(32) + b"".join(word.to_bytes(32, "little") for word in words)
        beats = np.frombuffer(data, "<u4").tolist()
        self.burst(at, 0, len(beats) - 1, address)
        for index, beat in enumerate(beats):
            self.beat(at + 2 + index, 0, int(index == len(beats) - 1), rdata=[beat])
        return self

    def error(self, at: int, engine: int, code: int, seq: int = 0) -> Recorder:
        """An error is registered."""
        return self.event(at, "host", "error", engine=engine, code=code, seq=seq)

    def hits(self, block: int | None = None, group: str | None = None) -> dict[str, list[str]]:
        """What a collector finds, of one group or of all, sampling in blocks of so many cycles."""
        coverage = Coverage({group: GROUPS[group]} if group else GROUPS)
        coverage.begin("by hand", 1)
        block = block or len(self.records)
        for first in range(0, len(self.records), block):
            part = slice(first, first + block)
            coverage.sample(self.config, self.records[part], self.rows[part])
        return coverage.end()
