# SPDX-License-Identifier: Apache-2.0
"""A host that writes some bytes of a register: those that it leaves out keep their values."""

from __future__ import annotations

import random

from beatmatch import csr
from beatmatch.config import Config
from beatmatch.host_agent import HostAgent
from beatmatch.isa import Opcode
from beatmatch.machine import SteppedMachine
from beatmatch.memory import MemoryTiming
from beatmatch.program import HostEvent, Program
from tb.coverage.pieces import simple, small_program

UPPER = 0b1110
"""Strobe without the low byte."""
BEHIND = 400
"""A cycle behind the end of a run."""


class PartialWriter(HostAgent):
    """Writes whole words to program the core, and the upper bytes only when it does not wait for a run."""

    def outputs(self) -> tuple | None:
        """What the bus carries (as for `HostAgent`)."""
        bus = super().outputs()
        if bus is None or self._waiting or not bus[2]:
            return bus
        return (*bus[:4], UPPER, *bus[5:])


class PartialMachine(SteppedMachine):
    """A machine with such a host."""

    def __init__(self, program: Program, digest: bool = True) -> None:
        super().__init__(program, digest)
        self.agent = PartialWriter(program)


def partial(rng: random.Random, config: Config, variant: int) -> Program:
    """After the run the upper bytes of the program's address are written, and all of it is read back."""
    program = small_program(rng, config, [simple(Opcode.LOAD, config)], "partial", timing=MemoryTiming(read_latency=1))
    address = csr.PROG_ADDR.address
    write = HostEvent(BEHIND, "write", address=address, data=rng.getrandbits(32))
    return program.replace(host=(write, HostEvent(BEHIND + 20, "read", address=address)))
