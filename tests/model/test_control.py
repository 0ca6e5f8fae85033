# SPDX-License-Identifier: Apache-2.0
"""The words between engines and frontend: what an instruction does not wait for or signal is not in them."""

from beatmatch.isa import Error, Opcode, make
from beatmatch.isa.asm import assemble
from beatmatch.machine import run_stepped
from beatmatch.stations.control import SIGNALLED, signals_of

STARVED = """
.config tiny
.base 0 0x1000 64
.address 0x4000
.semaphore never 1
store each outer=2 row_bytes=4 src=0 wait=never:1
"""


def test_ids_without_an_enable_stand_in_the_register_and_are_no_signal():
    """The RTL's register keeps them, so does the model's: the benches of the engines compare all twelve bits."""
    for fields, word in (
        ({"sig0_id": 5, "sig1_id": 9}, 5 << 1 | 9 << 7),
        ({"sig0_id": 5, "sig1_en": 1, "sig1_id": 9}, 5 << 1 | (1 | 9 << 1) << 6),
        ({"sig0_en": 1, "sig0_id": 5, "sig1_id": 9}, 1 | 5 << 1 | 9 << 7),
    ):
        assert signals_of(make(Opcode.LOAD, **fields)) == word
        assert bool(word & SIGNALLED) == ("sig0_en" in fields or "sig1_en" in fields)


def test_the_cycle_of_a_deadlock_does_not_depend_on_ids_without_an_enable():
    """An iteration that gives no signal leaves none in the register, and the patience begins at once."""
    program = assemble(STARVED)
    (item,) = program.decoded()
    cycles = set()
    for number in (0, 28):
        word = make(item.opcode, **item.fields | {"sig0_id": number, "sig1_id": number}).word()
        result = run_stepped(program.replace(instructions=[word]), limit=5000)
        assert result.error is Error.DEADLOCK
        cycles.add(result.cycles)
    assert len(cycles) == 1
