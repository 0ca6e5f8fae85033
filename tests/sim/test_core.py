# SPDX-License-Identifier: Apache-2.0
"""The whole core against bus models and an oracle that share no line with the golden model."""

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH = BENCHES["core"]
CONFIGS = {
    "tiny": preset("tiny"),
    "odd": Config(
        4, 8, 192, 3, 80, 5, fifo_tiles=3, queue_depth=2, mem_bits=128, outstanding=3, param_rows=4, weight_port=1
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_values_registers_and_restarts(sim, name):
    BENCH.run(sim, CONFIGS[name])


FAULTS = {
    "products lose their sign": (
        "bm_matmul_row.sv", "32'($signed(product_q[16*c+:16]));", "32'(product_q[16*c+:16]);",
        "bytes of memory are wrong",
    ),
    "the last beat of a row is written whole": (
        "bm_store_beats.sv", "strobe[i] = 9'(i) < beat_bytes;", "strobe[i] = 1'b1;", "bytes of memory are wrong",
    ),
    "a window is one byte larger": (
        "bm_transfer_rows.sv", "65'(row_bytes_q) > 65'(size_q)", "65'(row_bytes_q) > 65'(size_q) + 65'd1",
        "errors_and_restarts failed",
    ),
    "the clear cycle belongs to no category": (
        "bm_accounting.sv", "busy_i && !matrix", "run_i && !matrix", "in _adds_up",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, tmp_path):
    name, good, bad, message = FAULTS[fault]
    sources = []
    for path in BENCH.sources:
        if path.name == name:
            text = path.read_text()
            assert text.count(good) == 1, f"{good!r} is {text.count(good)} times in {name}"
            path = tmp_path / name
            path.write_text(text.replace(good, bad))
        sources.append(path)
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match=message):
        BENCH.run(sim, CONFIGS["tiny"], sources=sources, seed=1)
