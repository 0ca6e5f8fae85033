# SPDX-License-Identifier: Apache-2.0
"""The test plan (``docs/testplan.toml``): read, held against what exists, and its results from the runs' figures."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tb.toolchain import ROOT

PLAN = ROOT / "docs" / "testplan.toml"
STAGES = ("V1", "V2", "V3")
KEYS = {"name", "stage", "description", "tests", "coverage"}
ASIDE = ("tests/repo/",)
"""Tests about the repository's shape, its documents and its reports: they are about no testpoint of the core."""

RUNS: dict[str, str] = {
    "regress:verilator": "regress-verilator",
    "regress:icarus": "regress-icarus",
    "nightly:verilator": "nightly-verilator",
    "nightly:icarus": "nightly-icarus",
    "networks:verilator": "networks-verilator",
    "uvm": "uvm",
    "mutation:rtl": "mutants-rtl",
    "mutation:model": "mutants-model",
    "formal": "formal",
    "faults": "faults",
    "planted": "planted",
    "reruns": "reruns",
    "coverage": "coverage",
}
"""Runs that a testpoint can name, and the part of the report that has their figures."""


class PlanError(ValueError):
    """A test plan that cannot be read; the text says what is wrong in one sentence."""


@dataclass(frozen=True)
class Testpoint:
    """One thing that has to be shown."""

    __test__ = False  # for pytest: no class of tests
    name: str
    stage: str
    description: str
    tests: tuple[str, ...]
    coverage: tuple[str, ...] = ()


def load(path: Path = PLAN) -> list[Testpoint]:
    """The testpoints of a file. Raises PlanError if one is not complete, or has the name of another."""
    try:
        rows = tomllib.loads(path.read_text())["testpoint"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise PlanError(f"{path.name} holds no test plan: {error}.") from None
    points: list[Testpoint] = []
    for row in rows:
        name = row.get("name", f"number {len(points) + 1}")
        unknown = set(row) - KEYS
        if unknown:
            raise PlanError(f"Testpoint {name} has the unknown key {sorted(unknown)[0]}.")
        for key in ("name", "stage", "description"):
            if not row.get(key):
                raise PlanError(f"Testpoint {name} has no {key}.")
        if row["stage"] not in STAGES:
            raise PlanError(f"Testpoint {name} is of stage {row['stage']}; the stages are {', '.join(STAGES)}.")
        if name in {point.name for point in points}:
            raise PlanError(f"There are two testpoints {name}.")
        tests, coverage = tuple(row.get("tests", ())), tuple(row.get("coverage", ()))
        points.append(Testpoint(name, row["stage"], row["description"], tests, coverage))
    return points


def tests_of(folder: Path = ROOT / "tests") -> list[str]:
    """Ids of all test functions under a folder, ``file::test``; found in the source, without importing it."""
    found = []
    for path in sorted(folder.rglob("test_*.py")):
        name = path.relative_to(folder.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found.append(f"{name}::{node.name}")
    return found


def problems(points: Sequence[Testpoint], tests: Sequence[str], groups: Iterable[str]) -> list[str]:
    """What is wrong with a plan, a sentence each; `groups` are the names of all coverage groups."""
    known, found = set(groups), []
    for point in points:
        if not point.tests:
            found.append(f"Testpoint {point.name} has no test.")
        for test in point.tests:
            if test not in RUNS and not any(fnmatchcase(name, test) for name in tests):
                found.append(f"Testpoint {point.name} names {test}, which is neither a test nor a run.")
        for group in point.coverage:
            if group not in known:
                found.append(f"Testpoint {point.name} names the coverage group {group}, which does not exist.")
    patterns = [test for point in points for test in point.tests if test not in RUNS]
    for name in tests:
        if not name.startswith(ASIDE) and not any(fnmatchcase(name, pattern) for pattern in patterns):
            found.append(f"The test {name} belongs to no testpoint.")
    named = {group for point in points for group in point.coverage}
    found += [f"The coverage group {group} belongs to no testpoint." for group in sorted(known - named)]
    return found


def never_sampled(coverage: dict[str, Any]) -> list[str]:
    """A sentence for each group that a coverage run has not hit once."""
    return [f"The coverage group {row['name']} was never sampled." for row in coverage["groups"] if not row["hit"]]


def outcomes(xml: Path) -> dict[str, list[str]]:
    """What became of the cases of each test function in a JUnit file: ``pass``, ``fail`` or ``not run`` (skipped)."""
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(xml).iter("testcase"):
        module, name = case.get("classname", ""), case.get("name", "").partition("[")[0]
        children = {child.tag for child in case}
        result = "fail" if children & {"failure", "error"} else "not run" if "skipped" in children else "pass"
        found.setdefault(f"{module.replace('.', '/')}.py::{name}", []).append(result)
    return found


def verdict(results: Iterable[str]) -> str:
    """One result of many: a failure counts most, then what was not run."""
    seen = set(results)
    for result in ("fail", "not run"):
        if result in seen:
            return result
    return "pass" if seen else "not run"


def run_result(run: str, part: dict[str, Any] | None) -> str:
    """Whether a run passed, from its figures."""
    if part is None:
        return "not run"
    kind = run.partition(":")[0]
    if kind in ("regress", "nightly", "networks"):
        good = not part["mismatches"] and all(part[name] >= least for name, least in part["least"].items())
    elif kind == "uvm":
        good = not part["mismatches"] and part["programs"] > 0
    elif kind == "mutation":
        good = part["holes"] == 0 if run == "mutation:rtl" else part["killed"] >= 0.98 * _judged(part) > 0
    elif kind == "formal":
        good = part["proven"] == part["properties"] <= part["covers"] and part["properties"] > 0
    elif kind == "faults":
        good = part["flagged"] == part["unmasked"] > 0
    elif kind == "planted":
        good = part["caught"] == part["total"] > 0
    elif kind == "reruns":
        good = part["flaky"] == 0 < part["reruns"]
    else:
        good = part["functional"] >= 100 and part["line"] >= 100 and part["branch"] >= 100 and part["toggle"] >= 98
    return "pass" if good else "fail"


def _judged(part: dict[str, Any]) -> int:
    """Mutants that could have been killed."""
    return part["total"] - part["equivalent"] - part.get("unreachable", 0)


def results(points: Sequence[Testpoint], parts: Path) -> dict[str, Any]:
    """The plan with the result of each testpoint, from the part files of a folder."""
    xml = parts / "tests.xml"
    cases = outcomes(xml) if xml.exists() else {}
    figures = {run: _part(parts / f"{name}.json") for run, name in RUNS.items()}
    groups = {row["name"]: row for row in (figures["coverage"] or {"groups": []})["groups"]}

    def of_test(test: str) -> str:
        if test in RUNS:
            return run_result(test, figures[test])
        return verdict(result for name, seen in cases.items() if fnmatchcase(name, test) for result in seen)

    def of_group(name: str) -> str:
        return "not run" if name not in groups else "pass" if groups[name]["hit"] else "fail"

    rows = []
    for point in points:
        result = verdict([*map(of_test, point.tests), *map(of_group, point.coverage)])
        rows.append({**vars(point), "tests": list(point.tests), "coverage": list(point.coverage), "result": result})
    stages = {stage: _stage([row for row in rows if row["stage"] == stage]) for stage in STAGES}
    return {"testpoints": rows, "stages": stages}


def _part(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text()) if path.exists() else None


def _stage(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many testpoints there are, and of each result."""
    counts = {result: sum(row["result"] == result for row in rows) for result in ("pass", "fail", "not run")}
    return {"testpoints": len(rows), **counts}
