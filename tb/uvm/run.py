# SPDX-License-Identifier: Apache-2.0
"""Builds the core of a configuration and runs tests of the environment on it, all in one simulator process."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from beatmatch.config import Config
from tb import sim, toolchain
from tb.lockstep import runner
from tb.uvm.job import VARIABLE, Job

MODULE = "tb.uvm.tests"
RUNS = toolchain.SIM_BUILD / "uvm"


@dataclass
class Outcome:
    """What some tests came to.

    Attributes
    ----------
    passed : list of dict
        Figures of each test that passed, as `BaseTest` notes them.
    failed : dict of str to str
        Why, by name of the test.
    failures : list of dict
        Divergences: folder, headline, and the report as a dict.
    log : str
        The simulator's.
    """

    passed: list[dict[str, Any]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    log: str = ""


def run(
    config: Config,
    simulator: str,
    tests: Sequence[str],
    seed: int,
    *,
    programs: int | None = None,
    module: str = MODULE,
    sources: Sequence[Path] | None = None,
    patches: Sequence[str] = (),
) -> Outcome:
    """Run tests of a module; a test that fails is part of the outcome.

    Raises SimulationError if the simulator dies, or if it did not run each of the tests.
    """
    built = runner.build(config, simulator, sources=sources)
    RUNS.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="job-", dir=RUNS))
    job = Job(config.to_dict(), seed, str(folder / "results.jsonl"), programs, list(patches))
    job.sources = [str(path) for path in sources or ()]
    job.save(folder / "job.json")
    outcome = Outcome()
    failure: sim.SimulationError | None = None
    try:
        # The runner's own argument would also run every test whose name ends like one of these.
        wanted = f"^{re.escape(module)}\\.({'|'.join(map(re.escape, tests))})$"
        env = {VARIABLE: str(folder / "job.json"), "COCOTB_TEST_FILTER": wanted}
        sim.run(built, module, env=env, seed=seed, directory=folder / "sim", dump=False)
    except sim.SimulationError as error:
        failure = error
    log = folder / "sim" / "run.log"
    outcome.log = log.read_text(errors="replace") if log.exists() else ""
    ran = _read_xml(folder / "sim" / "results.xml", outcome)
    missing = [name for name in tests if name not in ran]
    if missing or (failure is not None and not outcome.failed):
        raise failure or sim.SimulationError(f"{', '.join(missing)} did not run: {module} has no such test.")
    for line in job.read_results():
        kind = line.pop("kind")
        if kind == "failure":
            outcome.failures.append(line)
        elif line["test"] not in outcome.failed:
            outcome.passed.append(line)
    noted = {line["test"] for line in outcome.passed}
    for name in ran - noted - set(outcome.failed):
        outcome.failed[name] = f"{name} ended without a verdict: it is no BaseTest."
    shutil.rmtree(folder)
    return outcome


def _read_xml(path: Path, outcome: Outcome) -> set[str]:
    """Names of the tests that ran; why those that failed did."""
    if not path.exists():
        return set()
    ran = set()
    for case in ElementTree.parse(path).iter("testcase"):
        name = case.get("name")
        ran.add(name)
        for child in case:
            if child.tag in ("failure", "error"):
                outcome.failed[name] = child.get("message") or child.text or child.tag
            elif child.tag == "skipped":
                outcome.failed[name] = "It was skipped."
    return ran
