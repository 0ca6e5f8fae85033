# SPDX-License-Identifier: Apache-2.0
"""An edit of the core's time is found, and one row of the timing table puts the model in step with it."""

import pytest

from beatmatch import timing
from tb.toolchain import ROOT
from tests.sim import own_core

PROGRAMS = 6


def test_the_page_shows_the_edits_and_the_row():
    page = (ROOT / "docs/own_core.md").read_text()
    for edit in own_core.EDITS:
        for line in edit.new.strip().splitlines():
            assert line.strip() in page, line
    rows = {}
    own_core.two_product_stages(lambda target, name, value: rows.update(value))
    assert f'+    "product_stages": Latency("{rows["product_stages"].formula}"' in page
    assert f'-    "product_stages": Latency("{timing.TABLE["product_stages"].formula}"' in page


@pytest.mark.icarus
def test_another_pipeline_stage_is_out_of_step_until_the_table_says_so():
    _, found = own_core.run("icarus", 1, table=False)
    assert found is not None, "a register more, and nothing differed"
    assert (found.kind, found.station, found.slot) == ("late", "accumulator", "write"), found.text()
    assert (found.engine, found.actual_cycle) == ("matmul", found.expected_cycle + 1), found.text()
    assert found.instruction.startswith("MATMUL")

    results, found = own_core.run("icarus", PROGRAMS, table=True)
    assert found is None, found.text()
    assert len(results) == PROGRAMS
    assert all(result.events for result in results)


@pytest.mark.icarus
def test_a_table_without_the_edit_is_out_of_step_too(monkeypatch):
    """The row is what the comparison depends on, not the edit alone."""
    monkeypatch.setattr(own_core, "EDITS", ())
    _, found = own_core.run("icarus", 1, table=True)
    assert found is not None
    assert (found.kind, found.station, found.slot) == ("early", "accumulator", "write"), found.text()
