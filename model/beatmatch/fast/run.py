# SPDX-License-Identifier: Apache-2.0
"""The fast tier: the same cycles, accounting and events as the stepped tier, without values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from beatmatch.accounting import Accounting
from beatmatch.fast import code, core, dram
from beatmatch.fast.intervals import Intervals
from beatmatch.fast.memory import FAR, FAULT, FAULTS, STALL_CYCLES
from beatmatch.fast.recorder import BUFFER, ROW, SLOTS
from beatmatch.host_agent import HostAgent
from beatmatch.isa.fields import INSTRUCTION_BYTES, Engine, Error
from beatmatch.memory import ADDRESSES, PAGE, DramCounters, MemoryTiming
from beatmatch.program import Program
from beatmatch.stations.host import Host
from beatmatch.stations.writer import TraceWriter

CHUNK = 1 << 20
"""Most cycles between two reports of progress."""
LARGEST_RATE = 1 << 20
"""Largest numerator and denominator of a bandwidth."""
LARGEST_SIZE = 1 << 62
LONGEST_PROGRAM = 1 << 20


class FastError(ValueError):
    """A program whose time depends on values; the text says why and which tier can run it."""


@dataclass
class FastResult:
    """What a fast run gives.

    Attributes
    ----------
    error : Error
        `Error.NONE`, or what stopped the run; then ``error_engine`` and ``error_seq`` say where.
    accounting : Accounting
        Cycles of the last run, by category.
    start : int
        The first cycle of the last run, counted from the initial reset; -1 without a run.
    events : Intervals or None
        Everything that happened, by cycle since the initial reset; None if it was not asked for.
    overflow : bool or None
        False: no accumulator sum can have left 32 bits, whatever the values; None: that depends on the values (and the
        overflow bits of ``accumulator.write`` are 0 here).
    dram : tuple of (DramCounters or None)
        What the memories did, by port: counters of a DRAM, None of others.
    """

    error: Error
    error_engine: Engine
    error_seq: int
    accounting: Accounting
    start: int
    events: Intervals | None
    overflow: bool | None
    dram: tuple[DramCounters | None, ...] = ()

    @property
    def cycles(self) -> int:
        """Cycles of the last run, from start to done."""
        return self.accounting.cycles


class _Frontend:
    """What the host's registers look at, out of the machine's registers."""

    def __init__(self, registers) -> None:
        self._registers = registers

    def __getattr__(self, name: str) -> int:
        return int(getattr(self._registers, name))


class FastMachine:
    """A core, its memory and its host; runs of the core are jumped through, the rest is stepped with the host.

    Parameters
    ----------
    program : Program
    events : bool
        Keep the events.

    Raises
    ------
    FastError
        The bandwidth has too many digits.
    """

    def __init__(self, program: Program, events: bool = True) -> None:
        config = program.config
        self.program = program
        self.agent = HostAgent(program)
        self.host = Host(config, TraceWriter(config, 1))
        m = self.registers = core.MACHINE.build()
        for name, value in core.sizes_of(config).items():
            setattr(m.sizes, name, value)
        self._memories = [(m.memory, program.timing)]
        if config.weight_port:
            self._memories.append((m.weight_memory, program.weight_timing or program.timing))
        for memory, timing in self._memories:
            _set_memory(memory, timing)
        m.log.keep = int(events)
        self._frontend, self._counters = _Frontend(m.frontend), m.host
        self.start = -1
        self._asleep = True  # nothing can happen in the core before a start
        self._found: list[np.ndarray] = []
        self._set_program(program.address, program.semaphores, program.instructions)
        self._flags_end = FAR
        if any(memory.stalls for memory, _ in self._memories):
            self._renew_flags()
        self._call(0, core.RESET)

    @property
    def cycle_count(self) -> int:
        """Cycles since the initial reset."""
        return int(self.registers.now)

    @property
    def finished(self) -> bool:
        """The host has nothing left to do."""
        return self.agent.finished

    @property
    def dram(self) -> tuple[DramCounters | None, ...]:
        """What the memories did so far, by port: counters of a DRAM, None of others."""
        return tuple(dram.counters(memory.dram, self.cycle_count) for memory, _ in self._memories)

    def advance(self) -> None:
        """Go on: through some cycles of a run, or one cycle with the host."""
        m = self.registers
        if m.log.used + core.MARGIN >= BUFFER:
            self._drain()
        if m.now + 1 >= self._flags_end:
            self._renew_flags()
        patience = self.agent.patience() if self.host.run else 0
        if patience > 0:
            self._run(min(m.now + min(patience, CHUNK), self._flags_end - 1))
        else:
            self._step()

    def _run(self, limit: int) -> None:
        """Cycles in which the host does nothing, up to ``limit``."""
        host, counters, before = self.host, self._counters, self.cycle_count
        counters.run = 1
        self._call(limit, core.NOTHING)
        for name in COUNTERS:
            setattr(host, name, int(getattr(counters, name)))
        if self._frontend.done_set:
            host.busy = host.run = False
            host.done = True
            self._asleep = self._at_rest()
        self.agent.skip(self.cycle_count - before)

    def _at_rest(self) -> bool:
        """Behind a run: nothing will happen before the next start. An error may leave something behind."""
        m = self.registers
        loads = m.matmul.loading or (m.weights.fifo_count and not m.matmul.shadow_full)
        return not (self._frontend.halt or loads)

    def _step(self) -> None:
        """One cycle of core and host."""
        m, host, agent, counters = self.registers, self.host, self.agent, self._counters
        bus, rst_n, clear, run = agent.outputs(), agent.rst_n, host.clear, host.run
        drams = [] if rst_n else [(memory.dram, dram.counted(memory.dram)) for memory, _ in self._memories]
        if self._asleep and rst_n and not (run or clear):
            m.now += 1
        else:
            counters.run = int(run)
            self._call(m.now + 1, core.NOTHING)
        if run:
            host.observe(
                self._frontend, False, m.category == core.ACTIVE, m.category == core.WEIGHT_SHIFT,
                m.category == core.WEIGHT_STALL, m.category >= core.RAW_STALL, m.category == core.INPUT_STALL,
                int(m.matmul.level_useful),
            )  # fmt: skip
        else:
            host.observe(self._frontend, False)
        agent.commit(host)
        if not rst_n:
            host.reset()
            self._call(0, core.RESET)
            for memory, counts in drams:  # nothing arrives in a reset
                dram.count_again(memory, counts)
            self._asleep = True
            return
        host.commit(bus, bool(run and self._frontend.done_set))
        if clear:
            self.start = self.cycle_count - 1
            self._call(0, core.CLEAR)
            self._begin()
            self._asleep = False
        elif run:
            self._asleep = not host.run and self._at_rest()
        if host.run:
            for name in COUNTERS:
                setattr(counters, name, getattr(host, name))

    def _call(self, limit: int, after: int) -> None:
        core.run(self.registers, self._code, int(limit), after)

    def _begin(self) -> None:
        """A run begins: take over what the host has been told."""
        m, host = self.registers, self.host
        h, config = m.host, self.program.config
        h.cycle_limit, h.prog_len = host.cycle_limit, host.prog_len
        h.prog_page, h.prog_offset = divmod(host.prog_addr, PAGE)
        h.prog_end_page, h.prog_end_offset = divmod(host.prog_addr + INSTRUCTION_BYTES * (1 + host.prog_len) - 1, PAGE)
        h.prog_unaligned = int(host.prog_addr % max(INSTRUCTION_BYTES, config.mem_bytes) != 0)
        for index, (base, size) in enumerate(zip(host.base, host.size, strict=True)):
            h.base_page[index], h.base_low[index] = divmod(base, PAGE)
            h.window[index] = min(size, LARGEST_SIZE)
        if (host.prog_addr, host.prog_len) != self._place:
            self._read_program(host.prog_addr, host.prog_len)

    def _set_program(self, address: int, semaphores: Sequence[int], words: list[int]) -> None:
        """What the core finds at an address."""
        self._place = (address, len(words))
        for index, count in enumerate(semaphores):
            self.registers.frontend.initial[index] = count
        self._code = code.table(words, self.program.config)

    def _read_program(self, address: int, length: int) -> None:
        """The host has pointed the core at something else than the program: see what stands there."""
        if length > LONGEST_PROGRAM:
            raise FastError(f"The host sets a program length of {length}; the fast tier takes up to {LONGEST_PROGRAM}.")
        size = min(INSTRUCTION_BYTES * (1 + length), ADDRESSES - address)
        raw = self.program.memory().read(address, size).tobytes()
        entries = [raw[at : at + INSTRUCTION_BYTES] for at in range(0, len(raw), INSTRUCTION_BYTES)]
        self._set_program(address, entries[0], [int.from_bytes(entry, "little") for entry in entries[1:]])

    def _renew_flags(self) -> None:
        """Work out the stalls from this cycle on."""
        now = self.cycle_count
        self._flags_end = now + STALL_CYCLES
        for port, (memory, timing) in enumerate(self._memories):
            memory.flags_first = now
            memory.stall_flags[:] = list(timing.stall_flags(now, STALL_CYCLES, port))

    def _drain(self) -> None:
        """Take the intervals that are finished."""
        m = self.registers
        if m.log.used:
            self._found.append(np.array(m.log.out[: ROW * m.log.used], np.int64).reshape(-1, ROW))
            m.log.used = 0

    def events(self) -> Intervals:
        """The events so far; call it at the end."""
        m = self.registers
        self._drain()
        self._call(0, core.FINISH)
        self._drain()
        rows = np.concatenate(self._found) if self._found else np.zeros((0, ROW), np.int64)
        return Intervals(self.program.config, rows, self.cycle_count, [int(m.log.total[i]) for i in range(len(SLOTS))])


COUNTERS = (
    "cycles", "active", "weight_shift", "weight_stall", "raw_stall", "input_stall", "useful_macs",
)  # fmt: skip


def _set_memory(a, timing: MemoryTiming) -> None:
    """Set the memory's timing."""
    a.read_latency, a.write_latency = timing.read_latency, timing.write_latency
    a.max_reads, a.max_writes = min(timing.max_reads, LARGEST_SIZE), min(timing.max_writes, LARGEST_SIZE)
    a.stalls = int(any(timing.stalls))
    if timing.dram is not None:
        dram.describe(a.dram, timing.dram, _rate(timing.read_bandwidth))
    else:
        a.shared = int(timing.shared)
        a.read_n, a.read_d = _rate(timing.read_bandwidth)
        a.write_n, a.write_d = _rate(timing.write_bandwidth)
    if len(timing.errors) > FAULTS:
        raise FastError(f"The memory has {len(timing.errors)} error ranges; the fast tier takes up to {FAULTS}.")
    a.faults = len(timing.errors)
    for index, item in enumerate(timing.errors):
        values = (*divmod(item.first, PAGE), *divmod(item.last, PAGE), item.response, item.reads, item.writes)
        a.ranges[FAULT * index : FAULT * (index + 1)] = [int(value) for value in values]


def _rate(bandwidth: tuple[int, int] | None) -> tuple[int, int]:
    if bandwidth is None:
        return 0, 0
    divisor = gcd(*bandwidth)
    numerator, denominator = (value // divisor for value in bandwidth)
    if max(numerator, denominator) > LARGEST_RATE:
        raise FastError(
            f"A bandwidth of {numerator}/{denominator} bytes per cycle has too many digits for the fast tier; "
            f"round it to numbers up to {LARGEST_RATE}, or use the stepped tier."
        )
    return numerator, denominator


def run_fast(program: Program, events: bool = True, limit: int | None = None, progress=None) -> FastResult:
    """Run a program without its values.

    Parameters
    ----------
    program : Program
    events : bool
        Keep the events; without them long runs take less memory.
    limit : int, optional
        Give up with RuntimeError after so many cycles.
    progress : callable, optional
        Called with the number of cycles so far, now and then.

    Raises
    ------
    FastError
        The program writes over itself, or the memory's bandwidth has too many digits.
    RuntimeError
        The program has run for ``limit`` cycles without an end.
    """
    machine = FastMachine(program, events)
    m = machine.registers
    while not machine.finished:
        if limit is not None and machine.cycle_count >= limit:
            raise RuntimeError(
                f"The program did not end within {limit} cycles; "
                "set a cycle limit (the watchdog) to see where it stands."
            )
        machine.advance()
        if progress is not None and machine.host.run:
            progress(machine.cycle_count)
    if m.host.overwritten:
        raise FastError("The program stores over its own instructions; only the stepped tier knows what it then does.")
    return FastResult(
        error=Error(int(m.frontend.error_code)),
        error_engine=Engine(int(m.frontend.error_engine)),
        error_seq=int(m.frontend.error_seq),
        accounting=Accounting.of(machine.host, program.config),
        start=machine.start,
        events=machine.events() if events else None,
        overflow=None if m.accumulator.unsafe else False,
        dram=machine.dram,
    )
