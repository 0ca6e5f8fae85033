# SPDX-License-Identifier: Apache-2.0
"""The scratchpad in lockstep with its model."""

import json

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.sim import SimulationError, build, run

RTL = toolchain.ROOT / "rtl"
SOURCES = [
    RTL / "lib" / "bm_ram.sv",
    RTL / "scratchpad" / "bm_scratchpad_bank.sv",
    RTL / "scratchpad" / "bm_scratchpad.sv",
]
CONFIGS = {
    "tiny": preset("tiny"),
    "tall": Config(16, 4, 48, 3, 20, 5),
    "wide": Config(4, 32, 112, 7, 4, 1),
    "least": Config(8, 8, 16, 1),
    "eight": Config(32, 8, 512, 8),
}
CYCLES = {"verilator": 20000, "icarus": 6000}


def lockstep(sim, config, cycles, sources=SOURCES, seed=None):
    parameters = {name: config.rtl_parameters()[name] for name in ("ROWS", "COLS", "SP_WORDS", "SP_BANKS")}
    built = build("bm_scratchpad", sources, sim, parameters)
    sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
    env = {"CONFIG": json.dumps(sizes), "CYCLES": str(cycles)}
    return run(built, "tb.scratchpad.scratchpad_bench", seed=seed, env=env)


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    lockstep(sim, CONFIGS[name], CYCLES[sim])


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
    for path in SOURCES:
        if path.name == name:
            text = path.read_text()
            assert good in text
            path = tmp_path / name
            path.write_text(text.replace(good, bad))
        sources.append(path)
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match=r"Mismatch|Assert"):
        lockstep(sim, CONFIGS["tall"], 4000, sources, seed=1)
