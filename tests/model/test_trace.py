# SPDX-License-Identifier: Apache-2.0
"""The layout of a record: slots and their data follow one another without a gap, whatever the configuration."""

import pytest

from beatmatch.config import Config, preset
from beatmatch.trace import STATIONS, layout, stations, unpack

CONFIGS = [
    preset("tiny"),
    preset("large"),
    Config(rows=4, cols=32, sp_banks=1, mem_bits=1024, name="flat"),
    Config(weight_port=1, name="split"),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_slots_follow_one_another(config):
    record = layout(config)
    place = 0
    for placed in record.slots:
        assert placed.offset == place
        inside = place + 1  # the header
        assert list(placed.data) == [name for name, _ in placed.slot.data]
        for start, words in placed.data.values():
            assert start == inside and words > 0
            inside += words
        assert placed.words == inside - place
        place = inside
    assert record.words == place
    places = [start for start, _ in record.stations.values()]
    assert list(record.stations) == list(stations(config)) and places == sorted(places) and places[0] == 0
    assert sum(words for _, words in record.stations.values()) == place


def test_the_weight_port_stands_behind_what_every_core_has():
    """So a record of a core without it is what it always was."""
    alone, split = layout(Config()), layout(Config(weight_port=1))
    assert split.slots[: len(alone.slots)] == alone.slots and split.words == alone.words + 4
    assert [*split.stations] == [*STATIONS] == [*alone.stations, "weight_port"]


def test_data_are_as_wide_as_what_they_hold():
    """By hand for rows 4, cols 32, a memory of 128 bytes a beat."""
    record = layout(CONFIGS[2])
    widths = {
        ("load", "write"): {"enable": 1, "data": 8},
        ("accumulator", "write"): {"data": 32},
        ("vector", "write"): {"data": 8},
        ("port", "w"): {"strobe": 4, "data": 32},
        ("frontend", "dispatch"): {"instruction": 8},
    }
    for (station, slot), expected in widths.items():
        assert {name: words for name, (_, words) in record.slot(station, slot).data.items()} == expected
    with pytest.raises(KeyError, match=r"load\.missing"):
        record.slot("load", "missing")


def test_fields_come_from_bit_0_upwards():
    slot = layout(preset("tiny")).slot("load", "issue").slot
    assert unpack(slot, 1 << 31 | 1 << 24 | 0xAB << 16 | 0x1234) == {"seq": 0x1234, "iteration": 0xAB, "last": 1}
