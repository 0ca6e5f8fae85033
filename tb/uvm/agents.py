# SPDX-License-Identifier: Apache-2.0
"""The agents that need no monitor of their own: command, memory and reset. Each turns items into calls of the BFM."""

from __future__ import annotations

from pyuvm import uvm_agent, uvm_driver, uvm_sequencer

from tb.uvm.items import MemoryItem, ProgramItem, ResetItem


class CommandDriver(uvm_driver):
    """Plays programs, one after the other.

    Attributes
    ----------
    programs : int
        Played to their end.
    """

    def build_phase(self) -> None:
        """Nothing has been played yet."""
        super().build_phase()
        self.programs = 0

    async def run_phase(self) -> None:
        """One item after the other; the item is done when the program is."""
        bfm = self.cdb_get("BFM")
        while True:
            item: ProgramItem = await self.seq_item_port.get_next_item()
            await bfm.play(item)
            self.programs += 1
            self.seq_item_port.item_done()


class MemoryDriver(uvm_driver):
    """Chooses the memories behind the ports of the programs to come."""

    async def run_phase(self) -> None:
        """One item after the other."""
        bfm = self.cdb_get("BFM")
        while True:
            item: MemoryItem = await self.seq_item_port.get_next_item()
            bfm.timing, bfm.weight_timing = item.timing, item.weights
            self.seq_item_port.item_done()


class ResetDriver(uvm_driver):
    """Plans resets for the next program."""

    async def run_phase(self) -> None:
        """One item after the other."""
        bfm = self.cdb_get("BFM")
        while True:
            item: ResetItem = await self.seq_item_port.get_next_item()
            bfm.plan(item)
            self.seq_item_port.item_done()


class ActiveAgent(uvm_agent):
    """A sequencer and a driver; derived classes name the driver."""

    driver_type: type[uvm_driver]

    def build_phase(self) -> None:
        """Make the two."""
        super().build_phase()
        self.sequencer = uvm_sequencer.create("sequencer", self)
        self.driver = self.driver_type.create("driver", self)

    def connect_phase(self) -> None:
        """The driver asks the sequencer."""
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)


class CommandAgent(ActiveAgent):
    """Programs."""

    driver_type = CommandDriver


class MemoryAgent(ActiveAgent):
    """Latency, bandwidth, stalls and error responses of the memory."""

    driver_type = MemoryDriver


class ResetAgent(ActiveAgent):
    """Resets in mid-run, at a cycle or in a state."""

    driver_type = ResetDriver
