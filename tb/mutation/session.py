# SPDX-License-Identifier: Apache-2.0
"""The cocotb test of the mutation run: many mutants in one simulator process, each until a record differs.

A mutant meets the programs in an order that learns: the program that killed the last mutant of a module comes first
for the next one. The unmutated core runs all programs before the first and after the last mutant, so that neither
the machinery nor what a mutant leaves behind in the registers can be taken for a kill.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ValueChange

from beatmatch.config import Config
from beatmatch.trace import layout
from tb.lockstep.transport import PERIOD_NS, RESET_ROWS
from tb.mutation import recordings
from tb.mutation.recordings import Recording

JOB_VARIABLE = "BEATMATCH_MUTATION_JOB"
UNMUTATED = 0


@dataclass
class MutationJob:
    """Mutants for one simulator process.

    Attributes
    ----------
    config : dict
    recordings : str
        File of recorded programs.
    mutants : list of (int, str)
        Number and module of each mutant.
    results : str
        File that gets one line of JSON per mutant: number, program, cycle (null for a survivor), cycles run.
    blind : list of str
        Kinds of trace slots that the comparison leaves out: shows that the machinery can fail.
    """

    config: dict[str, Any]
    recordings: str
    mutants: list[tuple[int, str]]
    results: str
    blind: list[str] = dataclasses.field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the job file."""
        path.write_text(json.dumps(dataclasses.asdict(self)))

    @classmethod
    def load(cls, path: Path) -> MutationJob:
        """Read a job file."""
        return cls(**json.loads(path.read_text()))


class Player:
    """Plays recordings to the bench top, with one mutant turned on."""

    def __init__(self, dut, config: Config, blind: list[str]) -> None:
        library = ctypes.CDLL(None)
        self._attach = library.bm_attach
        self._attach.argtypes = [
            *(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32),
            *(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint16),
        ]
        self._attach.restype = None
        self._difference = library.bm_difference
        self._difference.restype = ctypes.c_int64
        self._mask = compared_bits(config, blind)
        self._over = ValueChange(dut.wake_o)
        self.cycles = 0
        Clock(dut.clk_i, PERIOD_NS, "ns", impl="gpi").start()

    async def play(self, recording: Recording, mutant: int) -> int | None:
        """The first cycle whose record differs from the model's, or None."""
        rows, records = recording.rows, recording.records
        self._attach(
            *(rows.ctypes.data, rows.shape[1], records.ctypes.data, self._mask.ctypes.data, records.shape[1]),
            *(len(rows), RESET_ROWS, mutant),
        )
        await self._over
        difference = self._difference()
        self.cycles += len(records) if difference < 0 else difference + 1
        return None if difference < 0 else difference


def compared_bits(config: Config, blind: list[str]) -> np.ndarray:
    """Mask over the words of a record, uint32; slots of the blinded kinds are 0."""
    plan = layout(config)
    mask = np.full(plan.words, 0xFFFFFFFF, dtype=np.uint32)
    for placed in plan.slots:
        if placed.slot.kind in blind:
            mask[placed.offset : placed.offset + placed.words] = 0
    return mask


@cocotb.test()
async def mutants(dut):
    """Run every mutant of the job; a survivor is a result, a difference without a mutant is an error."""
    job = MutationJob.load(Path(os.environ[JOB_VARIABLE]))
    config = Config.from_dict(job.config)
    player = Player(dut, config, job.blind)
    programs = recordings.load(Path(job.recordings))
    order: dict[str, list[Recording]] = {}
    await _unmutated(player, programs)
    with Path(job.results).open("a") as results:
        for number, module in job.mutants:
            found = await _kill(player, order.setdefault(module, list(programs)), number)
            results.write(json.dumps({"number": number, **found}) + "\n")
            results.flush()
    await _unmutated(player, programs)


async def _kill(player: Player, programs: list[Recording], number: int) -> dict[str, Any]:
    before = player.cycles
    for place, program in enumerate(programs):
        cycle = await player.play(program, number)
        if cycle is not None:
            programs.insert(0, programs.pop(place))
            return {"program": program.name, "cycle": cycle, "cycles": player.cycles - before}
    return {"program": None, "cycle": None, "cycles": player.cycles - before}


async def _unmutated(player: Player, programs: list[Recording]) -> None:
    for program in programs:
        cycle = await player.play(program, UNMUTATED)
        assert cycle is None, f"Without a mutant {program.name} differs in cycle {cycle}: run `make lockstep` first."
