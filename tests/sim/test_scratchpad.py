# SPDX-License-Identifier: Apache-2.0
"""The scratchpad in lockstep with its model."""

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH = BENCHES["scratchpad"]
CONFIGS = {
    "tiny": preset("tiny"),
    "tall": Config(16, 4, 48, 3, 20, 5),
    "wide": Config(4, 32, 112, 7, 4, 1),
    "least": Config(8, 8, 16, 1),
    "eight": Config(32, 8, 512, 8),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    BENCH.run(sim, CONFIGS[name])


FAULTS = {
    "store before vector": (
        "bm_scratchpad_bank.sv",
        "read_i & (~read_i + 4'd1)",
        "{read_i[3], read_i[2] & ~read_i[3], read_i[1:0]}",
    ),
    "load before vector": (
        "bm_scratchpad_bank.sv",
        "write_i & (~write_i + 2'd1)",
        "{write_i[1], write_i[0] & ~write_i[1]}",
    ),
    "data of the bank asked now": (
        "bm_scratchpad.sv",
        "bank_rdata[rbank_q[2*BANK_W+:BANK_W]]",
        "bank_rdata[rbank[2*BANK_W+:BANK_W]]",
    ),
    "bank of the low address bits": (
        "bm_scratchpad.sv",
        "BANK_W'(raddr[k*SP_AW+:SP_AW] >> BANK_AW)",
        "BANK_W'(raddr[k*SP_AW+:SP_AW] % SP_BANKS)",
    ),
    "all bytes are written": (
        "bm_ram.sv",
        "if (wenable_i[i])",
        "if (|wenable_i)",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, tmp_path):
    name, good, bad = FAULTS[fault]
    sources = []
    for path in BENCH.sources:
        if path.name == name:
            text = path.read_text()
            assert good in text
            path = tmp_path / name
            path.write_text(text.replace(good, bad))
        sources.append(path)
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match=r"Mismatch|Assert"):
        BENCH.run(sim, CONFIGS["tall"], 4000, sources, seed=1)
