# SPDX-License-Identifier: Apache-2.0
"""The fast tier against the stepped tier over random programs, and against the RTL."""

import json
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from beatmatch.config import preset
from beatmatch.fast import Intervals
from tb.fast import __main__ as campaign
from tb.fast.bench import measure
from tb.lockstep import campaign as lockstep
from tb.lockstep import runner
from tb.toolchain import ROOT

SEED = 20261203
SIDE = "tb.fast.side:make"


def test_random_programs_have_the_same_events():
    """Errors, resets, stalls, every shape; more of them: `python -m tb.fast --programs 5000 --configs 500`."""
    figures = campaign.run(40, 20, SEED)
    assert figures["failures"] == []
    assert figures["programs"] == 40 and figures["events"] > figures["cycles"] / 4 > 5000


def test_plain_python_does_the_same(tmp_path):
    """Without numba the same functions run as they are written."""
    path = tmp_path / "fast.json"
    command = [sys.executable, "-m", "tb.fast", "--programs", "6", "--seed", str(SEED), "--json", str(path)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"BEATMATCH_NUMBA": "0"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(path.read_text())
    assert figures["programs"] == 6 and figures["mismatches"] == 0 and not figures["compiled"]


def late_rows(patch: Callable) -> None:
    """Give the fast tier rows at the array's edge that are one cycle late."""
    words = Intervals.words

    def late(self, station, kind):
        cycles, headers = words(self, station, kind)
        return cycles + np.int64((station, kind) == ("matmul", "row")), headers

    patch(Intervals, "words", late)


@pytest.mark.icarus
def test_the_rtl_has_the_events_of_the_fast_tier():
    """Records of the RTL, word by word, against events expanded from the fast tier's intervals."""
    (batch,) = lockstep.random_batches(10, 1, SEED, preset("tiny"))
    built = runner.build(batch.config, "icarus")
    results = runner.run(built, batch.config, batch.items, side=SIDE)
    assert [result.divergence for result in results if result.divergence] == []
    assert len(results) == 10 and sum(result.events for result in results) > 1000
    planted = {"patches": ["tests.sim.test_fast:late_rows"], "stop": True}
    results = runner.run(built, batch.config, batch.items, side=SIDE, **planted)
    assert (results[-1].divergence["kind"], results[-1].divergence["slot"]) == ("early", "row")


def test_the_bench_holds_the_tiers_side_by_side():
    figures = measure(preset("tiny"), 16, 32)
    assert figures["fast_cycles"] > 4 * figures["stepped_cycles"] and figures["intervals"] < figures["events"]
