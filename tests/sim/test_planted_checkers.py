# SPDX-License-Identifier: Apache-2.0
"""Faults in the checkers and the environment: a slice of `python -m tb.planted`, and that its table can fail."""

import re

import pytest

from tb.planted import insim, table
from tb.planted.detectors import DETECTORS, PASSED
from tb.planted.plant import Edit, Plant, changed_source, planted
from tb.toolchain import ROOT

QUICK = [plant for plant in table.CHEAP if not plant.detector.startswith("tests:")]


def test_there_are_enough_and_each_fits_its_file():
    """A fault whose line has changed has to be written anew, not skipped."""
    assert len(table.ALL) >= 30
    assert len({plant.name for plant in table.ALL}) == len(table.ALL)
    for plant in table.ALL:
        assert plant.edit is None or changed_source(plant.edit) != (ROOT / plant.edit.file).read_text()


@pytest.mark.parametrize("detector", DETECTORS)
def test_sound_code_passes_every_detector(detector):
    assert table.finding(None, detector) == PASSED


@pytest.mark.parametrize("plant", QUICK, ids=lambda plant: plant.name)
def test_a_fault_is_caught_as_predicted(plant):
    row = table.row(plant, table.finding(plant))
    assert row.caught, f"{row.what}: {row.found} is not {row.expected}"


@pytest.mark.icarus
def test_faults_of_the_bench_are_caught_on_the_rtl():
    rows = table.run(insim.ROWS)
    assert [row for row in rows if not row.caught] == []


def test_the_table_can_fail():
    """A fault that changes nothing is not caught, and one of another kind than predicted is none either."""
    harmless = Edit("tb/lockstep/compare.py", "HISTORY = 96\n", "HISTORY = 95\n")
    lived = table.finding(Plant("harmless", "less history", "lockstep", ".*", harmless))
    assert lived == PASSED
    assert not table.row(Plant("harmless", "less history", "lockstep", ".*", harmless), lived).caught
    other = next(plant for plant in table.CHEAP if plant.name == "late_event")
    assert not table.row(other, "early port.ar").caught


def test_an_edit_is_taken_back():
    from tb.lockstep.streams import derive

    before = derive(1, "x")
    edit = next(plant.edit for plant in table.CHEAP if plant.name == "base_seed_ignored")
    with planted(edit):
        assert derive(1, "x") == derive(2, "x")
    assert derive(1, "x") == before != derive(2, "x")


def test_an_edit_that_fits_nowhere_or_does_nothing_is_refused():
    with pytest.raises(ValueError, match="0 times"), planted(Edit("tb/lockstep/job.py", "no such line", "")):
        pass
    comment = Edit("tb/lockstep/compare.py", "# cycles before (and,", "# cycles behind (and,")
    with pytest.raises(ValueError, match="changes no function"), planted(comment):
        pass


def test_the_page_lists_every_fault():
    """`python -m tb.planted --page docs/planted.md` writes it."""
    page = (ROOT / "docs/planted.md").read_text()
    for plant in table.ALL:
        assert re.search(rf"^\| {re.escape(plant.what)} \|", page, re.M), (
            f"run `python -m tb.planted --page`: {plant.name}"
        )
