# SPDX-License-Identifier: Apache-2.0
"""The mutants of a few modules against few programs: all are noticed or explained, and a blind comparison lets some live."""

import pytest

from tb import sim, toolchain
from tb.mutation import __main__ as command
from tb.mutation import campaign, execute, schemata

MODULES = ["bm_semaphores", "bm_matmul_skew", "bm_weight_fifo"]
SETTINGS = campaign.Settings(programs=12, jobs=1, modules=MODULES, configs=campaign.CONFIGS[:1])


@pytest.fixture(scope="module")
def figures():
    return campaign.to_dict(campaign.run(SETTINGS), "pytest")


def test_every_mutant_is_killed_or_explained(figures):
    assert [(item["line"], item["what"]) for item in figures["survivors"] if item["status"] == "hole"] == []
    assert figures["total"] > 150
    assert figures["killed"] > 0.9 * figures["total"]
    assert set(figures["by_module"]) == set(MODULES)
    assert all(counts["killed"] for counts in figures["by_module"].values())


def test_a_blind_comparison_lets_mutants_live(figures):
    """Without digests the skew's and the semaphores' registers are seen late or never."""
    blind = campaign.Settings(**{**SETTINGS.__dict__, "proofs": False, "blind": ["digest"]})
    seen = campaign.to_dict(campaign.run(blind), "pytest")
    assert seen["total"] == figures["total"]
    assert seen["killed"] < figures["killed"]
    everything = campaign.Settings(**{**SETTINGS.__dict__, "proofs": False, "blind": ["digest", "event", "level"]})
    assert campaign.to_dict(campaign.run(everything), "pytest")["killed"] == 0


def test_a_core_that_is_not_in_lockstep_is_no_base_for_mutants(tmp_path):
    """A fault that is there without any mutant must not count as so many kills."""
    config = campaign.CONFIGS[0]
    sources = toolchain.rtl_sources()
    mutants = campaign.find(config, sources, SETTINGS)
    fault = next(mutant for mutant in mutants if mutant.operator == "left out")
    built = execute.build(config, mutants)
    always_on = [schemata.Mutant(**{**fault.__dict__, "number": 0})]
    assert built.directory.exists() and always_on[0].number == 0
    recordings = campaign.record(config, SETTINGS)
    with pytest.raises(sim.SimulationError, match="Without a mutant"):
        execute.run(built, config, mutants[:1], recordings, unmutated=fault.number)


def test_the_exit_code_says_whether_there_are_holes(monkeypatch, tmp_path, capsys):
    def run(settings, progress):
        (mutant,) = campaign.find(campaign.CONFIGS[0], toolchain.rtl_sources(), SETTINGS)[:1]
        fates = [campaign.Fate(mutant, status, "because") for status in statuses]
        return campaign.Result(fates, 1.0, 2.0, 3, settings)

    monkeypatch.setattr(command.campaign, "run", run)
    path = tmp_path / "figures.json"
    statuses = ["killed", "equivalent", "hole"]
    assert command.main(["--every", "2", "--json", str(path)]) == 1
    assert "hole: rtl/" in capsys.readouterr().out
    assert '"holes": 1' in path.read_text()
    statuses = ["killed", "unreachable"]
    assert command.main(["--every", "2"]) == 0
