# SPDX-License-Identifier: Apache-2.0
"""A whole campaign of flips: configurations, simulator processes, and the figures it comes to."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from beatmatch.config import Config
from tb import sim, toolchain
from tb.flips.build import build
from tb.flips.job import JOB_VARIABLE, Job
from tb.flips.state import Element, elements
from tb.lockstep.streams import derive

SESSION = "tb.flips.session"
CONFIGS = (
    Config(4, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4, "square"),
    Config(4, 8, 96, 3, 24, 3, 3, 1, 128, 3, 4, "odd"),
)
"""Small, so that a flip hits something that is in use; the second has odd counts and beats wider than a word."""

PER_PROGRAM = 50
PER_BOTH = 9
POISON = 2
"""Runs of every program with storage that a reset leaves at random: one, and its complement."""


@dataclass
class Plan:
    """What is run on one configuration, in one or several processes."""

    config: Config
    state: tuple[Element, ...]
    built: sim.Build
    jobs: list[Job]


def plan(flips: int, both: int, seed: int, processes: int, configs: Sequence[Config] = CONFIGS) -> list[Plan]:
    """Builds, and seeds of the programs dealt to the processes; the same work whatever their number."""
    plans = []
    for number, config in enumerate(configs):
        state = elements(config)
        share = flips // len(configs) + (number < flips % len(configs))
        programs = [(derive(seed, "flips", config.name, i), PER_PROGRAM) for i in range(share // PER_PROGRAM)]
        if share % PER_PROGRAM:
            programs.append((derive(seed, "flips", config.name, len(programs)), share % PER_PROGRAM))
        share = both // len(configs) + (number < both % len(configs))
        pairs = [(derive(seed, "both", config.name, i), PER_BOTH) for i in range(share // PER_BOTH)]
        if share % PER_BOTH:
            pairs.append((derive(seed, "both", config.name, len(pairs)), share % PER_BOTH))
        jobs = [
            Job(config.to_dict(), list(state), "", programs[i::processes], POISON, pairs[i::processes])
            for i in range(processes)
        ]
        plans.append(Plan(config, state, build(config, state), [job for job in jobs if job.programs or job.both]))
    return plans


def run(plans: Sequence[Plan], workers: int, progress: Callable[[int], None] | None = None) -> list[dict[str, Any]]:
    """Run all jobs, `workers` at a time; every result with the name of its configuration.

    `progress` is called now and then with the number of results so far. Raises SimulationError if a simulator
    fails, or if the core without a flip is not in step with the model.
    """
    toolchain.SIM_BUILD.joinpath("flips").mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=toolchain.SIM_BUILD / "flips"))
    work = []
    for item in plans:
        for job in item.jobs:
            number = len(work)
            job.results = str(folder / f"{number}.jsonl")
            job.save(folder / f"{number}.json")
            work.append((item, job, number))

    def one(entry: tuple[Plan, Job, int]) -> None:
        item, _, number = entry
        sim.run(
            item.built,
            SESSION,
            env={JOB_VARIABLE: str(folder / f"{number}.json")},
            seed=1,
            plusargs=["+verilator+noassert"],  # the comparison has to see it, not an assertion
            directory=folder / f"sim-{number}",
        )

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(one, entry) for entry in work]
        while not all(future.done() for future in futures):
            time.sleep(0.3)
            if progress is not None:
                progress(sum(_count(Path(job.results)) for _, job, _ in work))
        for future in futures:
            future.result()
    results = [
        {"config": item.config.name} | json.loads(line)
        for item, job, _ in work
        for line in Path(job.results).read_text().splitlines()
    ]
    shutil.rmtree(folder)
    return results


def _count(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def settle(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The flips; one that is masked only because storage is dead is a hole where such storage has been seen to act."""
    alive = {r["config"] for r in results if r["what"] == "poison" and r["differs"] >= 0}
    flips = [dict(r) for r in results if r["what"] == "flip"]
    for flip in flips:
        if flip["left"] and flip["config"] in alive:
            flip["fate"] = "hole"
    return flips


def figures(results: Sequence[dict[str, Any]], state: dict[str, Sequence[Element]]) -> dict[str, Any]:
    """The numbers of a campaign, ready for JSON."""
    flips = settle(results)
    both = [r for r in results if r["what"] == "both"]
    poison = [r for r in results if r["what"] == "poison"]
    return {
        **_counts(flips),
        "median_latency_cycles": _median(flips),
        "latency": {
            kind: _latency([flip for flip in flips if flip["kind"] == kind]) for kind in ("registers", "memories")
        },
        "masked_by": {
            how: sum(flip["fate"] == "masked" and flip["how"] == how for flip in flips)
            for how in ("reconverged", "ended by reset", "dead storage")
        },
        "flagged_by": _tally(flip["slot"] for flip in flips if flip["fate"] == "flagged"),
        "by_unit": {
            unit: _counts([f for f in flips if f["unit"] == unit]) for unit in sorted({f["unit"] for f in flips})
        },
        "holes": [flip for flip in flips if flip["fate"] == "hole"],
        "dead_storage": {
            "runs": len(poison),
            "cycles": sum(r["cycles"] for r in poison),
            "differing": [r for r in poison if r["differs"] >= 0],
        },
        "same_on_both": {
            "flips": len(both),
            "in_step": sum(r["first"] < 0 for r in both),
            "with_effect": sum(r["effect"] for r in both),
            "by_unit": {
                unit: {
                    "flips": sum(r["unit"] == unit for r in both),
                    "in_step": sum(r["unit"] == unit and r["first"] < 0 for r in both),
                    "with_effect": sum(r["unit"] == unit and r["effect"] for r in both),
                }
                for unit in sorted({r["unit"] for r in both})
            },
            "apart": [r for r in both if r["first"] >= 0],
        },
        "population": {
            name: {"registers": _bits(items, "registers"), "memories": _bits(items, "memories")}
            for name, items in state.items()
        },
    }


def _bits(items: Sequence[Element], kind: str) -> int:
    return sum(element.bits for element in items if element.kind == kind)


def _counts(flips: Sequence[dict[str, Any]]) -> dict[str, int]:
    fates = [flip["fate"] for flip in flips]
    return {
        "flips": len(fates),
        "unmasked": len(fates) - fates.count("masked"),
        "flagged": fates.count("flagged"),
        "masked": fates.count("masked"),
    }


def _latencies(flips: Sequence[dict[str, Any]]) -> list[int]:
    return [flip["latency"] for flip in flips if flip["fate"] == "flagged"]


def _median(flips: Sequence[dict[str, Any]]) -> float | None:
    found = _latencies(flips)
    return median(found) if found else None


def _latency(flips: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = _latencies(flips)
    return {
        "flagged": len(found),
        "median": _median(flips),
        "same_cycle": sum(value == 0 for value in found),
        "within_one": sum(value <= 1 for value in found),
        "longest": max(found, default=None),
    }


def _tally(names) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))
