# SPDX-License-Identifier: Apache-2.0
"""Survivors explained, station by station.

A mutant sits in a module that one or several stations contain. If in each of them the station with the mutant is
proven to behave like the station without it, so does the core. The stations' inputs are free in the proofs: what
holds only thanks to a neighbour's behaviour stays open. For the wiring between the stations, and for packages, the
proofs are about the whole core.

A station's netlist takes up to a minute, a claim from every state a fraction of a second: so one netlist holds all
mutants of its station, is made once, and is read by as many processes as there are.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

from beatmatch.config import Config
from tb.mutation import elaborate, points
from tb.mutation.graph import Netlist
from tb.mutation.kept import kept
from tb.mutation.proof import Prover, Verdict
from tb.mutation.schemata import Mutant

HERE = Path(__file__).resolve().parent
HAND = 6
"""Mutants that a process takes at a time."""


def verdicts(
    top: str,
    config: Config,
    sources: Sequence[Path],
    survivors: Sequence[Mutant],
    seconds: int,
    jobs: int,
    progress: Callable[[int, int], None],
) -> tuple[dict[str, Verdict], float]:
    """As `explain`, and the seconds that it took; kept, like the outcomes of programs."""
    files = [*sources, *(HERE / f"{name}.py" for name in ("elaborate", "graph", "proof", "schemata", "triage"))]
    content = hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()
    found, taken = kept(
        "proofs",
        (content, config.to_dict(), [mutant.key for mutant in survivors], seconds),
        lambda: {
            key: (verdict.status, verdict.reason)
            for key, verdict in explain(top, config, sources, survivors, seconds, jobs, progress).items()
        },
    )
    return {key: Verdict(*verdict) for key, verdict in found.items()}, taken


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
    stations: list[tuple[str, dict[str, int], list[Mutant]]] = []
    verdicts: dict[str, list[Verdict]] = {mutant.key: [] for mutant in survivors}
    for name, parameters, inside in elaborate.stations(points.elaborate(top, sources, config).getRoot(), top):
        here = [mutant for mutant in survivors if mutant.module in inside]
        if here:
            stations.append((name, parameters, here))
    inside = {mutant.key for _, _, here in stations for mutant in here}
    outside = [mutant for mutant in survivors if mutant.key not in inside]
    if outside:
        stations.insert(0, (top, config.rtl_parameters(), outside))
    done, total = 0, sum(len(here) for _, _, here in stations)
    with (
        tempfile.TemporaryDirectory() as name,
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool,
    ):
        making = {}
        for index, (station, parameters, here) in enumerate(stations):
            file = Path(name) / f"{index}.pickle"
            making[pool.submit(_make, station, parameters, sources, here, file)] = (file, here)
        waiting = set(making)
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                if future in making:
                    future.result()
                    file, here = making[future]
                    hands = [here[i : i + HAND] for i in range(0, len(here), HAND)]
                    waiting |= {pool.submit(_prove, file, hand, seconds) for hand in hands}
                    continue
                for key, verdict in future.result().items():
                    verdicts[key].append(verdict)
                    done += 1
            progress(done, total)
    return {key: _weakest(given) for key, given in verdicts.items()}


def _make(
    station: str, parameters: dict[str, int], sources: Sequence[Path], mutants: Sequence[Mutant], file: Path
) -> None:
    with file.open("wb") as out:
        pickle.dump(elaborate.netlist(station, parameters, sources, mutants), out, pickle.HIGHEST_PROTOCOL)


@lru_cache(maxsize=1)
def _read(file: Path) -> Netlist:
    with file.open("rb") as found:
        return pickle.load(found)


def _prove(file: Path, mutants: Sequence[Mutant], seconds: int) -> dict[str, Verdict]:
    prover = Prover(_read(file), seconds)
    return {m.key: prover.prove(m.number) for m in mutants}


def _weakest(verdicts: Sequence[Verdict]) -> Verdict:
    for status in ("open", "unreachable"):
        for verdict in verdicts:
            if verdict.status == status:
                return verdict
    return verdicts[0]
