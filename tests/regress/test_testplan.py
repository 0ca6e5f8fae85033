# SPDX-License-Identifier: Apache-2.0
"""The test plan holds: testpoints tested, tests planned, coverage groups known; and its checker can fail."""

import json

import pytest

from tb.coverage.groups import GROUPS
from tb.regress import testplan
from tb.regress.testplan import PlanError, Testpoint

POINT = Testpoint("order", "V1", "order is kept", ("tests/sim/test_a.py::test_*",), ("queues",))
TESTS = ["tests/sim/test_a.py::test_one", "tests/sim/test_a.py::test_two", "tests/repo/test_shape.py::test_three"]
TEXT = '[[testpoint]]\nname = "a"\nstage = "V1"\ndescription = "x"\ntests = ["uvm"]\n'


def test_the_plan_of_this_repository_holds():
    points = testplan.load()
    assert testplan.problems(points, testplan.tests_of(), GROUPS) == []
    assert 80 <= len(points) <= 150 and {point.stage for point in points} == set(testplan.STAGES)


def test_a_plan_without_gaps_has_no_problems():
    assert testplan.problems([POINT], TESTS, ["queues"]) == []


@pytest.mark.parametrize(
    ("changes", "tests", "groups", "says"),
    [
        ({"tests": ()}, TESTS[2:], ["queues"], "Testpoint order has no test."),
        ({"tests": ("tests/sim/test_b.py::*",)}, TESTS[2:], ["queues"], "neither a test nor a run"),
        ({"tests": ("regress:vcs",)}, TESTS[2:], ["queues"], "neither a test nor a run"),
        ({}, [*TESTS, "tests/sim/test_b.py::test_new"], ["queues"], "test_b.py::test_new belongs to no testpoint"),
        ({}, TESTS, [], "the coverage group queues, which does not exist"),
        ({}, TESTS, ["queues", "banks"], "The coverage group banks belongs to no testpoint."),
    ],
)
def test_every_gap_is_a_problem(changes, tests, groups, says):
    point = Testpoint(**{**vars(POINT), **changes})
    (found,) = testplan.problems([point], tests, groups)
    assert says in found


def test_a_group_that_was_never_sampled_is_a_problem():
    rows = [{"name": "queues", "hit": 3}, {"name": "banks", "hit": 0}]
    assert testplan.never_sampled({"groups": rows}) == ["The coverage group banks was never sampled."]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "a"', 'name = ""', "has no name"),
        ('stage = "V1"', 'stage = "V9"', "is of stage V9"),
        ('description = "x"\n', "", "has no description"),
        ("tests =", "test =", "unknown key test"),
        ("[[testpoint]]", "[[point]]", "holds no test plan"),
        ('"x"', '"x', "holds no test plan"),
    ],
)
def test_a_plan_that_cannot_be_read_is_refused(tmp_path, old, new, says):
    path = tmp_path / "plan.toml"
    path.write_text(TEXT)
    assert testplan.load(path)[0].tests == ("uvm",)
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(PlanError, match=says):
        testplan.load(path)
    path.write_text(TEXT + TEXT)
    with pytest.raises(PlanError, match="two testpoints a"):
        testplan.load(path)


def test_tests_are_found_in_the_source(tmp_path):
    (tmp_path / "tests/x").mkdir(parents=True)
    (tmp_path / "tests/x/test_y.py").write_text(
        "def test_a(): pass\nclass TestB:\n  def test_c(self): pass\ndef d(): pass"
    )
    assert testplan.tests_of(tmp_path / "tests") == ["tests/x/test_y.py::test_a", "tests/x/test_y.py::test_c"]


CASES = """<testsuites><testsuite>
<testcase classname="tests.sim.test_a" name="test_one[4]"/><testcase classname="tests.sim.test_a" name="test_one[8]">{}
</testcase><testcase classname="tests.sim.test_a" name="test_two"/></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("inside", "hit", "expected"),
    [
        ("", 2, "pass"),
        ("<failure/>", 2, "fail"),
        ("<error/>", 2, "fail"),
        ("<skipped/>", 2, "not run"),
        ("", 0, "fail"),
    ],
)
def test_results_come_from_the_figures_of_runs(tmp_path, inside, hit, expected):
    (tmp_path / "tests.xml").write_text(CASES.format(inside))
    rows = {"groups": [{"name": "queues", "hit": hit}], "functional": 50, "line": 90, "branch": 90, "toggle": 90}
    (tmp_path / "coverage.json").write_text(json.dumps(rows))
    part = testplan.results([POINT, Testpoint("night", "V3", "x", ("nightly:icarus",))], tmp_path)
    assert [row["result"] for row in part["testpoints"]] == [expected, "not run"]
    assert part["stages"]["V1"] == {
        "testpoints": 1,
        **{name: int(name == expected) for name in ("pass", "fail", "not run")},
    }


@pytest.mark.parametrize(
    ("run", "part", "worse"),
    [
        ("regress:icarus", {"mismatches": 0, "cycles": 9, "least": {"cycles": 9}}, {"cycles": 8}),
        ("nightly:icarus", {"mismatches": 0, "programs": 9, "cycles": 9, "least": {"programs": 9}}, {"mismatches": 1}),
        ("uvm", {"mismatches": 0, "programs": 1}, {"programs": 0}),
        ("mutation:rtl", {"holes": 0}, {"holes": 1}),
        ("mutation:model", {"total": 100, "killed": 98, "equivalent": 0}, {"killed": 97}),
        ("formal", {"properties": 2, "proven": 2, "covers": 2}, {"proven": 1}),
        ("faults", {"flagged": 5, "unmasked": 5}, {"flagged": 4}),
        ("planted", {"caught": 3, "total": 3}, {"caught": 2}),
        ("reruns", {"flaky": 0, "reruns": 9}, {"flaky": 1}),
        ("coverage", {"functional": 100, "line": 100, "branch": 100, "toggle": 98}, {"toggle": 97}),
    ],
)  # fmt: skip
def test_every_run_can_pass_fail_and_be_missing(run, part, worse):
    assert testplan.run_result(run, part) == "pass"
    assert testplan.run_result(run, {**part, **worse}) == "fail"
    assert testplan.run_result(run, None) == "not run"
