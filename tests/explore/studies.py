# SPDX-License-Identifier: Apache-2.0
"""Small networks and studies that the tests of the exploration share."""

from pathlib import Path

from beatmatch.config import preset
from beatmatch.explore import sweep
from beatmatch.explore.cache import Cache
from beatmatch.explore.changes import Machine
from beatmatch.explore.columns import Row
from beatmatch.explore.memories import memory_of
from beatmatch.explore.pools import local
from beatmatch.explore.study import LAYERS, Study, parse_axis

LAYERS_TABLE = "Layer, M, N, K,\nfirst, 12, 14, 30,\ntwin, 12, 14, 30,\nwide, 5, 40, 16,\nlong, 3, 8, 70,\n"
"""Four products, two of them equal."""

SWEEP = ("rows=4,8", "bandwidth=0.5x,1x", "acc_rows=64,48")
"""Twelve machines of which the half cannot be built: 48 accumulator rows are no power of two per bank."""


def network(folder: Path, text: str = LAYERS_TABLE) -> str:
    """A topology table as a file; its path."""
    path = folder / "net.csv"
    path.write_text(text)
    return str(path)


def study(folder: Path, *axes: str, granularity: str = LAYERS) -> Study:
    """A study of `network` around the smallest preset."""
    config = preset("tiny")
    base = Machine(config, memory_of({}, config))
    return Study((network(folder),), base, tuple(map(parse_axis, axes)), granularity)


def run(one: Study, cache: Path, workers: int = 1) -> tuple[list[Row], int]:
    """The table, and how many timings it took."""
    plan = sweep.plan(one)
    with Cache(cache) as kept, local(workers) as submit:
        timed = sweep.execute(plan, kept, submit, workers)
        return sweep.table(plan, kept), timed
