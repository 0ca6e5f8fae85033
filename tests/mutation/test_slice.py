# SPDX-License-Identifier: Apache-2.0
"""The mutants of a few modules against few programs: all are explained; a blind comparison lets more of them live."""

import dataclasses

import numpy as np
import pytest

from tb import sim, toolchain
from tb.mutation import __main__ as command
from tb.mutation import campaign, execute, figures, recordings

MODULES = ["bm_semaphores", "bm_matmul_skew", "bm_queue"]
SETTINGS = campaign.Settings(
    programs=12, kinds=["tokens", "shared", "reset"], jobs=1, modules=MODULES, configs=campaign.CONFIGS[:1]
)


@pytest.fixture(scope="module")
def seen():
    return figures.to_dict(campaign.run(SETTINGS), "pytest")


def test_every_mutant_is_killed_or_explained(seen):
    assert [(item["line"], item["what"]) for item in seen["survivors"] if item["status"] == "hole"] == []
    assert seen["total"] > 150
    assert seen["killed"] > 0.9 * seen["total"]
    assert set(seen["by_module"]) == set(MODULES)
    assert all(counts["killed"] for counts in seen["by_module"].values())


@pytest.mark.parametrize("kinds", [["digest"], ["digest", "event", "level"]])
def test_a_blind_comparison_lets_mutants_live(seen, kinds):
    settings = dataclasses.replace(SETTINGS, proofs=False, blind=kinds)
    blind = figures.to_dict(campaign.run(settings), "pytest")
    assert blind["total"] == seen["total"]
    assert blind["holes"] > seen["total"] - seen["killed"]
    if len(kinds) == 3:  # nothing is compared
        assert blind["killed"] == 0


def test_a_core_that_is_not_in_lockstep_kills_no_mutant(tmp_path):
    config = SETTINGS.configs[0]
    mutants = campaign.find(config, toolchain.rtl_sources(), SETTINGS)
    file = recordings.prepare(config, SETTINGS.seed, SETTINGS.programs, SETTINGS.kinds, lambda *_: None)
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
    assert f"hole: rtl/frontend/{mutant.module}.sv:{mutant.line}" in capsys.readouterr().out
    assert '"holes": 1' in path.read_text()
    statuses[:] = ["killed", "unreachable"]
    assert command.main(["--every", "2"]) == 0
