# SPDX-License-Identifier: Apache-2.0
"""The same programs again and again: whatever may differ between runs must leave no trace in the trace.

Every rerun has another order of programs, another number of worker processes and another hash seed of Python, and
every few run on the other simulator. One hash over all records has to come out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from tb.lockstep import random_config
from tb.lockstep.campaign import Batch
from tb.lockstep.job import Item
from tb.lockstep.streams import derive, stream
from tb.regress.chunks import Chunk
from tb.regress.execute import execute
from tb.regress.figures import trace_sha256

PROGRAMS = 6
OTHER_SIMULATOR = 8
"""Every so many reruns are on Icarus."""
MOST_ELEMENTS = 32
VARIATIONS = [
    "order of the programs",
    "1 or 2 worker processes",
    "PYTHONHASHSEED",
    f"simulator (every {OTHER_SIMULATOR}th rerun under Icarus)",
]


@dataclass(frozen=True)
class Rerun:
    """One variation: which simulator, which order of the programs, how many processes, which hash seed."""

    number: int
    sim: str
    order: tuple[int, ...]
    workers: int
    hash_seed: int


def programs(seed: int) -> Batch:
    """The first programs of a regression seed, on the first small configuration that it draws."""
    index = next(i for i in range(100) if random_config.generate(seed, i).peak_macs <= MOST_ELEMENTS)
    items = [Item(number, {"random": derive(seed, "program", number)}) for number in range(PROGRAMS)]
    return Batch(random_config.generate(seed, index), items)


def variations(seed: int, count: int, other: bool = True) -> list[Rerun]:
    """The reruns of a seed; the first one is plain, and all others are compared with it."""
    found = [Rerun(0, "verilator", tuple(range(PROGRAMS)), 1, 0)]
    for number in range(1, count):
        rng = stream(seed, "rerun", number)
        sim = "icarus" if other and number % OTHER_SIMULATOR == 0 else "verilator"
        order = tuple(rng.sample(range(PROGRAMS), PROGRAMS))
        found.append(Rerun(number, sim, order, 1 + number % 2, rng.randrange(1, 1 << 32)))
    return found


def trace(batch: Batch, rerun: Rerun, patches: Sequence[str] = ()) -> str:
    """The hash over the records of all programs of one rerun, or what went wrong."""
    items = [batch.items[place] for place in rerun.order]
    pieces = [Chunk(batch.config, rerun.sim, tuple(items[part :: rerun.workers])) for part in range(rerun.workers)]
    environment = {"PYTHONHASHSEED": str(rerun.hash_seed)}
    with ThreadPoolExecutor(rerun.workers) as pool:
        outcomes = list(pool.map(lambda piece: execute(piece, patches, environment=environment), pieces))
    for outcome in outcomes:
        if outcome.kind:
            return f"{outcome.kind}: {outcome.error.splitlines()[0]}"
    results = sorted((result for outcome in outcomes for result in outcome.results), key=lambda result: result.index)
    bad = [result.index for result in results if result.divergence is not None]
    if bad:
        return f"program {bad[0]} diverged"
    return trace_sha256(result.sha256 for result in results)


def run(
    seed: int,
    count: int,
    jobs: int,
    *,
    other: bool = True,
    patches: Sequence[str] = (),
    progress: Callable[[Rerun, bool], None] | None = None,
) -> dict[str, Any]:
    """All reruns; the figures of the part.

    Parameters
    ----------
    seed : int
        Base seed, as of a regression.
    count : int
        Reruns, the plain first one included.
    jobs : int
        Reruns at a time.
    other : bool
        Run some of them on Icarus.
    patches : sequence of str
        Planted faults of the model.
    progress : callable, optional
        Called with each rerun and whether its trace is the first one's.
    """
    started = time.monotonic()
    batch = programs(seed)
    first, *rest = variations(seed, count, other)
    expected = trace(batch, first, patches)
    rows = [{"rerun": 0, "trace": expected}]
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(trace, batch, rerun, patches): rerun for rerun in rest}
        for future in as_completed(waiting):
            rerun, found = waiting[future], future.result()
            if found != expected:
                rows.append({"rerun": rerun.number, "trace": found, **vars(rerun)})
            if progress is not None:
                progress(rerun, found == expected)
    broken = len(expected) != 64  # the plain run itself failed: nothing is proven
    return {
        "reruns": count,
        "flaky": count if broken else len(rows) - 1,
        "seconds": round(time.monotonic() - started, 1),
        "variations": VARIATIONS if other else VARIATIONS[:-1],
        "trace_sha256": expected,
        "seed": seed,
        "programs": PROGRAMS,
        "config": batch.config.to_dict(),
        "different": rows[1:],
    }
