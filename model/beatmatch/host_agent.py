# SPDX-License-Identifier: Apache-2.0
"""The host of a run: programs the registers, starts, resets when the program says so, and reads the results back."""

from __future__ import annotations

from collections import deque

from beatmatch import csr
from beatmatch.program import ACCESSES, HostEvent, Program
from beatmatch.stations.host import Host

READ_BACK = (
    csr.STATUS,
    csr.ERROR,
    csr.ERROR_SEQ,
    csr.CYCLES,
    csr.ACTIVE,
    csr.WEIGHT_SHIFT,
    csr.WEIGHT_STALL,
    csr.NON_MATRIX,
    csr.RAW_STALL,
    csr.INPUT_STALL,
    csr.USEFUL_MACS,
)
"""Registers read after every run, so that they are compared too."""

Write = tuple[int, int]


def _word_writes(register: csr.Register, value: int, index: int = 0) -> list[Write]:
    address = register.address + register.stride * index
    return [(address + 4 * half, value >> 32 * half & 0xFFFFFFFF) for half in range(register.bits // 32)]


class HostAgent:
    """An AXI4-Lite master that carries out a program's host script.

    Its outputs in a cycle are functions of earlier cycles; `outputs` gives them and `commit` ends the cycle.

    Attributes
    ----------
    rst_n : bool
        The reset input of the core in this cycle.
    finished : bool
        Nothing is left to do and the last run's registers have been read.
    """

    def __init__(self, program: Program) -> None:
        self._events: deque[HostEvent] = deque(sorted(program.host, key=lambda event: event.cycle))
        self._program = program
        self._cycle = 0
        self._resetting = 0
        self._waiting = False
        self._operations: deque = deque()  # (address, data) writes, (address, None) reads
        self._aw = self._w = self._ar = False
        self._drop()
        self._begin()
        self._plan()

    def _drop(self) -> None:
        self._operations.clear()
        self._busy = False
        self._aw = self._w = self._ar = False
        self._waiting = False

    def _begin(self) -> None:
        """Queue the writes that program and start the core."""
        program = self._program
        writes: list[Write] = []
        for index, base in enumerate(program.bases):
            if base.address or base.size:
                writes += _word_writes(csr.BASE, base.address, index) + _word_writes(csr.SIZE, base.size, index)
        writes += _word_writes(csr.PROG_ADDR, program.address)
        writes += _word_writes(csr.PROG_LEN, len(program.instructions))
        writes += _word_writes(csr.CYCLE_LIMIT, program.cycle_limit & 0xFFFFFFFF)
        writes += _word_writes(csr.CTRL, csr.CTRL.pack(start=1))
        self._operations.extend(writes)
        self._waiting = True

    def _plan(self) -> None:
        """Decide this cycle's reset, and take the next operation if the bus is free."""
        while self._events and self._events[0].cycle <= self._cycle and not self._resetting:
            event = self._events.popleft()
            if event.action == "reset" and event.length:
                self._resetting = event.length
                self._drop()
            elif event.action == "start":
                self._begin()
            elif event.action in ACCESSES:
                self._operations.append((event.address, event.data if event.action == "write" else None))
        self.rst_n = not self._resetting
        if self.rst_n and not self._busy and self._operations:
            address, data = self._operations.popleft()
            self._busy = True
            self._address, self._data = address, data
            self._aw = self._w = data is not None
            self._ar = data is None
        self.finished = not (self._busy or self._operations or self._waiting or self._events or self._resetting)

    def add(self, event: HostEvent) -> None:
        """Let a further event of this or a later cycle happen, as if it had stood in the program all along."""
        if event.cycle < self._cycle:
            raise ValueError(f"A host event of cycle {event.cycle} comes too late in cycle {self._cycle}.")
        later = [other for other in self._events if other.cycle > event.cycle]
        for _ in later:
            self._events.pop()
        self._events.extend([event, *later])
        self._plan()

    def outputs(self) -> tuple | None:
        """What the bus carries, as `Host.commit` takes it; None while it is idle."""
        if not (self._aw or self._w or self._ar):
            return None
        return (
            self._aw,
            self._address if self._aw else 0,
            self._w,
            self._data if self._w else 0,
            15 if self._w else 0,
            1,
            self._ar,
            self._address if self._ar else 0,
            1,
        )

    @property
    def quiet(self) -> bool:
        """Nothing to do but to wait for the core."""
        return not (self._busy or self._operations or self._events or self._resetting)

    def patience(self) -> int:
        """Cycles, this one included, in which it only waits: it drives nothing, and of the core only `done` matters."""
        if self._busy or self._operations or self._resetting or not self._waiting:
            return 0
        return self._events[0].cycle - self._cycle - 1 if self._events else 1 << 62

    def skip(self, cycles: int) -> None:
        """End that many cycles, at most `patience`, without looking at the core: it is not `done` before the last."""
        self._cycle += cycles

    def commit(self, host: Host) -> None:
        """End the cycle: look at the core's responses (before the core itself ends its cycle)."""
        self._cycle += 1
        if self._resetting:
            self._resetting -= 1
        elif self._busy:
            if self._aw and host.awready:
                self._aw = False
            if self._w and host.wready:
                self._w = False
            if self._ar and host.arready:
                self._ar = False
            if host.bvalid or host.rvalid:
                self._busy = False
        elif self._waiting and host.done and not self._operations:
            self._waiting = False
            self._operations.extend(
                (register.address + 4 * half, None) for register in READ_BACK for half in range(register.bits // 32)
            )
        elif not self._events and not self._operations:
            if not self._waiting:
                self._plan()
            return
        self._plan()
