# SPDX-License-Identifier: Apache-2.0
"""The environment: five agents around one BFM, and three who watch. Wiring only."""

from __future__ import annotations

from pyuvm import ConfigDB, uvm_env, uvm_sequencer

from tb.uvm.agents import CommandAgent, MemoryAgent, ResetAgent
from tb.uvm.coverage import CoverageSubscriber
from tb.uvm.csr_agent import CsrAgent
from tb.uvm.registers import RegisterAdapter, RegisterChecker, register_model
from tb.uvm.scoreboard import LockstepScoreboard
from tb.uvm.trace_agent import TraceAgent


class CoreSequencer(uvm_sequencer):
    """The virtual sequencer: where virtual sequences find the sequencers of the agents.

    Attributes
    ----------
    command, memory, reset, csr : uvm_sequencer
    registers : bm_csr
        The register model; ``await registers.PROG_LEN.write(5)`` goes through the CSR agent.
    """


class CoreEnv(uvm_env):
    """The core's environment."""

    def build_phase(self) -> None:
        """Make everything; the register model is in the ConfigDB for all."""
        self.registers = register_model(self.cdb_get("JOB").configuration())
        ConfigDB().set(None, "*", "REGISTERS", self.registers)
        self.command = CommandAgent.create("command", self)
        self.memory = MemoryAgent.create("memory", self)
        self.reset = ResetAgent.create("reset", self)
        self.csr = CsrAgent.create("csr", self)
        self.trace = TraceAgent.create("trace", self)
        self.scoreboard = LockstepScoreboard.create("scoreboard", self)
        self.coverage = CoverageSubscriber.create("coverage", self)
        self.register_checker = RegisterChecker.create("register_checker", self)
        self.sequencer = CoreSequencer.create("sequencer", self)

    def connect_phase(self) -> None:
        """The scoreboard comes first: nobody else sees a cycle that differs."""
        for subscriber in (self.scoreboard, self.coverage, self.csr.monitor):
            self.trace.ap.connect(subscriber.analysis_export)
        self.csr.monitor.ap.connect(self.register_checker.analysis_export)
        self.csr.monitor.on_reset = self.register_checker.reset
        self.registers.get_default_map().set_sequencer(self.csr.sequencer, RegisterAdapter("adapter"))
        virtual = self.sequencer
        virtual.command, virtual.memory = self.command.sequencer, self.memory.sequencer
        virtual.reset, virtual.csr = self.reset.sequencer, self.csr.sequencer
        virtual.registers = self.registers
