# SPDX-License-Identifier: Apache-2.0
"""Weights of a node as tiles of the array: which runs of output tiles there are, and what each of their tiles holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beatmatch.config import Config
from beatmatch.networks.lowering.layout import Piece

MOST_BLOCKS, MOST_TILES = 255, 255
"""Channel blocks and output tiles of one instruction."""


@dataclass(frozen=True)
class Part:
    """Blocks of channels of a piece that go into a run of output tiles.

    Attributes
    ----------
    piece : int
    block, blocks : int
        The first block of ``rows`` bytes and how many; ``step`` further for every further tile.
    step : int
    lanes : int
        Used bytes of the last block.
    """

    piece: int
    block: int
    blocks: int
    step: int
    lanes: int


@dataclass(frozen=True)
class Run:
    """Output tiles ``first`` to ``first + count - 1``, of ``lanes`` columns each, and where their inputs stand."""

    first: int
    count: int
    lanes: int
    parts: tuple[Part, ...]


def _parts(pieces: list[Piece], rows: int) -> tuple[Part, ...]:
    """All channels of all pieces."""
    found = []
    for index, piece in enumerate(pieces):
        blocks = -(-len(piece.channels) // rows)
        for block in range(0, blocks, MOST_BLOCKS):
            count = min(MOST_BLOCKS, blocks - block)
            last = min(rows, len(piece.channels) - (block + count - 1) * rows)
            found.append(Part(index, block, count, 0, last))
    return tuple(found)


def runs(pieces: list[Piece], channels: int, groups: int, config: Config, most: int) -> list[Run]:
    """Runs of at most ``most`` output tiles; a narrow last tile stands alone.

    Parameters
    ----------
    pieces : list of Piece
        The input's; one without gaps if there are groups.
    channels : int
        Of the output.
    groups : int
    config : Config
    most : int
    """
    cols, most = config.cols, min(most, MOST_TILES)
    total = -(-channels // cols)
    if groups == 1:
        parts = _parts(pieces, config.rows)
        whole = total - 1 if channels % cols else total
        found = [Run(i, min(most, whole - i), cols, parts) for i in range(0, whole, most)]
        return [*found, Run(total - 1, 1, channels % cols, parts)] if channels % cols else found
    own = [_group_part(pieces[0], tile, channels, groups, config) for tile in range(total)]
    found = []
    for tile, part in enumerate(own):
        lanes = min(cols, channels - tile * cols)
        last = found[-1] if found else None
        if last is not None and last.count < most and last.lanes == lanes:
            before, previous = last.parts[0], own[tile - 1]
            step = part.block - previous.block
            same = (part.blocks, part.lanes) == (previous.blocks, previous.lanes)
            if same and step >= 0 and (last.count == 1 or step == before.step):
                joined = Part(0, before.block, before.blocks, step, before.lanes)
                found[-1] = Run(last.first, last.count + 1, lanes, (joined,))
                continue
        found.append(Run(tile, 1, lanes, (part,)))
    return found


def _group_part(piece: Piece, tile: int, channels: int, groups: int, config: Config) -> Part:
    """The blocks that hold the input channels of an output tile's groups."""
    outs, ins = channels // groups, len(piece.channels) // groups
    first = tile * config.cols // outs
    last = (min((tile + 1) * config.cols, channels) - 1) // outs
    low, high = first * ins // config.rows, ((last + 1) * ins - 1) // config.rows
    lanes = min(config.rows, len(piece.channels) - high * config.rows)
    return Part(0, low, high - low + 1, 0, lanes)


def tile_data(
    run: Run, part: Part, piece: Piece, weight: Callable[[], np.ndarray], groups: int, config: Config
) -> np.ndarray:
    """Tiles of a run's part in the order of use, int8 [count, kernel height, kernel width, blocks, rows, cols].

    Parameters
    ----------
    weight : callable
        Gives int8 [out channels, in channels / groups, kernel height, kernel width].
    """
    values = weight()
    channels, inside = values.shape[:2]
    height, width = values.shape[2:]
    rows, cols = config.rows, config.cols
    table = np.zeros((run.count, part.blocks, rows, cols, height, width), np.int8)
    for index in range(run.count):
        start = (part.block + index * part.step) * rows
        held = piece.channels[start : start + part.blocks * rows]
        outs = np.arange((run.first + index) * cols, min((run.first + index + 1) * cols, channels))
        local = held[:, None] - (outs // (channels // groups) * inside)[None, :]
        valid = (held[:, None] >= 0) & (local >= 0) & (local < inside)
        picked = values[np.broadcast_to(outs, valid.shape), np.where(valid, local, 0)]
        picked = np.where(valid[..., None, None], picked, 0)
        flat = table[index].reshape(part.blocks * rows, cols, height, width)
        flat[: len(held), : len(outs)] = picked
    return table.transpose(0, 4, 5, 1, 2, 3)
