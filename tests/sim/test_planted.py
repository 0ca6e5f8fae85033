# SPDX-License-Identifier: Apache-2.0
"""Planted faults in the RTL and in the model: the lockstep run finds each, with the predicted kind and unit."""

import pytest

from beatmatch.config import preset
from tb.lockstep import plant, replay, runner, shrink
from tb.lockstep.failure import Failure
from tests.sim.faults import CONFIG, FAULTS

by_name = {fault.name: fault for fault in FAULTS}


@pytest.mark.icarus
@pytest.mark.parametrize("name", by_name)
def test_a_planted_fault_is_found(name):
    fault = by_name[name]
    found, _ = plant.catch(fault, "icarus")
    assert found is not None, f"{fault.what}: nothing differed"
    report = found.text()
    assert found.kind in fault.kinds, report
    assert found.station in fault.stations, report


@pytest.mark.icarus
def test_without_a_fault_the_same_programs_agree():
    built = runner.build(CONFIG, "icarus")
    results = runner.run(built, CONFIG, plant.random_items(1))
    assert [result.divergence for result in results] == [None] * plant.PROGRAMS


def test_every_edit_fits_its_file():
    """A fault whose source line has changed has to be written anew, not skipped."""
    for fault in FAULTS:
        if fault.edit:
            with plant.edited_sources(fault.edit) as sources:
                assert all(path.exists() for path in sources)
    assert len(FAULTS) >= 20
    assert len(by_name) == len(FAULTS)


def test_an_edit_that_fits_nowhere_is_refused():
    edit = plant.Edit("bm_core.sv", "no such line", "")
    with pytest.raises(ValueError, match="0 times"), plant.edited_sources(edit):
        pass


@pytest.mark.icarus
def test_the_wrong_register_is_named(tmp_path):
    """A digest that differs leads to the register, with row and column, and to the instruction."""
    fault = by_name["subtracted_product"]
    found, _ = plant.catch(fault, "icarus", drill=True, folder=tmp_path)
    assert found.kind == "digest"
    assert found.register["name"] == "sum"
    assert (found.row, found.col) == tuple(found.register["index"])
    assert found.instruction.startswith("MATMUL")


@pytest.mark.icarus
def test_a_failing_run_replays_with_waves_around_the_divergence(tmp_path):
    plant.catch(by_name["half_up"], "icarus", folder=tmp_path)
    found, recorded, waves = replay.replay(tmp_path)
    assert (found.cycle, found.kind) == (recorded.cycle, recorded.kind)
    assert waves.stat().st_size > 1000
    assert (tmp_path / "report.txt").read_text().startswith("╭")


@pytest.mark.icarus
def test_a_failing_program_shrinks(tmp_path):
    plant.catch(by_name["half_up"], "icarus", folder=tmp_path)
    failed = Failure.load(tmp_path)
    small = shrink.shrink(failed)
    assert len(small.program.instructions) <= 5
    assert small.divergence.kind == failed.divergence.kind


def test_bench_edit_changes_a_line_that_exists():
    from tb.bench_edit import CHANGE

    with plant.edited_sources(CHANGE):
        assert preset("base").rows == 16
