# SPDX-License-Identifier: Apache-2.0
"""Model and RTL of the whole core agree in every word of every cycle: random programs, and the hand-derived ones."""

from pathlib import Path

import pytest

from beatmatch.config import Config, preset
from tb.lockstep import campaign, runner
from tb.lockstep.job import Item
from tests.model.micro_programs import all_programs
from tests.model.test_micro_programs import as_program
from tests.sim.faults import CONFIG

SEED = 20261202
PROGRAMS = 24
"""Per configuration that both simulators run."""


def run(sim: str, batches: list[campaign.Batch]) -> dict:
    """The summary of a campaign without a divergence."""
    summary = campaign.run(batches, sim, SEED)
    assert [result.divergence for result in summary.results if result.divergence] == []
    return summary.to_dict()


@pytest.mark.parametrize("config", [preset("tiny"), CONFIG], ids=["tiny", "odd"])
@pytest.mark.icarus
def test_both_simulators_agree_with_the_model_and_each_other(config):
    """The same random programs, the same hash over every record."""
    hashes = set()
    for sim in ("verilator", "icarus"):
        found = run(sim, campaign.random_batches(PROGRAMS, 1, SEED, config))
        assert found["cycles"] > 300 * PROGRAMS and found["events"] > found["cycles"] / 4
        hashes.add(found["trace_sha256"])
    assert len(hashes) == 1


@pytest.mark.icarus
def test_random_configurations_agree():
    """Every shape, bank count and width that the generator draws; more of them: `beatmatch lockstep --random`."""
    batches = campaign.random_batches(20, 10, SEED)
    found = run("icarus", batches)
    assert found["configs"] == 10 and found["programs"] == 20


@pytest.mark.icarus
def test_the_hand_derived_programs_take_their_cycles_on_the_rtl(tmp_path):
    """The stepped model keeps the page of timing (`test_micro_programs`); here the RTL keeps up with it."""
    groups: dict[Config, list[Path]] = {}
    for micro in all_programs():
        program = as_program(micro)
        paths = groups.setdefault(program.config, [])
        paths.append(tmp_path / f"{program.config.digest()}-{len(paths)}.bmp")
        program.save(paths[-1])
    for config, paths in groups.items():
        items = [Item(index, {"file": str(path)}) for index, path in enumerate(paths)]
        results = runner.run(runner.build(config, "icarus"), config, items)
        assert len(results) == len(paths)
        assert [result.divergence for result in results if result.divergence] == []
