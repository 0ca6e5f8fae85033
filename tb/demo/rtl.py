# SPDX-License-Identifier: Apache-2.0
"""The RTL's part of the demo, in a process of its own beside the model's."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beatmatch.config import Config
from tb import sim
from tb.demo.session import PROGRESS
from tb.lockstep import runner
from tb.lockstep.job import JOB_VARIABLE, Item, Job, Result, read_results

SESSION = "tb.demo.session"


@dataclass
class Outcome:
    """What one program came to on the RTL.

    Attributes
    ----------
    lockstep : Result
    values : dict of str to numpy.ndarray or None
        The program's results as the RTL wrote them, from the write beats in its records; None after a divergence.
    """

    lockstep: Result
    values: dict[str, np.ndarray] | None


def build(config: Config, simulator: str) -> float:
    """Build the bench; returns the seconds it took, 0 if nothing changed."""
    return runner.build(config, simulator).seconds


def run(config: Config, simulator: str, programs: list[str], folder: Path) -> list[Outcome]:
    """Run program files in lockstep, up to the first that diverges."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    items = [Item(index, {"file": path}) for index, path in enumerate(programs)]
    job = Job(config.to_dict(), items, str(folder / "results.jsonl"))
    job.save(folder / "job.json")
    built = runner.build(config, simulator)
    sim.run(built, SESSION, env={JOB_VARIABLE: str(folder / "job.json")}, seed=1, directory=folder / "sim", dump=False)
    outcomes = []
    for result in read_results(Path(job.results)):
        values = None
        if not result.divergence:
            with np.load(folder / f"rtl-{result.index}.npz") as saved:
                values = dict(saved)
        outcomes.append(Outcome(result, values))
    return outcomes


def cycles_done(folder: Path) -> int:
    """Cycles that the run in this folder has driven so far."""
    try:
        return int((folder / PROGRESS).read_text() or 0)
    except OSError:
        return 0
