# SPDX-License-Identifier: Apache-2.0
"""The matrix unit in lockstep with its model on both simulators, and faults that the lockstep must find."""

import pytest

from beatmatch.config import Config
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH = BENCHES["matmul"]
CONFIGS = {
    "square": Config(8, 8, 256, 2, 64, 2, 4),
    "wide": Config(4, 32, 48, 3, 56, 7, 3),
    "tall": Config(16, 4, 16, 1, 4, 1, 2),
    "least": Config(4, 4, 16, 1, 4, 1, 16),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    BENCH.run(sim, CONFIGS[name])


FAULTS = {
    "a row overtakes the swap before it": ("bm_matmul_sequencer.sv", "(!shadow_full_i || swap_o)", "!shadow_full_i"),
    "products lose their sign": ("bm_matmul_row.sv", "32'($signed(product_q[16*c+:16]));", "32'(product_q[16*c+:16]);"),
    "commit one cycle late": ("bm_matmul_commit.sv", "slot_q - SLOT_W'(DEPTH)", "slot_q - SLOT_W'(DEPTH + 1)"),
    "one operand too many is legal": ("bm_matmul_walk.sv", "row_q >= OPERANDS", "row_q > OPERANDS"),
    "padding with zero": ("bm_matmul_feed.sv", ": pad_q;", ": 8'd0;"),
    "a halted row retires": ("bm_matmul_commit.sv", "end_q[DEPTH-1] && !halt_i", "end_q[DEPTH-1]"),
    "ring never wraps": ("bm_matmul_walk.sv", "instr_i.src_ring != 2'd0 &&", "instr_i.src_ring > 2'd1 &&"),
    "weights load early": (
        "bm_matmul_row.sv",
        "load  = {load_q, load_i}",
        "load  = {load_q[COLS-2:1], load_i, load_i}",
    ),
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
