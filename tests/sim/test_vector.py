# SPDX-License-Identifier: Apache-2.0
"""The vector engine: in lockstep with its model, and its arithmetic against numerics."""

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH, LANES = BENCHES["vector"], BENCHES["lanes"]
CONFIGS = {
    "tiny": preset("tiny"),
    "tall": Config(16, 4, 48, 3, 20, 5, param_rows=8),
    "wide": Config(4, 32, 112, 7, 4, 1, param_rows=4),
    "deep": Config(32, 4, 16, 1, 4096, 8, param_rows=128),
    "square": Config(8, 8, 80, 5, 24, 3, param_rows=16),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    BENCH.run(sim, CONFIGS[name])


def test_lanes_compute_what_numerics_says(sim):
    LANES.run(sim, CONFIGS["tiny"])


FAULTS = {
    "padding reads zero in a maximum": ("bm_vector_operands.sv", "{COLS{max_i, 31'd0}}", "{COLS{32'd0}}"),
    "an early operand is not kept": ("bm_vector_operands.sv", "(sp_arrive_q || acc_arrive_q) ? wide : a_q", "wide"),
    "int32 rows one cycle too close": ("bm_vector_operands.sv", "(done && last_q) ? 2'd2", "(done && last_q) ? 2'd1"),
    "parameters before the pipeline is empty": ("bm_vector_sequencer.sv", "== StParam && pipe_empty_i", "== StParam"),
    "the fourth chunk is not range checked": ("bm_vector_address.sv", "raw_i ? 34'sd3", "raw_i ? 34'sd2"),
    "the ring is one iteration longer": ("bm_vector_address.sv", "now.dst_ring) - 8'd1)", "now.dst_ring))"),
    "window rows start at the wrong column": ("bm_vector_address.sv", "ix_wx_q  <= ix_x_q;", "ix_wx_q  <= ix_wx_q;"),
    "a halted engine retires": ("bm_vector_context.sv", "gives_q && !halt_i;", "gives_q;"),
    "a parameter write shows in its cycle": (
        "bm_ram.sv",
        "rdata_o <= memory[raddr_i];",
        "rdata_o <= (|wenable_i && waddr_i == raddr_i) ? wdata_i : memory[raddr_i];",
    ),
    "the second parameter row is the first": ("bm_vector_sequencer.sv", " + 9'(state_q == StSecond);", ";"),
    "the write goes to the first part": ("bm_vector_write.sv", "<< (32'(dst_q[PART_AW-1:0]) * COLS)", ""),
}
LANE_FAULTS = {
    "ties go up": ("bm_round.sv", "(sticky || doubled[1])", "1'b1"),
    "saturation before the zero point": ("bm_vector_lane.sv", "64'sd511", "64'sd127"),
    "the second operand is unsigned": ("bm_vector_lane.sv", "34'(b_q) *", "$signed({26'd0, b_q}) *"),
    "a maximum is unsigned": ("bm_vector_lane.sv", "(a_i > reduced_q)", "($unsigned(a_i) > $unsigned(reduced_q))"),
}


def planted(sources, fault, folder):
    name, good, bad = fault
    result = []
    for path in sources:
        if path.name == name:
            text = path.read_text()
            assert good in text
            path = folder / name
            path.write_text(text.replace(good, bad))
        result.append(path)
    return result


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, tmp_path):
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    sources = planted(BENCH.sources, FAULTS[fault], tmp_path)
    with pytest.raises(SimulationError, match=r"Mismatch|Assert"):
        BENCH.run(sim, CONFIGS["tall"], 12000, sources, seed=1)


@pytest.mark.parametrize("fault", LANE_FAULTS)
def test_a_planted_fault_of_the_lanes_is_found(fault, tmp_path):
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match="Mismatch"):
        LANES.run(sim, CONFIGS["tiny"], 20000, planted(LANES.sources, LANE_FAULTS[fault], tmp_path), seed=1)
