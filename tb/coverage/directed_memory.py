# SPDX-License-Identifier: Apache-2.0
"""Directed programs for memories and the memory port: pages, windows, bad answers, parts of words.

Each kind is a function of random numbers, a configuration, and the number of a variant.
"""

from __future__ import annotations

import random

from beatmatch.config import Config
from beatmatch.isa import Format, Opcode, Space
from beatmatch.memory import DECERR, SLVERR, ErrorRange, MemoryTiming
from beatmatch.program import Program
from tb.coverage.pieces import VECTOR, WINDOW, from_accumulator, simple, small_program


def pages(rng: random.Random, config: Config, variant: int) -> Program:
    """Long rows that cross page boundaries, with bursts as long as they can be."""
    beat = config.mem_bytes
    items = []
    for opcode in (Opcode.LOAD, Opcode.STORE):
        longest = min(config.sp_words * config.lanes, 2 * 4096)
        size = rng.randint(longest // 2, longest)
        offset = 4096 - beat * rng.choice((1, rng.randint(1, 2048 // beat), 2048 // beat, 4096 // beat))
        items.append(simple(opcode, config, row_bytes=size, offset=offset))
        small = min(longest, 256 * beat)
        items.append(simple(opcode, config, row_bytes=small, offset=4096 * rng.randint(1, 2)))
        items.append(
            simple(opcode, config, row_bytes=min(longest, beat * 2), offset=4096 - beat, rows=2, row_stride=4096)
        )
    step = beat * -(-config.peak_macs // beat)
    offset = max(0, 4096 - beat * rng.randint(1, max(1, config.peak_macs // beat - 1)))
    rng.shuffle(items)
    taker = simple(Opcode.MATMUL, config, keep=0)  # behind its tiles: in front of them it could block the dispatch
    for tiles in (
        simple(Opcode.WEIGHTS_MEM, config, packed=1, inner=2, inner_stride=step, offset=offset),
        simple(Opcode.WEIGHTS_MEM, config, packed=1, offset=4096),
        simple(Opcode.WEIGHTS_MEM, config, packed=1, offset=8192 - step),
        simple(Opcode.WEIGHTS_MEM, config, row_stride=beat * max(1, config.cols // beat), offset=8192 - beat),
    ):
        items += [tiles, *[taker] * tiles.inner]
    return small_program(rng, config, items, "pages", timing=MemoryTiming(read_latency=rng.randint(1, 12)))


def edges(rng: random.Random, config: Config, variant: int) -> Program:
    """Transfers that begin at the first and end at the last byte of every window."""
    numbers = rng.sample(range(16), 6)
    items = []
    for number in numbers:
        for opcode in (Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE):
            for offset in (0, None):
                length = config.peak_macs if opcode is Opcode.WEIGHTS_MEM else config.lanes
                changes = {"packed": 1} if opcode is Opcode.WEIGHTS_MEM else {}
                room = WINDOW - length
                place = room if offset is None else 0
                if place % config.mem_bytes:
                    continue
                items.append(simple(opcode, config, base=number, offset=place, **changes))
                if opcode is Opcode.WEIGHTS_MEM:
                    items.append(simple(Opcode.MATMUL, config, keep=0))
    return small_program(rng, config, items, "edges", windows=numbers)


def bad_answers(rng: random.Random, config: Config, variant: int) -> Program:
    """Transfers of several beats with one bad beat somewhere, for each requester; more come while halted."""
    rows = rng.randint(2, 5)
    bytes_ = config.mem_bytes * rng.randint(3, 6)
    bytes_ = min(bytes_, config.sp_words * config.lanes // 8)
    items = [
        simple(Opcode.LOAD, config, base=0, row_bytes=bytes_, rows=rows, row_stride=512, dst_row_stride=1),
        simple(
            Opcode.WEIGHTS_MEM,
            config,
            base=1,
            row_stride=config.mem_bytes,
            packed=int(rng.random() < 0.6),
            inner=2,
            inner_stride=512,
        ),
        simple(Opcode.STORE, config, base=2, row_bytes=bytes_, rows=rows, row_stride=512),
        *(simple(Opcode.LOAD, config) for _ in range(rng.randint(10, 40))),
    ]
    program = small_program(
        rng, config, items, "bad answers", windows=(0, 1, 2),
        timing=MemoryTiming(read_latency=rng.randint(1, 30), write_latency=rng.randint(1, 30), seed=rng.getrandbits(60),
                            stalls=tuple(rng.choice((0, 60)) for _ in range(5)))
    )  # fmt: skip
    which = variant % 4
    start = program.address if which == 3 else program.bases[which].address
    place = start + config.mem_bytes * (
        rng.randint(64 // config.mem_bytes, 1400 // config.mem_bytes) if which == 3 else rng.randint(0, 5)
    )
    if which == 3 and rng.random() < 0.5:
        place = place // 256 * 256  # where a burst of fetch begins
    span = rng.choice((0, config.mem_bytes - 1, 4000))
    bad = (ErrorRange(place, place + span, rng.choice((SLVERR, DECERR))),)
    timing = type(program.timing).from_dict(program.timing.to_dict() | {"errors": bad})
    return program.replace(timing=timing)


def busy_port(rng: random.Random, config: Config, variant: int) -> Program:
    """Loads and stores of single beats side by side, with a memory that answers at once: all channels move."""
    rows = rng.randint(20, 60)
    size = min(config.mem_bytes, config.lanes)
    sides = [
        simple(Opcode.STORE, config, rows=rows, row_bytes=size, row_stride=config.mem_bytes),
        simple(Opcode.LOAD, config, rows=rows, row_bytes=size, row_stride=config.mem_bytes, dst=4),
    ]
    rng.shuffle(sides)
    timing = MemoryTiming(read_latency=rng.randint(1, 2), write_latency=rng.randint(1, 2))
    return small_program(rng, config, sides * 2, "busy port", timing=timing)


def big_tiles(rng: random.Random, config: Config, variant: int) -> Program:
    """Packed tiles in bursts as long as the tile and the pages allow."""
    offset = 4096 - config.mem_bytes * rng.randint(1, 400)
    items = [simple(Opcode.WEIGHTS_MEM, config, packed=1, offset=offset), simple(Opcode.MATMUL, config, keep=0)]
    return small_program(rng, config, items, "big tiles", timing=MemoryTiming(read_latency=2))


WRONG = tuple((op, how) for op in (Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE) for how in ("unaligned", "outside"))


def wrong_transfer(rng: random.Random, config: Config, variant: int) -> Program:
    """A transfer that is not aligned, or not in its window, behind some that are."""
    opcode, how = WRONG[variant % len(WRONG)]
    changes = {"offset": rng.randint(1, config.mem_bytes - 1)} if how == "unaligned" else {"base": rng.randint(1, 15)}
    items = [simple(rng.choice((Opcode.LOAD, Opcode.STORE)), config) for _ in range(rng.randint(0, 3))]
    return small_program(
        rng, config, [*items, simple(opcode, config, **changes)], f"wrong transfer: {opcode.name} {how}"
    )


def part_words(rng: random.Random, config: Config, variant: int) -> Program:
    """Operands and results in every part of a word."""
    items = []
    for part in range(max(config.act_parts, config.col_parts)):
        first, second, third = (rng.randrange(64) // 8 * 8 + (part + shift) % 8 for shift in (0, variant, 3))
        items.append(simple(Opcode.ADD, config, src=first, dst=second, src2=third))
        items += [simple(Opcode.WEIGHTS_SP, config, src=first), simple(Opcode.MATMUL, config, keep=0, src=second)]
    return small_program(rng, config, items, "parts of words")


def parameter_rows(rng: random.Random, config: Config, variant: int) -> Program:
    """Loads of parameter rows with all kinds of strides, and operations with all modes right behind."""
    words = config.param_words
    items = [
        simple(Opcode.LOAD, config, dst_space=Space.PARAMETER, row_bytes=rng.randint(1, config.lanes), rows=2,
               row_stride=config.mem_bytes * rng.choice((0, -(-config.lanes // config.mem_bytes), 64)),
               dst_row_stride=rng.choice((0, 1, 2, words)))
        for _ in range(4)
    ]  # fmt: skip
    for opcode in VECTOR:
        for form in Format:
            for make in (simple, from_accumulator):
                bound = rng.randint(-128, 127)
                items.append(make(opcode, config, dst_format=form, param_mode=rng.randint(0, 2), outer=rng.randint(1,
                    2),
                                  clip_low=bound, clip_high=bound, zero_point=rng.randint(-128, 127),
                                      dst=4))  # fmt: skip
    return small_program(rng, config, items, "parameter rows")
