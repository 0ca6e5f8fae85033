# SPDX-License-Identifier: Apache-2.0
"""Many programs over many configurations: builds, simulator processes, progress, and one summary.

Programs are numbered; each has its own seed, and its configuration follows from its number. So neither the number of
workers nor the simulator changes what is run, and the hash of a run is a function of (programs, configs, seed) alone.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from beatmatch.config import Config
from tb.lockstep import random_config, runner
from tb.lockstep.evidence import evidence
from tb.lockstep.job import Item, Result
from tb.lockstep.streams import derive


@dataclass
class Batch:
    """The programs of one configuration: one build, one simulator process."""

    config: Config
    items: list[Item]


@dataclass
class Summary:
    """What a whole run came to."""

    sim: str
    seed: int
    results: list[Result]
    batches: list[Batch]
    seconds: float
    build_seconds: float
    failures: list[dict[str, Any]] = field(default_factory=list)

    def sha256(self) -> str:
        """Over the records of all programs, in the order of their numbers."""
        state = hashlib.sha256()
        for result in sorted(self.results, key=lambda result: result.index):
            state.update(bytes.fromhex(result.sha256))
        return state.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        total = {name: sum(getattr(r, name) for r in self.results) for name in ("cycles", "events", "digests")}
        running = sum(result.cpu_seconds for result in self.results)
        return {
            "sim": self.sim,
            "seed": self.seed,
            "programs": len(self.results),
            "configs": len({batch.config.digest() for batch in self.batches}),
            **total,
            "mismatches": sum(result.divergence is not None for result in self.results),
            "seconds": round(self.seconds, 3),
            "build_seconds": round(self.build_seconds, 3),
            "cpu_seconds": round(running, 3),
            "model_seconds": round(sum(result.model_seconds for result in self.results), 3),
            "transport_seconds": round(sum(result.transport_seconds for result in self.results), 3),
            "cycles_per_second": round(total["cycles"] / running) if running else 0,
            "trace_sha256": self.sha256(),
            **evidence(self.results, {item.index: batch.config for batch in self.batches for item in batch.items}),
            "failures": self.failures,
        }


def random_batches(programs: int, configs: int, seed: int, config: Config | None = None) -> list[Batch]:
    """Random programs, dealt in turn to random configurations (or all to the given one)."""
    count = 1 if config is not None else max(1, min(configs, programs))
    batches = [Batch(config or random_config.generate(seed, index), []) for index in range(count)]
    for index in range(programs):
        batches[index % count].items.append(Item(index, {"random": derive(seed, "program", index)}))
    return batches


def _work(batch: Batch, sim: str, patches: Sequence[str]) -> tuple[list[Result], float]:
    built = runner.build(batch.config, sim)
    return runner.run(built, batch.config, batch.items, patches=patches), built.seconds


def run(
    batches: Sequence[Batch],
    sim: str,
    seed: int,
    *,
    workers: int = 1,
    patches: Sequence[str] = (),
    progress: Callable[[list[Result]], None] | None = None,
) -> Summary:
    """Run all batches; `progress` is called with the results of each batch when it ends.

    Raises SimulationError if a simulator fails; divergences are results.
    """
    started = time.perf_counter()
    results: list[Result] = []
    build_seconds = 0.0
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_work, batch, sim, patches) for batch in batches}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    found, seconds = future.result()
                    results += found
                    build_seconds += seconds
                    if progress is not None:
                        progress(found)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    results.sort(key=lambda result: result.index)
    return Summary(sim, seed, results, list(batches), time.perf_counter() - started, build_seconds)
