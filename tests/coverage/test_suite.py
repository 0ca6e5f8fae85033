# SPDX-License-Identifier: Apache-2.0
"""The suite: its programs can be made, its choice is a cover, and what it covers has been compared with the RTL."""

import numpy as np
import pytest

from beatmatch.config import Config
from beatmatch.machine import run_stepped
from tb.coverage import choose, runs, suite
from tb.coverage.collide import SCENARIOS, collide, look
from tb.coverage.groups import GROUPS
from tb.coverage.side import CoveredSide
from tb.coverage.suite import Entry
from tb.lockstep import runner
from tb.lockstep.job import Item
from tb.lockstep.streams import stream


def on_the_model(entry: Entry) -> dict[str, list[str]]:
    """What a program hits."""
    side = CoveredSide(entry, digest=False)
    assert sum(len(rows) for rows, _ in side.blocks()) > 0
    return side.notes()["hits"]


def test_the_chosen_programs_exist():
    entries = suite.chosen()
    assert len(entries) == len(set(entries)) > 100
    for entry in entries:
        kind = suite.KINDS[entry.kind]
        assert entry.config in kind.configs and 0 <= entry.variant < kind.variants, entry


@pytest.mark.parametrize(
    ("kind", "variant", "group", "label"),
    [
        ("refused", 0, "errors", "ILLEGAL_FIELD FRONTEND"),
        ("collide", 3, "simultaneous_errors", "STORE loses to FRONTEND"),
        ("collide", 6, "simultaneous_errors", "STORE loses to MATMUL"),
        ("stuck", 1, "errors", "DEADLOCK "),
        ("aimed", 1, "reset_states", "load at work"),
        ("twice", 2, "run_ends", "error"),
        ("visit", 0, "register_access", "CONFIG_MEMORY read"),
        ("pages", 0, "burst_splits", "load cut at 4 KiB"),
        ("busy_port", 0, "channels_together", "AR W"),
    ],
)
def test_directed_programs_do_what_they_are_for(kind, variant, group, label):
    hits = on_the_model(Entry("narrow", kind, variant, 5))
    assert any(found.startswith(label) for found in hits[group])


def test_a_visiting_host_changes_registers_only_where_it_may():
    """The visits leave the program's own run as it is."""
    entry = Entry("narrow", "random", 0, 3)
    plain = run_stepped(entry.program())
    side = CoveredSide(Entry("narrow", "visit", 0, 3), digest=False)
    for _ in side.blocks():
        pass
    assert side.machine.frontend.error_code == plain.error and side.machine.host.cycles == plain.cycles


def test_every_kind_has_a_program():
    for name, kind in suite.KINDS.items():
        if not kind.always and name not in ("overflow", "aimed"):  # these take seconds
            assert Entry(kind.configs[0], name, 0, 11).program().instructions is not None


def test_the_greedy_choice_covers_as_often_as_asked():
    hits = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 1]], bool)
    picked = choose.cover(hits, np.array([10, 10, 10, 10]), 2)
    assert (hits[picked].sum(axis=0) >= 2).all() and len(picked) == len(set(picked))
    assert choose.cover(hits[:1], np.array([10]), 3) == [0]  # as often as it can be


@pytest.mark.icarus
def test_coverage_is_told_only_of_what_agrees_with_the_rtl():
    """The same program beside the RTL: its hits as on the model; with a fault in the model the suite ends."""
    entry = Entry("narrow", "refused", 3, 21)
    built = runner.build(suite.CONFIGS["narrow"], "icarus")
    items = [Item(0, entry.source())]
    (result,) = runner.run(built, suite.CONFIGS["narrow"], items, side=runs.SIDE)
    assert result.divergence is None and result.notes["hits"] == on_the_model(entry)
    assert set(result.notes["hits"]) <= set(GROUPS)
    (wrong,) = runner.run(
        built, suite.CONFIGS["narrow"], items, side=runs.SIDE, patches=["tests.coverage.planted:late_done"]
    )
    assert wrong.divergence is not None
    with pytest.raises(runs.DivergenceError, match="diverged"):
        runs._complain([entry], [wrong])


@pytest.mark.parametrize("variant", range(len(SCENARIOS)), ids=SCENARIOS)
def test_two_errors_fall_together_on_a_core_with_a_port_for_weights_too(variant):
    config = Config(8, 4, 64, 4, 8, 1, 4, 3, 64, 1, 8, weight_port=1)
    program = collide(stream(1, "collide"), config, variant)
    assert look(program).raised > 0 and SCENARIOS[variant] in program.origin
