# SPDX-License-Identifier: Apache-2.0
"""What notices a mutant: the RTL's recordings, the cycles derived by hand, and the model's own tests, in this order.

Everything runs in the process that holds the mutant. The first witness that disagrees kills it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from beatmatch.machine import SteppedMachine
from tb.model_mutation.mutants import TARGETS
from tb.model_mutation.recording import Recording
from tb.toolchain import ROOT
from tests.model import test_micro_programs as hand

BLOCK = 256
"""Cycles between two comparisons."""
UNTIMED = ("functional.py", "sequence.py", "numerics.py")
"""Files that the stepped machine does not use: recordings say nothing about them."""
TESTS_FIRST = (*UNTIMED, "accounting.py", "trace.py", "stimulus.py", "memory/image.py", "memory/timing.py")
"""Files whose tests are likelier witnesses than a whole run."""
TESTS = {
    "agent": ("memory", "dram"),
    "control": ("control", "load_store"),
    "encode": ("encode", "legality", "asm"),
    "fetch": ("frontend",),
    "functional": ("functional", "functional_corners", "tiers"),
    "gearbox": ("load_store",),
    "host_agent": ("host_agent", "host_patience", "host"),
    "image": ("memory",),
    "load": ("load_store",),
    "machine": ("control", "functional_corners", "host_agent", "load_store", "weight_port", "dram"),
    "numerics": ("numerics", "oracle", "vector", "functional"),
    "port": ("load_store",),
    "row_bursts": ("load_store",),
    "semaphores": ("frontend",),
    "sequence": ("functional", "checker"),
    "store": ("load_store",),
    "timing": ("memory", "program", "dram"),
    "transfer": ("load_store",),
    "vector": ("vector", "functional_corners"),
    "vector_elements": ("vector", "functional_corners"),
    "vector_lanes": ("vector",),
    "weight_fifo": ("weights", "matmul"),
    "writer": ("load_store",),
}
"""Test files of the model that are about a file, by the file's stem and the middle of their names; by default the
one of the same name. Time stands in the recordings and derivations, so they need not all be run."""


@dataclass(frozen=True)
class Witness:
    """Who noticed a mutant, and by what."""

    name: str
    detail: str


@dataclass(frozen=True)
class Judge:
    """All that a mutant is confronted with.

    Attributes
    ----------
    recordings : sequence of Recording
    equal : callable
        How two blocks of words are compared; only the test of this tool puts another one in.
    by_hand, tests : bool
        Whether to go on with the hand-derived programs and the tests.
    """

    recordings: Sequence[Recording]
    equal: Callable[[np.ndarray, np.ndarray], bool] = np.array_equal
    by_hand: bool = True
    tests: bool = True

    def witness(self, file: str) -> Witness | None:
        """Who notices the mutant of a file that this process holds; None: it lives."""
        recorded, derived = self._recordings, self._derivations
        steps = [recorded, derived, self._tested]
        if file in UNTIMED:
            steps = [self._tested, derived]
        elif file in TESTS_FIRST:
            steps = [self._tested, recorded, derived]
        for step in steps:
            found = step(file)
            if found is not None:
                return found
        return None

    def _recordings(self, _: str) -> Witness | None:
        for recording in self.recordings:
            found = self._recorded(recording)
            if found:
                return Witness(f"recording {recording.name}", found)
        return None

    def _derivations(self, _: str) -> Witness | None:
        for micro in hand.SLOWED if self.by_hand else ():
            found = self._derived(micro)
            if found:
                return Witness(f"derivation {micro.name}", found)
        return None

    def _recorded(self, recording: Recording) -> str:
        """How the model's run departs from the RTL's; empty if it does not."""
        done = 0
        try:
            machine = SteppedMachine(recording.program, digest=True, block=BLOCK)
            while not machine.finished:
                rows, records = machine.run_block()
                span = slice(done, done + len(rows))
                if not self.equal(records, recording.records[span]):
                    return f"records differ in cycles {done} to {done + len(rows) - 1}"
                if not self.equal(rows, recording.stimulus[span]):
                    return f"stimulus differs in cycles {done} to {done + len(rows) - 1}"
                done += len(rows)
                if done > len(recording.records):
                    return f"ran on behind cycle {len(recording.records)}"
        except Exception as error:
            return _raised(error)
        return "" if done == len(recording.records) else f"ended after {done} of {len(recording.records)} cycles"

    @staticmethod
    def _derived(micro) -> str:
        try:
            found = hand.differences(micro, *hand.run(micro))
            hand.test_program_is_what_it_says(micro)
        except Exception as error:
            return _raised(error)
        return found[0] if found else ""

    def _tested(self, file: str) -> Witness | None:
        if not self.tests:
            return None
        stem = file.rpartition("/")[2].removesuffix(".py")
        paths = [_test_file(name) for name in TESTS.get(stem, (stem,))]
        found = [str(path) for path in paths if path.exists()]
        return run_tests(found) if found else None


def warm() -> None:
    """Import pytest's plugins and all test files here, so that no forked process has to."""
    stems = {file.rpartition("/")[2].removesuffix(".py") for file in TARGETS}
    paths = {path for stem in stems for name in TESTS.get(stem, (stem,)) if (path := _test_file(name)).exists()}
    run_tests(["--collect-only", *map(str, sorted(paths))])


def _test_file(name: str) -> Path:
    return ROOT / f"tests/model/test_{name}.py"


def run_tests(paths: Sequence[str]) -> Witness | None:
    """Run test files in this process, silently, up to the first failure, which is returned."""
    spy = _Spy()
    null = os.open(os.devnull, os.O_WRONLY)
    kept = os.dup(1), os.dup(2)
    os.dup2(null, 1), os.dup2(null, 2)
    try:
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", *paths], plugins=[spy])
    finally:
        os.dup2(kept[0], 1), os.dup2(kept[1], 2)
    if spy.failed is None and code != pytest.ExitCode.OK:
        return Witness("tests", f"pytest ended with {code}")
    return spy.failed


class _Spy:
    """A pytest plugin that remembers the first failure."""

    def __init__(self) -> None:
        self.failed: Witness | None = None

    def pytest_runtest_logreport(self, report) -> None:
        if report.failed and self.failed is None:
            self.failed = Witness(report.nodeid.replace("tests/", "", 1), str(report.longrepr).splitlines()[-1][:200])

    def pytest_collectreport(self, report) -> None:
        if report.failed and self.failed is None:
            self.failed = Witness(report.nodeid, "cannot be collected")


def _raised(error: Exception) -> str:
    return f"raised {type(error).__name__}: {error}"[:200]
