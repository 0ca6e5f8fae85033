# SPDX-License-Identifier: Apache-2.0
"""Load, store and the memory port in lockstep with their models, between stand-ins for the other stations."""

import json

import pytest

from beatmatch.config import Config
from tb import sim, toolchain

RTL = toolchain.ROOT / "rtl"
SOURCES = [
    RTL / "bm_pkg.sv",
    *(RTL / "lib" / f"bm_{name}.sv" for name in ("fifo", "gearbox", "row_bursts", "transfer_rows")),
    RTL / "load" / "bm_load.sv",
    *(RTL / "store" / f"bm_store{name}.sv" for name in ("_reader", "_beats", "")),
    RTL / "host" / "bm_port.sv",
    toolchain.ROOT / "tb" / "memory" / "bm_memory_bench.sv",
]

# Memory narrower than, as wide as, and wider than a word; one burst and many; rows and cols either way.
CONFIGS = {
    "even": Config(8, 8, 1024, 2, mem_bits=64, outstanding=4, param_rows=8),
    "narrow": Config(4, 16, 768, 3, mem_bits=32, outstanding=3, param_rows=4),
    "wide": Config(16, 4, 16, 1, mem_bits=512, outstanding=1, param_rows=4),
    "widest": Config(4, 4, 2048, 1, mem_bits=1024, outstanding=16, param_rows=4),
    "words": Config(32, 32, 256, 1, mem_bits=128, outstanding=64, param_rows=4),
}


def run(name: str, simulator: str, seed: int, scenarios: int, bench: str = "tb.memory.bench"):
    config = CONFIGS[name]
    names = ("ROWS", "COLS", "SP_WORDS", "MEM_BITS", "OUTSTANDING", "PARAM_ROWS")
    parameters = {key: value for key, value in config.rtl_parameters().items() if key in names}
    built = sim.build("bm_memory_bench", SOURCES, simulator, parameters)
    env = {"BM_CONFIG": json.dumps(config.to_dict()), "BM_SCENARIOS": str(scenarios)}
    return sim.run(built, bench, seed=seed, env=env)


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep_on_verilator(name):
    run(name, "verilator", seed=1, scenarios=50 if name == "even" else 15)


@pytest.mark.icarus
@pytest.mark.parametrize("name", ["even", "narrow", "wide"])
def test_lockstep_on_icarus(name):
    run(name, "icarus", seed=2, scenarios=8)


@pytest.mark.parametrize("name", CONFIGS)
def test_values_with_an_independent_axi_memory(name):
    run(name, "verilator", seed=3, scenarios=5, bench="tb.memory.axi_ram_bench")


@pytest.mark.icarus
def test_values_with_an_independent_axi_memory_on_icarus():
    run("wide", "icarus", seed=4, scenarios=5, bench="tb.memory.axi_ram_bench")
