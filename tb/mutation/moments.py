# SPDX-License-Identifier: Apache-2.0
"""Programs whose run is halted or reset in one certain cycle, which a run without it has shown."""

from __future__ import annotations

import random

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Format, Opcode, Space
from beatmatch.machine import SteppedMachine
from beatmatch.memory import MemoryTiming
from beatmatch.program import HostEvent, Program
from beatmatch.trace import VALID, layout
from tb.coverage.pieces import from_accumulator, simple, small_program

LIMIT = 1_000_000
"""Cycles in which each of the programs ends."""
FAST = MemoryTiming(read_latency=1, write_latency=1)
BUSY = 1
"""Bit of the host's status slot."""


def on_time(rng: random.Random, config: Config, variant: int) -> Program:
    """The cycle limit is the run's length: it is not reached, and the counter stands at it afterwards."""
    program = small_program(rng, config, [simple(Opcode.LOAD, config)], "on time", timing=FAST)
    busy = column(program, "host", "status") & BUSY
    after = HostEvent(len(busy) + 8, "read", address=0)  # an error of the idle core shows in the cycles up to here
    return program.replace(cycle_limit=int(busy.sum()), host=(after,))


HALTS = (
    ("frontend", "fetch", 1, "the header is at the buffer's head"),
    ("weights", "issue", 3, "a row of zeros is in the row register"),
    ("load", "write", 0, "a word for the parameter memory is in the word register"),
)
"""In which cycle a program is halted: so many cycles behind the first event of a slot."""


def halted(rng: random.Random, config: Config, variant: int) -> Program:
    """The cycle limit halts the engines in one certain cycle; a second run shows what has been written in it."""
    station, slot, behind, what = HALTS[variant]
    items = [
        simple(Opcode.WEIGHTS_MEM, config, k_rows=1),
        from_accumulator(Opcode.REQUANT, config, dst_format=Format.INT32, param_mode=1, sig0_en=1),
        simple(Opcode.LOAD, config, dst_space=Space.PARAMETER, row_bytes=2 * config.lanes, wait0_n=1),
    ]
    program = small_program(rng, config, items, f"halted while {what}", timing=FAST, semaphores=tuple(range(32)))
    cycle = _event(program, station, slot, 1) + behind
    return _halted(program, cycle).replace(host=(HostEvent(cycle + 30, "start"),))


def half_stored(rng: random.Random, config: Config, variant: int) -> Program:
    """Halted when a store row has begun, but its second burst waits for an answer: the first one is finished alone."""
    unit = max(config.lanes, config.mem_bytes)
    first, rest = 12 * unit, 8 * unit
    items = [simple(Opcode.STORE, config, offset=64 * unit)] * (config.outstanding - 1)
    items.append(simple(Opcode.STORE, config, offset=4096 - first, row_bytes=first + rest))
    timing = MemoryTiming(read_latency=1, write_latency=300)
    program = small_program(rng, config, items, "half stored", timing=timing)
    return _halted(program, _event(program, "store", "sp_read", len(items) + 1))


RETIRES = (("store", Opcode.STORE, 0), ("vector", Opcode.REQUANT, 0), ("vector", Opcode.REQUANT, 1))
"""A reset comes so many cycles in front of a retire event."""


def reset_at_end(rng: random.Random, config: Config, variant: int) -> Program:
    """A reset of one cycle, in the one in which an instruction retires and signals, or is about to."""
    station, opcode, early = RETIRES[variant]
    signals = {"sig0_en": 1, "sig0_id": rng.randrange(32), "sig1_en": 1, "sig1_id": rng.randrange(32)}
    # a second one keeps the run from ending before the reset
    items = [simple(opcode, config, **signals), simple(Opcode.LOAD, config, rows=40)]
    program = small_program(rng, config, items, f"reset at end: {opcode.name}", timing=FAST)
    cycle = _event(program, station, "retire", 1) - early
    return program.replace(host=(HostEvent(cycle, "reset", 1), HostEvent(cycle + 4, "read", address=0)))


def _halted(program: Program, cycle: int) -> Program:
    """The same program with a cycle limit that halts in this cycle, counted from the reset."""
    started = int(np.flatnonzero(column(program, "host", "status") & BUSY)[0])
    return program.replace(cycle_limit=cycle - 1 - started)


def _event(program: Program, station: str, slot: str, count: int) -> int:
    """The cycle of the n-th event of a slot."""
    return int(np.flatnonzero(column(program, station, slot) & VALID)[count - 1])


def column(program: Program, station: str, slot: str) -> np.ndarray:
    """The header word of a slot in every cycle of a run."""
    offset = layout(program.config).slot(station, slot).offset
    return np.concatenate([records[:, offset] for _, records in SteppedMachine(program).blocks(LIMIT)])
