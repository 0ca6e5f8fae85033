# SPDX-License-Identifier: Apache-2.0
"""The weights engine and the FIFO in lockstep with their models, and faults that the lockstep must find."""

import pytest

from beatmatch.config import Config
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH = BENCHES["weights"]
CONFIGS = {
    "square": Config(8, 8, 256, 2, 64, 2, 4, mem_bits=64, outstanding=8),
    "wide": Config(4, 32, 48, 3, 56, 7, 3, mem_bits=32, outstanding=1),
    "tall": Config(16, 4, 16, 1, 4, 1, 2, mem_bits=1024, outstanding=3),
    "least": Config(4, 4, 16, 1, 4, 1, 16, mem_bits=32, outstanding=64),
    "broad": Config(8, 16, 128, 2, 64, 2, 2, mem_bits=256, outstanding=2),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    BENCH.run(sim, CONFIGS[name])


FAULTS = {
    "one tile too many": ("bm_weights.sv", "reserved_q < 5'(FIFO_TILES)", "reserved_q <= 5'(FIFO_TILES)"),
    "one zero row too many": ("bm_weights_rows.sv", "row_q > k_rows_q", "row_q >= k_rows_q"),
    "one lane too many": ("bm_weights_reader.sv", "9'(c) < arrive_bytes_q", "9'(c) <= arrive_bytes_q"),
    "scratchpad overtakes memory": ("bm_weights_rows.sv", "(sp_q ? mem_quiet_i", "(sp_q ? 1'b1"),
    "a halted row is written": ("bm_weights.sv", "(word_valid || arrive) && !halt_i", "(word_valid || arrive)"),
    "window off by one": ("bm_weights_rows.sv", "65'(bytes_o) > 65'(size_q)", "65'(bytes_o) >= 65'(size_q)"),
    "tiles counted late": ("bm_weight_fifo.sv", "5'(rvalid_i && rrow_i == '0)", "5'(release_i)"),
    "wait shown without a slot": ("bm_weights_rows.sv", "waits_q && slot_free_i && empty", "waits_q && empty"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, tmp_path):
    name, good, bad = FAULTS[fault]
    sources = []
    for path in BENCH.sources:
        text = path.read_text()
        if path.name == name:
            assert text.count(good) == 1, f"{good!r} is {text.count(good)} times in {name}"
            path = tmp_path / name
            path.write_text(text.replace(good, bad))
        sources.append(path)
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match="Mismatch"):
        BENCH.run(sim, CONFIGS["square"], 6000, sources, seed=1)
