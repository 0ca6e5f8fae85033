# SPDX-License-Identifier: Apache-2.0
"""Stages of sign-off: what has to hold, as data, judged from the report's figures alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tb.toolchain import SIMULATORS

Report = dict[str, Any]
Stage = str
STAGES: tuple[Stage, ...] = ("V1", "V2", "V3")
MEANING = {
    "V1": "the tests pass, and random programs run in lockstep",
    "V2": "both simulators agree over many configurations; coverage and proofs are under way",
    "V3": "everything that a user would ask for before relying on the core",
}


@dataclass(frozen=True)
class Criterion:
    """One line of a stage.

    Attributes
    ----------
    stage, what : str
    bar : str
        What is demanded, in words.
    needs : tuple of tuple of str
        Paths of the parts that it is judged from.
    judge : callable
        Takes these parts; returns the figure reached, as text, and whether it meets the bar.
    """

    stage: Stage
    what: str
    bar: str
    needs: tuple[tuple[str, ...], ...]
    judge: Callable[..., tuple[str, bool]]


def _campaign(what: str, stage: Stage, part: str, programs: int, cycles: dict[str, int], configs: dict[str, int]):
    for sim in SIMULATORS:
        least_programs = programs if sim == "verilator" or part == "regress" else 1

        def judge(figures, sim=sim, least_programs=least_programs):
            reached = (
                f"{figures['programs']:,} programs, {figures['configs']} configurations, {figures['cycles']:,} cycles, "
                f"{figures['mismatches']} mismatches"
            )
            good = figures["programs"] >= least_programs and figures["cycles"] >= cycles[sim]
            return reached, good and figures["configs"] >= configs[sim] and figures["mismatches"] == 0

        bar = f">= {least_programs:,} programs, {configs[sim]} configurations, {cycles[sim]:,} cycles; 0 mismatches"
        yield Criterion(stage, f"{what}, {sim}", bar, ((part, sim),), judge)


def _least(stage: Stage, what: str, path: tuple[str, ...], key: str, least: float, unit: str = " %") -> Criterion:
    def judge(figures):
        return f"{figures[key]:g}{unit}", figures[key] >= least

    return Criterion(stage, what, f">= {least:g}{unit}", (path,), judge)


def _tests(figures):
    return f"{figures['passed']:,} of {figures['total']:,} passed", figures["total"] > 0 and figures["failed"] == 0


def _testplan(stage: Stage) -> Criterion:
    def judge(figures):
        points = [point for point in figures["testpoints"] if point["stage"] == stage]
        passed = sum(point["result"] == "pass" for point in points)
        return f"{passed} of {len(points)} pass", bool(points) and passed == len(points)

    return Criterion(stage, f"test plan, testpoints of {stage}", "all pass", (("testplan",),), judge)


def _hashes(verilator, icarus):
    """The programs that both simulators ran have to leave the same trace."""
    shared = [figures.get("shared_sha256") for figures in (verilator, icarus)]
    same = shared[0] is not None and shared[0] == shared[1]
    return "equal" if same else f"verilator {shared[0]}, icarus {shared[1]}", same


def _mutants(least: int, percent: float):
    def judge(figures):
        total, explained = figures["total"], figures["equivalent"] + figures.get("unreachable", 0)
        judged = total - explained
        score = 100 * figures["killed"] / judged if judged else 0.0
        reached = f"{total:,} mutants, {figures['killed']:,} killed, {explained:,} explained, {figures['holes']} holes"
        return reached, total >= least and score >= percent

    return judge


def _formal(figures):
    count = figures["properties"]
    reached = f"{figures['proven']} of {count} proven, {figures['covers']} covered, {figures['seconds']:.0f} s"
    return reached, count >= 60 and figures["proven"] == count and figures["covers"] >= count


def _faults(figures):
    reached = f"{figures['flips']:,} flips, {figures['flagged']:,} of {figures['unmasked']:,} unmasked flagged"
    latency = figures["median_latency_cycles"]
    good = figures["flips"] >= 5000 and figures["flagged"] == figures["unmasked"] > 0 and latency <= 1
    return f"{reached}, median latency {latency:g}", good


def _planted(figures):
    return f"{figures['caught']} of {figures['total']} caught", figures["total"] >= 30 and figures["caught"] == figures[
        "total"
    ]


def _reruns(figures):
    return f"{figures['reruns']} reruns, {figures['flaky']} flaky", figures["reruns"] >= 200 and figures["flaky"] == 0


def _waivers(figures):
    return str(figures["waivers"]), figures["waivers"] <= 10


def _uvm(figures):
    reached = f"{figures['programs']:,} programs, {figures['cycles']:,} cycles, {figures['mismatches']} mismatches"
    return reached, figures["programs"] > 0 and figures["cycles"] > 0 and figures["mismatches"] == 0


_REGRESS_CYCLES = {"verilator": 300_000, "icarus": 300_000}

CRITERIA: tuple[Criterion, ...] = (
    Criterion("V1", "tests", "none fails", (("tests",),), _tests),
    _testplan("V1"),
    Criterion("V1", "pyuvm environment", "0 mismatches", (("uvm",),), _uvm),
    *_campaign("regression", "V2", "regress", 300, _REGRESS_CYCLES, {"verilator": 6, "icarus": 30}),
    Criterion(
        "V2",
        "shared programs",
        "the same trace hash on both",
        (("regress", "verilator"), ("regress", "icarus")),
        _hashes,
    ),
    _least("V2", "functional coverage", ("coverage",), "functional", 90),
    _least("V2", "line coverage", ("coverage",), "line", 90),
    Criterion("V2", "planted faults", ">= 30, each caught as predicted", (("planted",),), _planted),
    _testplan("V2"),
    *_campaign(
        "nightly",
        "V3",
        "nightly",
        5_000,
        {"verilator": 10_000_000, "icarus": 500_000},
        {"verilator": 60, "icarus": 1},
    ),
    _least("V3", "functional coverage, each bin from 3 seeds", ("coverage",), "functional", 100),
    _least("V3", "line coverage", ("coverage",), "line", 100),
    _least("V3", "branch coverage", ("coverage",), "branch", 100),
    _least("V3", "toggle coverage of ports", ("coverage",), "toggle", 98),
    Criterion("V3", "waivers of code coverage", "<= 10", (("coverage",),), _waivers),
    Criterion("V3", "mutants of the RTL", ">= 5,000, no hole", (("mutants", "rtl"),), _mutants(5_000, 100)),
    Criterion("V3", "mutants of the model", ">= 500, 98 % killed", (("mutants", "model"),), _mutants(500, 98)),
    Criterion("V3", "proofs", ">= 60, all proven, each with a witness", (("formal",),), _formal),
    Criterion(
        "V3", "fault injection", ">= 5,000 flips, all unmasked flagged, median <= 1 cycle", (("faults",),), _faults
    ),
    Criterion("V3", "reruns", ">= 200, none flaky", (("reruns",),), _reruns),
    _testplan("V3"),
)


@dataclass(frozen=True)
class Verdict:
    """A criterion and what became of it; `met` is None if its run was not made."""

    criterion: Criterion
    reached: str
    met: bool | None


def _at(report: Report, path: tuple[str, ...]) -> Any:
    place: Any = report
    for name in path:
        place = (place or {}).get(name)
    return place


def judge(report: Report) -> list[Verdict]:
    """Every criterion against the figures."""
    verdicts = []
    for criterion in CRITERIA:
        parts = [_at(report, path) for path in criterion.needs]
        if any(part is None for part in parts):
            verdicts.append(Verdict(criterion, "not run", None))
        else:
            verdicts.append(Verdict(criterion, *criterion.judge(*parts)))
    return verdicts


def reached(verdicts: list[Verdict]) -> Stage | None:
    """The last stage up to which every criterion is met."""
    stage = None
    for name in STAGES:
        if not all(verdict.met for verdict in verdicts if verdict.criterion.stage == name):
            break
        stage = name
    return stage
