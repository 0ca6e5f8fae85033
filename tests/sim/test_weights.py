# SPDX-License-Identifier: Apache-2.0
"""The weights engine and the FIFO in lockstep with their models, and faults that the lockstep must find."""

import json

import pytest

from beatmatch.config import Config
from tb import toolchain
from tb.sim import SimulationError, build, run

RTL = toolchain.ROOT / "rtl"
SOURCES = [
    RTL / "bm_pkg.sv",
    *(RTL / "lib" / f"bm_{name}.sv" for name in ("fifo", "gearbox", "ram", "row_bursts")),
    *sorted((RTL / "weights").glob("*.sv")),
    toolchain.ROOT / "tb" / "weights" / "bm_weights_bench.sv",
]
CONFIGS = {
    "square": Config(8, 8, 256, 2, 64, 2, 4, mem_bits=64, outstanding=8),
    "wide": Config(4, 32, 48, 3, 56, 7, 3, mem_bits=32, outstanding=1),
    "tall": Config(16, 4, 16, 1, 4, 1, 2, mem_bits=1024, outstanding=3),
    "least": Config(4, 4, 16, 1, 4, 1, 16, mem_bits=32, outstanding=64),
    "broad": Config(8, 16, 128, 2, 64, 2, 2, mem_bits=256, outstanding=2),
}
CYCLES = {"verilator": 20000, "icarus": 4000}


def lockstep(sim, config, cycles, sources=SOURCES, seed=None):
    names = ("ROWS", "COLS", "SP_WORDS", "MEM_BITS", "OUTSTANDING", "FIFO_TILES")
    parameters = {name: config.rtl_parameters()[name] for name in names}
    built = build("bm_weights_bench", sources, sim, parameters)
    sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
    return run(built, "tb.weights.weights_bench", seed=seed, env={"CONFIG": json.dumps(sizes), "CYCLES": str(cycles)})


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    lockstep(sim, CONFIGS[name], CYCLES[sim])


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
    for path in SOURCES:
        text = path.read_text()
        if path.name == name:
            assert text.count(good) == 1, f"{good!r} is {text.count(good)} times in {name}"
            path = tmp_path / name
            path.write_text(text.replace(good, bad))
        sources.append(path)
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match="Mismatch"):
        lockstep(sim, CONFIGS["square"], 6000, sources, seed=1)
