# SPDX-License-Identifier: Apache-2.0
"""Chooses the suite: of a pool of candidates on the model, the fewest cycles that hit every bin often enough.

    python -m tb.coverage.choose --rounds 3

Run it again whenever bins or generators have changed; the run of the suite says which bins it misses.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from rich.console import Console
from rich.progress import track

from tb.coverage.groups import GROUPS
from tb.coverage.side import CoveredSide
from tb.coverage.suite import Entry, fixed, pool, save

SEEDS = 3
"""Different seeds that have to hit a bin."""
OVERHEAD = 150
"""Cycles that a program costs besides its own: the reset, the records of both sides, the files."""


def measure(entry: Entry) -> tuple[list[int], int]:
    """Numbers of the bins that a program hits on the model, and its cycles."""
    side = CoveredSide(entry, digest=False)
    cycles = sum(len(rows) for rows, _ in side.blocks())
    hits = side.notes()["hits"]
    return [NUMBER[group, label] for group, labels in hits.items() for label in labels], cycles


BINS = [(name, label) for name, item in GROUPS.items() for label in item.bins]
NUMBER = {key: index for index, key in enumerate(BINS)}


def cover(hits: np.ndarray, cycles: np.ndarray, times: int) -> list[int]:
    """Greedy choice of rows of `hits` (bool [programs, bins]) that hit every bin `times` times, if it can be."""
    need = np.minimum(times, hits.sum(axis=0))
    left = hits.astype(np.float32)
    cost = (cycles + OVERHEAD).astype(np.float32)
    picked: list[int] = []
    while (need > 0).any():
        gain = (left @ (need > 0).astype(np.float32)) / cost
        best = int(gain.argmax())
        picked.append(best)
        need = need - hits[best]
        left[best] = 0
    return picked


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tb.coverage.choose", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="candidates of each kind and configuration (3)")
    parser.add_argument("--seed", type=int, default=1, help="base seed of the candidates (1)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--times", type=int, default=SEEDS, help="seeds that have to hit a bin (3)")
    arguments = parser.parse_args()
    console = Console()
    entries = pool(arguments.seed, arguments.rounds)
    hits = np.zeros((len(entries), len(BINS)), bool)
    cycles = np.zeros(len(entries), np.int64)
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as workers:
        found = workers.map(measure, entries, chunksize=8)
        for index, (bins, count) in enumerate(track(found, "Candidates", len(entries), console=console)):
            hits[index, bins] = True
            cycles[index] = count
    picked = cover(hits, cycles, arguments.times)
    for number in np.flatnonzero(hits.sum(axis=0) < arguments.times).tolist():
        console.print(f"[red]{hits[:, number].sum()} seeds[/] {BINS[number][0]}: {BINS[number][1]}")
    chosen = [entries[index] for index in picked] + fixed(arguments.seed)
    save(chosen, f"python -m tb.coverage.choose --rounds {arguments.rounds} --seed {arguments.seed}")
    console.print(
        f"{len(picked)} of {len(entries)} programs, {int(cycles[picked].sum())} of {int(cycles.sum())} cycles"
    )


if __name__ == "__main__":
    main()
