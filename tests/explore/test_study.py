# SPDX-License-Identifier: Apache-2.0
"""Studies from files and options: which points they have, in which order, and what is refused."""

import dataclasses
from fractions import Fraction

import pytest

from beatmatch.commands.common import parse_config
from beatmatch.config import preset
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.memories import memory_of
from beatmatch.explore.study import Study, parse_axis, read_study
from beatmatch.memory import MemoryTiming
from beatmatch.memory.presets import dram_preset
from tests.explore import studies

TEXT = """
network = ["resnet18", "bert_base"]
base = "mxu128,sp_banks=4"
granularity = "layers"
[memory]
latency = 120
bandwidth = "1/2x"
[memories.slow]
shared = true
bandwidth = 16
[memories.slow.dram]
banks = 4
[memories.fast]
[sweep]
array = ["64x64", "128x128"]
memory = ["slow", "fast"]
queue_depth = 8
"""


def read(tmp_path, text: str) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return read_study(path, parse_config)


def test_a_file_says_it_all(tmp_path):
    study = read(tmp_path, TEXT)
    assert study.networks == ("resnet18", "bert_base") and study.granularity == "layers"
    assert study.base.config == parse_config("mxu128,sp_banks=4")
    assert study.base.memory == MemoryTiming(read_latency=120, read_bandwidth=(64, 1), write_bandwidth=(64, 1))
    points = study.points()
    assert [point.label for point in points] == [
        "array=64x64 memory=slow queue_depth=8", "array=64x64 memory=fast queue_depth=8",
        "array=128x128 memory=slow queue_depth=8", "array=128x128 memory=fast queue_depth=8",
    ]  # fmt: skip
    slow, fast = (point.machine.memory for point in points[:2])
    assert slow.shared and slow.read_bandwidth == (16, 1) and slow.dram.banks == 4
    assert fast == MemoryTiming(read_latency=50)  # what a configuration without a name is measured with


def test_the_last_axis_runs_fastest(tmp_path):
    points = studies.study(tmp_path, "rows=4,8", "latency=1x,2x,4x").points()
    found = [(point.machine.config.rows, point.machine.memory.read_latency) for point in points]
    assert found == [(4, 20), (4, 40), (4, 80), (8, 20), (8, 40), (8, 80)]


def test_what_cannot_be_built_is_a_point_with_a_reason(tmp_path):
    (good, bad) = studies.study(tmp_path, "acc_rows=64,48").points()
    assert good.machine and not good.reason
    assert bad.machine is None and "acc_rows is 48 in 2 banks" in bad.reason


def test_memories_by_name(tmp_path):
    good, slow, *bad = studies.study(tmp_path, "memory=ddr4-2400,hbm2@100,ddr5,hbm2@fast,hbm2@0").points()
    assert good.machine.memory == dram_preset("ddr4-2400") and slow.machine.memory == dram_preset("hbm2", 100)
    words = ("No memory is called ddr5; there are ddr3", "'fast' is no clock in MHz", "clock is 0 MHz")
    for point, says in zip(bad, words, strict=True):
        assert point.machine is None and says in point.reason


def test_a_table_changes_a_standard():
    memory = memory_of({"standard": "hbm2@700", "latency": 30, "bandwidth": "0.25x"}, preset("mxu128"))
    whole = dram_preset("hbm2", 700)
    assert Fraction(*memory.read_bandwidth) == Fraction(*whole.read_bandwidth) / 4
    assert memory == dataclasses.replace(whole, read_latency=30, read_bandwidth=memory.read_bandwidth)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('base = "mxu128,sp_banks=4"', "", "needs a base"),
        ('"mxu128,sp_banks=4"', '"mxu129"', "There is no preset 'mxu129'"),
        ('network = ["resnet18", "bert_base"]', "network = []", "needs a network"),
        ('network = ["resnet18", "bert_base"]', "network = [1]", "a name, or a list of names"),
        ('"layers"', '"tiles"', "granularity cannot be 'tiles'"),
        ("[sweep]", "[sweeps]", "no key 'sweeps'"),
        ("queue_depth = 8", "queues = 8", "'queues' cannot be changed"),
        ("queue_depth = 8", "queue_depth = [8, 8]", "a value twice"),
        ("queue_depth = 8", "queue_depth = []", "no value"),
        ("queue_depth = 8", "rows = 8", "sweep either array"),
        ("latency = 120", "latencies = 120", "latencies"),
        ("shared = true", "shared = 3", "shared is 3"),
        ("banks = 4", "banks = 3", "power of two"),
        ("[memories.fast]", "[memories]\nfast = 1", "memories.fast must be a table"),
        ("network =", "network", "no TOML file"),
    ],
)
def test_files_that_make_no_sense(tmp_path, old, new, says):
    assert old in TEXT
    with pytest.raises(ExploreError, match=f"study.toml.*{says}"):
        read(tmp_path, TEXT.replace(old, new))


def test_a_missing_file(tmp_path):
    with pytest.raises(ExploreError, match="cannot be read"):
        read_study(tmp_path / "none.toml", parse_config)


@pytest.mark.parametrize("text", ["rows", "rows=", "=4", "rows=4,,8", "rows=4,4", "row=4"])
def test_axes_that_make_no_sense(text):
    with pytest.raises(ExploreError):
        parse_axis(text)


def test_a_sweep_without_end_is_refused(tmp_path):
    axis = f"latency={','.join(map(str, range(1, 1201)))}"
    other = f"write_latency={','.join(map(str, range(1, 1201)))}"
    with pytest.raises(ExploreError, match="1,440,000 machines"):
        studies.study(tmp_path, axis, other)
