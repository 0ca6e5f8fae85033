# SPDX-License-Identifier: Apache-2.0
"""The order of a campaign: what is played where, what is proven where, and what that makes of a mutant.

Programs and proofs are stood in for by a table that says what they would find; the machinery around is the real one.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from beatmatch.config import Config
from tb.mutation import campaign
from tb.mutation.kept import kept
from tb.mutation.proof import Verdict
from tb.mutation.schemata import Mutant

CONFIGS = tuple(Config(4, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4, name=name) for name in "abc")
EQUIVALENT, UNREACHABLE, OPEN = Verdict("equivalent", "e"), Verdict("unreachable", "u"), Verdict("open", "o")

# by mutant: what each configuration that contains it finds. most, late: killed by such programs; state: proven to be
# the same; sequence: proven to be unreachable.
TABLE = {
    "early": {"a": "most"},
    "needs late": {"a": "late", "b": "late"},
    "second": {"a": "", "b": "most", "c": "state"},
    "third": {"a": "state", "b": "state", "c": "most"},
    "third, late": {"a": "state", "b": "state", "c": "late"},
    "same": {"a": "state", "b": "state", "c": "state"},
    "unreachable": {"a": "state", "b": "sequence", "c": "state"},
    "open in one": {"a": "state", "b": "sequence", "c": ""},
    "open in the first": {"a": "", "b": "sequence", "c": "sequence"},
    "of the last": {"c": "most"},
    "of the last, same": {"c": "state"},
}
FATES = {
    "early": "killed", "needs late": "killed", "second": "killed", "third": "killed", "third, late": "killed",
    "same": "equivalent", "unreachable": "unreachable", "open in one": "hole", "open in the first": "hole",
    "of the last": "killed", "of the last, same": "equivalent",
}  # fmt: skip


@pytest.fixture
def asked():
    """Lists (configuration, mutant) in the order in which proofs are tried."""
    return []


@pytest.fixture
def played(monkeypatch, asked):
    """Stands in for tools; lists (configuration, programs, mutant) in the order in which they are played."""
    log: list[tuple[str, str, str]] = []

    def mutant(number, name):
        return Mutant(number, Path(f"{name}.sv"), 0, 1, 1, 1, "op", "x", "y")

    def find(config, sources, settings):
        return [mutant(n, name) for n, (name, where) in enumerate(TABLE.items(), 1) if config.name in where]

    def outcomes(built, config, shard, programs, *_):
        found = {}
        for item in shard:
            log.append((config.name, programs, item.module))
            kills = TABLE[item.module][config.name] == programs
            found[item.number] = {"program": "p" if kills else None, "cycle": 3 if kills else None, "cycles": 5}
        return found, 2.0

    def explain(top, config, sources, survivors, seconds, jobs, progress):
        asked.extend((config.name, item.module) for item in survivors)
        proves = {"state": EQUIVALENT, "sequence": UNREACHABLE}
        return {item.key: proves.get(TABLE[item.module][config.name], OPEN) for item in survivors}, 3.0

    monkeypatch.setattr(campaign, "find", find)
    monkeypatch.setattr(campaign.stimuli, "choose", lambda *_: ("most", "late"))
    monkeypatch.setattr(campaign.recordings, "prepare", lambda config, programs, progress: programs)
    monkeypatch.setattr(campaign.execute, "build", lambda *_: SimpleNamespace(seconds=1.0))
    monkeypatch.setattr(campaign.execute, "outcomes", outcomes)
    monkeypatch.setattr(campaign.triage, "explain", explain)
    return log


def test_each_mutant_gets_its_fate(played):
    result = campaign.run(campaign.Settings(configs=CONFIGS))
    assert {fate.mutant.module: fate.status for fate in result.fates} == FATES
    assert result.cycles == 5 * len(played)
    shards, proofs = result.build_seconds, result.seconds - 2.0 * result.build_seconds
    assert shards == len({item[:2] for item in played}) and proofs > 0 == proofs % 3.0


def test_what_was_found_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("tb.mutation.kept.FOLDER", tmp_path / "new")
    made = []

    def make():
        made.append(0)
        return {"1": ["open", "so far"]}

    first, again = kept("proofs", ("a", 1), make), kept("proofs", ("a", 1), make)
    assert first == again and first[0] == make() and len(made) == 2
    kept("proofs", ("a", 2), make)
    assert len(made) == 3 and len(list((tmp_path / "new").iterdir())) == 2


def test_what_is_proven_in_a_configuration_is_not_played_there(played):
    campaign.run(campaign.Settings(configs=CONFIGS))

    def places(mutant, programs="most"):
        return [config for config, kind, name in played if (kind, name) == (programs, mutant)]

    assert places("early") == ["a"] and places("second") == ["a", "b"]  # until it is killed
    assert places("same") == places("unreachable") == ["a"]  # proven there, and then in the others without playing
    assert places("third") == places("third, late") == ["a", "c"]  # the proof fails in the last: it is played there
    assert places("open in one") == ["a", "c"] and places("open in the first") == ["a", "b", "c"]
    # late programs where nothing is proven, in one configuration
    assert places("third, late", "late") == ["c"] and places("needs late", "late") == ["a"]
    assert places("open in one", "late") == ["c"] and places("open in the first", "late") == ["a"]
    late = [item for item in played if item[1] == "late"]
    assert late and played[-len(late) :] == late  # after all others


def test_a_proof_that_failed_is_not_tried_elsewhere(played, asked):
    campaign.run(campaign.Settings(configs=CONFIGS))
    assert [config for config, name in asked if name == "open in the first"] == ["a"]
    assert [config for config, name in asked if name == "unreachable"] == ["a", "b", "c"]


def test_without_proofs_every_survivor_is_played_everywhere_and_is_a_hole(played):
    result = campaign.run(campaign.Settings(configs=CONFIGS, proofs=False))
    found = {fate.mutant.module: fate.status for fate in result.fates}
    expected = {name: status if status == "killed" else "hole" for name, status in FATES.items()}
    assert found == expected | {"third, late": "hole"}  # the late programs in one configuration, and not in its own
    assert [(config, programs) for config, programs, name in played if name == "same"] == [
        ("a", "most"), ("b", "most"), ("c", "most"), ("a", "late"),
    ]  # fmt: skip


def test_the_configurations_have_every_kind_of_branch():
    def kinds(measure):
        return {measure(config) for config in campaign.CONFIGS}

    assert kinds(lambda c: np.sign(c.lanes - c.mem_bytes)) == {
        -1,
        0,
        1,
    }  # words of several beats, beats of several words
    assert kinds(lambda c: np.sign(c.rows - c.cols)) == {-1, 0, 1}
    for banks in (kinds(lambda c: c.sp_banks), kinds(lambda c: c.acc_banks)):
        assert any(count & (count - 1) for count in banks) and len(banks) > 1
    assert 1 in kinds(lambda c: c.acc_banks) and 1 in kinds(lambda c: c.outstanding)
    assert kinds(lambda c: c.weight_port) == {0, 1}
