# SPDX-License-Identifier: Apache-2.0
"""Encodings: what fits a field and what does not, on both sides of every limit."""

import pytest

from beatmatch.isa import Opcode, decode, make
from beatmatch.isa.encode import SIGNED, EncodingError, field_range, positions

FIELDS = [(opcode, name, field) for opcode in Opcode for name, (_, field) in positions(opcode).items()]


def test_ranges_by_hand():
    ranges = {name: field_range(field) for _, name, field in FIELDS}
    assert ranges["pad_value"] == ranges["clip_low"] == (-128, 127)
    assert ranges["wait0_n"] == (0, 15) and ranges["sig1_id"] == (0, 31)
    assert ranges["k_lanes"] == (1, 256) and ranges["each"] == (0, 1)


@pytest.mark.parametrize(("opcode", "name", "field"), FIELDS, ids=lambda value: getattr(value, "name", str(value)))
def test_limits_survive_the_word_and_what_is_beyond_is_refused(opcode, name, field):
    if name == "opcode":
        return
    low, high = field_range(field)
    for value in (low, high):
        assert decode(make(opcode, **{name: value}).word()).fields[name] == value
    for value in (low - 1, high + 1):
        with pytest.raises(EncodingError):
            make(opcode, **{name: value}).word()


def test_signed_fields_are_those_that_the_tables_say():
    assert {name for _, name, _ in FIELDS} >= SIGNED


def test_an_instruction_has_only_the_fields_of_its_operation():
    with pytest.raises(AttributeError, match="LOAD has no field 'pad_value'"):
        _ = make(Opcode.LOAD).pad_value
