# SPDX-License-Identifier: Apache-2.0
"""The host's script: accesses of registers, and events that are added while a program runs."""

import numpy as np
import pytest

from beatmatch import csr
from beatmatch.config import preset
from beatmatch.machine import SteppedMachine
from beatmatch.program import HostEvent, Program
from beatmatch.trace import layout

CONFIG = preset("tiny")
IDLE = HostEvent(0, "reset", 1)
"""A reset in the first cycle drops the start that every program begins with."""


def run(program):
    """Stimulus rows and records of a whole program."""
    blocks = [tuple(np.copy(part) for part in block) for block in SteppedMachine(program).blocks(10_000)]
    return tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))


def answers(records):
    """Read data in the order of the responses."""
    slot = layout(CONFIG).slot("host", "axil")
    rvalid = records[:, slot.offset] >> 6 & 1
    return records[rvalid == 1, slot.data["rdata"][0]].tolist()


def test_a_script_writes_and_reads_registers():
    script = (
        IDLE,
        HostEvent(3, "write", address=csr.CYCLE_LIMIT.address, data=0x12345678),
        HostEvent(3, "read", address=csr.CYCLE_LIMIT.address),
        HostEvent(4, "read", address=csr.ID.address),
        HostEvent(4, "read", address=csr.STATUS.address),
    )
    _, records = run(Program(CONFIG, [], host=script))
    assert answers(records) == [0x12345678, csr.ID_LETTERS_VALUE << 16 | csr.ID_VERSION_VALUE, 0]


def test_events_added_while_it_runs_equal_events_of_the_program():
    """What a bench decides on the way replays from the program file, row by row and record by record."""
    machine = SteppedMachine(Program(CONFIG, [], host=(IDLE,)), block=64)
    script, blocks = [IDLE], []
    decided = [("read", 0, csr.BASE.address, 0), ("write", 0, csr.PROG_LEN.address, 7), ("start", 0, 0, 0)]
    for action in [*decided, ("reset", 2, 0, 0), ("read", 0, csr.PROG_LEN.address, 0)]:
        blocks.append(tuple(np.copy(part) for part in machine.run_block()))
        script.append(HostEvent(machine.cycle_count, *action))
        machine.add_host_event(script[-1])
    while not machine.finished:
        blocks.append(tuple(np.copy(part) for part in machine.run_block()))
    live = tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))
    again = run(Program(CONFIG, [], host=tuple(script)))
    assert len(live[0]) > 50
    for ours, theirs in zip(live, again, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_event_of_the_past_is_refused():
    machine = SteppedMachine(Program(CONFIG, [], host=(IDLE,)), block=8)
    machine.run_block()
    with pytest.raises(ValueError, match="comes too late"):
        machine.add_host_event(HostEvent(0, "start"))
