# SPDX-License-Identifier: Apache-2.0
"""The frontend: fetch to queues, semaphores and monitor in lockstep with the model; the legality rules."""

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.benches import BENCHES
from tb.sim import SimulationError

BENCH = BENCHES["frontend"]
CONFIGS = {
    "small": preset("small"),
    "narrow": Config(rows=4, cols=16, queue_depth=1, mem_bits=32),
    "wide": Config(rows=16, cols=4, queue_depth=3, mem_bits=1024),
    "equal": Config(rows=4, cols=4, queue_depth=32, mem_bits=256),
    "twice": Config(rows=4, cols=32, queue_depth=2, mem_bits=512),
}
WANTED = "done DEADLOCK CYCLE_LIMIT PROGRAM RESET"


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    BENCH.run(sim, CONFIGS[name], WANTED=WANTED)


LEGALITY = [preset("tiny"), Config(rows=256, cols=32), Config(rows=16, cols=128), Config(rows=256, cols=256)]


@pytest.mark.parametrize("config", LEGALITY, ids=lambda config: f"{config.rows}x{config.cols}")
def test_legality(sim, config):
    BENCHES["legality"].run(sim, config)


FAULTS = {
    "deadlock one cycle early": ("bm_monitor.sv", "PATIENCE = 4'd15", "PATIENCE = 4'd14"),
    "a pop makes room in the same cycle": ("bm_dispatch.sv", "(target & full)", "(target & full & ~pop_i)"),
    "two signals to one counter add one": (
        "bm_semaphores.sv",
        "if (signals[12*k+6] && signals[12*k+7+:5] == id)",
        "if (signals[12*k+6] && signals[12*k+7+:5] == id && !(signals[12*k] && signals[12*k+1+:5] == id))",
    ),
    "the buffer is thought to hold 17": ("bm_fetch.sv", "5'(ENTRIES) - reserved_q", "5'd17 - reserved_q"),
    "engine errors before the frontend's": ("bm_monitor.sv", "if (limit) error", "if (limit && !(|err_valid_i)) error"),
    "the header comes again": ("bm_decode.sv", "header_done_q || header_valid_o", "header_valid_o"),
    "a halted run waits for nobody": ("bm_monitor.sv", "!fetch_pending_i && pending_i == '0", "!fetch_pending_i"),
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
        BENCH.run(sim, CONFIGS["small"], 20000, sources, seed=1)
