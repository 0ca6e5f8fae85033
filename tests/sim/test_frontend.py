# SPDX-License-Identifier: Apache-2.0
"""The frontend: fetch to queues, semaphores and monitor in lockstep with the model; the legality rules."""

import json

import pytest

from beatmatch.config import Config, preset
from tb import toolchain
from tb.sim import SimulationError, build, run

RTL = toolchain.ROOT / "rtl"
SOURCES = [
    RTL / name
    for name in (
        "bm_pkg.sv",
        "lib/bm_fifo.sv",
        "lib/bm_gearbox.sv",
        "frontend/bm_fetch.sv",
        "frontend/bm_legality.sv",
        "frontend/bm_decode.sv",
        "frontend/bm_queue.sv",
        "frontend/bm_dispatch.sv",
        "frontend/bm_semaphores.sv",
        "frontend/bm_monitor.sv",
        "frontend/bm_frontend.sv",
    )
]
CONFIGS = {
    "small": preset("small"),
    "narrow": Config(rows=4, cols=16, queue_depth=1, mem_bits=32),
    "wide": Config(rows=16, cols=4, queue_depth=3, mem_bits=1024),
    "equal": Config(rows=4, cols=4, queue_depth=32, mem_bits=256),
    "twice": Config(rows=4, cols=32, queue_depth=2, mem_bits=512),
}
CYCLES = {"verilator": 12000, "icarus": 3000}
WANTED = "done DEADLOCK CYCLE_LIMIT PROGRAM RESET"


def environment(config, **more):
    sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
    return {"CONFIG": json.dumps(sizes)} | more


def lockstep(sim, config, cycles, sources=SOURCES, seed=None, wanted=""):
    names = ("ROWS", "COLS", "QUEUE_DEPTH", "MEM_BITS")
    parameters = {name: config.rtl_parameters()[name] for name in names} | {"TRACE_W": 384}
    built = build("bm_frontend", sources, sim, parameters)
    env = environment(config, CYCLES=str(cycles), WANTED=wanted)
    return run(built, "tb.frontend.frontend_bench", seed=seed, env=env)


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    lockstep(sim, CONFIGS[name], CYCLES[sim], wanted=WANTED)


LEGALITY = [preset("tiny"), Config(rows=256, cols=32), Config(rows=16, cols=128), Config(rows=256, cols=256)]


@pytest.mark.parametrize("config", LEGALITY, ids=lambda config: f"{config.rows}x{config.cols}")
def test_legality(sim, config):
    built = build("bm_legality", [SOURCES[0], SOURCES[4]], sim, {"ROWS": config.rows, "COLS": config.cols})
    run(built, "tb.frontend.legality_bench", env=environment(config, WORDS="6000" if sim == "verilator" else "2000"))


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
    for path in SOURCES:
        text = path.read_text()
        if path.name == name:
            assert good in text
            path = tmp_path / name
            path.write_text(text.replace(good, bad))
        sources.append(path)
    sim = "icarus" if toolchain.has("icarus") else "verilator"
    with pytest.raises(SimulationError, match="Mismatch"):
        lockstep(sim, CONFIGS["small"], 20000, sources, seed=1)
