# SPDX-License-Identifier: Apache-2.0
"""A tiled matrix product as a sequence of steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beatmatch.compiler.tiling import Sizes, Tiling


@dataclass
class Block:
    """A block of the result: ``rows`` from row ``m``, ``tiles`` of columns from ``tile``, and its steps."""

    index: int
    m: int
    rows: int
    tile: int
    tiles: int
    n_block: int
    m_block: int
    first_step: int = 0
    last_step: int = 0


@dataclass
class Step:
    """A block times ``tiles`` tiles of the reduction from ``kt`` on."""

    block: Block
    index: int
    kt: int
    tiles: int


def _row_blocks(sizes: Sizes, tiling: Tiling) -> list[tuple[int, int]]:
    """(first row, rows): smaller ones at the ends, so that work starts early and ends soon."""
    m, mb, r = sizes.m, tiling.mb, sizes.config.rows
    first, last = mb * 5 // 8, max(mb * 3 // 8, 1)
    if m >= 3 * mb and last >= r:
        middle = m - first - last
        count = -(-middle // mb)
        parts = [first] + [middle // count + (i < middle % count) for i in range(count)] + [last]
    else:
        count = -(-m // mb)
        parts = [m // count + (i < m % count) for i in range(count)]
    starts = np.cumsum([0, *parts[:-1]]).tolist()
    return list(zip(starts, parts, strict=True))


def cut(sizes: Sizes, tiling: Tiling) -> tuple[list[Block], list[Step]]:
    """All blocks and steps in the order in which they are computed: along the columns first."""
    blocks: list[Block] = []
    steps: list[Step] = []
    for m_block, (m, rows) in enumerate(_row_blocks(sizes, tiling)):
        for n_block, tile in enumerate(range(0, sizes.n_tiles, tiling.nb)):
            block = Block(len(blocks), m, rows, tile, min(tiling.nb, sizes.n_tiles - tile), n_block, m_block)
            block.first_step = len(steps)
            for kt, count in _pieces(sizes, tiling, len(blocks) == 0):
                steps.append(Step(block, len(steps), kt, count))
            block.last_step = len(steps) - 1
            blocks.append(block)
    return blocks, steps


def _pieces(sizes: Sizes, tiling: Tiling, first_block: bool) -> list[tuple[int, int]]:
    """(first tile, tiles) of the reduction; the very first piece is short."""
    kc, total = tiling.kc, sizes.k_tiles
    starts = list(range(0, total, kc))
    if first_block and kc > 1 and tiling.resident and total > 1:
        starts.insert(1, 1)
    return [(s, e - s) for s, e in zip(starts, [*starts[1:], total], strict=True)]
