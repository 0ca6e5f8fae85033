# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with a program, model and RTL stop alike, leave memory as it should be, and run the next one."""

import numpy as np
import pytest

from beatmatch import functional
from beatmatch.config import Config
from beatmatch.isa import Error
from beatmatch.isa.fields import Opcode
from tb.lockstep import runner
from tb.lockstep.job import Item
from tests.sim.error_cases import CASES, CHAIN, Restarts, afterwards
from tests.sim.faults import CONFIG

SIDE = "tests.sim.error_cases:make_side"
CONFIGS = {
    "planted": CONFIG,
    "wide port": Config(16, 4, 48, 3, 20, 5, 2, 1, 256, 1, 4, "wide"),
    "tall": Config(32, 4, 16, 1, 4, 1, 2, 1, 32, 1, 4, "tall"),
    "flat": Config(4, 32, 128, 8, 32, 8, 3, 3, 1024, 2, 64, "flat"),
}
"""Rows over cols and cols over rows; memory narrower and wider than a word; least depths."""


@pytest.mark.parametrize("label", CONFIGS)
@pytest.mark.parametrize("name", CASES)
def test_both_tiers_stop_where_they_should(name, label):
    """Error registers, memory, and a right result from the program after it."""
    case, config = CASES[name], CONFIGS[label]
    program, (good, product) = case.program(config), afterwards(config)
    side = Restarts([program, good])
    for _ in side.blocks():
        pass
    stopped, ended = side.states
    assert (stopped.error, stopped.engine, stopped.seq) == (case.error, case.engine, case.seq)
    assert stopped.status == ended.status == {"busy": 0, "done": 1}
    before, right = program.memory(), functional.run(case.allowed(config))
    assert not right.error
    for address, there, _ in stopped.image.differences(before, 1 << 20):
        assert there == right.image.read(address, 1)[0], f"{address:#x} holds {there:#x}"
    if not case.timed:
        outcome = functional.run(program)
        assert (outcome.error, outcome.engine, outcome.seq & 0xFFFF) == (case.error, case.engine, case.seq)
        assert outcome.text.endswith(".")
    assert ended.error is Error.NONE
    np.testing.assert_array_equal(good.read(ended.image)["out"], product)


def test_many_errors_one_after_the_other():
    """Without a reset between them, none leaves anything behind that the next one, or the last program, sees."""
    good, product = afterwards(CONFIG)
    side = Restarts([*(CASES[name].program(CONFIG) for name in CHAIN), good])
    for _ in side.blocks():
        pass
    found = [(state.error, state.engine, state.seq) for state in side.states]
    cases = [CASES[name] for name in CHAIN]
    assert found[:-1] == [(case.error, case.engine, case.seq) for case in cases]
    assert found[-1][0] is Error.NONE
    np.testing.assert_array_equal(good.read(side.states[-1].image)["out"], product)


def test_the_cases_cover_every_error_and_instruction():
    """A new error code or instruction needs cases of its own."""
    assert {case.error for case in CASES.values()} == set(Error) - {Error.NONE}
    decoded = [item for case in CASES.values() for item in case.program(CONFIG).decoded()[2:3] if item]
    assert {item.opcode for item in decoded} == set(Opcode)


def chosen(sim):
    """Names of the cases to run: all of them under Verilator; Icarus, which is slow, sees a part."""
    decoder = {Error.ILLEGAL_OPCODE, Error.ILLEGAL_FIELD, Error.ZERO_SIZE}
    few, most = {"verilator": (1, 1), "icarus": (8, 2)}[sim]
    decoded = [name for name, case in CASES.items() if case.error in decoder]
    return decoded[::few] + [name for name in CASES if name not in decoded][::most]


@pytest.mark.parametrize(
    ("sim", "label"),
    [
        ("verilator", "planted"),
        pytest.param("icarus", "planted", marks=pytest.mark.icarus),
        pytest.param("icarus", "wide port", marks=pytest.mark.icarus),
    ],
)
def test_lockstep(sim, label):
    """The RTL says and does the same in every cycle, the host's reads of its registers and the restart included."""
    config, names = CONFIGS[label], chosen(sim)
    jobs = [CHAIN, *([name] for name in names)]
    items = [Item(index, {"cases": cases}) for index, cases in enumerate(jobs)]
    results = runner.run(runner.build(config, sim), config, items, side=SIDE)
    wrong = {result.index: result.divergence for result in results if result.divergence}
    assert wrong == {}
