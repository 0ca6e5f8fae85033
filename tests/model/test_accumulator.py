# SPDX-License-Identifier: Apache-2.0
"""Facts of *Accumulator* in docs/timing.md, on the model."""

import numpy as np
import pytest

from beatmatch.config import Config
from beatmatch.stations.accumulator import ADD_BIT, OVERFLOW_BIT, Accumulator
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

CONFIG = Config(8, 4, 64, 2, 16, 2)


@pytest.fixture
def accumulator():
    return Accumulator(CONFIG, TraceWriter(CONFIG, 16))


def row(*values):
    return np.array(values, dtype=np.int32)


def slot(accumulator, name):
    writer = accumulator.writer
    at = writer.base + writer.offset("accumulator", name)
    return int(writer.words[at]), writer.array[at + 1 : at + 1 + CONFIG.cols].astype(np.int32).tolist()


def test_rows_overwrite_then_add_in_consecutive_cycles(accumulator):
    accumulator.step(3, False, row(1, 2, 3, 4))
    assert slot(accumulator, "write") == (VALID | 3, [1, 2, 3, 4])
    for _ in range(2):
        accumulator.writer.next()
        accumulator.step(3, True, row(10, 10, 10, -10))
    assert slot(accumulator, "write") == (VALID | ADD_BIT | 3, [21, 22, 23, -16])
    assert accumulator.memory[3].tolist() == [21, 22, 23, -16]


def test_overflow_wraps_sticks_and_shows_in_its_event(accumulator):
    accumulator.step(0, False, row(2**31 - 1, -(2**31), 5, -5))
    accumulator.writer.next()
    accumulator.step(0, True, row(0, 0, 5, 5))
    assert not accumulator.overflow
    accumulator.writer.next()
    accumulator.step(0, True, row(1, 0, 0, 0))
    assert accumulator.overflow
    assert slot(accumulator, "write") == (VALID | ADD_BIT | OVERFLOW_BIT, [-(2**31), -(2**31), 10, 0])
    accumulator.step(0, False, row(0, 0, 0, 0))
    assert accumulator.overflow
    accumulator.reset()
    assert not accumulator.overflow


def test_vector_waits_for_an_early_read_of_its_bank_only(accumulator):
    accumulator.arbitrate(2, 7)
    assert not accumulator.vector_granted
    accumulator.arbitrate(2, 8)
    assert accumulator.vector_granted
    accumulator.arbitrate(2, -1)
    assert accumulator.vector_granted


def test_a_read_sees_the_value_before_the_commit_and_shows_one_cycle_later(accumulator):
    accumulator.memory[2] = 1
    accumulator.arbitrate(2, -1)
    accumulator.step(2, False, row(7, 7, 7, 7))
    assert slot(accumulator, "read")[0] == 0
    accumulator.writer.next()
    accumulator.arbitrate(-1, -1)
    assert accumulator.vector_data.tolist() == [1, 1, 1, 1]
    accumulator.step(-1, 0, None)
    assert slot(accumulator, "read") == (VALID | 2, [1, 1, 1, 1])
