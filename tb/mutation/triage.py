# SPDX-License-Identifier: Apache-2.0
"""Survivors explained, station by station.

A mutant sits in a module that one or several stations contain. If in each of them the station with the mutant is
proven to behave like the station without it, so does the core. The stations' inputs are free in the proofs: what
holds only thanks to a neighbour's behaviour stays open. For the wiring between the stations, and for packages, the
proofs are about the whole core.

A station's netlist takes up to a minute, a claim from every state a fraction of a second: so one netlist holds all
mutants of its station, is made once, and is read by as many processes as there are. A claim that does not hold takes
all the time that it is given: so what a random simulation sees to differ is not tried.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

from beatmatch.config import Config
from tb.mutation import elaborate, points
from tb.mutation.proof import Prover, Verdict
from tb.mutation.recordings import FOLDER
from tb.mutation.schemata import Mutant
from tb.mutation.simulation import Simulation

PROVER = [
    Path(__file__).with_name(f"{name}.py")
    for name in ("elaborate", "graph", "induction", "proof", "schemata", "sides", "simulation")
]
FILE = FOLDER / "proofs.jsonl"
"""A line per proof, as it came: a run that was stopped goes on, and an edit that changes no netlist costs nothing."""
SEEN = "not the same: at the station's outputs a random simulation differs in cycle"


@dataclass(frozen=True)
class Task:
    """What is to be proven: a mutant in a station of a configuration; `name` is the same in every run about it."""

    station: int
    mutant: Mutant
    name: str


def explain(
    top: str,
    config: Config,
    sources: Sequence[Path],
    survivors: Sequence[Mutant],
    seconds: int,
    jobs: int,
    progress: Callable[[int, int], None] = lambda *_: None,
    file: Path = FILE,
) -> tuple[dict[str, Verdict], float]:
    """What is proven about each survivor in one configuration, by its key; and the seconds that it took.

    What the file holds is not proven again; its seconds count all the same.
    """
    stations = _stations(top, config, sources, survivors)
    content = hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in (*sources, *PROVER)))
    kept, verdicts, spent = _read(file), {}, 0.0
    waiting: dict[int, deque[Task]] = {}
    for number, (station, parameters, here) in enumerate(stations):
        for mutant in here:
            key = repr((content.hexdigest(), sorted(parameters.items()), station, mutant.key, mutant.text, seconds))
            task = Task(number, mutant, hashlib.sha256(key.encode()).hexdigest()[:24])
            if task.name in kept:
                verdict, took = kept[task.name]
                verdicts[mutant.key] = _weaker(verdicts.get(mutant.key), verdict)
                spent += took
            else:
                waiting.setdefault(number, deque()).append(task)
    done, total = 0, sum(map(len, waiting.values()))
    file.parent.mkdir(parents=True, exist_ok=True)
    cut = file.exists() and file.read_text()[-1:] not in ("", "\n")
    with (
        tempfile.TemporaryDirectory() as name,
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool,
        file.open("a") as growing,
    ):
        growing.write("\n" * cut)
        files = {number: Path(name) / f"{number}.pickle" for number in waiting}
        making = {
            pool.submit(_make, *stations[number][:2], sources, [task.mutant for task in tasks], files[number]): number
            for number, tasks in waiting.items()
        }
        running: dict[Future, Task] = {}
        ready: deque[Task] = deque()
        while making or running or ready:
            finished, _ = wait([*making, *running], return_when=FIRST_COMPLETED) if making or running else ((), ())
            for future in finished:
                result, took = future.result()
                spent += took
                if future in making:
                    tasks = waiting[making.pop(future)]
                    ready += [task for task in tasks if task.mutant.number not in result]
                    seen = [(task, result.get(task.mutant.number)) for task in tasks]
                    decided = [(task, Verdict("open", f"{SEEN} {cycle}"), 0.0) for task, cycle in seen if cycle]
                else:
                    decided = [(running.pop(future), result, took)]
                for task, verdict, proving in decided:
                    verdicts[task.mutant.key] = _weaker(verdicts.get(task.mutant.key), verdict)
                    growing.write(json.dumps([task.name, verdict.status, verdict.reason, round(proving, 3)]) + "\n")
                    done += 1
                growing.flush()
            while ready and len(running) < 2 * jobs:
                task = ready.popleft()
                known = verdicts.get(task.mutant.key)
                if known is not None and known.status == "open":  # in another station: it stays so
                    done += 1
                    continue
                running[pool.submit(_prove, files[task.station], task.mutant.number, seconds)] = task
            progress(done, total)
    return verdicts, spent / jobs


def _stations(
    top: str, config: Config, sources: Sequence[Path], survivors: Sequence[Mutant]
) -> list[tuple[str, dict[str, int], list[Mutant]]]:
    """Names and parameters of the stations, each with its survivors; for what is in none of them the whole core."""
    found = []
    for name, parameters, inside in elaborate.stations(points.elaborate(top, sources, config).getRoot(), top):
        here = [mutant for mutant in survivors if mutant.module in inside]
        if here:
            found.append((name, parameters, here))
    inside = {mutant.key for _, _, here in found for mutant in here}
    outside = [mutant for mutant in survivors if mutant.key not in inside]
    return [*found, (top, config.rtl_parameters(), outside)] if outside else found


def _read(file: Path) -> dict[str, tuple[Verdict, float]]:
    """What was proven before, and how long it took; a line that a stopped run did not finish is left out."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    rows = [json.loads(line) for line in lines if line.endswith("]\n")]
    return {name: (Verdict(status, reason), took) for name, status, reason, took in rows}


def _make(
    station: str, parameters: dict[str, int], sources: Sequence[Path], mutants: Sequence[Mutant], file: Path
) -> tuple[dict[int, int], float]:
    """Write a station's netlist; what a simulation sees to differ, by its number, with the cycle."""
    started = time.monotonic()
    netlist = elaborate.netlist(station, parameters, sources, mutants)
    with file.open("wb") as out:
        pickle.dump(netlist, out, pickle.HIGHEST_PROTOCOL)
    seen = Simulation(netlist).seen([mutant.number for mutant in mutants])
    return seen, time.monotonic() - started


@lru_cache(maxsize=1)
def _prover(file: Path, seconds: int) -> Prover:
    with file.open("rb") as found:
        return Prover(pickle.load(found), seconds)


def _prove(file: Path, mutant: int, seconds: int) -> tuple[Verdict, float]:
    started = time.monotonic()
    verdict = _prover(file, seconds).prove(mutant)
    return verdict, time.monotonic() - started


def _weaker(known: Verdict | None, found: Verdict) -> Verdict:
    """What holds in both of two stations."""
    order = ("open", "unreachable", "equivalent")
    return found if known is None or order.index(found.status) < order.index(known.status) else known
