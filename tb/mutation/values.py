# SPDX-License-Identifier: Apache-2.0
"""Programs with results at the limits of a register: of the scaled value's, and of the accumulators'."""

from __future__ import annotations

import random

from beatmatch.config import Config
from beatmatch.isa import Format, Opcode
from beatmatch.program import HostEvent, Program, Segment
from tb.coverage.pieces import from_accumulator, simple, small_program
from tb.mutation.moments import FAST, column


def bounds(rng: random.Random, config: Config, variant: int) -> Program:
    """Results of 512, the first that no longer fits the narrow register behind the scaling, and of -512."""
    items = [
        simple(Opcode.LOAD, config, row_bytes=config.rows * config.lanes, sig0_en=1, sig0_id=1),
        simple(Opcode.WEIGHTS_SP, config, row_stride=config.col_parts, wait0_id=1, wait0_n=1),
        # weights are -2, activations padding
        simple(Opcode.MATMUL, config, keep=0, pad_top=1, pad_value=256 // config.rows, acc=1),
        simple(Opcode.MATMUL, config, pad_top=1, pad_value=-256 // config.rows, sig0_en=1, sig0_id=2),
        from_accumulator(Opcode.REQUANT, config, x=2, src_pitch_x=1, dst_pitch=1, wait0_id=2, wait0_n=1),
    ]
    program = small_program(rng, config, items, "bounds", timing=FAST)
    return _filled(program, bytes([254]) * config.rows * config.lanes)


def sums(rng: random.Random, config: Config, variant: int) -> Program:
    """Two accumulator rows end one addition below 2^31; one is overwritten, which is no overflow, one leaves the range.

    That one is 2^31 - 1 before: a maximum has to find it. Activations are padding, and all weights of a tile one word
    of the scratchpad, so that a tile takes little more cycles than it has rows. A second run clears the flag, and a
    reset ends it.
    """
    adds = (1 << 31) // (config.rows << 14) - 1
    weights = (-128, 127, 1)
    items = [simple(Opcode.LOAD, config, rows=3, row_stride=64, dst_row_stride=1, sig0_en=1, sig0_id=1)]
    padding = {"pad_value": -128, "pad_top": 1}
    wait = {"wait0_id": 1, "wait0_n": 1}
    for outer, inner in ((adds // 255, 255), (1, adds % 255)):
        narrow = {"n_lanes": config.cols - 1}  # the last lane never overflows
        items.append(simple(Opcode.WEIGHTS_SP, config, outer=outer, inner=inner, **narrow, **wait))
        items.append(simple(Opcode.MATMUL, config, keep=0, outer=outer, kc=inner, x=2, accumulate=1, **padding))
        wait = {}
    more = {"pad_top": 1, "accumulate": 1}
    items += [
        simple(Opcode.MATMUL, config, acc=1, **padding),
        # rows * 2^14 - 1, which no single row gives: 127 * 127 and 2 * 127 in all of its lanes, 1 in all but one
        *(simple(Opcode.WEIGHTS_SP, config, src=config.col_parts * word) for word in (1, 2)),
        simple(Opcode.MATMUL, config, keep=0, pad_value=127, **more),
        simple(Opcode.MATMUL, config, pad_value=2, **more),
        simple(Opcode.MATMUL, config, keep=0, pad_value=1, k_lanes=config.rows - 1, sig0_en=1, sig0_id=2, **more),
        from_accumulator(
            *(Opcode.MAXPOOL, config),
            **{"dst_format": Format.INT32, "kx": 2, "ky": 1, "stride_x": 1, "stride_y": 1, "width": 1, "height": 1},
            **{"pad_left": 1, "wait0_id": 2, "wait0_n": 1, "sig0_en": 1, "sig0_id": 3},
        ),
        simple(Opcode.MATMUL, config, pad_value=1, wait0_id=3, wait0_n=1, **more),
    ]
    words = [bytes([weight & 255]) * 64 for weight in weights]
    program = _filled(small_program(rng, config, items, "sums", timing=FAST), b"".join(words))
    again = len(column(program, "host", "status")) + 4
    return program.replace(host=(HostEvent(again, "start"), HostEvent(again + 100, "reset", 1)))


def _filled(program: Program, data: bytes) -> Program:
    """The same program with other bytes in its first window."""
    return program.replace(segments=(Segment(program.bases[0].address, data),))
