# SPDX-License-Identifier: Apache-2.0
"""Survivors explained, station by station.

A mutant sits in a module that one or several stations contain. If in each of them the station with the mutant is
proven to behave like the station without it, so does the core. The stations' inputs are free in the proofs: what
holds only thanks to a neighbour's behaviour stays open, and so does the wiring between the stations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

from beatmatch.config import Config
from tb.mutation import elaborate, points
from tb.mutation.proof import Prover, Verdict
from tb.mutation.schemata import Mutant

BATCH = 12
"""Mutants that share one netlist: many make it large, few have it made often."""
OUTSIDE = Verdict("open", "in the top or a package, which are only simulated")


def explain(
    top: str,
    config: Config,
    sources: Sequence[Path],
    survivors: Sequence[Mutant],
    seconds: int,
    jobs: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> dict[str, Verdict]:
    """What is proven about each survivor in one configuration, by its key."""
    work, stations = [], {mutant.key: [] for mutant in survivors}
    for name, parameters, inside in elaborate.stations(points.elaborate(top, sources, config).getRoot(), top):
        here = [mutant for mutant in survivors if mutant.module in inside]
        for mutant in here:
            stations[mutant.key].append(name)
        work += [(name, parameters, here[i : i + BATCH]) for i in range(0, len(here), BATCH)]
    verdicts: dict[str, list[Verdict]] = {key: [] if names else [OUTSIDE] for key, names in stations.items()}
    done = 0
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_prove, *item, sources, seconds) for item in work}
        total = sum(len(item[2]) for item in work)
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                for key, verdict in future.result().items():
                    verdicts[key].append(verdict)
                    done += 1
            progress(done, total)
    return {key: _weakest(given) for key, given in verdicts.items()}


def _prove(
    station: str, parameters: dict[str, int], mutants: Sequence[Mutant], sources: Sequence[Path], seconds: int
) -> dict[str, Verdict]:
    prover = Prover(elaborate.netlist(station, parameters, sources, mutants), seconds)
    return {mutant.key: prover.prove(mutant.number) for mutant in mutants}


def _weakest(verdicts: Sequence[Verdict]) -> Verdict:
    for status in ("open", "unreachable"):
        for verdict in verdicts:
            if verdict.status == status:
                return verdict
    return verdicts[0]
