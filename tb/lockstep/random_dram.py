# SPDX-License-Identifier: Apache-2.0
"""Random DRAMs: small rows and few banks, so that short programs meet hits, conflicts, turnarounds and refresh."""

from __future__ import annotations

import random

from beatmatch.memory import Dram
from beatmatch.memory.dram import MAPPINGS, PAGE_POLICIES, SMALLEST_BLOCK
from tb.lockstep.streams import small


def generate(rng: random.Random) -> Dram:
    """A DRAM whose times are those of a fast memory or somewhat slower, with rare or frequent refresh."""
    row_bytes = SMALLEST_BLOCK << rng.choice((0, 0, 1, 3, 8))
    channels = rng.choice((1, 1, 1, 2, 4))
    interleave = rng.choice([size for size in (256, 512, 4096) if size <= row_bytes])
    most = interleave if channels > 1 else row_bytes
    refresh = rng.randint(20, 900) if rng.random() < 0.6 else 0
    return Dram(
        channels=channels,
        interleave=interleave,
        banks=rng.choice((1, 2, 4, 16)),
        rows=rng.choice((1, 4, 1 << 15)),
        row_bytes=row_bytes,
        access_bytes=rng.choice([size for size in (1, 16, 64, 256) if size <= most]),
        mapping=rng.choice(MAPPINGS),
        page_policy=rng.choice((*PAGE_POLICIES, "open")),
        trcd=small(rng, 20) - 1,
        trp=small(rng, 20) - 1,
        tcl=small(rng, 20) - 1,
        tcwl=small(rng, 20) - 1,
        tras=small(rng, 50) - 1,
        trtp=small(rng, 12) - 1,
        twr=small(rng, 20) - 1,
        twtr=small(rng, 12) - 1,
        trtw=small(rng, 6) - 1,
        trefi=refresh,
        trfc=rng.randint(1, refresh // 2) if refresh else 0,
    )
