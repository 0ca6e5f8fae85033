# SPDX-License-Identifier: Apache-2.0
"""Pieces of a regression that one simulator process runs: what they are expected to cost, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beatmatch.config import Config
from tb.lockstep.campaign import Batch
from tb.lockstep.job import Item

CYCLES = {"random": 1200, "compiled": 23_000, "large": 40_000, "network": 2_000_000}
"""What a program of each source takes on average."""
MODEL_SECONDS = 25e-6
"""Per cycle, whatever the size; `SIMULATOR_SECONDS` come on top, per cycle and processing element."""
SIMULATOR_SECONDS = {"verilator": 50e-9, "icarus": 2e-6}
LONGEST = 60.0
"""Seconds that one piece should not exceed, so that the last ones to finish end at about the same time.

All of these only decide about order and size of pieces, never about results.
"""


@dataclass(frozen=True)
class Chunk:
    """Programs of one configuration for one simulator process."""

    config: Config
    sim: str
    items: tuple[Item, ...]

    @property
    def seconds(self) -> float:
        """Expected running time, without the build."""
        return sum(cost(self.config, self.sim, item) for item in self.items)

    def without(self, done: set[int]) -> Chunk | None:
        """What is left if these items are done; None if nothing is."""
        left = tuple(item for item in self.items if item.index not in done)
        return Chunk(self.config, self.sim, left) if left else None


def cost(config: Config, sim: str, item: Item) -> float:
    """Expected seconds of a program."""
    cycles = next(CYCLES[name] for name in CYCLES if name in item.source)
    return cycles * (MODEL_SECONDS + SIMULATOR_SECONDS[sim] * config.rows * config.cols)


def split(batches: Iterable[Batch], sim: str, longest: float = LONGEST) -> list[Chunk]:
    """The batches as pieces of at most about `longest` seconds, the longest piece first."""
    chunks: list[Chunk] = []
    for batch in batches:
        total = sum(cost(batch.config, sim, item) for item in batch.items)
        parts = max(1, min(len(batch.items), -int(-total // longest)))
        for part in range(parts):  # dealt in turn: long programs stand at the end of a batch
            items = tuple(batch.items[part::parts])
            chunks.append(Chunk(batch.config, sim, items))
    return sorted(chunks, key=lambda chunk: -chunk.seconds)
