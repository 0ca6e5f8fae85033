# SPDX-License-Identifier: Apache-2.0
"""The whole run: mutants against recorded programs, configuration by configuration, and proofs about what is left.

A mutant is a place in the source and what is done to it. The first configuration runs all of its mutants; each further
one runs those that are still alive and those in generate branches that no configuration before it took. So a mutant
that any configuration kills is killed; one that is not has, in every configuration that contains it, survived all
programs or been proven to be the same from every state, which is cheaper than playing them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from beatmatch.config import Config
from tb import toolchain
from tb.mutation import execute, points, recordings, schemata, stimuli, triage
from tb.mutation.proof import Verdict
from tb.mutation.schemata import Mutant

TOP = "bm_core"
CONFIGS = (
    Config(4, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4, name="square, narrow memory"),
    Config(4, 8, 96, 3, 24, 3, 3, 1, 128, 3, 4, name="wide, beats wider than words"),
    Config(8, 4, 64, 4, 8, 1, 4, 3, 32, 1, 8, name="tall, words of two beats, a port for weights", weight_port=1),
)
"""Small, and between them every kind of branch: words wider and narrower than beats, more rows than columns and fewer,
one bank and several, bank counts that are no power of two, one burst at a time and several, one memory and two."""
UNTRIED = Verdict("open", "no proof was tried")
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
        Processor time that ABC may take for one claim.
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
    seconds: int = 1
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
    """The fates of all mutants, and what the run took: cycles played, seconds of playing and proving (of what an
    interrupted run has finished before, too; proofs as if all jobs were busy), seconds of builds that were not cached.
    """

    fates: list[Fate]
    seconds: float
    build_seconds: float
    cycles: int
    settings: Settings


def run(settings: Settings, progress: Progress = lambda *_: None, sources: Sequence[Path] | None = None) -> Result:
    """Run everything; raises SimulationError if the unmutated core is not in lockstep."""
    campaign = _Campaign(settings, progress, list(sources or toolchain.rtl_sources()))
    for config in settings.configs:
        campaign.decide(config)
    for config in settings.configs:
        campaign.play_late(config)
    return campaign.result()


class _Campaign:
    """The state of a run, and its steps; each step is about one configuration.

    What is proven in a configuration need not be played there: a proof that succeeds takes a second, all programs take
    several. A proof that fails takes several seconds too, and is tried once.
    """

    def __init__(self, settings: Settings, progress: Progress, sources: Sequence[Path]) -> None:
        self._settings, self._progress, self._sources = settings, progress, sources
        self._fates: dict[str, Fate] = {}
        self._verdicts: dict[str, dict[str, Verdict]] = {}  # by mutant, by configuration
        self._late: set[str] = set()
        self._found = {config.name: find(config, sources, settings) for config in settings.configs}
        self._played, self._proving, self._building, self._cycles = 0.0, 0.0, 0.0, 0

    def decide(self, config: Config) -> None:
        """Proofs about what was proven before, most programs against the rest, and proofs about what they leave."""
        found = self._found[config.name]
        for mutant in found:
            self._fates.setdefault(mutant.key, Fate(mutant))
        self._explain(config, [m for m in found if m.key in self._verdicts and not self._ever_open(m)])
        self._play(config, self._undecided(config), late=False)
        self._explain(config, [m for m in self._undecided(config) if not self._ever_open(m)])

    def play_late(self, config: Config) -> None:
        """The late programs against what is left, in the first configuration in which it is not proven."""
        left = [mutant for mutant in self._undecided(config) if mutant.key not in self._late]
        self._late |= {mutant.key for mutant in left}
        self._play(config, left, late=True)

    def _undecided(self, config: Config) -> list[Mutant]:
        """Mutants of a configuration that are not killed in any, and not proven in this one."""
        return [
            mutant
            for mutant in self._found[config.name]
            if self._fates[mutant.key].status != "killed"
            and self._verdicts.get(mutant.key, {}).get(config.name, UNTRIED).status == "open"
        ]

    def _ever_open(self, mutant: Mutant) -> bool:
        return any(verdict.status == "open" for verdict in self._verdicts.get(mutant.key, {}).values())

    def _play(self, config: Config, alive: Sequence[Mutant], late: bool) -> None:
        settings, name = self._settings, f"{config.name}, late programs" if late else config.name
        programs = stimuli.choose(settings.seed, settings.programs, config, settings.kinds)[late]
        if not alive or not programs:
            return
        file = recordings.prepare(config, programs, partial(self._progress, f"{name}: recording programs"))
        shards = -(-len(alive) // SHARD)
        for number in range(shards):
            shard = alive[number::shards]
            text = f"{name}: {len(shard)} mutants, part {number + 1} of {shards}"
            self._progress(f"{text}, build", 0, 0)
            built = execute.build(config, shard, self._sources)
            self._building += built.seconds
            outcomes, seconds = execute.outcomes(
                *(built, config, shard, file, settings.jobs, settings.blind),
                partial(_report, self._progress, text, len(shard)),
            )
            self._played += seconds
            self._cycles += sum(outcome["cycles"] for outcome in outcomes.values())
            for mutant in shard:
                outcome = outcomes[mutant.number]
                if outcome["cycle"] is not None:
                    reason = f"{config.name}: {outcome['program']}, cycle {outcome['cycle']}"
                    self._fates[mutant.key] = Fate(mutant, "killed", reason)

    def _explain(self, config: Config, survivors: Sequence[Mutant]) -> None:
        settings = self._settings
        if not survivors or not settings.proofs:
            return
        found, seconds = triage.explain(
            *(TOP, config, self._sources, survivors, settings.seconds, settings.jobs),
            partial(self._progress, f"{config.name}: proofs about {len(survivors)} mutants"),
        )
        self._proving += seconds
        for key, verdict in found.items():
            self._verdicts.setdefault(key, {})[config.name] = verdict

    def result(self) -> Result:
        """The fates: a claim has to be proven in every configuration that contains the mutant."""
        for key, fate in self._fates.items():
            given = list(self._verdicts.get(key, {}).values())
            if fate.status == "killed" or not given:
                continue
            statuses = {verdict.status for verdict in given}
            fate.status = "hole" if "open" in statuses else "unreachable" if "unreachable" in statuses else "equivalent"
            fate.reason = "; ".join(dict.fromkeys(verdict.reason for verdict in given))
        seconds = self._played + self._proving
        return Result(list(self._fates.values()), seconds, self._building, self._cycles, self._settings)


def _report(progress: Progress, text: str, total: int, done: int) -> None:
    progress(text, done, total)


def find(config: Config, sources: Sequence[Path], settings: Settings) -> list[Mutant]:
    """The mutants of a configuration, as far as the settings want them."""
    found = schemata.number(points.find(points.elaborate(TOP, sources, config)))
    wanted = [mutant for mutant in found if not settings.modules or mutant.module in settings.modules]
    return [mutant for mutant in wanted if mutant.chance % settings.every == 0]
