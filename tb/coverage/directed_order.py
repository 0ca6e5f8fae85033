# SPDX-License-Identifier: Apache-2.0
"""Directed programs for semaphores, queues, the end of runs, and errors in the middle of work.

Each kind is a function of random numbers, a configuration, and the number of a variant.
"""

from __future__ import annotations

import random

from beatmatch.config import Config
from beatmatch.isa import Opcode
from beatmatch.memory import MemoryTiming
from beatmatch.program import HostEvent, Program
from tb.coverage.pieces import VECTOR, simple, small_program
from tb.lockstep import random_programs
from tb.lockstep.streams import derive


def tokens(rng: random.Random, config: Config, variant: int) -> Program:
    """Waits for large amounts, counters at their limits, several signals to one counter at once."""
    engines = (Opcode.LOAD, Opcode.WEIGHTS_SP, Opcode.MATMUL, Opcode.REQUANT, Opcode.STORE)
    order = rng.sample(range(32), 32)
    counts = [0] * 32
    items = []
    shared = order[31]
    for place, opcode in enumerate(engines):
        for turn in range(2):
            counter, second = order[5 * place + turn], order[5 * place + 2 + turn]
            counts[counter] = rng.choice((15, 100, 200, 255))
            counts[second] = rng.choice((15, 16, 255))
            sync = {"wait0_id": counter, "wait0_n": rng.choice((1, 8, 11, 14, 15)), "wait1_id": second}
            sync |= {"wait1_n": rng.choice((0, 15))}
            sync |= {
                "sig0_en": 1,
                "sig0_id": shared if turn else counter,
                "sig1_en": rng.getrandbits(1),
                "sig1_id": shared,
            }
            extra = {"keep": 1} if opcode is Opcode.MATMUL else {}
            items.append(simple(opcode, config, **sync, **extra))
    items += [simple(Opcode.MATMUL, config, keep=0)] * 2
    for opcode in VECTOR:
        sync = {"wait0_id": order[30], "wait0_n": 1, "wait1_id": order[29], "wait1_n": 2, "each": rng.getrandbits(1)}
        sync |= {"sig0_en": 1, "sig0_id": order[28], "sig1_en": 1, "sig1_id": order[28 - rng.getrandbits(1)]}
        items.append(simple(opcode, config, outer=rng.randint(1, 2), **sync))
    counts[order[30]] = counts[order[29]] = 40
    counts[shared] = rng.choice((0, 100, 246))
    if variant % 2:
        counts[shared] = 255 - rng.randint(0, 3)
    rng.shuffle(items)
    return small_program(rng, config, items, "tokens", semaphores=tuple(counts))


def shared_counter(rng: random.Random, config: Config, variant: int) -> Program:
    """Two engines take what is there for one of them, in the same cycle: the counter ends at 0."""
    items = [
        simple(Opcode.STORE, config, wait0_id=4, wait0_n=2),
        simple(Opcode.REQUANT, config, wait0_id=4, wait0_n=rng.choice((1, 2))),
        simple(Opcode.LOAD, config, rows=8, sig0_en=1, sig0_id=4, sig1_en=1, sig1_id=4),
    ]
    return small_program(rng, config, items, "shared counter", cycle_limit=600)


def chorus(rng: random.Random, config: Config, variant: int) -> Program:
    """All engines signal one counter twice in every iteration: some do it in the same cycle."""
    sync = {"each": 1, "outer": 20, "sig0_en": 1, "sig0_id": 9, "sig1_en": 1, "sig1_id": 9}
    items = [simple(opcode, config, **sync) for opcode in (Opcode.LOAD, Opcode.MATMUL, Opcode.REQUANT, Opcode.STORE)]
    rng.shuffle(items)
    return small_program(rng, config, items, "chorus")


def twice(rng: random.Random, config: Config, variant: int) -> Program:
    """A program that changes its own semaphore header, so that its second run ends otherwise than its first."""
    first_ends = variant % 2
    counts = [0] * 32
    counts[0] = first_ends
    items = [
        simple(Opcode.LOAD, config, sig0_en=1, sig0_id=20),
        simple(Opcode.STORE, config, base=1, row_bytes=max(config.lanes, config.mem_bytes), wait0_id=20, wait0_n=1),
        simple(rng.choice(VECTOR), config, wait0_id=0, wait0_n=1),
    ]
    program = small_program(rng, config, items, "twice", semaphores=tuple(counts))
    size = max(64, config.lanes, config.mem_bytes)
    header = bytes([1 - first_ends] * 4) + bytes(size - 4)
    bases = list(program.bases)
    bases[1] = type(bases[0])(program.address, size)
    segments = (type(program.segments[0])(bases[0].address, header),)
    load = simple(Opcode.LOAD, config, row_bytes=size, sig0_en=1, sig0_id=20).word()
    events = [HostEvent(400 + rng.randint(0, 40), "start")]
    if variant % 3 == 0:
        at = events[0].cycle + rng.randint(85, 105)
        events += [HostEvent(at, "reset", 2)]
        if variant % 2:
            events += [HostEvent(at + 3, "start"), HostEvent(at + rng.randint(110, 140), "reset", 1)]
    return program.replace(
        instructions=[load, *program.instructions[1:]], bases=tuple(bases), segments=segments, host=tuple(events)
    )  # fmt: skip


def stuck(rng: random.Random, config: Config, variant: int) -> Program:
    """Engines that wait for what never comes: one to four of them, the queue behind one of them full or not."""
    engines = [Opcode.LOAD, Opcode.WEIGHTS_SP, Opcode.MATMUL, Opcode.REQUANT, Opcode.STORE]
    chosen = rng.sample(engines, 1 + variant % 4)
    items = []
    for place, opcode in enumerate(chosen):
        count = config.queue_depth + 3 if place == 0 and variant % 3 == 0 else 1
        items += [simple(opcode, config, wait0_id=place, wait0_n=1) for _ in range(count)]
    if variant % 5 == 0:
        items.insert(0, simple(Opcode.WEIGHTS_SP, config))
    if variant % 3:
        rng.shuffle(items)
    return small_program(rng, config, items, "stuck", cycle_limit=900)


def interrupted(rng: random.Random, config: Config, variant: int) -> Program:
    """A random program with several resets and starts in quick succession."""
    program = random_programs.generate(derive(rng.getrandbits(60), variant), config)
    events, cycle = [], 0
    for _ in range(rng.randint(2, 4)):
        cycle += rng.randint(60, 900)
        if rng.random() < 0.7:
            length = rng.choice((1, 1, 2, 3, 4, 7))
            events.append(HostEvent(cycle, "reset", length))
            cycle += length
            if rng.random() < 0.9:
                events.append(HostEvent(cycle + rng.randint(0, 4), "start"))
        else:
            events.append(HostEvent(cycle, "start"))
    return program.replace(host=tuple(events), origin=f"tb.coverage, interrupted: {program.origin}")


def halt_beside(rng: random.Random, config: Config, variant: int) -> Program:
    """An engine fails while all the others have long work."""
    rows, many_words = config.acc_rows, config.sp_words
    long = {
        Opcode.LOAD: simple(Opcode.LOAD, config, rows=40, outer=4),
        Opcode.WEIGHTS_SP: simple(Opcode.WEIGHTS_SP, config, outer=config.fifo_tiles + 2),
        Opcode.MATMUL: simple(Opcode.MATMUL, config, x=rows, width=rows, outer=8),
        Opcode.REQUANT: simple(Opcode.REQUANT, config, x=60, outer=4),
        Opcode.STORE: simple(Opcode.STORE, config, rows=40, outer=4),
    }
    failing = {
        Opcode.LOAD: simple(Opcode.LOAD, config, dst=many_words),
        Opcode.WEIGHTS_SP: simple(Opcode.WEIGHTS_SP, config, src=many_words * config.col_parts),
        Opcode.MATMUL: simple(Opcode.MATMUL, config, src=many_words * config.act_parts),
        Opcode.REQUANT: simple(Opcode.REQUANT, config, src=many_words * config.col_parts),
        Opcode.STORE: simple(Opcode.STORE, config, src=many_words),
    }
    who = tuple(long)[variant % len(long)]
    items = [item for opcode, item in long.items() if opcode is not who]
    rng.shuffle(items)
    return small_program(rng, config, [*items, failing[who]], f"halt beside: {who.name}")


def short_rows(rng: random.Random, config: Config, variant: int) -> Program:
    """Many short instructions without waits: decode never rests, queues run full."""
    opcodes = (Opcode.REQUANT, Opcode.MATMUL, Opcode.LOAD, Opcode.STORE, Opcode.ADD)
    items = []
    for _ in range(12):
        items += [simple(opcode, config) for opcode in rng.sample(opcodes, rng.randint(2, 5))]
    return small_program(
        rng, config, items, "short rows", timing=MemoryTiming(read_latency=1, write_latency=rng.choice((1, 60)))
    )


def retires(rng: random.Random, config: Config, variant: int) -> Program:
    """Random programs in which instructions of all engines end close to one another."""
    items = []
    for _ in range(rng.randint(20, 30)):
        opcode = rng.choice((Opcode.LOAD, Opcode.MATMUL, Opcode.STORE, Opcode.WEIGHTS_SP, *VECTOR))
        changes = {"outer": rng.randint(1, 3)}
        if opcode in (Opcode.LOAD, Opcode.STORE):
            changes |= {"rows": rng.randint(1, 3)}
        elif opcode is not Opcode.WEIGHTS_SP:
            changes |= {"x": rng.randint(1, 3)}
        items.append(simple(opcode, config, **changes))
        if opcode is Opcode.WEIGHTS_SP:
            items.append(simple(Opcode.MATMUL, config, keep=0, outer=changes["outer"]))
    return small_program(rng, config, items, "retires")


def stream(rng: random.Random, config: Config, variant: int) -> Program:
    """Dispatch waits for one full queue while the fetch buffer fills; then all that is buffered finds room."""
    slow = simple(Opcode.LOAD, config, rows=rng.randint(30, 60))
    others = [simple(op, config) for op in (Opcode.MATMUL, Opcode.REQUANT, Opcode.STORE, Opcode.WEIGHTS_SP)]
    items = [slow] * (config.queue_depth + 2) + others * config.queue_depth
    items += [simple(Opcode.MATMUL, config, keep=0)] * config.queue_depth
    return small_program(
        rng, config, items, "stream", timing=MemoryTiming(read_latency=rng.randint(3, 9), write_latency=1)
    )
