# SPDX-License-Identifier: Apache-2.0
"""The order of a campaign: what is played where, what is proven where, and what that makes of a mutant.

Programs and proofs are stood in for by a table that says what they would find; the machinery around is the real one.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from beatmatch.config import Config
from tb.mutation import campaign
from tb.mutation.proof import Verdict
from tb.mutation.schemata import Mutant

CONFIGS = tuple(Config(4, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4, name=name) for name in "abc")
EQUIVALENT, UNREACHABLE, OPEN = Verdict("equivalent", "e"), Verdict("unreachable", "u"), Verdict("open", "o")

# by mutant: what each configuration that contains it finds. short, long: killed by such programs; state, sequence: what
# the quick proof alone and all proofs together find.
TABLE = {
    "short": {"a": "short"},
    "late": {"a": "long", "b": "long"},
    "second": {"a": "", "b": "short", "c": "state"},
    "third": {"a": "state", "b": "state", "c": "short"},
    "third, long": {"a": "state", "b": "state", "c": "long"},
    "same": {"a": "state", "b": "state", "c": "state"},
    "unreachable": {"a": "state", "b": "sequence", "c": "state"},
    "open in one": {"a": "state", "b": "sequence", "c": ""},
    "open in the first": {"a": "", "b": "sequence", "c": "sequence"},
    "of the last": {"c": "short"},
    "of the last, same": {"c": "state"},
}
FATES = {
    "short": "killed", "late": "killed", "second": "killed", "third": "killed", "third, long": "killed",
    "same": "equivalent", "unreachable": "unreachable", "open in one": "hole", "open in the first": "hole",
    "of the last": "killed", "of the last, same": "equivalent",
}  # fmt: skip


@pytest.fixture
def played(monkeypatch):
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

    def explain(top, config, sources, survivors, seconds, jobs, progress, quick):
        proves = {"state": EQUIVALENT, "sequence": OPEN if quick else UNREACHABLE}
        return {item.key: proves.get(TABLE[item.module][config.name], OPEN) for item in survivors}

    monkeypatch.setattr(campaign, "find", find)
    monkeypatch.setattr(campaign.stimuli, "choose", lambda *_: ("short", "long"))
    monkeypatch.setattr(campaign.recordings, "prepare", lambda config, programs, progress: programs)
    monkeypatch.setattr(campaign.execute, "build", lambda *_: SimpleNamespace(seconds=1.0))
    monkeypatch.setattr(campaign.execute, "outcomes", outcomes)
    monkeypatch.setattr(campaign.triage, "explain", explain)
    return log


def test_each_mutant_gets_its_fate(played):
    result = campaign.run(campaign.Settings(configs=CONFIGS))
    assert {fate.mutant.module: fate.status for fate in result.fates} == FATES
    assert result.cycles == 5 * len(played)


def test_only_what_is_proven_to_be_the_same_is_not_played(played):
    campaign.run(campaign.Settings(configs=CONFIGS))

    def places(mutant, programs="short"):
        return [config for config, kind, name in played if (kind, name) == (programs, mutant)]

    assert places("short") == ["a"] and places("second") == ["a", "b"]  # until it is killed
    assert places("same") == ["a"]  # proven there, and then in the others without playing
    assert places("third") == places("third, long") == ["a", "c"]  # the proof fails in the last: it is played there
    assert places("unreachable") == ["a", "b", "c"]  # the quick proof failed in one: all play it from there on
    assert places("third, long", "long") == ["c"] and places("late", "long") == ["a"]
    assert places("unreachable", "long") == ["b", "c"] and places("open in one", "long") == ["b", "c"]
    long = [item for item in played if item[1] == "long"]
    assert long and played[-len(long) :] == long  # the long programs after all short ones


def test_without_proofs_every_survivor_is_played_everywhere_and_is_a_hole(played):
    result = campaign.run(campaign.Settings(configs=CONFIGS, proofs=False))
    found = {fate.mutant.module: fate.status for fate in result.fates}
    assert found == {name: status if status == "killed" else "hole" for name, status in FATES.items()}
    assert {(config, programs) for config, programs, name in played if name == "same"} == {
        (config, programs) for config in "abc" for programs in ("short", "long")
    }
