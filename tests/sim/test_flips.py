# SPDX-License-Identifier: Apache-2.0
"""Bit flips: all state is found, every flip is flagged or shown to be masked, and the checks behind that can fail."""

import random

import pytest

from beatmatch.config import Config
from tb import sim
from tb.flips import campaign
from tb.flips.fate import MEMORY_TURN, draw, strata
from tb.flips.job import JOB_VARIABLE, Job
from tb.flips.state import elements

CONFIG = campaign.CONFIGS[0]


@pytest.fixture(scope="module")
def state():
    return elements(CONFIG)


def test_all_state_is_found(state):
    """Spot checks against sizes that the configuration gives."""
    bits = {element.variable: 0 for element in state}
    for element in state:
        bits[element.variable] += element.bits
    memory = sum(count for name, count in bits.items() if name.startswith("u_scratchpad") and name.endswith("memory"))
    assert memory == CONFIG.sp_words * CONFIG.lanes * 8
    assert bits["u_host.i_csr.base_q"] == 16 * 64
    assert bits["u_host.i_accounting.counters_o"] == 8 * 64
    assert bits["u_matmul.u_array.gen_row[3].u_row.sum_q"] == 32 * CONFIG.cols
    assert bits["u_matmul.u_sequencer.instr_q"] == 256
    assert {element.unit for element in state} == {
        "accumulator", "frontend", "host", "load", "matmul", "port", "scratchpad", "store", "vector", "weights",
    }  # fmt: skip


def test_flips_are_drawn_from_every_stratum_and_bit_range(state):
    flips = draw(random.Random(1), state, 500, 100)
    drawn = {(state[flip.element].unit, state[flip.element].kind) for flip in flips}
    assert drawn == set(strata(state))
    assert sum(state[flip.element].kind == "memories" for flip in flips) == 500 // MEMORY_TURN
    assert all(0 <= flip.bit < state[flip.element].bits and 0 <= flip.cycle < 100 for flip in flips)
    assert flips == draw(random.Random(1), state, 500, 100)


def test_dead_storage_that_acts_makes_a_hole():
    flip = {"what": "flip", "config": "a", "unit": "load", "kind": "registers", "fate": "masked", "latency": -1,
            "slot": "", "how": "dead storage", "left": ["x"]}  # fmt: skip
    poison = {"what": "poison", "config": "a", "cycles": 10, "differs": -1}
    quiet = campaign.figures([flip, poison], {})
    assert (quiet["masked"], quiet["unmasked"], quiet["holes"]) == (1, 0, [])
    for other, holes in (("a", 1), ("b", 0)):
        seen = campaign.figures([flip, {**poison, "config": other, "differs": 3}], {})
        assert (seen["unmasked"], len(seen["holes"]), seen["flagged"]) == (holes, holes, 0)
    freed = campaign.figures([{**flip, "left": [], "how": "ended by reset"}, {**poison, "differs": 3}], {})
    assert freed["masked"] == 1


def test_a_slice_of_the_campaign():
    plans = campaign.plan(60, 18, seed=3, processes=1, configs=[CONFIG])
    result = campaign.figures(campaign.run(plans, workers=1), {})
    assert result["flips"] == 60 == result["flagged"] + result["masked"]
    assert result["flagged"] > 0 < result["masked"]
    assert result["holes"] == []
    assert result["latency"]["registers"]["median"] <= 1
    assert result["dead_storage"]["runs"] > 0 and result["dead_storage"]["differing"] == []
    both = result["same_on_both"]
    assert (both["flips"], both["in_step"], both["apart"]) == (18, 18, [])
    assert both["with_effect"] > 0


def test_what_has_to_be_noticed_is_noticed(tmp_path):
    (plan,) = campaign.plan(0, 1, seed=3, processes=1, configs=[CONFIG])
    job = Job(CONFIG.to_dict(), list(plan.state), "", both=plan.jobs[0].both)
    job.save(tmp_path / "job.json")
    sim.run(
        plan.built,
        "tests.sim.flips_bench",
        env={JOB_VARIABLE: str(tmp_path / "job.json")},
        plusargs=["+verilator+noassert"],
    )


def test_another_configuration_has_other_state():
    wide = elements(Config(4, 8, 96, 3, 24, 3, 3, 1, 128, 3, 4))
    assert {"u_scratchpad.gen_bank[2].u_bank.u_ram.memory", "u_load.u_gearbox.gen_down.beat_q"} <= {
        element.variable for element in wide
    }
