# SPDX-License-Identifier: Apache-2.0
"""Facts of *Scratchpad* in docs/timing.md, on the model."""

import numpy as np
import pytest

from beatmatch.config import Config
from beatmatch.stations.scratchpad import Scratchpad

CONFIG = Config(16, 4, 48, 3)  # words of 16 bytes, four column operands each, banks of 16 words


@pytest.fixture
def scratchpad():
    pad = Scratchpad(CONFIG)
    pad.memory[:] = np.arange(48)[:, None] + np.arange(16)
    return pad


def grants(pad):
    return pad.weights_granted, pad.vector_granted, pad.store_granted, pad.load_write_granted


def test_one_read_per_bank_by_priority(scratchpad):
    scratchpad.arbitrate(0, 1, 2, 3, None, None)
    assert grants(scratchpad) == (False, False, False, False)
    scratchpad.arbitrate(-1, 1, 2, 3, None, None)
    assert grants(scratchpad) == (True, False, False, False)
    scratchpad.arbitrate(-1, -1, 2, 3, None, None)
    assert grants(scratchpad) == (False, True, False, False)
    scratchpad.arbitrate(0, 16, 32, 33, None, None)
    assert grants(scratchpad) == (True, True, False, False)


def test_vector_writes_before_load_in_a_bank(scratchpad):
    data = np.full(16, 9, dtype=np.uint8)
    scratchpad.arbitrate(-1, -1, -1, -1, (5, slice(4, 8), data[:4]), (6, 16, data))
    assert not scratchpad.load_write_granted
    scratchpad.commit()
    assert scratchpad.memory[5].tolist() == [5, 6, 7, 8, 9, 9, 9, 9, *range(13, 21)]
    assert scratchpad.memory[6, 0] == 6
    scratchpad.arbitrate(-1, -1, -1, -1, (5, slice(4, 8), data[:4]), (16, 3, data))
    assert scratchpad.load_write_granted
    scratchpad.commit()
    assert scratchpad.memory[16].tolist() == [9, 9, 9, *range(19, 32)]


def test_a_word_read_and_written_in_one_cycle_reads_its_old_value(scratchpad):
    scratchpad.arbitrate(-1, -1, 7, -1, (7, slice(0, 4), np.zeros(4, dtype=np.uint8)), None)
    scratchpad.commit()
    scratchpad.arbitrate(-1, -1, -1, -1, None, None)  # the data are used in this cycle
    assert scratchpad.vector_data.tolist() == list(range(7, 23))
    assert scratchpad.memory[7].tolist() == [0, 0, 0, 0, *range(11, 23)]


def test_grants_end_with_the_requests(scratchpad):
    scratchpad.arbitrate(-1, 1, -1, -1, None, (20, 1, np.zeros(16, dtype=np.uint8)))
    scratchpad.commit()
    scratchpad.arbitrate(-1, -1, -1, -1, None, None)
    assert grants(scratchpad) == (False, False, False, False)


@pytest.mark.parametrize("word", [0, 15, 47])
@pytest.mark.parametrize("written", [None, 0, 20])
@pytest.mark.parametrize("place", range(4))
def test_every_requester_reads_every_word(scratchpad, word, written, place):
    """The first word and the last, alone and beside a write to it or to another one."""
    names = ("matmul_data", "weights_data", "vector_data", "store_data")
    reads = [word if index == place else -1 for index in range(4)]
    write = None if written is None else (written, 16, np.zeros(16, dtype=np.uint8))
    for other in range(4):  # not what the data are after a reset
        scratchpad.arbitrate(*(8 if index == other else -1 for index in range(4)), None, None)
        scratchpad.commit()
    expected = scratchpad.memory[word].tolist()
    scratchpad.arbitrate(*reads, None, write)
    scratchpad.commit()
    assert getattr(scratchpad, names[place]).tolist() == expected
    assert place == 0 or grants(scratchpad)[place - 1]
