# SPDX-License-Identifier: Apache-2.0
"""Builds the mutated core of a configuration and runs its mutants in simulator processes."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

from beatmatch import stimulus
from beatmatch.config import Config
from beatmatch.trace import layout
from tb import sim, toolchain
from tb.lockstep import runner
from tb.mutation import schemata
from tb.mutation.kept import kept
from tb.mutation.recordings import FOLDER, content
from tb.mutation.schemata import Mutant
from tb.mutation.session import JOB_VARIABLE, MutationJob

HERE = Path(__file__).resolve().parent
TOP = "bm_mutation_top"
SESSION = "tb.mutation.session"
POLL_SECONDS = 0.5


def build(config: Config, mutants: Sequence[Mutant], sources: Sequence[Path] | None = None) -> sim.Build:
    """The core with all of these mutants in it; from the cache if nothing changed.

    `SYNTHESIS` and `--no-assert` leave out the checks inside the RTL: the lockstep run has to find a mutant by itself,
    and a check that fires would end the process.
    """
    sources = toolchain.rtl_sources() if sources is None else sources
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        files = schemata.write(Path(folder), sources, mutants)
        parameters = config.rtl_parameters() | {
            "TRACE_WORDS": layout(config).words,
            "STIM_WORDS": stimulus.words(config),
        }
        return sim.build(
            TOP,
            [*files, runner.HERE / f"{runner.TOP}.sv", HERE / f"{TOP}.sv"],
            "verilator",
            parameters,
            defines={"BM_DPI": 1, "SYNTHESIS": 1},
            includes=[runner.HERE],
            c_sources=[HERE / "bm_mutation.cpp"],
            extra_args=["--no-assert", "-Wno-lint", "-Wno-style", "-Wno-fatal"],
        )


def outcomes(
    built: sim.Build,
    config: Config,
    mutants: Sequence[Mutant],
    recordings: Path,
    jobs: int,
    blind: Sequence[str],
    progress: Callable[[int], None],
) -> tuple[dict[int, dict], float]:
    """As `run`, and the seconds it took; kept, so that a run that was interrupted goes on with its next shard."""
    found, seconds = kept(
        "played",
        (built.directory.name, content(recordings), sorted(blind)),
        lambda: run(built, config, mutants, recordings, jobs=jobs, blind=blind, progress=progress),
    )
    return {int(number): outcome for number, outcome in found.items()}, seconds


def run(
    built: sim.Build,
    config: Config,
    mutants: Sequence[Mutant],
    recordings: Path,
    *,
    jobs: int = 1,
    blind: Sequence[str] = (),
    progress: Callable[[int], None] | None = None,
) -> dict[int, dict]:
    """Outcome of each mutant by its number: the program and cycle that killed it, null for a survivor.

    Raises SimulationError if the unmutated core differs from the recordings.
    """
    if not mutants:
        return {}
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        folder = Path(name)
        hands = [mutants[index::jobs] for index in range(min(jobs, len(mutants)))]
        files = []
        for index, hand in enumerate(hands):
            job = MutationJob(
                config.to_dict(),
                str(recordings),
                [(mutant.number, mutant.module) for mutant in hand],
                str(folder / f"results{index}.jsonl"),
                list(blind),
            )
            job.save(folder / f"job{index}.json")
            files.append(Path(job.results))
        with ProcessPoolExecutor(len(hands), mp_context=get_context("spawn")) as pool:
            waiting = {pool.submit(_simulate, built, folder, index) for index in range(len(hands))}
            while waiting:
                done, waiting = wait(waiting, timeout=POLL_SECONDS)
                if progress is not None:
                    progress(sum(len(_lines(path)) for path in files))
                for future in done:
                    future.result()
        outcomes = [json.loads(line) for path in files for line in _lines(path)]
    found = {outcome.pop("number"): outcome for outcome in outcomes}
    missing = [mutant.number for mutant in mutants if mutant.number not in found]
    if missing:
        raise sim.SimulationError(f"{len(missing)} mutants have no outcome, the first is number {missing[0]}.")
    return found


def _simulate(built: sim.Build, folder: Path, index: int) -> float:
    started = time.monotonic()
    environment = {JOB_VARIABLE: str(folder / f"job{index}.json")}
    sim.run(built, SESSION, env=environment, seed=1, directory=folder / f"sim{index}", dump=False)
    return time.monotonic() - started


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
