# SPDX-License-Identifier: Apache-2.0
"""The trace agent: it drives nothing, and hands every cycle that was played to whoever subscribes."""

from __future__ import annotations

from pyuvm import uvm_agent, uvm_analysis_port, uvm_monitor, uvm_subscriber

from tb.uvm.bfm import BenchError, Block


class TraceMonitor(uvm_monitor):
    """Takes blocks of cycles from the core's BFM and publishes them on `ap`."""

    def build_phase(self) -> None:
        """Make the port, and watch the BFM."""
        self.ap = uvm_analysis_port("ap", self)
        self.cdb_get("BFM").watchers.append(self.publish)

    def publish(self, block: Block) -> None:
        """Pass a block on."""
        self.ap.write(block)


class TraceAgent(uvm_agent):
    """Only a monitor: the trace record is an output of the core."""

    def build_phase(self) -> None:
        """Make the monitor."""
        super().build_phase()
        self.monitor = TraceMonitor.create("monitor", self)

    @property
    def ap(self) -> uvm_analysis_port:
        """Blocks of cycles, in order."""
        return self.monitor.ap


class TraceSubscriber(uvm_subscriber):
    """Base of all that looks at the trace: it insists on getting every cycle of every program once and in order.

    Derived classes implement `begin`, `look` and `end`.

    Attributes
    ----------
    cycles, programs : int
        What came, whole programs counted.
    """

    def build_phase(self) -> None:
        """Nothing has come yet."""
        self.cycles = self.programs = 0
        self._next = 0
        self._open = False

    def write(self, block: Block) -> None:
        """Check the order, then look at the block. Raises BenchError for a gap."""
        if len(block.rows) != len(block.actual):
            raise BenchError(f"The RTL gave {len(block.actual)} records for {len(block.rows)} rows of stimulus.")
        if (block.number, block.first) != (self.programs, self._next):
            raise BenchError(
                f"{self.get_full_name()} lost its place in the trace: cycle {self._next} of program {self.programs} "
                f"should come, cycle {block.first} of program {block.number} came."
            )
        if not self._open:
            self.begin(block)
            self._open = True
        self._next += len(block.rows)
        self.cycles += len(block.rows)
        self.look(block)
        if block.last:
            self.end(block)
            self._open = False
            self._next = 0
            self.programs += 1

    def begin(self, block: Block) -> None:
        """A program begins with this block."""

    def look(self, block: Block) -> None:
        """See some cycles."""
        raise NotImplementedError(f"{type(self).__name__} has to say what it does with the trace: write look().")

    def end(self, block: Block) -> None:
        """The program has ended with this block."""
