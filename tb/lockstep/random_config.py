# SPDX-License-Identifier: Apache-2.0
"""Random legal configurations: all shapes, bank counts and memory widths, in sizes that build and run quickly."""

from __future__ import annotations

import random

from beatmatch.config import MAX_ASPECT, Config
from tb.lockstep.streams import stream

MOST_ELEMENTS = 256
SIDES = (4, 8, 16, 32)
SHAPES = tuple(
    (rows, cols)
    for rows in SIDES
    for cols in SIDES
    if rows * cols <= MOST_ELEMENTS and max(rows, cols) <= MAX_ASPECT * min(rows, cols)
)
MEMORY_BITS = (32, 64, 128, 256, 512, 1024)
WEIGHT_PORT = (0, 0, 0, 1)
"""One configuration in four has a port for weights."""


def _deck(seed: int, name: str, cards: tuple, index: int) -> object:
    """Card `index` of an endless sequence of shuffled decks: every value comes up before one comes twice."""
    turn, place = divmod(index, len(cards))
    return stream(seed, "config", name, turn).sample(cards, len(cards))[place]


def generate(seed: int, index: int) -> Config:
    """Configuration `index` of a seed; the first ten of any seed show every shape, the first eight every bank count."""
    rng: random.Random = stream(seed, "config", index)
    rows, cols = _deck(seed, "shape", SHAPES, index)
    sp_banks = _deck(seed, "sp_banks", tuple(range(1, 9)), index)
    acc_banks = _deck(seed, "acc_banks", tuple(range(1, 9)), index)
    return Config(
        rows=rows,
        cols=cols,
        sp_words=sp_banks * rng.choice((16, 32, 64, 128)),
        sp_banks=sp_banks,
        acc_rows=acc_banks * rng.choice((4, 8, 16, 32)),
        acc_banks=acc_banks,
        fifo_tiles=rng.choice((2, 2, 3, 4, 5, 8, 16)),
        queue_depth=rng.choice((1, 1, 2, 3, 4, 5, 8)),
        mem_bits=_deck(seed, "mem_bits", MEMORY_BITS, index),
        outstanding=rng.choice((1, 2, 3, 4, 5, 8, 16)),
        param_rows=rng.choice((4, 8, 16, 32)),
        weight_port=_deck(seed, "weight_port", WEIGHT_PORT, index),
        name=f"random-{seed}-{index}",
    )
