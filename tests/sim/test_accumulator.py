# SPDX-License-Identifier: Apache-2.0
"""The accumulators in lockstep with their model."""

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH = BENCHES["accumulator"]
CONFIGS = {
    "tiny": preset("tiny"),
    "tall": Config(16, 4, 48, 3, 20, 5),
    "wide": Config(4, 32, 112, 7, 4, 1),
    "deep": Config(8, 8, 16, 1, 4096, 8),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    BENCH.run(sim, CONFIGS[name])


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
