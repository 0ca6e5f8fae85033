# SPDX-License-Identifier: Apache-2.0
"""Counters to shares: by hand on round numbers, and nothing to divide by in a run without a cycle."""

from types import SimpleNamespace

import pytest

from beatmatch.accounting import Accounting
from beatmatch.config import preset

COUNTERS = SimpleNamespace(
    cycles=200, active=100, weight_shift=30, weight_stall=20, non_matrix=50, raw_stall=8, input_stall=4, useful_macs=800
)


def test_shares_by_hand():
    run = Accounting.of(COUNTERS, preset("tiny"))  # 16 multiply-accumulates a cycle
    assert run.utilization == pytest.approx(800 / (200 * 16))
    assert run.shares() == pytest.approx(
        {
            "active_useful": 0.25,
            "active_unused": 0.25,
            "weight_shift": 0.15,
            "weight_stall": 0.1,
            "non_matrix": 0.25,
            "raw_stall": 0.04,
            "input_stall": 0.02,
        }
    )
    assert run.to_dict() == {**vars(COUNTERS), "peak_macs": 16, "utilization": run.utilization, "shares": run.shares()}


def test_a_run_without_a_cycle_has_no_shares():
    run = Accounting.of(SimpleNamespace(**dict.fromkeys(vars(COUNTERS), 0)), preset("tiny"))
    assert run.utilization == 0
    assert set(run.shares().values()) == {0}
