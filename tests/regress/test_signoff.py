# SPDX-License-Identifier: Apache-2.0
"""Sign-off runs all of its steps, believes no step without its figures, and goes on where it stopped."""

import io
import json

import pytest
from rich.console import Console

from tb.regress import signoff
from tb.regress.signoff import STATE, STEPS, SignOff, Step


def step(name, code, parts=()):
    return Step(name, ("-c", code), parts)


def run(root, steps, resume=False):
    out = Console(file=io.StringIO(), width=200)
    made = SignOff(steps, root, resume=resume)
    good = made.run(out)
    out.print(made.table())
    return good, {name: row["result"] for name, row in made.state.items()}, out.file.getvalue()


def writes(root, name):
    return f"import pathlib; pathlib.Path({str(root / 'parts' / name)!r}).write_text('x')"


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    """Sources that do not change while a test runs, whoever edits them."""
    monkeypatch.setattr(signoff, "sources", lambda: "0123")


def test_a_failing_step_stops_nothing_and_counts(tmp_path):
    steps = [step("bad", "raise SystemExit(3)"), step("good", writes(tmp_path, "a.json"), ("a.json",))]
    good, results, shown = run(tmp_path, steps)
    assert not good and results == {"bad": "fail", "good": "pass"} and "exit code 3" in shown


def test_a_step_that_leaves_no_figures_has_failed(tmp_path):
    good, results, shown = run(tmp_path, [step("silent", "", ("a.json",))])
    assert not good and results == {"silent": "fail"} and "it left no a.json" in shown


def test_what_passed_is_not_run_again(tmp_path):
    once = tmp_path / "once"
    first = step("first", f"open({str(once)!r}, 'x')")  # fails if it runs twice
    assert not run(tmp_path, [first, step("second", "raise SystemExit(1)")])[0]
    good, results, _ = run(tmp_path, [first, step("second", "")], resume=True)
    assert good and results == {"first": "pass", "second": "pass"}
    state = json.loads((tmp_path / STATE).read_text())
    state["sources"] = "of other sources"
    (tmp_path / STATE).write_text(json.dumps(state))
    assert not run(tmp_path, [first, step("second", "")], resume=True)[0], "results of other sources were believed"


@pytest.mark.parametrize("name", ["regress", "tests", "reruns", "testplan", "report"])
def test_the_steps_are_commands_of_this_repository(name):
    assert [found.name for found in STEPS].count(name) == 1
    assert STEPS[-1].name == "report" and STEPS[-2].name == "testplan"
