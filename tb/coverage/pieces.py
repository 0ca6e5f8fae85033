# SPDX-License-Identifier: Apache-2.0
"""Small legal instructions and programs of a few of them: what the directed programs of the suite are made of."""

from __future__ import annotations

import random
from collections.abc import Sequence

from beatmatch.config import Config
from beatmatch.isa import Format, Instruction, Opcode, Space, make
from beatmatch.memory import MemoryTiming
from beatmatch.program import Base, Program, Segment

WINDOW = 1 << 16
"""Bytes of each window of a small program."""
VECTOR = (Opcode.REQUANT, Opcode.ADD, Opcode.MAXPOOL, Opcode.AVGPOOL)


def simple(opcode: Opcode, config: Config, **changes: int) -> Instruction:
    """The smallest instruction of an operation (a matrix product keeps its weights), with some fields changed."""
    fields: dict[str, int] = {}
    if opcode in (Opcode.LOAD, Opcode.STORE):
        fields = {"row_bytes": config.lanes}
    elif opcode in (Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP):
        fields = {"k_rows": config.rows, "n_lanes": config.cols}
    elif opcode is Opcode.MATMUL:
        fields = {"keep": 1, "width": 1, "height": 1, "k_lanes": config.rows, "n_lanes": config.cols}
    elif opcode in VECTOR:
        fields = {"clip_low": -128, "clip_high": 127}
    return make(opcode, **(fields | changes))


def from_accumulator(opcode: Opcode, config: Config, **changes: int) -> Instruction:
    """A vector operation whose (first) source is in the accumulators."""
    return simple(opcode, config, src_space=Space.ACCUMULATOR, src_format=Format.INT32, **changes)


def small_program(
    rng: random.Random,
    config: Config,
    instructions: Sequence[Instruction | int],
    what: str,
    *,
    timing: MemoryTiming | None = None,
    windows: Sequence[int] = (0,),
    **more: object,
) -> Program:
    """A program of these instructions; the base registers in `windows` have a window of `WINDOW` random bytes.

    Whatever it reads before it is written is zero, because every program of a run finds its memories cleared.
    """
    bases = [Base()] * 16
    origin = 4096 * (1 + rng.getrandbits(rng.choice((8, 20, 40, 51))))
    segments = []
    for place, number in enumerate(windows):
        bases[number] = Base(origin + 2 * WINDOW * place, WINDOW)
        segments.append(Segment(bases[number].address, rng.randbytes(2048)))
    align = max(32, config.mem_bytes)
    behind = origin + 2 * WINDOW * len(windows)
    return Program(
        config=config,
        instructions=list(instructions),
        bases=tuple(bases),
        address=behind + align * rng.randrange(4096 // align),
        segments=tuple(segments),
        timing=timing or MemoryTiming(read_latency=rng.randint(1, 8), write_latency=rng.randint(1, 8)),
        origin=f"tb.coverage, {what}",
        **more,
    )
