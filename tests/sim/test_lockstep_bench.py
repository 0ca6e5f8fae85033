# SPDX-License-Identifier: Apache-2.0
"""The lockstep bench alone, with a stand-in for the core: transports, sessions and results on both simulators."""

from pathlib import Path

import pytest

from beatmatch.config import Config
from beatmatch.trace import layout
from tb.lockstep import runner
from tb.lockstep.job import Item

CORE = Path(__file__).parent / "standin" / "bm_core.sv"
SIDE = "tests.sim.standin.standin:make"
CONFIG = Config(rows=4, cols=8, sp_words=64, acc_rows=16, mem_bits=128, name="standin")


def build(sim, tmp_path, unknown=None):
    defines = [f"`define STANDIN_WORDS {layout(CONFIG).words}\n"]
    if unknown is not None:
        defines.append(f"`define STANDIN_XCYCLE {unknown}\n")
    core = tmp_path / "bm_core.sv"
    core.write_text("".join(defines) + CORE.read_text())
    package = tmp_path / "bm_pkg.sv"
    package.write_text("package bm_pkg; localparam int Unused = 0; endpackage\n")
    return runner.build(CONFIG, sim, sources=[package, core])


def run(sim, tmp_path, sources, **options):
    built = build(sim, tmp_path, options.pop("unknown", None))
    items = [Item(index, source) for index, source in enumerate(sources)]
    return runner.run(built, CONFIG, items, side=SIDE, **options)


def test_both_sides_agree_over_many_programs(sim, tmp_path):
    """Reset between programs, blocks of any length, every word of every cycle."""
    sources = [
        {"seed": n, "cycles": cycles, "block": block}
        for n, (cycles, block) in enumerate([(700, 64), (5, 1), (1500, 1024)])
    ]
    results = run(sim, tmp_path, sources)
    assert [result.divergence for result in results] == [None] * 3
    assert [result.cycles for result in results] == [700, 5, 1500]
    assert results[0].digests == 700 * sum(placed.slot.kind == "digest" for placed in layout(CONFIG).slots)


def test_both_simulators_give_the_same_hash(tmp_path):
    from tb import toolchain

    if not toolchain.has("icarus"):
        pytest.skip("Icarus Verilog is not installed")
    hashes = {sim: run(sim, tmp_path, [{"seed": 5, "cycles": 300}])[0].sha256 for sim in ("verilator", "icarus")}
    assert hashes["verilator"] == hashes["icarus"]


@pytest.mark.parametrize("cycle", [0, 1023, 1024, 1499])
def test_a_wrong_word_is_found_in_its_cycle(sim, tmp_path, cycle):
    sources = [{"seed": 1, "cycles": 1500, "wrong": [cycle, 5]}, {"seed": 2, "cycles": 100}]
    wrong, right = run(sim, tmp_path, sources)
    assert wrong.divergence["cycle"] == wrong.cycles == cycle
    assert right.divergence is None  # the next program starts from reset


def test_a_session_can_stop_at_the_first_divergence(sim, tmp_path):
    sources = [{"seed": 1, "cycles": 50, "wrong": [3, 5]}, {"seed": 2, "cycles": 100}]
    assert len(run(sim, tmp_path, sources, stop=True)) == 1


@pytest.mark.icarus
def test_unknown_bits_are_reported(tmp_path):
    (result,) = run("icarus", tmp_path, [{"seed": 1, "cycles": 300}], unknown=200)
    assert result.divergence["kind"] == "unknown_x"
    assert result.divergence["cycle"] == 200
    assert "0x0000f000 of word 3" in result.divergence["actual"]
