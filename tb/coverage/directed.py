# SPDX-License-Identifier: Apache-2.0
"""Directed programs: what random ones reach too seldom.

Each kind is a function of random numbers, a configuration, and the number of a variant.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from beatmatch.config import Config
from beatmatch.isa import Format, Instruction, Opcode, Space
from beatmatch.isa.encode import field_range, positions
from beatmatch.isa.legality import check
from beatmatch.memory import DECERR, SLVERR, ErrorRange, MemoryTiming
from beatmatch.program import Base, HostEvent, Program
from tb.coverage.arch_errors import FIELD_REASONS
from tb.coverage.arch_instructions import COUNTS
from tb.coverage.pieces import VECTOR, WINDOW, from_accumulator, simple, small_program
from tb.lockstep import random_programs
from tb.lockstep.streams import derive

Maker = Callable[[random.Random, Config, int], Program]

REFUSALS: tuple[tuple[str, Opcode | None], ...] = (
    *((name, Opcode[op]) for name, ops in FIELD_REASONS.items() for op in ops),
    ("packed k_rows", Opcode.WEIGHTS_MEM),
    ("packed n_lanes", Opcode.WEIGHTS_MEM),
    *((f"zero {name}", op) for op in Opcode for name, (_, field) in positions(op).items() if field.nonzero),
    ("opcode 0", None),
    ("opcode 10", None),
    ("opcode 16", None),
)
"""Everything that the decoder refuses, by reason and operation."""

EXTREMES = tuple((op, name) for name in COUNTS for op in Opcode if name in positions(op))
"""Counts that can be large, by operation and field."""


def _poked(instruction: Instruction, **raw: int) -> int:
    """An encoding with fields overwritten, legal or not."""
    word = instruction.word()
    for name, value in raw.items():
        shift, field = positions(instruction.opcode)[name]
        mask = (1 << field.width) - 1
        word = word & ~(mask << shift) | (value & mask) << shift
    return word


def refused(rng: random.Random, config: Config, variant: int) -> Program:
    """One instruction that the decoder refuses, behind one that it takes."""
    reason, opcode = REFUSALS[variant % len(REFUSALS)]
    if opcode is None:
        first = {"opcode 0": 0, "opcode 10": rng.randint(10, 15), "opcode 16": rng.randint(16, 31)}[reason]
        word = rng.getrandbits(256) & ~31 | first
    else:
        word = _refused(rng, config, reason, simple(opcode, config, **({"packed": 1} if "packed" in reason else {})))
    good = simple(rng.choice((Opcode.LOAD, Opcode.REQUANT, Opcode.STORE)), config)
    return small_program(rng, config, [good, word], f"refused: {reason}")


def _refused(rng: random.Random, config: Config, reason: str, item: Instruction) -> int:
    name = reason.split()[-1]
    if reason.startswith("zero"):
        return _poked(item, **{name: 0})
    if name == "reserved":
        used = sum(field.width for _, field in positions(item.opcode).values())
        return item.word() | 1 << rng.randint(used, 255)
    if name == "wait1_id":
        return _poked(item, wait0_id=7, wait1_id=7, wait0_n=rng.randint(1, 15), wait1_n=rng.randint(1, 15))
    if reason.startswith("packed"):
        return _poked(item, **{name: 0})
    if name in ("k_rows", "n_lanes", "k_lanes"):
        return _poked(item, **{name: rng.randint(config.cols if name == "n_lanes" else config.rows, 255)})
    if name == "src_space":
        return _poked(item, src_space=rng.choice((1, 3)))
    if name == "src_format":
        return _poked(item, src_format=rng.randint(1, 15))
    if name == "clip_low":
        return _poked(item, clip_low=rng.randint(1, 127), clip_high=-rng.randint(0, 128) & 255)
    if name == "transpose":
        return _poked(item, transpose=1)
    high = (1 << positions(item.opcode)[name][1].width) - 1
    low = {"instance": 1, "param_mode": 3, "dst_format": 2, "dst_space": 2}.get(name, 1)
    return _poked(item, **{name: rng.randint(low, high)})


def extreme(rng: random.Random, config: Config, variant: int) -> Program:
    """A count close to the most its field holds; the machine runs into an error, a limit, or to the end."""
    opcode, name = EXTREMES[variant % len(EXTREMES)]
    _, high = field_range(positions(opcode)[name][1])
    changes = {name: rng.randint(high - high // 8, high)}
    changes |= {n: rng.randint(1, 3) for n in ("outer", "rows", "x", "y") if n in positions(opcode) and n != name}
    if opcode in (Opcode.MAXPOOL, Opcode.AVGPOOL) and name in ("kx", "ky"):
        changes |= {"width": 40, "height": 40}
    item = simple(opcode, config, **changes)
    return small_program(rng, config, [item], f"extreme: {opcode.name}.{name}", cycle_limit=rng.randint(400, 700))


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


def part_words(rng: random.Random, config: Config, variant: int) -> Program:
    """Operands and results in every part of a word."""
    items = []
    for part in range(max(config.act_parts, config.col_parts)):
        first, second, third = (rng.randrange(64) // 8 * 8 + (part + shift) % 8 for shift in (0, variant, 3))
        items.append(simple(Opcode.ADD, config, src=first, dst=second, src2=third))
        items += [simple(Opcode.WEIGHTS_SP, config, src=first), simple(Opcode.MATMUL, config, keep=0, src=second)]
    return small_program(rng, config, items, "parts of words")


def chorus(rng: random.Random, config: Config, variant: int) -> Program:
    """All engines signal one counter twice in every iteration: some do it in the same cycle."""
    sync = {"each": 1, "outer": 20, "sig0_en": 1, "sig0_id": 9, "sig1_en": 1, "sig1_id": 9}
    items = [simple(opcode, config, **sync) for opcode in (Opcode.LOAD, Opcode.MATMUL, Opcode.REQUANT, Opcode.STORE)]
    rng.shuffle(items)
    return small_program(rng, config, items, "chorus")


WRONG = tuple((op, how) for op in (Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE) for how in ("unaligned", "outside"))


def wrong_transfer(rng: random.Random, config: Config, variant: int) -> Program:
    """A transfer that is not aligned, or not in its window, behind some that are."""
    opcode, how = WRONG[variant % len(WRONG)]
    changes = {"offset": rng.randint(1, config.mem_bytes - 1)} if how == "unaligned" else {"base": rng.randint(1, 15)}
    items = [simple(rng.choice((Opcode.LOAD, Opcode.STORE)), config) for _ in range(rng.randint(0, 3))]
    return small_program(
        rng, config, [*items, simple(opcode, config, **changes)], f"wrong transfer: {opcode.name} {how}"
    )


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


def anything(rng: random.Random, config: Config, variant: int) -> Program:
    """An instruction for every engine with all fields drawn over all legal values, and windows anywhere."""
    items = []
    for opcode in (
        Opcode.LOAD,
        rng.choice((Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP)),
        Opcode.MATMUL,
        rng.choice(VECTOR),
        Opcode.STORE,
    ):
        while True:
            word = simple(opcode, config).word()
            for name, (shift, field) in positions(opcode).items():
                if name != "opcode":
                    mask = (1 << field.width) - 1
                    low, high = field_range(field)
                    high = {"k_rows": config.rows, "k_lanes": config.rows, "n_lanes": config.cols}.get(name, high)
                    raw = rng.randint(low, high) - field.minus_one
                    word = word & ~(mask << shift) | (raw & mask) << shift
            word &= ~(3 << positions(opcode)["instance"][0])
            for name in (
                "act_format",
                "weight_format",
                "transpose",
                "src_format",
                "dst_format",
                "src_space",
                "dst_space",
            ):
                if name in positions(opcode):
                    shift, field = positions(opcode)[name]
                    word &= ~(((1 << field.width) - 1) << shift)
                    legal = {"dst_space": (0, 1), "dst_format": (0, 1), "src_space": (0, 2)}.get(name, (0,))
                    raw = rng.choice(legal)
                    word |= raw << shift
                    if name == "src_space" and raw:
                        word |= 1 << positions(opcode)["src_format"][0]
            if check(word, config) is None:
                break
        items.append(word)
    rng.shuffle(items)
    program = small_program(rng, config, items, "anything", cycle_limit=rng.choice((rng.randint(150, 300), 400)))
    bases = tuple(Base(rng.getrandbits(64), rng.getrandbits(64)) for _ in range(16))
    return program.replace(bases=bases, semaphores=tuple(rng.choice((15, 255, rng.getrandbits(8))) for _ in range(32)))


def second_row(rng: random.Random, config: Config, variant: int) -> Program:
    """An addition whose second parameter row is the first one behind the memory."""
    item = simple(Opcode.ADD, config, param_mode=rng.choice((1, 2)), param=config.param_rows - 1)
    return small_program(rng, config, [simple(Opcode.LOAD, config), item], "second row")


def shared_counter(rng: random.Random, config: Config, variant: int) -> Program:
    """Two engines take what is there for one of them, in the same cycle: the counter ends at 0."""
    items = [
        simple(Opcode.STORE, config, wait0_id=4, wait0_n=2),
        simple(Opcode.REQUANT, config, wait0_id=4, wait0_n=rng.choice((1, 2))),
        simple(Opcode.LOAD, config, rows=8, sig0_en=1, sig0_id=4, sig1_en=1, sig1_id=4),
    ]
    return small_program(rng, config, items, "shared counter", cycle_limit=600)


def loops(rng: random.Random, config: Config, variant: int) -> Program:
    """All engines in many iterations, each with its own signal."""
    sync = {"each": 1, "outer": 255}
    items = [simple(op, config, **sync, **({"keep": 0} if op is Opcode.MATMUL else {})) for op in (
        Opcode.WEIGHTS_SP, Opcode.MATMUL, Opcode.LOAD, Opcode.REQUANT, Opcode.STORE)]  # fmt: skip
    return small_program(rng, config, items, "loops", timing=MemoryTiming(read_latency=1, write_latency=1))


def late_error(rng: random.Random, config: Config, variant: int) -> Program:
    """An engine fails at instruction 4095, behind short ones for all engines."""
    good = [
        simple(Opcode.LOAD, config), simple(Opcode.WEIGHTS_SP, config), simple(Opcode.MATMUL, config, keep=0),
        simple(Opcode.REQUANT, config, src=8, dst=8), simple(Opcode.STORE, config),
    ]  # fmt: skip
    bad = [
        simple(Opcode.LOAD, config, dst=config.sp_words), simple(Opcode.WEIGHTS_SP, config,
            src=config.sp_words * config.col_parts),
        simple(Opcode.MATMUL, config, src=config.sp_words * config.act_parts), from_accumulator(Opcode.REQUANT,
            config, src=config.acc_rows),
        simple(Opcode.STORE, config, src=config.sp_words),
    ]  # fmt: skip
    items = [item.word() for item in good] * 819 + [bad[variant % len(bad)].word()]
    timing = MemoryTiming(read_latency=1, write_latency=1)
    return small_program(rng, config, items, f"late error: {variant}", timing=timing)
