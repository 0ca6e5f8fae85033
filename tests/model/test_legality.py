# SPDX-License-Identifier: Apache-2.0
"""Every rule of the decoder: its code, and a sentence that names field, value and legal range."""

import pytest

from beatmatch.config import Config
from beatmatch.isa import Error, Format, Opcode, Space, make
from beatmatch.isa.encode import positions, reserved_bits
from beatmatch.isa.legality import check

CONFIG = Config(rows=16, cols=8)
VECTOR = (Opcode.REQUANT, Opcode.ADD, Opcode.MAXPOOL, Opcode.AVGPOOL)
GOOD = {opcode: make(opcode).word() for opcode in Opcode}
"""All fields at their least legal value."""

WRONG = [
    (Opcode.LOAD, {"instance": 1}, "LOAD instance is 1; it must be 0."),
    (Opcode.LOAD, {"dst_space": 2}, "LOAD dst_space is 2; it must be 0 (SCRATCHPAD) or 1 (PARAMETER)."),
    (Opcode.WEIGHTS_MEM, {"k_rows": 17}, "WEIGHTS_MEM k_rows is 17; it must be from 1 to 16 (rows)."),
    (Opcode.WEIGHTS_SP, {"n_lanes": 9}, "WEIGHTS_SP n_lanes is 9; it must be from 1 to 8 (cols)."),
    (Opcode.WEIGHTS_MEM, {"weight_format": 1}, "WEIGHTS_MEM weight_format is 1; it must be 0 (INT8)."),
    (
        Opcode.WEIGHTS_MEM,
        {"packed": 1, "k_rows": 15, "n_lanes": 8},
        "WEIGHTS_MEM k_rows is 15; it must be 16 with packed tiles.",
    ),
    (
        Opcode.WEIGHTS_MEM,
        {"packed": 1, "k_rows": 16, "n_lanes": 7},
        "WEIGHTS_MEM n_lanes is 7; it must be 8 with packed tiles.",
    ),
    (Opcode.WEIGHTS_SP, {"transpose": 1}, "WEIGHTS_SP transpose is 1; it is reserved and must be 0."),
    (Opcode.MATMUL, {"act_format": 2}, "MATMUL act_format is 2; it must be 0 (INT8)."),
    (Opcode.MATMUL, {"weight_format": 15}, "MATMUL weight_format is 15; it must be 0 (INT8)."),
    (Opcode.MATMUL, {"k_lanes": 256}, "MATMUL k_lanes is 256; it must be from 1 to 16 (rows)."),
    (Opcode.MATMUL, {"n_lanes": 9}, "MATMUL n_lanes is 9; it must be from 1 to 8 (cols)."),
    *(
        case
        for opcode in VECTOR
        for case in (
            (
                opcode,
                {"src_space": Space.PARAMETER},
                f"{opcode.name} src_space is 1; it must be 0 (SCRATCHPAD) or 2 (ACCUMULATOR).",
            ),
            (
                opcode,
                {"src_format": Format.INT32},
                f"{opcode.name} src_format is 1; it must be 0 (INT8) for a source in the scratchpad.",
            ),
            (
                opcode,
                {"src_space": Space.ACCUMULATOR},
                f"{opcode.name} src_format is 0; it must be 1 (INT32) for a source in the accumulator.",
            ),
            (opcode, {"dst_format": 2}, f"{opcode.name} dst_format is 2; it must be 0 (INT8) or 1 (INT32)."),
            (opcode, {"param_mode": 3}, f"{opcode.name} param_mode is 3; it must be from 0 to 2."),
            (
                opcode,
                {"clip_low": 5, "clip_high": -5},
                f"{opcode.name} clip_low is 5; it must be at most clip_high, which is -5.",
            ),
        )
    ),
]


@pytest.mark.parametrize("opcode", Opcode, ids=lambda opcode: opcode.name)
def test_the_least_values_are_legal(opcode):
    assert check(GOOD[opcode], CONFIG) is None


@pytest.mark.parametrize(("opcode", "fields", "sentence"), WRONG, ids=[f"{o.name}-{list(f)[-1]}" for o, f, _ in WRONG])
def test_an_illegal_field(opcode, fields, sentence):
    assert check(make(opcode, **fields).word(), CONFIG) == (Error.ILLEGAL_FIELD, sentence)


@pytest.mark.parametrize("opcode", [opcode for opcode in Opcode if reserved_bits(opcode)])
def test_reserved_bits(opcode):
    first = sum(field.width for _, field in positions(opcode).values())
    for bit in (first, 255):
        expected = f"{opcode.name} bit {bit} is 1; it is reserved and must be 0."
        assert check(GOOD[opcode] | 1 << bit, CONFIG) == (Error.ILLEGAL_FIELD, expected)


@pytest.mark.parametrize(
    ("opcode", "name"), [(o, n) for o in Opcode for n, (_, field) in positions(o).items() if field.nonzero]
)
def test_a_size_of_zero(opcode, name):
    shift, field = positions(opcode)[name]
    mask = (1 << field.width) - 1
    expected = f"{opcode.name} {name} is 0; it must be from 1 to {mask}."
    assert check(GOOD[opcode] & ~(mask << shift), CONFIG) == (Error.ZERO_SIZE, expected)


def test_two_waits_on_one_semaphore():
    waits = {"wait0_id": 3, "wait1_id": 3, "wait0_n": 1}
    expected = "STORE wait1_id is 3, as wait0_id; it must be another semaphore, or one of the n 0."
    assert check(make(Opcode.STORE, **waits, wait1_n=2).word(), CONFIG) == (Error.ILLEGAL_FIELD, expected)
    assert check(make(Opcode.STORE, **waits).word(), CONFIG) is None


@pytest.mark.parametrize("opcode", [0, *range(10, 32)])
def test_an_unknown_opcode(opcode):
    error, sentence = check(opcode | (1 << 256) - 32, CONFIG)
    assert error is Error.ILLEGAL_OPCODE
    assert sentence.startswith(f"The opcode is {opcode}; it must be one of 1 (LOAD), 2 (WEIGHTS_MEM)")


def test_the_first_rule_that_fails_counts():
    word = make(Opcode.LOAD, instance=1).word() & ~(0xFF << 38)  # outer 0, too
    assert check(word, CONFIG)[0] is Error.ILLEGAL_FIELD


def test_sizes_of_the_configuration_are_legal():
    for config in (Config(), CONFIG, Config(rows=256, cols=256)):
        full = {"k_rows": config.rows, "n_lanes": config.cols}
        assert check(make(Opcode.WEIGHTS_MEM, packed=1, **full).word(), config) is None
        assert check(make(Opcode.MATMUL, k_lanes=config.rows, n_lanes=config.cols).word(), config) is None
