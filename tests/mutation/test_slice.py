# SPDX-License-Identifier: Apache-2.0
"""The mutants of three modules against few programs: all are killed, and a blind comparison lets them live."""

import dataclasses

import numpy as np
import pytest

from tb import sim, toolchain
from tb.mutation import __main__ as command
from tb.mutation import campaign, execute, figures, recordings, stimuli, triage

MODULES = ["bm_fifo", "bm_matmul_skew", "bm_vector_trace"]
SETTINGS = campaign.Settings(programs=12, kinds=["reset"], jobs=1, modules=MODULES, configs=campaign.CONFIGS[:1])


def programs(config):
    most, late = stimuli.choose(SETTINGS.seed, SETTINGS.programs, config, SETTINGS.kinds)
    assert not late
    return most


@pytest.fixture(scope="module")
def seen():
    return figures.to_dict(campaign.run(SETTINGS), "pytest")


def test_every_mutant_is_killed(seen):
    assert [(item["module"], item["line"], item["what"]) for item in seen["survivors"]] == []
    assert seen["total"] == seen["killed"] > 150
    assert set(seen["by_module"]) == set(MODULES)


@pytest.mark.parametrize("kinds", [["digest"], ["digest", "event", "level"]])
def test_a_blind_comparison_lets_mutants_live(seen, kinds):
    config = SETTINGS.configs[0]
    mutants = campaign.find(config, toolchain.rtl_sources(), SETTINGS)
    file = recordings.prepare(config, programs(config), lambda *_: None)
    some = [mutant for mutant in mutants if mutant.module == "bm_vector_trace"][::12]
    outcomes = execute.run(execute.build(config, mutants), config, some, file, blind=kinds)
    killed = [outcome for outcome in outcomes.values() if outcome["cycle"] is not None]
    assert len(killed) < len(outcomes) == len(some)
    assert bool(killed) == (kinds == ["digest"])  # a part of the trace of vector is events; in the end nothing is left


def test_survivors_are_explained_on_their_station(tmp_path):
    """The lowest bit that is set, x & -x: of two bits, x + 1 does for -x = ~x + 1; of four it does not."""
    config = SETTINGS.configs[0]
    settings = dataclasses.replace(SETTINGS, modules=["bm_scratchpad_bank"])
    found = campaign.find(config, toolchain.rtl_sources(), settings)
    mutants = {mutant.original: mutant for mutant in found if mutant.operator == "no negation"}
    survivors, file = list(mutants.values()), tmp_path / "proofs.jsonl"
    verdicts, _ = triage.explain(campaign.TOP, config, toolchain.rtl_sources(), survivors, 8, 1, file=file)
    assert verdicts[mutants["~write_i"].key].status == "equivalent"
    assert verdicts[mutants["~read_i"].key].status == "open"


def test_a_core_that_is_not_in_lockstep_kills_no_mutant(tmp_path):
    config = SETTINGS.configs[0]
    mutants = campaign.find(config, toolchain.rtl_sources(), SETTINGS)
    file = recordings.prepare(config, programs(config), lambda *_: None)
    with np.load(file) as data:
        arrays = dict(data)
    arrays["records3"][17, 2] ^= 1
    np.savez(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(sim.SimulationError, match=r"Without a mutant random .* differs in cycle 17"):
        execute.run(execute.build(config, mutants), config, mutants[:1], tmp_path / "wrong.npz")


def test_the_exit_code_says_whether_there_are_holes(monkeypatch, tmp_path, capsys):
    mutant = campaign.find(SETTINGS.configs[0], toolchain.rtl_sources(), SETTINGS)[0]
    statuses = []

    def run(settings, progress):
        return campaign.Result([campaign.Fate(mutant, status) for status in statuses], 1.0, 2.0, 3, settings)

    monkeypatch.setattr(command.campaign, "run", run)
    path = tmp_path / "figures.json"
    statuses[:] = ["killed", "equivalent", "hole"]
    assert command.main(["--every", "2", "--json", str(path)]) == 1
    assert f"hole: rtl/lib/{mutant.module}.sv:{mutant.line}" in capsys.readouterr().out
    assert '"holes": 1' in path.read_text()
    statuses[:] = ["killed", "unreachable"]
    assert command.main(["--every", "2"]) == 0
