# SPDX-License-Identifier: Apache-2.0
"""Every coverage group can be hit, and can fail to be hit; none is empty; where blocks are cut does not matter."""

import dataclasses

import numpy as np
import pytest

from beatmatch.config import Config
from tb.coverage.collector import KEPT_SEEDS, Coverage, UnknownBinError
from tb.coverage.group import ARCHITECTURAL, MICROARCHITECTURAL, Group, bucket, buckets, in_buckets
from tb.coverage.groups import GROUPS
from tests.coverage.cases import CASES
from tests.coverage.recorder import CONFIG, Recorder

SPLIT = dataclasses.replace(CONFIG, weight_port=1)
CONFIGS = {"parts": Config(8, 4, 64, 2, 16, 2, 2, 2, 32, 2, 4), "two_ports": SPLIT, "weight_port": SPLIT}
"""Groups whose case needs another configuration than the others."""
QUIET = {"status": ["idle"], "channel_stalls": ["B store idle", "R fetch idle", "R load idle", "R weights idle"]}
"""What an idle machine hits, besides its configuration."""


def made(name: str, write) -> dict[str, list[str]]:
    """Hits of a case's records."""
    recorder = Recorder(config=CONFIGS.get(name, CONFIG))
    write(recorder)
    return recorder.hits(group=name)


def test_there_is_a_case_for_every_group():
    assert {case[0] for case in CASES} == set(GROUPS)


@pytest.mark.parametrize(("name", "label", "write"), CASES, ids=[case[0] for case in CASES])
def test_a_group_can_be_hit(name, label, write):
    assert label in GROUPS[name].bins
    assert label in made(name, write).get(name, [])


def test_an_idle_machine_hits_nothing():
    hits = Recorder().hits()
    assert hits.pop("configurations")
    assert hits == QUIET


def test_where_blocks_are_cut_changes_nothing():
    for name, label, write in CASES:
        recorder = Recorder(config=CONFIGS.get(name, CONFIG))
        write(recorder)
        assert label in recorder.hits(45, name)[name], name


def test_groups_are_declared_completely():
    for name, item in GROUPS.items():
        assert item.name == name and item.kind in (ARCHITECTURAL, MICROARCHITECTURAL)
        assert item.bins and len(set(item.bins)) == len(item.bins), name
        assert item.description.endswith("."), name
    assert {item.kind for item in GROUPS.values()} == {ARCHITECTURAL, MICROARCHITECTURAL}


def test_only_programs_that_end_count():
    recorder = Recorder()
    recorder.busy()
    coverage = Coverage()
    coverage.begin("broken off", 1)
    coverage.sample(CONFIG, recorder.records, recorder.rows)
    coverage.drop()
    assert not coverage.seeds and coverage.programs == 0
    with pytest.raises(RuntimeError, match="begin"):
        coverage.end()
    with pytest.raises(RuntimeError, match="begin"):
        coverage.sample(CONFIG, recorder.records, recorder.rows)


def test_a_bin_remembers_different_seeds():
    coverage = Coverage()
    for seed in (1, 1, 2, *range(10, 30)):
        coverage.add({"status": ["idle"]}, seed, 10)
        if seed == 2:
            assert coverage.count("status", "idle") == 2
    assert coverage.count("status", "idle") == KEPT_SEEDS
    assert ("status", "idle") not in coverage.holes(3) and ("status", "busy") in coverage.holes(1)
    assert coverage.cycles == 230


def test_a_sampler_that_names_an_unknown_bin_is_found():
    wrong = Group("wrong", ARCHITECTURAL, "Made up.", ("a",), lambda window: ["b"])
    coverage = Coverage({"wrong": wrong})
    coverage.begin("x", 1)
    recorder = Recorder()
    with pytest.raises(UnknownBinError, match="no bin 'b'"):
        coverage.sample(CONFIG, recorder.records, recorder.rows)


def test_buckets_name_ranges():
    limits = (0, 1, 4)
    assert buckets(limits) == ("0", "1-3", "4+")
    assert [bucket(limits, value) for value in (0, 1, 3, 4, 99)] == ["0", "1-3", "1-3", "4+", "4+"]
    assert list(in_buckets((1, 2), np.array([0, 1, 1]))) == ["1"]
