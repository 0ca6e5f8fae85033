# SPDX-License-Identifier: Apache-2.0
"""Directed programs for many iterations, long programs and large sums.

Each kind is a function of random numbers, a configuration, and the number of a variant.
"""

from __future__ import annotations

import random

from beatmatch.config import Config
from beatmatch.isa import Instruction, Opcode
from beatmatch.isa.encode import positions
from beatmatch.memory import MemoryTiming
from beatmatch.program import HostEvent, Program
from tb.coverage.pieces import from_accumulator, simple, small_program


def many(rng: random.Random, config: Config, variant: int) -> Program:
    """Many outer iterations of little work each, with rings."""
    opcode = tuple(Opcode)[variant % len(Opcode)]
    outer = (rng.randint(9, 15), rng.randint(16, 40), rng.randint(128, 255))[variant // 9 % 3]
    changes: dict[str, int] = {"outer": outer, "each": rng.getrandbits(1)}
    for name in positions(opcode):
        if name.endswith("_ring"):
            changes[name] = 1 + (variant // 9 + variant) % 3
            stride = {"src_ring": "src_outer_stride", "dst_ring": "dst_outer_stride", "acc_ring": "acc_outer_stride"}[
                name
            ]
            if opcode is Opcode.WEIGHTS_SP:
                stride = "outer_stride"
            changes[stride] = 1
    if opcode in (Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP):
        taker = simple(Opcode.MATMUL, config, keep=0, outer=outer)
        items = [simple(opcode, config, **changes), taker]
    else:
        items = [simple(opcode, config, **changes)]
    return small_program(rng, config, items, f"many: {opcode.name}")


def few_in_rings(rng: random.Random, config: Config, variant: int) -> Program:
    """Rings that are larger than the number of iterations."""
    items = []
    for opcode in Opcode:
        names = [name for name in positions(opcode) if name.endswith("_ring")]
        if names and opcode not in (Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP):
            ring = 1 + (variant + len(items)) % 3
            outer = rng.randint(1, 1 << ring)
            items.append(simple(opcode, config, outer=outer, **dict.fromkeys(names, ring)))
    ring = 1 + variant % 3
    outer = rng.randint(1, 1 << ring)
    items += [
        simple(Opcode.WEIGHTS_SP, config, outer=outer, src_ring=ring),
        simple(Opcode.MATMUL, config, keep=0, outer=outer),
    ]
    return small_program(rng, config, items, "few in rings")


def loops(rng: random.Random, config: Config, variant: int) -> Program:
    """All engines in many iterations, each with its own signal."""
    sync = {"each": 1, "outer": 255}
    items = [simple(op, config, **sync, **({"keep": 0} if op is Opcode.MATMUL else {})) for op in (
        Opcode.WEIGHTS_SP, Opcode.MATMUL, Opcode.LOAD, Opcode.REQUANT, Opcode.STORE)]  # fmt: skip
    return small_program(rng, config, items, "loops", timing=MemoryTiming(read_latency=1, write_latency=1))


def overflow(rng: random.Random, config: Config, variant: int) -> Program:
    """Sums beyond 31 bits: large rows are added thousands of times to two accumulator rows, and read on the way."""
    act, weights = rng.choice((-128, -127)), (127, -128)
    adds = (1 << 31) // (abs(act) * 127 * config.rows) + rng.randint(20, 80)
    early, late = adds // 6, adds - 100
    two = {"x": 2, "width": 2, "accumulate": 1}  # the second row overflows with the flag set by the first
    add = simple(Opcode.MATMUL, config, **two).word()
    pause = [simple(Opcode.MATMUL, config, acc=4).word()] * 40  # adding rows have the reads of their bank

    def read(counter: int, **changes: int) -> list[Instruction | int]:
        given = simple(Opcode.MATMUL, config, acc=5, sig0_en=1, sig0_id=counter)
        taken = from_accumulator(Opcode.REQUANT, config, wait0_id=counter, wait0_n=1, dst=16, **changes)
        return [given, taken, *pause]

    items: list[Instruction | int] = [
        simple(Opcode.LOAD, config, sig0_en=1, sig0_id=1),
        simple(Opcode.WEIGHTS_MEM, config, base=1, row_stride=0),
        simple(Opcode.MATMUL, config, keep=0, wait0_id=1, wait0_n=1, x=2, width=2),
        *([add] * early), *read(3), *([add] * (late - early)), *read(4), *([add] * (adds - late)),
        simple(Opcode.MATMUL, config, acc=2), simple(Opcode.MATMUL, config, accumulate=1, acc=2),
        *read(5, x=2, src_pitch_x=1),
        simple(Opcode.WEIGHTS_MEM, config, base=2, row_stride=0),
        simple(Opcode.MATMUL, config, keep=0, acc=3),
        *([simple(Opcode.MATMUL, config, accumulate=1, acc=3).word()] * (16 + (1 << 24) // (127 * 127 * config.rows))),
        *read(6, src=3),
    ]  # fmt: skip
    program = small_program(rng, config, items, "overflow", windows=(0, 1, 2), timing=MemoryTiming(read_latency=4))
    data = [bytes([value & 255]) * config.lanes for value in (act, *weights)]
    segments = tuple(type(item)(item.address, data[index]) for index, item in enumerate(program.segments))
    again = 2 * adds + 1200 + rng.randint(0, 99)  # a start behind the end clears the flag, then a reset ends it all
    return program.replace(segments=segments, host=(HostEvent(again, "start"), HostEvent(again + 140, "reset", 1)))


def sequence(rng: random.Random, config: Config, variant: int) -> Program:
    """More than 2^16 short instructions for all engines: sequence numbers wrap."""
    round_robin = [
        simple(Opcode.LOAD, config), simple(Opcode.WEIGHTS_SP, config), simple(Opcode.MATMUL, config, keep=0),
        simple(Opcode.REQUANT, config, src=8, dst=8), simple(Opcode.STORE, config), simple(Opcode.MATMUL, config),
        simple(Opcode.REQUANT, config, src=16, dst=9),
    ]  # fmt: skip
    words = [item.word() for item in round_robin]
    items = words * ((1 << 16) // len(words) + rng.randint(6, 9))
    timing = MemoryTiming(read_latency=1, write_latency=1)
    return small_program(rng, config, items, "sequence", timing=timing)


def late_error(rng: random.Random, config: Config, variant: int) -> Program:
    """An engine fails at instruction 4095 (one of them at 65535), behind short ones for all engines."""
    good = [
        simple(Opcode.LOAD, config), simple(Opcode.WEIGHTS_SP, config), simple(Opcode.MATMUL, config, keep=0),
        simple(Opcode.REQUANT, config, src=8, dst=8), simple(Opcode.STORE, config),
    ]  # fmt: skip
    bad = [
        simple(Opcode.LOAD, config, dst=config.sp_words),
        simple(Opcode.WEIGHTS_SP, config, src=config.sp_words * config.col_parts),
        simple(Opcode.MATMUL, config, src=config.sp_words * config.act_parts),
        from_accumulator(Opcode.REQUANT, config, src=config.acc_rows),
        simple(Opcode.STORE, config, src=config.sp_words),
    ]
    number = 65535 if bad[variant].opcode is Opcode.REQUANT else 4095
    items = [item.word() for item in good] * (number // len(good)) + [bad[variant].word()]
    timing = MemoryTiming(read_latency=1, write_latency=1)
    return small_program(rng, config, items, f"late error: {variant}", timing=timing)


def second_row(rng: random.Random, config: Config, variant: int) -> Program:
    """An addition whose second parameter row is the first one behind the memory."""
    item = simple(Opcode.ADD, config, param_mode=rng.choice((1, 2)), param=config.param_rows - 1)
    return small_program(rng, config, [simple(Opcode.LOAD, config), item], "second row")
