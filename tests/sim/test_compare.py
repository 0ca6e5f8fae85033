# SPDX-License-Identifier: Apache-2.0
"""The comparator without a simulator: planted differences in record matrices, each found with its kind and place."""

import numpy as np
import pytest

from beatmatch.config import Config, preset
from beatmatch.isa import Opcode, make
from beatmatch.trace import VALID, layout
from tb.lockstep.compare import Comparator, Unknown
from tb.lockstep.report import Divergence

CONFIG = preset("tiny")
LAYOUT = layout(CONFIG)
CYCLES = 600
AT = 300


def event(records, cycle, station, slot, header=0, **data):
    """Write an event into a matrix of records."""
    placed = LAYOUT.slot(station, slot)
    records[cycle, placed.offset] = VALID | header
    for name, words in data.items():
        start, count = placed.data[name]
        records[cycle, start : start + count] = words


def rows_of(start=AT, count=8, base=0):
    """A quiet machine with one busy stretch of accumulator writes, two cycles apart, all different."""
    records = np.zeros((CYCLES, LAYOUT.words), dtype=np.uint32)
    digest = LAYOUT.slot("matmul", "array").offset
    records[:, digest] = np.arange(CYCLES)
    for index in range(count):
        event(records, start + 2 * index, "accumulator", "write", base + index, data=[index, 10, 20, 30])
    return records


def compare(expected, actual, unknown=(), block=128, config=CONFIG):
    """Push both matrices block by block, as a run does."""
    comparator = Comparator(config)
    for start in range(0, max(len(expected), len(actual)), block):
        inside = [Unknown(u.row - start, u.word, u.mask) for u in unknown if start <= u.row < start + block]
        if comparator.push(expected[start : start + block], actual[start : start + block], inside):
            break
    return comparator.finish()


def planted(edit):
    expected = rows_of()
    actual = expected.copy()
    edit(actual)
    return compare(expected, actual)


def write_slot(records):
    placed = LAYOUT.slot("accumulator", "write")
    return records[:, placed.offset : placed.offset + placed.words]


def test_equal_matrices_have_no_divergence_and_are_counted():
    comparator = Comparator(CONFIG)
    records = rows_of()
    assert not comparator.push(records, records.copy())
    assert comparator.finish() is None
    assert comparator.cycles == CYCLES
    assert comparator.events == 8
    assert comparator.digests == CYCLES * sum(s.slot.kind == "digest" for s in LAYOUT.slots)


def test_the_hash_does_not_depend_on_blocks_but_on_every_word():
    def digest(records, block):
        comparator = Comparator(CONFIG)
        for start in range(0, CYCLES, block):
            comparator.push(records[start : start + block], records[start : start + block])
        return comparator.digest()

    records = rows_of()
    other = records.copy()
    other[-1, -1] ^= 1
    assert digest(records, 1024) == digest(records, 7) != digest(other, 7)


@pytest.mark.parametrize("cycle", [0, 1, 127, 128, CYCLES - 1])
def test_a_single_flipped_bit_is_found_wherever_it_is(cycle):
    for word in range(LAYOUT.words):
        expected = rows_of()
        actual = expected.copy()
        actual[cycle, word] ^= np.uint32(1 << (word + cycle) % 32)
        found = compare(expected, actual)
        assert found is not None and found.cycle == cycle
        placed = LAYOUT.slot(found.station, found.slot)
        assert placed.offset <= word < placed.offset + placed.words


def test_value():
    found = planted(lambda actual: write_slot(actual).__setitem__((AT + 2, 3), 21))
    assert (found.kind, found.station, found.slot, found.field) == ("value", "accumulator", "write", "data")
    assert (found.col, found.engine, found.cycle) == (2, "matmul", AT + 2)


def test_value_in_a_header_field():
    def edit(actual):
        write_slot(actual)[AT + 2, 0] ^= 1 << 12

    found = planted(edit)
    assert (found.kind, found.field, found.expected, found.actual) == ("value", "add", "add=0", "add=1")


def test_late():
    def edit(actual):
        write_slot(actual)[AT + 3 :] = write_slot(actual)[AT + 2 : -1].copy()
        write_slot(actual)[AT + 2] = 0

    found = planted(edit)
    assert (found.kind, found.expected_cycle, found.actual_cycle) == ("late", AT + 2, AT + 3)


def test_early():
    def edit(actual):
        write_slot(actual)[AT + 3 : -1] = write_slot(actual)[AT + 4 :].copy()

    found = planted(edit)
    assert (found.kind, found.expected_cycle, found.actual_cycle) == ("early", AT + 4, AT + 3)


def test_missing():
    found = planted(lambda actual: write_slot(actual).__setitem__(AT + 4, 0))
    assert (found.kind, found.expected_cycle, found.actual_cycle) == ("missing", AT + 4, None)


def test_missing_when_the_rest_closes_up():
    def edit(actual):
        moved = write_slot(actual)[AT + 6 :].copy()
        write_slot(actual)[AT + 4 : -2] = moved

    assert planted(edit).kind == "missing"


def test_missing_when_nothing_follows():
    found = planted(lambda actual: write_slot(actual).__setitem__(slice(AT + 4, None), 0))
    assert found.kind == "missing"


def test_extra():
    found = planted(lambda actual: event(actual, AT + 5, "accumulator", "write", 99, data=[1, 2, 3, 4]))
    assert (found.kind, found.expected_cycle, found.actual_cycle) == ("extra", None, AT + 5)


def test_order():
    def edit(actual):
        slot = write_slot(actual)
        slot[[AT + 2, AT + 4]] = slot[[AT + 4, AT + 2]]

    found = planted(edit)
    assert (found.kind, found.expected_cycle, found.actual_cycle) == ("order", AT + 2, AT + 4)


def test_digest():
    def edit(actual):
        actual[AT + 1 :, LAYOUT.slot("matmul", "array").offset] ^= 5

    found = planted(edit)
    assert (found.kind, found.station, found.slot, found.cycle) == ("digest", "matmul", "array", AT + 1)


def test_an_event_is_reported_before_a_digest_of_the_same_cycle():
    def edit(actual):
        write_slot(actual)[AT, 2] = 0
        actual[AT:, LAYOUT.slot("matmul", "array").offset] ^= 5

    found = planted(edit)
    assert (found.slot, found.also) == ("write", ["matmul.array"])


@pytest.mark.parametrize(("delta", "kind"), [(1, "late"), (-1, "early")])
def test_levels_that_move_at_another_time(delta, kind):
    expected = rows_of()
    busy = LAYOUT.slot("host", "status").offset
    expected[AT:, busy] |= 1
    actual = expected.copy()
    actual[:, busy] = 0
    actual[AT + delta :, busy] |= 1
    found = compare(expected, actual)
    assert (found.kind, found.station, found.field) == (kind, "host", "busy")
    assert (found.expected_cycle, found.actual_cycle) == (AT, AT + delta)


def test_unknown_bits_are_a_divergence_even_if_the_known_ones_agree():
    records = rows_of()
    placed = LAYOUT.slot("accumulator", "write")
    word = placed.data["data"][0] + 1
    found = compare(records, records.copy(), [Unknown(AT + 2, word, 0xFF00)])
    assert (found.kind, found.station, found.slot, found.field) == ("unknown_x", "accumulator", "write", "data")
    assert (found.cycle, found.col) == (AT + 2, 1)
    assert "0x0000ff00" in found.actual


@pytest.mark.parametrize(("cut", "kind"), [((0, 5), "missing"), ((5, 0), "extra")])
def test_a_side_that_is_ahead_fails_at_the_end(cut, kind):
    records = rows_of()
    expected, actual = (records[: CYCLES - count] for count in cut)
    found = compare(expected, actual)
    assert (found.kind, found.station, found.cycle) == (kind, "run", CYCLES - 5)


def test_blocks_of_different_lengths_are_compared_in_full():
    records = rows_of()
    wrong = records.copy()
    wrong[AT + 8, -1] ^= 1
    comparator = Comparator(CONFIG)
    comparator.push(records[:500], wrong[:10])
    comparator.push(records[500:], wrong[10:])
    assert comparator.finish().cycle == AT + 8


def instruction_words(instruction):
    return np.frombuffer(instruction.to_bytes(), dtype="<u4")


def test_the_instruction_in_flight_is_named():
    """Two matmuls are in flight: a commit belongs to the older, a row to the newer one."""
    expected = rows_of()
    for sequence, acc in ((0, 7), (1, 9)):
        words = instruction_words(make(Opcode.MATMUL, acc=acc, x=4))
        event(expected, 10 + sequence, "frontend", "dispatch", sequence | 3 << 16, instruction=words)
        event(expected, 20 + 10 * sequence, "matmul", "issue", sequence | 1 << 24)
    event(expected, AT + 20, "matmul", "row", 5)
    for slot, sequence in (("write", 0), ("row", 1)):
        actual = expected.copy()
        cycle = AT if slot == "write" else AT + 20
        actual[cycle, LAYOUT.slot("accumulator" if slot == "write" else "matmul", slot).offset] ^= 1
        found = compare(expected, actual)
        assert found.sequence == sequence
        assert found.instruction == f"MATMUL x=4 acc={7 + 2 * sequence}"
    retired = expected.copy()
    event(retired, AT - 50, "matmul", "retire", 0 | 1 << 24)
    actual = retired.copy()
    actual[AT, LAYOUT.slot("accumulator", "write").offset] ^= 1
    assert compare(retired, actual).sequence == 1


def test_rows_and_columns_of_lanes():
    """A byte of a wide word is a row for activations and a column for weights and results."""
    config = Config(rows=4, cols=16, sp_words=64, acc_rows=16, name="wide")
    record = layout(config)
    for station, slot, expect in (
        ("matmul", "sp_read", (2, None)),
        ("weights", "sp_read", (None, 10)),
        ("vector", "write", (None, 10)),
        ("weights", "fifo_write", (3, 10)),
    ):
        placed = record.slot(station, slot)
        expected = np.zeros((4, record.words), dtype=np.uint32)
        expected[2, placed.offset] = VALID | 3
        actual = expected.copy()
        actual[2, placed.data["data"][0] + 2] = 0x00010000
        found = compare(expected, actual, config=config)
        assert ((found.row, found.col), found.engine) == (expect, station)


def test_the_report_survives_json_and_shows_both_sides():
    found = planted(lambda actual: write_slot(actual).__setitem__((AT + 2, 3), 21))
    found.seed, found.replay = "7:3", "make replay RUN=sim_build/lockstep/x"
    assert Divergence.from_dict(found.to_dict()) == found
    text = found.text()
    for part in ("value", f"cycle {AT + 2}", "col 2", "make replay", "seed", "last events of both sides", "<>"):
        assert part in text
