# SPDX-License-Identifier: Apache-2.0
"""The bus functional model of the whole core: it plays programs on model and RTL, and lets agents add to them.

The stepped model runs some cycles ahead; what its memory agent and its host drove goes to the RTL, row by row, and
the records of both sides go to the watchers. Whatever an agent adds on the way (a reset in some state, a register
access) becomes a host event of the program, with its cycle. So what was played is always one program file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from cocotb.triggers import Lock

from beatmatch.config import Config
from beatmatch.machine import SteppedMachine
from beatmatch.memory import MemoryTiming
from beatmatch.program import HostEvent, Program
from beatmatch.trace import VALID, layout
from tb.lockstep.compare import Unknown
from tb.lockstep.transport import BLOCK, Transport
from tb.uvm.items import ProgramItem, RegisterItem, ResetItem, When

MOST_CYCLES = 2_000_000
"""A program that has not ended by then is an error; the core's own watchdogs end it long before."""
IDLE = (HostEvent(0, "reset", 1),)
"""A reset in the first cycle drops the start that every program begins with: the core stays idle."""


class BenchError(Exception):
    """The environment was used in a way that cannot work; the text says what to do."""


@dataclass
class Block:
    """Some cycles of one program on both sides.

    Attributes
    ----------
    number : int
        Of the program, counted from 0 in this test.
    program : Program
        As it was played so far.
    first : int
        Cycle of the first row.
    rows, expected, actual : numpy.ndarray of uint32, [cycles, words]
        Stimulus, and the records of model and RTL; valid only until the watcher returns.
    unknown : list of Unknown
        Bits of `actual` that are X or Z.
    last : bool
        The program has ended; such a block has no rows.
    """

    number: int
    program: Program
    first: int
    rows: np.ndarray
    expected: np.ndarray
    actual: np.ndarray
    unknown: list[Unknown] = field(default_factory=list)
    last: bool = False


@dataclass
class _Plan:
    """Host events that wait for a state of the run."""

    when: When
    offset: int
    left: int
    events: list[HostEvent]  # their cycles count from the one in which the state is met
    optional: bool


class CoreBfm:
    """Plays programs; one per test.

    Attributes
    ----------
    config : Config
    timing : MemoryTiming or None
        The memory of the programs to come, instead of their own; ``weight_timing`` is the same for the memory behind a
        weight port.
    watchers : list of callable
        Called with every `Block`.
    programs, cycles : int
        Programs begun (idle phases included), and cycles played without the resets in front of them.
    complaints : list of str
        What went wrong without stopping the run, for the verdict of the test.
    """

    def __init__(self, transport: Transport, config: Config) -> None:
        self.config = config
        self.timing: MemoryTiming | None = None
        self.weight_timing: MemoryTiming | None = None
        self.watchers: list[Callable[[Block], None]] = []
        self.programs = self.cycles = 0
        self.complaints: list[str] = []
        self._transport = transport
        self._machine: SteppedMachine | None = None
        self._program: Program | None = None
        self._planned: list[ResetItem | RegisterItem] = []
        self._plans: list[_Plan] = []
        self._busy = Lock()

    # ----- what the drivers call -----

    async def play(self, item: ProgramItem) -> None:
        """Run a program to its end, with the memory and the plans that the other agents have set.

        It stays open: register accesses that follow see what it left, until the next program begins with a reset.
        """
        async with self._busy:
            await self._close()
            program = item.program.replace(config=self.config)
            if self.timing is not None:
                program = program.replace(timing=self.timing)
            if self.weight_timing is not None:
                program = program.replace(weight_timing=self.weight_timing)
            await self._open(self._with_plans(program))
            while not self._machine.finished:
                if self._machine.cycle_count >= MOST_CYCLES:
                    raise BenchError(f"{item} did not end within {MOST_CYCLES} cycles; give it a cycle limit.")
                await self._step()
            item.program, item.cycles = self._program, self._machine.cycle_count

    def plan(self, item: ResetItem | RegisterItem) -> None:
        """Keep a reset or a register access for the next program."""
        self._planned.append(item)

    async def access(self, item: RegisterItem) -> None:
        """One access of the register bus behind a program, or of an idle core; filled from the RTL's answer."""
        async with self._busy:
            if self._machine is None:
                await self._open(Program(self.config, [], host=IDLE, origin="register accesses"))
            value = 0
            for half in range(item.bits // 32):
                word = item.data >> 32 * half & 0xFFFFFFFF
                self._add(_access(self._machine.cycle_count, item, half, word))
                while not self._machine.finished:
                    answer = self._answer(item.write, await self._step())
                    if answer is not None:
                        value |= answer[0] << 32 * half
                        item.response = max(item.response, answer[1])
            if not item.write:
                item.data = value

    async def close(self) -> None:
        """End the program that is still open; what comes next begins with a reset."""
        async with self._busy:
            await self._close()
        if self._planned:
            self.complaints.append(f"{len(self._planned)} planned resets or accesses had no program to happen in.")

    # ----- programs -----

    def _with_plans(self, program: Program) -> Program:
        """The program with those plans that know their cycle; the others wait for their state."""
        events = list(program.host)
        self._plans = []
        for item in self._planned:
            first = 0 if isinstance(item.when, When) else item.when
            found = _events(item, first)
            if isinstance(item.when, When):
                offset = layout(self.config).slot(*item.when.slot.split(".")).offset
                optional = getattr(item, "optional", False)
                self._plans.append(_Plan(item.when, offset, item.when.nth, found, optional))
            else:
                events += found
        self._planned = []
        return program.replace(host=tuple(sorted(events, key=lambda event: event.cycle)))

    async def _open(self, program: Program) -> None:
        self._program = program
        self._machine = SteppedMachine(program, digest=True, block=BLOCK)
        await self._transport.reset()

    async def _close(self) -> None:
        if self._machine is None:
            return
        nothing = np.zeros((0, layout(self.config).words), dtype=np.uint32)
        rows = np.zeros((0, self._transport.row_words), dtype=np.uint32)
        self._publish(Block(self.programs, self._program, self._machine.cycle_count, rows, nothing, nothing, last=True))
        for plan in self._plans:
            if not plan.optional:
                self.complaints.append(
                    f"Program {self.programs} ({self._program.origin}) never met the state "
                    f"{plan.when.slot} number {plan.when.nth} that a reset or an access was planned for."
                )
        self._plans = []
        self._machine = self._program = None
        self.programs += 1

    def _add(self, event: HostEvent) -> None:
        """Let the host do something from now on, and note it in the program."""
        self._machine.add_host_event(event)
        self._program = self._program.replace(host=(*self._program.host, event))

    # ----- cycles -----

    async def _step(self) -> np.ndarray:
        """Play up to `BLOCK` cycles on both sides, to the next state that is waited for at most; the RTL's records."""
        first = self._machine.cycle_count
        rows, expected = self._advance() if self._plans else self._machine.run_block()
        actual, unknown = await self._transport.exchange(rows)
        self.cycles += len(rows)
        self._publish(Block(self.programs, self._program, first, rows, expected, actual, unknown))
        self._meet()
        return actual

    def _publish(self, block: Block) -> None:
        for watch in self.watchers:
            watch(block)

    def _advance(self) -> tuple[np.ndarray, np.ndarray]:
        """`SteppedMachine.run_block`, but ending with the cycle in which a plan meets its state."""
        machine = self._machine
        trace, stimulus = machine.trace, machine.stimulus
        trace.rewind()
        stimulus.rewind()
        met = False
        while not machine.finished and not met:
            machine.cycle()
            for plan in self._plans:
                if trace.words[trace.base + plan.offset] & VALID:
                    plan.left -= 1
                    met = met or plan.left == 0
            stimulus.next()
            if trace.next():
                break
        return stimulus.rows(), trace.records()

    def _meet(self) -> None:
        """Add the host events of plans whose state has just been met."""
        now = self._machine.cycle_count
        for plan in [plan for plan in self._plans if plan.left == 0]:
            self._plans.remove(plan)
            for event in plan.events:
                cycle = now + plan.when.delay + event.cycle
                self._add(HostEvent(cycle, event.action, event.length, event.address, event.data))

    def _answer(self, write: bool, records: np.ndarray) -> tuple[int, int] | None:
        """Data and response of the last access that the RTL answered in these records."""
        slot = layout(self.config).slot("host", "axil")
        headers = records[:, slot.offset]
        cycles = np.flatnonzero(headers >> (2 if write else 6) & 1)
        if not len(cycles):
            return None
        at = cycles[-1]
        response = int(headers[at]) >> (3 if write else 7) & 3
        return (0 if write else int(records[at, slot.data["rdata"][0]])), response


def _access(cycle: int, item: RegisterItem, half: int, word: int) -> HostEvent:
    action = "write" if item.write else "read"
    return HostEvent(cycle, action, 0, item.address + 4 * half, word if item.write else 0)


def _events(item: ResetItem | RegisterItem, cycle: int) -> list[HostEvent]:
    """The host events of a planned item, beginning in this cycle."""
    if isinstance(item, RegisterItem):
        return [_access(cycle, item, half, item.data >> 32 * half & 0xFFFFFFFF) for half in range(item.bits // 32)]
    events = [HostEvent(cycle, "reset", item.length)]
    if item.start_after is not None:
        events.append(HostEvent(cycle + item.length + item.start_after, "start"))
    return events
