# SPDX-License-Identifier: Apache-2.0
"""Prove the properties of units: build each harness, ask about every check, collect the results."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tb.formal import netlist, prove
from tb.formal.counterexample import Counterexample, replay
from tb.formal.instrument import RESET, Check
from tb.formal.units import Unit, own_statement, sources, statements

RESET_SENTENCE = "Reset is low in the first cycle; afterwards it may fall at any time."


@dataclass
class Result:
    """What is known of one check at one set of parameters.

    Attributes
    ----------
    proven : bool
        No state that reset can lead to violates it, without a bound; for a cover statement always true.
    covered : bool
        Its antecedent is reachable, in the cycle `cover_cycle` at the earliest.
    """

    name: str
    unit: str
    statement: str
    flavour: str
    engine: str
    parameters: dict[str, int]
    seconds: float
    proven: bool
    covered: bool
    cover_cycle: int
    assumptions: list[str]
    said: str = ""
    counterexample: Counterexample | None = None


Task = tuple[Unit, dict[str, int], Path]


def prove_all(
    units: Sequence[Unit],
    folder: Path,
    jobs: int,
    limit: int,
    files: Callable[[Unit], Sequence[Path]] = sources,
    only: str = "",
    done: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Results of all checks of `units`, in order; `done` hears of each as it comes.

    Parameters
    ----------
    folder : Path
        Where graphs, witnesses and waves go.
    jobs : int
        Solvers at a time.
    limit : int
        Seconds for one question.
    files : callable
        Sources of a unit; planted faults replace some.
    only : str
        Names of checks must contain this.
    """
    tasks = [
        (unit, parameters, folder / f"{unit.name}.{number}")
        for unit in units
        for number, parameters in enumerate(unit.variants)
    ]

    def build(task: Task) -> list[Check]:
        unit, parameters, place = task
        return netlist.build(place, unit.top, files(unit), parameters)

    with ThreadPoolExecutor(jobs) as pool:
        builds = {pool.submit(build, task): number for number, task in enumerate(tasks)}
        waiting: dict[int, list[Future[Result]]] = {}
        for built in as_completed(builds):  # a slow build holds up nobody else's proofs
            number, checks = builds[built], built.result()
            task = tasks[number]
            assumed = assumptions(task[0], checks)
            asked = [c for c in checks if c.flavour != "assume" and only in c.name and c.name not in task[0].holes]
            together = [check.name for check in asked if check.flavour == "assert"]
            waiting[number] = [pool.submit(_judge, task, check, assumed, together, limit, done) for check in asked]
        results = [entry.result() for number in sorted(waiting) for entry in waiting[number]]
    withdraw(results)
    return results


def withdraw(results: Sequence[Result]) -> None:
    """Take back what was proven by induction where an assertion that the induction assumed is not proven."""
    failed: dict[tuple[str, str], str] = {}
    for result in results:
        if not result.proven:
            failed.setdefault((result.unit, str(result.parameters)), result.name)
    for result in results:
        missing = failed.get((result.unit, str(result.parameters)))
        if result.proven and missing and result.engine in prove.STEPS:
            result.proven = False
            result.said = f"its induction assumes {missing}, which is not proven"


def assumptions(unit: Unit, checks: Sequence) -> list[str]:
    """The sentences that a unit's proofs rest on."""
    said = statements(unit.harness)
    names = [check.name for check in checks if check.flavour == "assume"]
    unsaid = [name for name in names if name not in said]
    if unsaid:
        raise netlist.FormalError(f"{unit.harness.name}: write a sentence above the assumption {unsaid[0]}.")
    return [f"{RESET}: {RESET_SENTENCE}", *(f"{name}: {said[name]}" for name in names)]


def _judge(
    task: Task, check: Check, assumed: list[str], together: list[str], limit: int, done: Callable[[Result], None]
) -> Result:
    unit, parameters, folder = task
    started = time.monotonic()
    said = statements(unit.harness)
    statement = said.get(check.name) or own_statement(check)
    positions = netlist.outputs(folder)
    stem = check.name.replace("/", "_")
    cover = _ask(folder, positions, f"cov.{check.name}", f"{stem}.cover", "pdr", limit)
    bad = prove.Answer("never", -1, 0.0)
    if check.flavour == "assert":
        bad = _violation(unit, folder, positions, check.name, together, limit)
    result = Result(
        check.name, unit.name, statement, check.flavour, unit.engines.get(check.name, unit.engine), parameters, 0.0,
        bad.verdict == "never", cover.verdict == "reached", cover.frame, assumed,
        f"violation: {bad.verdict} {bad.said}; cover: {cover.verdict} {cover.said}",
    )  # fmt: skip
    if bad.verdict == "reached":
        result.counterexample = replay(folder, unit.top, check.name, positions[f"bad.{check.name}"], limit)
    result.seconds = round(time.monotonic() - started, 2)
    done(result)
    return result


def _violation(
    unit: Unit, folder: Path, positions: dict[str, int], name: str, together: list[str], limit: int
) -> prove.Answer:
    engine = unit.engines.get(name, unit.engine)
    if engine not in prove.STEPS:
        return _ask(folder, positions, f"bad.{name}", f"{name}.bad", engine, limit)
    if f"bad.{name}" not in positions:
        return prove.Answer("never", -1, 0.0, "constant")
    assumed = [positions[f"bad.{other}"] for other in together if f"bad.{other}" in positions]
    return prove.induct(folder, positions[f"bad.{name}"], assumed, f"{name}.bad", engine, limit)


def _ask(folder: Path, positions: dict[str, int], question: str, stem: str, engine: str, limit: int) -> prove.Answer:
    if question not in positions:
        return prove.Answer("never", -1, 0.0, "constant")
    return prove.ask(folder, positions[question], stem, engine, limit)
