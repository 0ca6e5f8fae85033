# SPDX-License-Identifier: Apache-2.0
"""The Python twin of the stand-in core, as the model side of a lockstep run."""

import numpy as np

from beatmatch import stimulus
from beatmatch.trace import layout

MASK = 0xFFFFFFFF


class StandIn:
    """Random rows from a seed; ``wrong`` is a (cycle, word) in which the model side is made to be wrong."""

    def __init__(self, source, config):
        self.config, self.source = config, source
        self.words = layout(config).words

    def blocks(self):
        random = np.random.default_rng(self.source["seed"])
        left, state, cycle = self.source["cycles"], 0, 0
        while left:
            count = min(left, self.source.get("block", 1024))
            rows = random.integers(0, 1 << 32, (count, stimulus.words(self.config)), dtype=np.uint32)
            rows[:, 0] &= (1 << stimulus.CLEAR_MEMORIES) - 1
            rows[:, 0] |= 1
            rows[:, 1] &= 0x0FFF0FFF
            records = np.zeros((count, self.words), dtype=np.uint32)
            for index, row in enumerate(rows.tolist()):
                mixed = (state + row[0] + (row[1] ^ row[2]) + row[-1]) & MASK
                records[index] = np.uint32(mixed) ^ np.arange(self.words, dtype=np.uint32)
                state = (mixed * 1664525 + 1013904223) & MASK
                if [cycle, 5] == self.source.get("wrong"):
                    records[index, 5] ^= 1
                cycle += 1
            left -= count
            yield rows, records


def make(source, config):
    return StandIn(source, config)
