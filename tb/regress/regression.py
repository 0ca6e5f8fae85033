# SPDX-License-Identifier: Apache-2.0
"""A whole regression: plan, run, collect failures, compare the simulators, write parts and history."""

from __future__ import annotations

import datetime
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from beatmatch.config import Config
from tb.lockstep.campaign import Batch
from tb.regress import engine, failures, figures, pools, screen
from tb.regress.chunks import split
from tb.regress.plan import SIMS, VOLUMES, plan
from tb.regress.store import HISTORY, REPORT, RUNS, Store, write_part

HISTORY_KEYS = ("kind", "sim", "seed", "fingerprint", "programs", "configs", "cycles", "mismatches", "seconds")


@dataclass
class Options:
    """What to run, and how.

    Attributes
    ----------
    kind : str
        Which of `VOLUMES`.
    sims, seeds
        Simulators and base seeds.
    configs, config
        As in `plan`. A run on one given configuration leaves the report's parts alone.
    jobs : int
        Pieces at a time on this machine.
    resume, shrink : bool
        Go on with a stopped run; shrink the first program of each bucket.
    cluster : str or None
        Address of a Dask scheduler.
    patches : sequence of str
        Planted faults of the model.
    root : Path
        Where ``parts``, ``runs`` and the history go.
    """

    kind: str
    sims: Sequence[str] = SIMS
    seeds: Sequence[int] = (1,)
    configs: int | None = None
    config: Config | None = None
    jobs: int = 2
    resume: bool = False
    shrink: bool = False
    cluster: str | None = None
    patches: Sequence[str] = ()
    command: str = ""
    root: Path = REPORT

    def folder(self, name: str) -> Path:
        """Where parts or results go."""
        return (self.root if self.config is None else self.root / "custom") / name

    def header(self, sim: str) -> dict[str, Any]:
        """What the results under a simulator depend on."""
        config = self.config.digest() if self.config else None
        return {"kind": self.kind, "sim": sim, "seeds": list(self.seeds), "configs": self.configs, "config": config}


def run(options: Options, out: Console) -> list[dict[str, Any]]:
    """Run the regression on its simulators, one after the other; the parts, each as it was written."""
    parts = []
    for sim in options.sims:
        batches = plan(options.kind, sim, options.seeds, options.configs, options.config)
        parts.append(_one(options, sim, batches, out))
    _share(options, parts)
    for part in parts:
        write_part(f"{options.kind}-{part['sim']}", part, options.folder("parts"))
    return parts


def _one(options: Options, sim: str, batches: list[Batch], out: Console) -> dict[str, Any]:
    path = options.folder(RUNS.name) / f"{options.kind}-{sim}.jsonl"
    store = Store(path, options.header(sim), options.resume)
    done = store.done()
    chunks = [left for chunk in split(batches, sim) if (left := chunk.without(done)) is not None]
    if options.resume:
        went = f"{len(done):,} programs are done" if store.resumed else "nothing to resume: the run begins anew"
        out.print(f"{options.kind}, {sim}: {went}")
    with screen.progress(f"{options.kind}, {sim}", chunks, store, out) as step:
        settings = {"patches": options.patches, "progress": step}
        if options.cluster:
            with pools.cluster(options.cluster) as (pool, workers):
                engine.run(chunks, pool, workers, store, shared_builds=False, **settings)
        else:
            with pools.local(options.jobs) as pool:
                engine.run(chunks, pool, options.jobs, store, **settings)
    found = failures.collect(batches, sim, store, options.patches)
    part = figures.figures(options.kind, sim, options.seeds, batches, store, found)
    if options.shrink:
        failures.shrink_first(part["buckets"])
    part["command"] = options.command or f"python -m tb.regress {options.kind}"
    _remember(options, part)
    return part


def _remember(options: Options, part: dict[str, Any]) -> None:
    """A line of history: throughput over time."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    line = {"date": now, **{key: part[key] for key in (*HISTORY_KEYS, "build_seconds", "cycles_per_second")}}
    path = options.root / HISTORY.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _share(options: Options, parts: list[dict[str, Any]]) -> None:
    """Compare the traces of programs that both simulators ran; what is not run now is taken from its last run."""
    sides = {}
    if len(VOLUMES[options.kind]) < len(SIMS):
        return
    for sim in SIMS:
        path = options.folder(RUNS.name) / f"{options.kind}-{sim}.jsonl"
        store = Store.read(path, options.header(sim))
        if store is None:
            return  # never run, or with other seeds, or with other sources
        batches = plan(options.kind, sim, options.seeds, options.configs, options.config)
        sides[sim] = figures.hashes(batches, store)
    shared = figures.compare(*(sides[sim] for sim in SIMS))
    for part in parts:
        part["shared"] = {"programs": shared["programs"], "different": shared["different"]}
        part["shared_sha256"] = shared["sha256"][SIMS.index(part["sim"])] if shared["programs"] else None
    for sim in SIMS:  # the part of the simulator that did not run now learns of the comparison too
        path = options.folder("parts") / f"{options.kind}-{sim}.json"
        if sim not in {part["sim"] for part in parts} and path.exists():
            other = json.loads(path.read_text())
            other["shared"] = {"programs": shared["programs"], "different": shared["different"]}
            other["shared_sha256"] = shared["sha256"][SIMS.index(sim)] if shared["programs"] else None
            write_part(f"{options.kind}-{sim}", other, options.folder("parts"))


def problems(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Everything that makes a regression fail, a sentence each."""
    found = []
    for part in parts:
        name = f"{part['kind']} under {part['sim']}"
        if part["mismatches"]:
            found.append(f"{part['mismatches']} programs of {name} failed, in {len(part['buckets'])} buckets.")
        found += filter(None, [figures.shortfall(part)])
        if not part["steady"]:
            found.append(f"The sources changed while {name} ran: its results are about no one state of them.")
    for part in parts[:1]:
        shared = part.get("shared")
        if shared is None:
            continue
        if shared["different"]:
            found.append(f"The simulators left different traces of {len(shared['different'])} programs, "
                         f"first {shared['different'][0]}.")  # fmt: skip
        elif not shared["programs"]:
            found.append(f"{part['kind']}: the simulators ran no program both; give both the same configurations.")
    return found


def command_line(argv: Sequence[str]) -> str:
    """The command as a user would type it."""
    return shlex.join(["python", "-m", "tb.regress", *argv])
