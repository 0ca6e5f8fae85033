# SPDX-License-Identifier: Apache-2.0
"""The CSR agent: register accesses on request, and a monitor of all that happens on the register bus."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from pyuvm import uvm_agent, uvm_analysis_port, uvm_driver, uvm_sequencer

from beatmatch.config import Config
from beatmatch.stimulus import SHIFT
from beatmatch.trace import layout
from tb.uvm.bfm import Block
from tb.uvm.items import RegisterItem
from tb.uvm.trace_agent import TraceSubscriber


class CsrDriver(uvm_driver):
    """Makes register accesses at once, or keeps them for a state of the next program."""

    async def run_phase(self) -> None:
        """One item after the other."""
        bfm = self.cdb_get("BFM")
        while True:
            item: RegisterItem = await self.seq_item_port.get_next_item()
            if item.when is None:
                await bfm.access(item)
            else:
                bfm.plan(item)
            self.seq_item_port.item_done()


class CsrMonitor(TraceSubscriber):
    """Puts AXI4-Lite handshakes together again to accesses of 32 bits: `RegisterItem` on `ap`.

    Requests are read from the stimulus rows, answers from the RTL's records. `on_reset` is called for every reset.

    Attributes
    ----------
    answers : int
        Responses seen on the bus.
    """

    def build_phase(self) -> None:
        """Make the port."""
        super().build_phase()
        self.ap = uvm_analysis_port("ap", self)
        self.answers = 0
        self.on_reset: Callable[[], None] = lambda: None
        config: Config = self.cdb_get("JOB").configuration()
        axil, status = (layout(config).slot("host", name) for name in ("axil", "status"))
        self._axil, self._rdata, self._status = axil.offset, axil.data["rdata"][0], status.offset
        self._forget()

    def _forget(self) -> None:
        self._aw: deque[int] = deque()
        self._w: deque[int] = deque()
        self._ar: deque[int] = deque()

    def begin(self, block: Block) -> None:
        """Every program begins with a reset."""
        self._forget()
        self._busy_before = 0
        self.on_reset()

    def look(self, block: Block) -> None:
        """Publish the accesses that were answered in these cycles."""
        flags, axil = block.rows[:, 0], block.actual[:, self._axil]
        awvalid, wvalid, arvalid, low = (
            flags >> SHIFT[name] & 1 for name in ("s_axil_awvalid", "s_axil_wvalid", "s_axil_arvalid", "rst_n")
        )
        busy = block.actual[:, self._status] & 1
        before = np.concatenate([[self._busy_before], busy[:-1]])  # a write was made in the cycle before its response
        active = awvalid | wvalid | arvalid | axil >> 2 & 1 | axil >> 6 & 1 | 1 - low
        for at in np.flatnonzero(active).tolist():
            if not low[at]:
                self._forget()
                self.on_reset()
                continue
            ready = int(axil[at])
            self.answers += (ready >> 2 & 1) + (ready >> 6 & 1)
            if ready >> 2 & 1 and self._aw and self._w:
                item = RegisterItem(self._aw.popleft(), self._w.popleft())
                item.effective = not before[at]
                self._publish(item, ready >> 3 & 3, block.first + at)
            if ready >> 6 & 1 and self._ar:
                item = RegisterItem(self._ar.popleft())
                item.data = int(block.actual[at, self._rdata])
                self._publish(item, ready >> 7 & 3, block.first + at)
            if awvalid[at] and ready & 1:
                self._aw.append(int(block.rows[at, 1]) & 0xFFF)
            if wvalid[at] and ready >> 1 & 1:
                self._w.append(int(block.rows[at, 2]))
            if arvalid[at] and ready >> 5 & 1:
                self._ar.append(int(block.rows[at, 1]) >> 16 & 0xFFF)
        if len(busy):
            self._busy_before = int(busy[-1])

    def _publish(self, item: RegisterItem, response: int, cycle: int) -> None:
        item.response, item.cycle = response, cycle
        self.ap.write(item)


class CsrAgent(uvm_agent):
    """Sequencer, driver and monitor of the register bus."""

    def build_phase(self) -> None:
        """Make the three."""
        super().build_phase()
        self.sequencer = uvm_sequencer.create("sequencer", self)
        self.driver = CsrDriver.create("driver", self)
        self.monitor = CsrMonitor.create("monitor", self)

    def connect_phase(self) -> None:
        """The driver asks the sequencer."""
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
