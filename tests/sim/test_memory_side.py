# SPDX-License-Identifier: Apache-2.0
"""Load, store and the memory port in lockstep with their models, between stand-ins for the other stations."""

import pytest

from beatmatch.config import Config
from tb.benches import BENCHES

# Memory narrower than, as wide as, and wider than a word; one burst and many; rows and cols either way.
CONFIGS = {
    "even": Config(8, 8, 1024, 2, mem_bits=64, outstanding=4, param_rows=8),
    "narrow": Config(4, 16, 768, 3, mem_bits=32, outstanding=3, param_rows=4),
    "wide": Config(16, 4, 16, 1, mem_bits=512, outstanding=1, param_rows=4),
    "widest": Config(4, 4, 2048, 1, mem_bits=1024, outstanding=16, param_rows=4),
    "words": Config(32, 32, 256, 1, mem_bits=128, outstanding=64, param_rows=4),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_lockstep_on_verilator(name):
    BENCHES["memory"].run("verilator", CONFIGS[name], 50 if name == "even" else 15, seed=1)


@pytest.mark.icarus
@pytest.mark.parametrize("name", ["even", "narrow", "wide"])
def test_lockstep_on_icarus(name):
    BENCHES["memory"].run("icarus", CONFIGS[name], seed=2)


@pytest.mark.parametrize("name", CONFIGS)
def test_values_with_an_independent_axi_memory(name):
    BENCHES["axi_memory"].run("verilator", CONFIGS[name], seed=3)


@pytest.mark.icarus
def test_values_with_an_independent_axi_memory_on_icarus():
    BENCHES["axi_memory"].run("icarus", CONFIGS["wide"], seed=4)
