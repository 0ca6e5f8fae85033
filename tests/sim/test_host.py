# SPDX-License-Identifier: Apache-2.0
"""The host side: registers, bus and accounting in lockstep with the model."""

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH = BENCHES["host"]
CONFIGS = {
    "small": preset("small"),
    "most": Config(256, 256, 131072, 8, 4096, 8, 16, 32, 1024, 64, 128),
    "odd": Config(4, 32, 48, 3, 56, 7, 3, 1, 32, 1, 4),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    BENCH.run(sim, CONFIGS[name])


FAULTS = {
    "strobes ignored": ("bm_csr.sv", "{8{write_strb_i[3]}}", "8'hFF"),
    "a start while busy counts": ("bm_csr.sv", "assign start_o = accept", "assign start_o = write_i"),
    "response in the cycle of the next write": ("bm_axil.sv", "w_valid_q && !b_valid_q", "w_valid_q"),
    "the clear cycle is counted": ("bm_host.sv", ".run_i         (run_o)", ".run_i         (busy_o)"),
    "a hole in the map reads as mapped": ("bm_csr.sv", "= csr_mapped(read_addr_i)", "= read_addr_i < 12'h200"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, tmp_path):
    name, good, bad = FAULTS[fault]
    sources = []
    for path in BENCH.sources:
        text = path.read_text()
        if path.name == name:
            assert good in text
            path = tmp_path / name
            path.write_text(text.replace(good, bad))
        sources.append(path)
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match="Mismatch"):
        BENCH.run(sim, CONFIGS["small"], 4000, sources, seed=1)
