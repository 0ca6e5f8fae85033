# SPDX-License-Identifier: Apache-2.0
"""Products of two activations: the second one goes from the scratchpad into the array as weights do."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from beatmatch.compiler.schedule import Touch
from beatmatch.isa.fields import Opcode
from beatmatch.networks.lowering.emitter import ACC, COLUMNS, PITCH, ROWS, Emitter
from beatmatch.networks.lowering.layout import Piece, Value
from beatmatch.networks.lowering.outputs import Output
from beatmatch.networks.lowering.scratchpad import DoesNotFit
from beatmatch.networks.lowering.sources import Located, Staging
from beatmatch.networks.lowering.tiles import Run, runs
from beatmatch.networks.lowering.windows import Band, bands
from beatmatch.networks.scales import Requant

WEIGHT_ROW, WEIGHT_BLOCK, WEIGHT_BLOCKS = 4095, 65535, 255
"""Largest steps, in operands, from row to row and from block to block of a tile in the scratchpad, and most blocks."""


def emit_activations(emitter: Emitter, requant: Requant, a: Value, b: Value, y: Value, stored: bool) -> str:
    """Add the operations of ``a @ b`` with equal leading axes; see `products.emit_product`."""
    config = emitter.config
    left, right, target = (_batched(value) for value in (a, b, y))
    count, height = left.dims[0], left.dims[1]
    depth, channels = right.dims[1], y.channels
    row = right.words * config.col_parts
    blocks = -(-depth // config.rows)
    if row > WEIGHT_ROW or row * config.rows > WEIGHT_BLOCK or blocks > WEIGHT_BLOCKS:
        raise DoesNotFit(f"a second operand of {depth} x {channels} is more than one instruction reads")
    most = min(emitter.half, COLUMNS if left.strides[1] * config.act_parts <= PITCH else ROWS)
    while True:
        cut = list(bands(height, 1, most, most))
        rows = max(band.rows for band in cut)
        tiles = runs([left], channels, 1, config, min(max(1, emitter.half // rows), config.param_rows // 2))
        output = Output(emitter, target, stored)
        slot = output.slot_words(rows, max(run.count for run in tiles))
        sizes = [
            0 if left.buffer.chip is not None else rows * left.words,
            0 if left.buffer.chip is not None else rows * left.words,
            0 if right.buffer.chip is not None else depth * right.words,
            0 if right.buffer.chip is not None else depth * right.words,
            slot,
            slot,
        ]
        if emitter.fits(*sizes):
            break
        if rows == 1:
            raise DoesNotFit(f"{sum(sizes):,} words for a second operand of {depth} x {channels} and one row")
        most = rows // 2
    if emitter.dry:
        return ""
    parameters = emitter.parameters(lambda: requant.rows(channels, config.cols), 1, emitter.schedule.label)
    with ExitStack() as stack:
        rooms = stack.enter_context(emitter.transient(*sizes))
        first = Staging(emitter, left, [] if left.buffer.chip is not None else rooms[:2])
        second = Staging(emitter, right, [] if right.buffer.chip is not None else rooms[2:4])
        output.slots = rooms[4:]
        for image in range(count):
            weights = second.locate(image, 0, depth)
            for band in cut:
                rows_ = first.locate(image, band.y, band.y + band.rows)
                for run in tiles:
                    _product(emitter, run, rows_, weights, band, depth)
                    output.drain(image, band, run, emitter.last_block, requant, parameters)
                output.finish(image, band)
    return f"{count} products" if count > 1 else ""


def _batched(value: Value) -> Piece:
    """The only piece with three axes: leading ones as one, rows, and a single column."""
    (piece,) = value.pieces
    lead, strides = piece.dims[:-1], piece.strides[:-1]
    offsets = np.zeros(1, np.int64)
    for size, stride in zip(lead, strides, strict=True):
        offsets = (offsets[:, None] + np.arange(size) * stride).reshape(-1)
    steps = np.unique(np.diff(offsets))
    if len(steps) > 1:
        raise DoesNotFit("an operand whose matrices do not follow each other evenly")
    far = int(steps[0]) if len(steps) else 0
    return replace(
        piece, dims=(len(offsets), piece.dims[-1], 1), strides=(far, piece.strides[-1], piece.words)
    )  # fmt: skip


def _product(emitter: Emitter, run: Run, left: Located, right: Located, band: Band, depth: int) -> None:
    config, unit = emitter.config, emitter.config.act_parts
    (part,) = run.parts
    blocks, row = part.blocks, right.down * config.col_parts
    label = emitter.schedule.label
    emitter.schedule.add(
        Opcode.WEIGHTS_SP, reads=[right.touch], outer=run.count, inner=blocks,
        k_rows=depth - (blocks - 1) * config.rows, n_lanes=run.lanes, row_stride=row,
        src=right.first * config.col_parts + run.first, inner_stride=row * config.rows if blocks > 1 else 0,
        outer_stride=1 if run.count > 1 else 0,
    )  # fmt: skip
    acc, down = emitter.accumulators(), left.down * unit
    x, y, pitch = (band.rows, 1, {"src_pitch_x": down}) if down <= PITCH else (1, band.rows, {"src_pitch_y": down})
    emitter.work[label, "tile_rows"] += band.rows * blocks * run.count
    emitter.work[label, "lanes"] += band.rows * blocks * run.count * run.lanes
    emitter.schedule.add(
        Opcode.MATMUL, [left.touch], [Touch(ACC, acc, run.count * band.rows)], outer=run.count, x=x, y=y, width=x,
        height=y, kc=blocks, src=left.first * unit + part.block, **(pitch if band.rows > 1 else {}), src_kc_stride=1,
        acc=acc, acc_outer_stride=band.rows if run.count > 1 else 0, k_lanes=part.lanes, n_lanes=run.lanes,
    )  # fmt: skip
