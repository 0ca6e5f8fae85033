# SPDX-License-Identifier: Apache-2.0
"""The whole run: mutants against recorded programs, configuration by configuration, then proofs about what is left.

A mutant is a place in the source and what is done to it. The first configuration runs all of its mutants; each further
one runs those that are still alive and those in generate branches that no configuration before it took. So a mutant
that any configuration kills is killed, and one that survives has survived in every configuration that contains it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from beatmatch.config import Config
from tb import toolchain
from tb.mutation import execute, points, recordings, schemata, triage
from tb.mutation.schemata import Mutant

TOP = "bm_core"
CONFIGS = (
    Config(4, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4, name="square, narrow memory"),
    Config(4, 8, 96, 3, 24, 3, 3, 1, 128, 3, 4, name="wide, beats wider than words"),
    Config(8, 4, 64, 4, 8, 1, 4, 3, 64, 1, 8, name="tall, one burst at a time, a port for weights", weight_port=1),
)
"""Small, and between them every kind of branch: words wider and narrower than beats, rows wider and narrower than
columns, one bank and several, bank counts that are no power of two, one memory and two."""
SHARD = 1200
"""Mutants in one build: a core with all of them no longer fits into a processor's caches and runs ten times slower."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""


@dataclass
class Settings:
    """What to run.

    Attributes
    ----------
    programs : int
        Random programs per configuration; the directed ones come on top.
    kinds : list of str
        Only these kinds of programs besides the random ones; empty is all.
    seed : int
        Base seed of all programs.
    jobs : int
        Processes at a time.
    modules : list of str
        Only mutants of these modules; empty is all.
    every : int
        Only every n-th mutant.
    seconds : int
        Processor time that the proof of one claim may take.
    proofs : bool
        Try to explain survivors.
    blind : list of str
        Kinds of trace slots that the comparison leaves out.
    """

    programs: int = 40
    kinds: list[str] = field(default_factory=list)
    seed: int = 1
    jobs: int = 2
    modules: list[str] = field(default_factory=list)
    every: int = 1
    seconds: int = 8
    proofs: bool = True
    blind: list[str] = field(default_factory=list)
    configs: Sequence[Config] = CONFIGS


@dataclass
class Fate:
    """What became of a mutant: `killed`, `equivalent`, `unreachable` or `hole`, and how that is known."""

    mutant: Mutant
    status: str = "hole"
    reason: str = "survives every program; no proof was tried"


@dataclass
class Result:
    """The fates of all mutants, and what the run took: cycles played, seconds of playing and proving (of shards that an
    earlier, interrupted run has finished too), seconds of the builds that were not in the cache."""

    fates: list[Fate]
    seconds: float
    build_seconds: float
    cycles: int
    settings: Settings


def run(settings: Settings, progress: Progress = lambda *_: None, sources: Sequence[Path] | None = None) -> Result:
    """Run everything; raises SimulationError if the unmutated core is not in lockstep."""
    sources = list(sources or toolchain.rtl_sources())
    build_seconds, played, cycles = 0.0, 0.0, 0
    fates: dict[str, Fate] = {}
    for config in settings.configs:
        found = find(config, sources, settings)
        alive = [m for m in found if m.key not in fates or fates[m.key].status == "hole"]
        fates |= {mutant.key: Fate(mutant) for mutant in alive}
        file = recordings.prepare(
            *(config, settings.seed, settings.programs, settings.kinds),
            partial(progress, f"{config.name}: recording programs"),
        )
        shards = -(-len(alive) // SHARD)
        for number in range(shards):
            shard = alive[number::shards]
            text = f"{config.name}: {len(shard)} mutants, part {number + 1} of {shards}"
            progress(f"{text}, build", 0, 0)
            built = execute.build(config, shard, sources)
            build_seconds += built.seconds
            outcomes, seconds = execute.outcomes(
                *(built, config, shard, file, settings.jobs, settings.blind),
                partial(_report, progress, text, len(shard)),
            )
            played += seconds
            cycles += sum(outcome["cycles"] for outcome in outcomes.values())
            for mutant in shard:
                outcome = outcomes[mutant.number]
                if outcome["cycle"] is not None:
                    reason = f"{config.name}: {outcome['program']}, cycle {outcome['cycle']}"
                    fates[mutant.key] = Fate(mutant, "killed", reason)
    started = time.monotonic()
    if settings.proofs:
        _prove(fates, settings, sources, progress)
    return Result(list(fates.values()), played + time.monotonic() - started, build_seconds, cycles, settings)


def _report(progress: Progress, text: str, total: int, done: int) -> None:
    progress(text, done, total)


def find(config: Config, sources: Sequence[Path], settings: Settings) -> list[Mutant]:
    """The mutants of a configuration, as far as the settings want them."""
    found = schemata.number(points.find(points.elaborate(TOP, sources, config)))
    wanted = [mutant for mutant in found if not settings.modules or mutant.module in settings.modules]
    return [mutant for mutant in wanted if mutant.chance % settings.every == 0]


def _prove(fates: dict[str, Fate], settings: Settings, sources: Sequence[Path], progress: Progress) -> None:
    """Explain survivors: a claim has to be proven in every configuration that contains the mutant."""
    alive = {key for key, fate in fates.items() if fate.status == "hole"}
    verdicts: dict[str, list] = {}
    for config in settings.configs:
        survivors = [mutant for mutant in find(config, sources, settings) if mutant.key in alive]
        found = triage.explain(
            *(TOP, config, sources, survivors, settings.seconds, settings.jobs),
            partial(progress, f"{config.name}: proofs"),
        )
        for key, verdict in found.items():
            verdicts.setdefault(key, []).append(verdict)
            if verdict.status == "open":
                alive.discard(key)  # a hole, whatever the other configurations say
    for key, given in verdicts.items():
        statuses = {verdict.status for verdict in given}
        status = "hole" if "open" in statuses else "unreachable" if "unreachable" in statuses else "equivalent"
        fates[key].status = status
        fates[key].reason = "; ".join(dict.fromkeys(verdict.reason for verdict in given))
