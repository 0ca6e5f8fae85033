# SPDX-License-Identifier: Apache-2.0
"""The stimulus row packs and unpacks every input of the core."""

import re
from pathlib import Path

import numpy as np
import pytest

from beatmatch import stimulus
from beatmatch.config import Config, preset

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = [preset("tiny"), preset("base"), Config(mem_bits=128, weight_port=1, name="split")]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_rows_come_back_as_they_were_packed(config):
    random = np.random.default_rng(1)
    for _ in range(50):
        values = {item.name: int(random.integers(0, 1 << item.width)) for item in stimulus.INPUTS}
        names = ("rdata", "weight_rdata") if config.weight_port else ("rdata",)
        beats = {name: int.from_bytes(random.bytes(config.mem_bytes), "little") for name in names}
        row = stimulus.pack(config, **beats, **values)
        assert len(row) == stimulus.words(config) == 3 + len(names) * config.mem_bytes // 4
        assert stimulus.unpack(config, row) == {**values, **beats}


def test_inputs_do_not_overlap():
    taken = [(item.word, bit) for item in stimulus.INPUTS for bit in range(item.shift, item.shift + item.width)]
    assert len(set(taken)) == len(taken)
    assert all(word < stimulus.RDATA_WORD and bit < 32 for word, bit in taken)


def test_unknown_inputs_and_wide_values_are_refused():
    with pytest.raises(KeyError):
        stimulus.pack(CONFIGS[0], nothing=1)
    with pytest.raises(ValueError, match="m_axi_rid is 4"):
        stimulus.pack(CONFIGS[0], m_axi_rid=4)


def test_every_input_of_the_core_is_in_the_row():
    source = (ROOT / "rtl" / "bm_core.sv").read_text()
    header = source[: source.index(");")]
    ports = set(re.findall(r"input\s+logic\s*(?:\[[^\]]*\])?\s*(\w+)", header)) - {"clk_i"}
    assert ports == {item.port for item in stimulus.INPUTS} | {"m_axi_rdata_i", "m_axi_weights_rdata_i"}


def test_a_full_block_says_so():
    writer = stimulus.StimulusWriter(CONFIGS[0], cycles=2)
    writer.words[writer.base] = 7
    assert not writer.next()
    assert writer.next()
    assert writer.rows()[:, 0].tolist() == [7, 0]
    writer.rewind()
    assert not writer.array.any() and writer.base == 0
