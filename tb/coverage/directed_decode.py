# SPDX-License-Identifier: Apache-2.0
"""Directed programs for the decoder: what it refuses, and counts as large as their fields hold.

Each kind is a function of random numbers, a configuration, and the number of a variant.
"""

from __future__ import annotations

import random

from beatmatch.config import Config
from beatmatch.isa import Instruction, Opcode
from beatmatch.isa.encode import field_range, positions
from beatmatch.isa.legality import check
from beatmatch.program import Base, Program
from tb.coverage.arch_errors import FIELD_REASONS
from tb.coverage.arch_instructions import COUNTS
from tb.coverage.pieces import VECTOR, simple, small_program

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
