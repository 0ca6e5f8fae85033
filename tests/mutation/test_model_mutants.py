# SPDX-License-Identifier: Apache-2.0
"""A slice of `python -m tb.model_mutation`: a few mutants against a few recordings, and that all of it can fail."""

import ast
import dataclasses

import numpy as np
import pytest

from beatmatch.config import preset
from tb.model_mutation import explain, recording, server, summary
from tb.model_mutation.inject import InjectionError
from tb.model_mutation.judge import Judge, Witness
from tb.model_mutation.mutants import all_mutants, functions, sample
from tb.model_mutation.operators import OPERATORS, changed, changes

FILES = ("stations/port.py", "stations/semaphores.py", "stations/accumulator.py", "stations/array.py")
MUTANTS = [mutant for mutant in sample(400, 1) if mutant.file in FILES]
SECONDS = 60


@pytest.fixture(scope="module")
def judge():
    named = recording.programs(1, 4, (preset("tiny"),))
    chosen = {name: program for name, program in named.items() if name[5:] in {"0", "1", "2", "3", "deadlock", "bus"}}
    return Judge(recording.record(chosen), by_hand=False, tests=False)


@pytest.fixture(scope="module")
def verdicts(judge):
    server.baseline(judge)
    return server.run(MUTANTS, judge, 1, SECONDS)


@pytest.mark.icarus
def test_recordings_of_the_rtl_kill_most_mutants(verdicts):
    assert len(MUTANTS) >= 20
    alive = [verdict.mutant.what for verdict in verdicts if verdict.witness is None]
    assert len(alive) < len(MUTANTS) / 2, alive  # six programs of one configuration
    assert {verdict.mutant.file for verdict in verdicts if verdict.witness} == set(FILES)


@pytest.mark.icarus
def test_a_blind_comparison_lets_mutants_live(judge, verdicts):
    """What died by a difference lives if all blocks are equal; only crashes and runs of other lengths are left."""
    blind = dataclasses.replace(judge, equal=lambda left, right: True)
    differing = [v.mutant for v in verdicts if v.witness and "differ" in v.witness.detail]
    assert len(differing) > 10
    again = server.run(differing, blind, 1, SECONDS)
    assert sum(verdict.witness is None for verdict in again) > len(differing) / 3
    assert not any("differ" in verdict.witness.detail for verdict in again if verdict.witness)


@pytest.mark.icarus
def test_a_model_that_is_not_in_step_kills_no_mutant(judge):
    first = judge.recordings[0]
    wrong = dataclasses.replace(first, records=np.roll(first.records, 1, axis=0))
    with pytest.raises(server.BaselineError, match="unchanged model fails at recording"):
        server.baseline(dataclasses.replace(judge, recordings=[wrong]))


class Endless:
    """A judge that never comes to an end."""

    def witness(self, file):
        while True:
            pass


def test_a_mutant_that_does_not_end_is_noticed_and_one_that_cannot_be_made_is_no_kill():
    (verdict,) = server.run(MUTANTS[:1], Endless(), 1, 1)
    assert verdict.witness == Witness("processor time", "does not end")
    unknown = dataclasses.replace(MUTANTS[0], file="stations/port.py", function="Port.__init__", number=10**6)
    with pytest.raises(InjectionError, match="none of number"):
        server.run([unknown], Endless(), 1, 1)


def test_every_function_is_touched_and_every_mutant_is_a_change():
    mutants = sample(520, 1)
    assert len(mutants) >= 500
    assert {m.change.operator for m in mutants} == set(OPERATORS)
    assert len({m.id for m in all_mutants()}) == len(all_mutants())
    assert {(m.file, m.function) for m in mutants} == {(m.file, m.function) for m in all_mutants()}
    for mutant in mutants:
        if mutant.function:
            node = functions(mutant.file)[mutant.function]
            other = changed(node, mutant.number)
            assert ast.unparse(other) != ast.unparse(node)
            compile(ast.fix_missing_locations(ast.Module([other], [])), "mutant", "exec")


def test_operators_by_example():
    source = "def f(a, b):\n    if a < b and not a:\n        a += 1\n    return a == b"
    found = {(c.operator, c.before, c.after) for c in changes(ast.parse(source).body[0])}
    assert {
        ("comparison", "a < b", "a <= b"),
        ("boolean", "a < b and (not a)", "a < b or not a"),
        ("negation", "not a", "a"),
        ("always", "if a < b and (not a):", "if True:"),
        ("never", "if a < b and (not a):", "if False:"),
        ("arithmetic", "a += 1", "a -= 1"),
        ("dropped", "a += 1", "pass"),
        ("constant", "1", "2"),
        ("returned", "return a == b", "return not a == b"),
    } <= found


def test_explanations_are_of_mutants_that_exist():
    assert explain.stale() == []
    assert set(summary.STATUS) == set(explain.CATEGORIES)


def test_the_score_leaves_out_only_what_cannot_be_noticed():
    counts = {"total": 10, "killed": 8, "equivalent": 1, "unreachable": 0, "holes": 1}
    assert summary.score(counts) == pytest.approx(100 * 8 / 9)
