# SPDX-License-Identifier: Apache-2.0
"""The accumulators in lockstep with their model."""

import json

import pytest

from beatmatch.config import Config, preset
from beatmatch.trace import layout
from tb import toolchain
from tb.sim import SimulationError, build, run

RTL = toolchain.ROOT / "rtl"
SOURCES = [
    RTL / "lib" / "bm_ram.sv",
    RTL / "accumulator" / "bm_accumulator_bank.sv",
    RTL / "accumulator" / "bm_accumulator.sv",
]
CONFIGS = {
    "tiny": preset("tiny"),
    "tall": Config(16, 4, 48, 3, 20, 5),
    "wide": Config(4, 32, 112, 7, 4, 1),
    "deep": Config(8, 8, 16, 1, 4096, 8),
}
CYCLES = {"verilator": 20000, "icarus": 6000}


def lockstep(sim, config, cycles, sources=SOURCES, seed=None):
    parameters = {name: config.rtl_parameters()[name] for name in ("COLS", "ACC_ROWS", "ACC_BANKS")}
    parameters["TRACE_W"] = 32 * layout(config).stations["accumulator"][1]
    built = build("bm_accumulator", sources, sim, parameters)
    sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
    env = {"CONFIG": json.dumps(sizes), "CYCLES": str(cycles)}
    return run(built, "tb.accumulator.accumulator_bench", seed=seed, env=env)


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    lockstep(sim, CONFIGS[name], CYCLES[sim])


FAULTS = {
    "no forwarding": (
        "bm_accumulator.sv",
        "(last_valid_q && last_addr_q == acc_addr_i)",
        "1'b0",
    ),
    "forwarding without the address": (
        "bm_accumulator.sv",
        "last_valid_q && last_addr_q == acc_addr_i",
        "last_valid_q",
    ),
    "forwarding across a pause": (
        "bm_accumulator.sv",
        "last_valid_q <= acc_valid_i;",
        "last_valid_q <= last_valid_q || acc_valid_i;",
    ),
    "overflow also of overwritten rows": (
        "bm_accumulator.sv",
        "acc_valid_i && acc_add_i && |lane_overflow",
        "acc_valid_i && |lane_overflow",
    ),
    "unsigned overflow": (
        "bm_accumulator.sv",
        "(lane_sum[31] != old[32*c+31])",
        "lane_sum < old[32*c+:32]",
    ),
    "vector reads first": (
        "bm_accumulator_bank.sv",
        "read_i && !pre_i",
        "read_i",
    ),
    "the flag outlives a reset": (
        "bm_accumulator.sv",
        "overflow_o   <= 1'b0;",
        "",
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
