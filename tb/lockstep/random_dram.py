# SPDX-License-Identifier: Apache-2.0
"""Random DRAMs: small rows and few banks, so that short programs meet hits, conflicts, turnarounds and refresh."""

from __future__ import annotations

import random

from beatmatch.memory import Dram
from beatmatch.memory.dram import MAPPINGS, PAGE_POLICIES, SMALLEST_BLOCK
from tb.lockstep.streams import small


def generate(rng: random.Random, mem_bytes: int) -> Dram:
    """A DRAM with short times for beats of this size, with rare, frequent or no refresh."""
    row_bytes = SMALLEST_BLOCK << rng.choice((0, 0, 1, 3, 8))
    channels = rng.choice((1, 1, 1, 2, 4))
    interleave = rng.choice([size for size in (256, 512, 4096) if size <= row_bytes])
    refresh = rng.randint(20, 900) if rng.random() < 0.6 else 0
    return Dram(
        channels=channels,
        interleave=interleave,
        banks=rng.choice((1, 2, 4, 16)),
        rows=rng.choice((1, 4, 1 << 15)),
        row_bytes=row_bytes,
        access_bytes=rng.choice((1, mem_bytes, min(4 * mem_bytes, SMALLEST_BLOCK))),
        mapping=rng.choice(MAPPINGS),
        page_policy=rng.choice((*PAGE_POLICIES, "open")),
        trcd=small(rng, 12) - 1,
        trp=small(rng, 12) - 1,
        tcl=small(rng, 12) - 1,
        tcwl=small(rng, 12) - 1,
        tras=small(rng, 40) - 1,
        trtp=small(rng, 8) - 1,
        twr=small(rng, 12) - 1,
        twtr=small(rng, 12) - 1,
        trtw=small(rng, 6) - 1,
        trefi=refresh,
        trfc=rng.randint(1, refresh // 4) if refresh else 0,
    )
