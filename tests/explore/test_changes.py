# SPDX-License-Identifier: Apache-2.0
"""Changes of a machine: what values mean, what factors are of, and what is refused in a sentence."""

from fractions import Fraction
from itertools import permutations

import pytest

from beatmatch.config import preset
from beatmatch.explore import changes, values
from beatmatch.explore.changes import Machine
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.values import Factor, Shape
from beatmatch.memory import MemoryTiming

BASE = Machine(preset("mxu128"), MemoryTiming(read_latency=100, read_bandwidth=(64, 1), write_bandwidth=(64, 1)))


def changed(*texts: str, base: Machine = BASE) -> Machine:
    return changes.apply(base, [changes.parse_change(text) for text in texts])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16", Fraction(16)),
        ("0x10", Fraction(16)),
        ("48.57", Fraction(4857, 100)),
        ("64/3", Fraction(64, 3)),
        ("2x", Factor(Fraction(2))),
        ("0.25X", Factor(Fraction(1, 4))),
        ("1/4x", Factor(Fraction(1, 4))),
        ("64x128", Shape(64, 128)),
        ("port", "port"),
        (16, Fraction(16)),
        (0.5, Fraction(1, 2)),
    ],
)
def test_values(text, value):
    assert values.parse("name", text) == value


@pytest.mark.parametrize("text", ["", "2y", "-1", "1e9", "2xx", "0x", "1/0", "0x2x", "1/0x", True, None, "9999999"])
def test_what_is_no_value_is_refused(text):
    with pytest.raises(ExploreError, match="name cannot be"):
        values.parse("name", text)


def test_factors_are_of_the_base_in_any_order():
    texts = ("array=0.5x", "sp_banks=0.5x", "latency=2x", "bandwidth=2x", "acc_kib=0.5x")
    found = {changed(*order) for order in permutations(texts)}
    (machine,) = found
    config, memory = machine.config, machine.memory
    assert (config.rows, config.cols, config.sp_banks, config.acc_rows) == (64, 64, 4, 4096)
    assert (memory.read_latency, memory.read_bandwidth, memory.write_bandwidth) == (200, (128, 1), (128, 1))


def test_sizes_in_kib_hold_while_the_array_changes():
    for shape in ("64x64", "128x128", "256x64", "32x128"):
        config = changed(f"array={shape}", "sp_kib=1x").config
        assert config.sp_words * config.lanes == BASE.config.sp_words * BASE.config.lanes


def test_no_change_is_the_same_machine_and_name():
    assert changed() == changed("sp_banks=1x", "bandwidth=1x") == BASE
    assert changed("sp_banks=1x").config.name == "mxu128" and changed("sp_banks=4").config.name == "custom"


def test_an_unlimited_bandwidth_is_the_ports():
    base = Machine(preset("base"), MemoryTiming())
    assert changed("bandwidth=1x", base=base) == base
    assert changed("bandwidth=0.5x", base=base).memory.read_bandwidth == (8, 1)
    assert changed("bandwidth=2x", "mem_bits=2x", base=base).memory.write_bandwidth == (32, 1)
    assert changed("bandwidth=port").memory.read_bandwidth is None


def test_a_shared_bandwidth_is_one():
    base = Machine(preset("base"), MemoryTiming(shared=True, read_bandwidth=(4, 1)))
    assert changed("bandwidth=2x", base=base).memory == MemoryTiming(shared=True, read_bandwidth=(8, 1))
    assert changed("bandwidth=8x", base=base).memory.read_bandwidth == (32, 1)  # 16 each way
    for text, says in (("write_bandwidth=4", "share"), ("bandwidth=16x", "more than the 32 of the memory port")):
        with pytest.raises(ExploreError, match=says):
            changed(text, base=base)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sp_banks", "should be name=value"),
        ("=2", "should be name=value"),
        ("banks=2x", "'banks' cannot be changed; what can is array"),
        ("name=x", "'name' cannot be changed"),
        ("sp_banks=2x", "sp_banks is 16; it must be from 1 to 8"),
        ("rows=3", "power of two"),
        ("rows=wide", "rows cannot be wide"),
        ("rows=64x64", "rows cannot be 64x64"),
        ("array=64", "array cannot be 64; give rows x columns"),
        ("array=256x16", "at most 8 times"),
        ("latency=1/3x", "no whole number"),
        ("latency=0", "from 1 to 65535"),
        ("weight_port=2x", "0 in the base"),
        ("bandwidth=4x", "256 bytes per cycle, more than the 128 of the memory port"),
        ("bandwidth=0", "positive"),
        ("bandwidth=0x", "bandwidth"),
        ("sp_kib=0.3", "no whole number of entries of 128 bytes"),
        ("memory=ddr", "memory cannot be ddr"),
    ],
)
def test_refusals(text, says):
    with pytest.raises(ExploreError, match=says):
        changed(text)
