# SPDX-License-Identifier: Apache-2.0
"""Faults that need the RTL: stimulus, reset, memories and unknown bits; all of them in one simulator process.

`record` runs in the simulator (the cocotb test); `ROWS` says what is planted there and what has to show.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import cocotb

from beatmatch.isa.asm import assemble
from beatmatch.program import Program
from tb.lockstep import session, transport
from tb.lockstep.job import Item
from tb.lockstep.model_side import ModelSide
from tb.planted.environment import edited
from tb.planted.links import CONFIG, cases
from tb.planted.plant import Plant, planted

TARGET = "BEATMATCH_PLANTED_RESULTS"
TRANSPORT = "tb/lockstep/transport.py"
DRIVES = 'stim.value = int.from_bytes(row.tobytes(), "little")'
LOGIC = '__import__("cocotb.types").types.LogicArray'
READS_UNWRITTEN = """
.config tiny
.base 0 0x1000 4096
.address 0x4000
store row_bytes=64 src=0
"""


def edited_rtl(name: str, what: str, expected: str, old: str, new: str) -> Plant:
    """A change of the transport, seen on the RTL."""
    return edited(name, what, "rtl", expected, TRANSPORT, old, new)


ANY = "(value|early|late|missing|extra|order|digest) .*"
ROWS = (
    edited_rtl("stimulus_dropped", "every eighth row of stimulus is lost, the one before stays", ANY,
               DRIVES, f"if index % 8:\n                {DRIVES}"),
    edited_rtl("stimulus_late", "the RTL gets its stimulus a cycle late", "late .*",
               "for index, row in enumerate(rows):", "for index, row in enumerate([rows[0], *rows[:-1]]):"),
    edited_rtl("stimulus_swapped", "neighbouring rows of stimulus are exchanged", ANY,
               DRIVES, DRIVES.replace("row.", "rows[index ^ 1 if index ^ 1 < len(rows) else index].")),
    edited_rtl("no_reset", "a program begins without a reset", ANY,
               "rows[0, 0] = 1 << stimulus.CLEAR_MEMORIES", "rows[:, 0] = 1"),
    edited_rtl("memories_kept", "memories are not cleared between programs", "value .*",
               "rows[0, 0] = 1 << stimulus.CLEAR_MEMORIES", "rows[0, 0] = 0"),
    edited_rtl("driven_x", "the bench drives X", "unknown_x .*", DRIVES,
               f'stim.value = {LOGIC}("X" * len(stim)) if index == 300 else int.from_bytes(row.tobytes(), "little")'),
    edited_rtl("driven_z", "the bench lets go of its outputs", "unknown_x .*", DRIVES,
               f'stim.value = {LOGIC}("Z" * len(stim)) if index == 300 else int.from_bytes(row.tobytes(), "little")'),
    edited_rtl("record_late", "records are read a cycle late", "late .*",
               "            text = trace()\n            try",
               '            text, self._held = getattr(self, "_held", "0"), trace()\n            try'),
    edited_rtl("record_lost", "a record is lost", "raised ValueError.*",
               'records += bits.to_bytes(self._width, "little")',
               'records += bits.to_bytes(self._width, "little") if index != 400 else b""'),
)  # fmt: skip


def programs() -> list[Program]:
    """One after the other: the second finds what the first left behind; the last reads what nothing wrote."""
    return [cases()[2].program, assemble(READS_UNWRITTEN, CONFIG), cases()[1].program]


async def _finding(dut, shared: dict) -> str:
    """The first finding of the programs, or "passed"."""
    link = transport.make(dut, CONFIG)
    if shared:  # the clock runs and the simulation stands at a falling edge
        link._started = True
    for program in programs():
        try:
            result = await session.run_program(link, CONFIG, Item(0, {}), ModelSide(program))
        except Exception as error:
            return f"raised {type(error).__name__}: {error}"
        finally:
            shared["started"] = True
        if result.divergence:
            found = result.divergence
            return f"{found['kind']} {found['station']}.{found['slot']}"
    return "passed"


@cocotb.test()
async def record(dut):
    """Findings by name, as JSON; the empty name is the run without a fault, before and behind all others."""
    shared: dict = {}
    cases()
    found = {"": await _finding(dut, shared)}
    for plant in ROWS:
        with planted(plant.edit):
            found[plant.name] = await _finding(dut, shared)
    after = await _finding(dut, shared)
    found[""] = found[""] if after == "passed" else after
    Path(os.environ[TARGET]).write_text(json.dumps(found))
