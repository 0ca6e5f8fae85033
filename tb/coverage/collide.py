# SPDX-License-Identifier: Apache-2.0
"""Programs in which two errors fall into the same cycle, found by running the model and moving one of them.

Nothing depends on when a store is answered, or on the cycle limit, until it strikes; so one run tells when the other
error is raised, and the second run meets it. Where that is not so, a few dozen placements are tried.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Engine, Instruction, Opcode
from beatmatch.machine import SteppedMachine
from beatmatch.memory import DECERR, SLVERR, ErrorRange, MemoryTiming
from beatmatch.program import Program
from beatmatch.stimulus import SHIFT
from beatmatch.trace import layout
from tb.coverage.pieces import from_accumulator, simple, small_program

LIMIT = 20_000
SCENARIOS = (
    "LOAD loses to FRONTEND", "WEIGHTS loses to FRONTEND", "WEIGHTS loses to LOAD", "STORE loses to FRONTEND",
    "STORE loses to LOAD", "STORE loses to WEIGHTS", "STORE loses to MATMUL", "STORE loses to VECTOR",
    "FRONTEND wins over an answer to STORE", "LOAD wins over an answer to STORE",
    "WEIGHTS wins over an answer to STORE",
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """When a run's first error was raised (-1: never), by whom, when the run began, and the cycles of B."""

    raised: int
    engine: int
    began: int
    answers: tuple[int, ...]
    bad_read: bool


def look(program: Program) -> Seen:
    """Run a program on the model up to its first error."""
    machine = SteppedMachine(program, digest=False)
    places = layout(program.config)
    error, status = places.slot("host", "error").offset, places.slot("host", "status").offset
    port = "m_axi_weights" if program.config.weight_port else "m_axi"  # where weights come from
    began, answers, done = -1, [], 0
    previous = False
    for rows, records in machine.blocks(LIMIT):
        busy = np.flatnonzero(records[:, status] & 1)
        if began < 0 and len(busy):
            began = done + int(busy[0])
        answers += (np.flatnonzero(rows[:, 0] >> SHIFT["m_axi_bvalid"] & 1) + done).tolist()
        found = np.flatnonzero(records[:, error])
        if len(found):
            at = int(found[0])
            word = int(rows[at - 1, 0]) if at else 0
            bad = bool(word >> SHIFT[f"{port}_rvalid"] & 1 and word >> SHIFT[f"{port}_rresp"] & 3) if at else previous
            return Seen(done + at - 1, int(records[at, error]) >> 16 & 15, began, tuple(answers), bad)
        done += len(records)
    return Seen(-1, 0, began, tuple(answers), False)


def _with(program: Program, errors: tuple[ErrorRange, ...] = (), **changes: object) -> Program:
    data = program.timing.to_dict() | changes
    data["errors"] = (*program.timing.errors, *errors)
    return program.replace(timing=MemoryTiming.from_dict(data))


def _bad(
    rng: random.Random, program: Program, base: int, reads: bool, first: int = 0, size: int = 1 << 16
) -> ErrorRange:
    start = program.bases[base].address + first
    return ErrorRange(start, start + size - 1, rng.choice((SLVERR, DECERR)), reads, not reads)


def _failing(engine: str, config: Config) -> Instruction:
    """An instruction of an engine that waits for the first load and then fails at once, or by an answer of memory."""
    wait = {"wait0_id": 1, "wait0_n": 1}
    if engine == "LOAD":
        return simple(Opcode.LOAD, config, dst=config.sp_words, **wait)
    if engine == "WEIGHTS":
        return simple(Opcode.WEIGHTS_SP, config, src=config.sp_words * config.col_parts, **wait)
    if engine == "MATMUL":
        return simple(Opcode.MATMUL, config, src=config.sp_words * config.act_parts, **wait)
    return from_accumulator(Opcode.REQUANT, config, src=config.acc_rows, **wait)


def collide(rng: random.Random, config: Config, variant: int) -> Program:
    """Two errors in one cycle, in the way that `SCENARIOS` names."""
    scenario = SCENARIOS[variant % len(SCENARIOS)]
    for _ in range(20):
        program = _limit(rng, config, scenario) if scenario.endswith("FRONTEND") else _answer(rng, config, scenario)
        if program is not None:
            return program.replace(origin=f"tb.coverage, collide: {scenario}")
    raise RuntimeError(f"No program was found in which {scenario} in {config}.")


def _limit(rng: random.Random, config: Config, scenario: str) -> Program | None:
    """The cycle limit is set to the cycle of an error response."""
    opcode, base = {"LOAD": (Opcode.LOAD, 0), "WEIGHTS": (Opcode.WEIGHTS_MEM, 1), "STORE": (Opcode.STORE, 2)}[
        scenario.split()[0]
    ]
    items = [simple(Opcode.LOAD, config) for _ in range(rng.randint(0, 3))] + [simple(opcode, config, base=base)]
    program = small_program(rng, config, items, "", windows=(0, 1, 2))
    program = _with(program, (_bad(rng, program, base, opcode is not Opcode.STORE),))
    seen = look(program)
    return program.replace(cycle_limit=seen.raised - seen.began) if seen.raised > seen.began else None


def _answer(rng: random.Random, config: Config, scenario: str) -> Program | None:
    """An answer to store, or a beat for weights, is moved into the cycle of another error."""
    if scenario == "WEIGHTS loses to LOAD":
        return next(_beside_load(rng, config), None)
    other = scenario.split()[-1] if scenario.startswith("STORE") else scenario.split()[0]
    first = simple(Opcode.LOAD, config, rows=rng.randint(1, 3), sig0_en=1, sig0_id=1)
    items = [simple(Opcode.STORE, config, base=2), first]
    latency = rng.randint(30, 60)
    bad = None
    if not scenario.startswith("STORE"):
        opcode = Opcode.WEIGHTS_MEM if other == "WEIGHTS" else Opcode.LOAD
        items.append(simple(opcode, config, base=1, wait0_id=1, wait0_n=1))
        if other == "FRONTEND":
            items += [simple(Opcode.LOAD, config) for _ in range(40 + 2 * config.queue_depth)]
    else:
        items.append(_failing(other, config))
    program = small_program(
        rng, config, items, "", windows=(0, 1, 2), timing=MemoryTiming(read_latency=latency, write_latency=1)
    )  # fmt: skip
    if other == "FRONTEND":
        place = program.address + 32 * (32 + config.queue_depth)
        bad = ErrorRange(place, place + 4095, rng.choice((SLVERR, DECERR)), True, False)
    elif not scenario.startswith("STORE"):
        bad = _bad(rng, program, 1, True)
    program = _with(program, (bad,) if bad else ())
    seen = look(program)
    if seen.raised < 0 or len(seen.answers) != 1 or seen.raised < seen.answers[0]:
        return None
    return _with(
        program, (_bad(rng, program, 2, False),),
            write_latency=program.timing.write_latency + seen.raised - seen.answers[0]
    )  # fmt: skip


def _beside_load(rng: random.Random, config: Config) -> Iterator[Program]:
    """Load leaves the scratchpad in the cycle in which a bad beat for weights comes."""
    for _ in range(400):
        rows = rng.randint(1, 12)
        load = simple(Opcode.LOAD, config, rows=rows + 1, dst=config.sp_words - rows, dst_row_stride=1)
        weights = simple(Opcode.WEIGHTS_MEM, config, base=1, row_stride=config.mem_bytes)
        items = [weights, load] if rng.random() < 0.5 else [load, weights]
        program = small_program(
            rng, config, items, "", windows=(0, 1), timing=MemoryTiming(read_latency=rng.randint(1, 20),
                write_latency=1)
        )  # fmt: skip
        bad = _bad(rng, program, 1, True, rng.randrange(config.rows) * config.mem_bytes, config.mem_bytes)
        program = _with(program, (bad,))
        seen = look(program)
        if seen.engine == Engine.LOAD and seen.bad_read:
            yield program
