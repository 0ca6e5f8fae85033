# SPDX-License-Identifier: Apache-2.0
"""Programs that are each made for a few mutants: engines that stick, edges of memories, and what the other files make.

Each maker is a function of random numbers, a configuration, and the number of a variant; `KINDS` says how many
variants there are.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from beatmatch.config import Config
from beatmatch.isa import Format, Opcode, Space
from beatmatch.machine import SteppedMachine
from beatmatch.memory import MemoryTiming
from beatmatch.program import HostEvent, Program
from tb.coverage.pieces import from_accumulator, simple, small_program
from tb.mutation import moments, partial, values
from tb.mutation.moments import FAST

ENGINES = (Opcode.LOAD, Opcode.WEIGHTS_SP, Opcode.MATMUL, Opcode.REQUANT, Opcode.STORE)
NEVER = {"wait0_id": 31, "wait0_n": 1}
"""Waits for a counter that nobody raises."""


@dataclass(frozen=True)
class Kind:
    """A maker, the number of its variants, and the machine that its programs run on."""

    make: Callable[[random.Random, Config, int], Program]
    variants: int = 1
    machine: type[SteppedMachine] = SteppedMachine


# ----- deadlocks -----


def stuck_inside(rng: random.Random, config: Config, variant: int) -> Program:
    """An engine waits for ever in front of its second iteration, with nothing in flight: its own number is reported."""
    opcode = (*ENGINES, Opcode.WEIGHTS_MEM)[variant]
    counts = [0] * 32
    counts[31] = 1
    item = simple(opcode, config, outer=2, each=1, **NEVER)
    others = [simple(Opcode.LOAD, config), simple(Opcode.MATMUL, config), item]
    timing = MemoryTiming(read_latency=20, write_latency=20)  # long after the others are idle
    return small_program(rng, config, others, f"stuck inside: {opcode.name}", semaphores=tuple(counts), timing=timing)


def all_stuck(rng: random.Random, config: Config, variant: int) -> Program:
    """All five engines wait for ever."""
    items = [simple(opcode, config, **NEVER) for opcode in ENGINES]
    rng.shuffle(items)
    return small_program(rng, config, items, "all stuck", timing=FAST)


STUCK_BEHIND = ((Opcode.MATMUL, {"sig0_en": 1}), (Opcode.MATMUL, {"sig1_en": 1}), (Opcode.REQUANT, {}))
"""Engines that are not busy, or signal, in the cycle in which they retire; the cycle does not count as stuck."""


def stuck_behind(rng: random.Random, config: Config, variant: int) -> Program:
    """What waits for ever stands right behind an instruction of the same engine."""
    opcode, signals = STUCK_BEHIND[variant]
    items = [simple(opcode, config, **signals), simple(opcode, config, **NEVER)]
    return small_program(rng, config, items, f"stuck behind: {opcode.name}", timing=FAST)


# ----- edges -----


def behind_end(rng: random.Random, config: Config, variant: int) -> Program:
    """The first word, operand or row behind the end of a local memory, which is an error.

    A second run begins with what the first has left in registers: an engine that is idle raises no error.
    """
    operands, words = config.sp_words * config.col_parts, config.param_rows * 8 * config.cols // config.lanes
    items = (
        [from_accumulator(Opcode.REQUANT, config, dst_format=Format.INT32, dst=operands - 3)],
        [simple(Opcode.REQUANT, config, dst=operands)],
        [
            simple(Opcode.REQUANT, config, param=127),  # that counts in another mode only
            simple(Opcode.ADD, config, src2=operands),
        ],
        [simple(Opcode.REQUANT, config, param_mode=1, param=config.param_rows)],
        [
            simple(Opcode.LOAD, config, dst_space=Space.PARAMETER),
            simple(Opcode.LOAD, config, dst=config.sp_words - 1),
            simple(Opcode.LOAD, config, dst_space=Space.PARAMETER, dst=words),
        ],
        [  # the bad row waits for its weights, with the next instruction behind it
            simple(Opcode.MATMUL, config, keep=0, acc=config.acc_rows),
            simple(Opcode.MATMUL, config),
            simple(Opcode.WEIGHTS_SP, config),
        ],
    )[variant]
    again = (HostEvent(160, "start"),)
    return small_program(rng, config, items, f"behind the end {variant}", timing=FAST, host=again)


def zeros_outside(rng: random.Random, config: Config, variant: int) -> Program:
    """Tiles of one row whose rows of zeros would be outside the window, not aligned, or outside the scratchpad."""
    unit = config.mem_bytes * -(-config.cols // config.mem_bytes)
    tiles = (
        simple(Opcode.WEIGHTS_MEM, config, k_rows=1, offset=(1 << 16) - unit, row_stride=unit),
        simple(Opcode.WEIGHTS_MEM, config, k_rows=1, row_stride=1),
        simple(Opcode.WEIGHTS_SP, config, k_rows=1, src=config.sp_words * config.col_parts - 1, row_stride=1),
    )
    items = [item for tile in tiles for item in (tile, simple(Opcode.MATMUL, config, keep=0))]
    return small_program(rng, config, items, "zeros outside", timing=FAST)


def late_beats(rng: random.Random, config: Config, variant: int) -> Program:
    """Beats held up by the memory, that come right behind one another: some meet a row of zeros, and wait for it."""
    items = [
        simple(Opcode.WEIGHTS_MEM, config, outer=16, k_rows=config.rows - 1, row_stride=config.mem_bytes),
        simple(Opcode.MATMUL, config, outer=16, keep=0),
    ]
    timing = MemoryTiming(read_latency=2, write_latency=1, stalls=(0, 160, 0, 0, 0), seed=rng.getrandbits(32))
    return small_program(rng, config, items, "late beats", timing=timing)


KINDS = {
    "stuck_inside": Kind(stuck_inside, 6),
    "all_stuck": Kind(all_stuck),
    "stuck_behind": Kind(stuck_behind, len(STUCK_BEHIND)),
    "on_time": Kind(moments.on_time),
    "halted": Kind(moments.halted, len(moments.HALTS)),
    "half_stored": Kind(moments.half_stored),
    "reset_at_end": Kind(moments.reset_at_end, len(moments.RETIRES)),
    "behind_end": Kind(behind_end, 6),
    "zeros_outside": Kind(zeros_outside),
    "bounds": Kind(values.bounds),
    "late_beats": Kind(late_beats),
    "partial": Kind(partial.partial, machine=partial.PartialMachine),
    "sums": Kind(values.sums),
}
"""All of them are late programs, in this order: the long one comes last."""
