# SPDX-License-Identifier: Apache-2.0
"""Sequence items: what sequences ask the agents for. An item is a command, never a clock cycle."""

from __future__ import annotations

from dataclasses import dataclass

from pyuvm import uvm_sequence_item

from beatmatch.memory import MemoryTiming
from beatmatch.program import Program


@dataclass(frozen=True)
class When:
    """The cycle behind the `nth` event of a trace slot, and `delay` cycles more.

    ``When("matmul.row", nth=3)`` is the cycle after the third activation row has entered the array.
    """

    slot: str
    nth: int = 1
    delay: int = 0


class ProgramItem(uvm_sequence_item):
    """For the command agent: run this program from the host's first write to the last register read back.

    Attributes
    ----------
    program : Program
        After the run: as it was played, with all that the other agents added.
    cycles : int
        Cycles that were played; 0 before the run.
    """

    def __init__(self, program: Program, name: str = "program") -> None:
        super().__init__(name)
        self.program = program
        self.cycles = 0

    def __str__(self) -> str:
        return f"{self.program.origin or 'program'}: {len(self.program.instructions)} instructions"


class MemoryItem(uvm_sequence_item):
    """For the memory agent: latency, bandwidth, stalls and error responses of the programs from now on.

    ``timing=None`` gives every program its own memory again, and ``weights=None`` its own memory behind the weight
    port, which only some configurations have.
    """

    def __init__(self, timing: MemoryTiming | None, weights: MemoryTiming | None = None, name: str = "memory") -> None:
        super().__init__(name)
        self.timing, self.weights = timing, weights


class ResetItem(uvm_sequence_item):
    """For the reset agent: a reset in the middle of the next program.

    Parameters
    ----------
    when : When or int
        A state or a cycle of the run.
    length : int
        Cycles that ``rst_ni`` is low.
    start_after : int or None
        Cycles after the reset in which the host starts the program again; None leaves the core idle.
    optional : bool
        The state need not be met; otherwise a run that does not meet it is an error.
    """

    def __init__(
        self,
        when: When | int,
        length: int = 1,
        start_after: int | None = 0,
        optional: bool = False,
        name: str = "reset",
    ) -> None:
        super().__init__(name)
        self.when, self.length, self.start_after, self.optional = when, length, start_after, optional


class RegisterItem(uvm_sequence_item):
    """For the CSR agent: one access of the register bus, at once or, with `when`, in the middle of the next program.

    Attributes
    ----------
    address : int
        Byte address.
    bits : int
        32, or 64 for two accesses, the low word first.
    write : bool
    data : int
        What is written; after a read: what was read. The data of a planned read go to the monitor only.
    response : int
        AXI response, 0 is OKAY.
    cycle : int
        Cycle of the response (only in items that the monitor makes).
    effective : bool
        False for a write while the core was busy, which is ignored (only in items that the monitor makes).
    """

    def __init__(
        self, address: int, data: int | None = None, bits: int = 32, when: When | int | None = None, name: str = "csr"
    ) -> None:
        super().__init__(name)
        self.address, self.bits, self.when = address, bits, when
        self.write = data is not None
        self.data = data or 0
        self.response = 0
        self.cycle = 0
        self.effective = True

    def __str__(self) -> str:
        verb = "write" if self.write else "read"
        return f"{verb} 0x{self.address:03x} 0x{self.data:08x} response {self.response} in cycle {self.cycle}"
