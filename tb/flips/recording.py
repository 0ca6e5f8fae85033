# SPDX-License-Identifier: Apache-2.0
"""What the golden model does on a program, written down once: stimulus of the core and the records expected of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beatmatch.machine import SteppedMachine
from beatmatch.program import Program

DRAIN = 64
"""Cycles recorded behind the end of a program: what a flip sets off in its last cycle still shows."""


@dataclass(frozen=True)
class Recording:
    """A program as the model ran it.

    Attributes
    ----------
    rows, records : numpy.ndarray
        uint32 [cycles, words], `DRAIN` cycles longer than the program.
    """

    rows: np.ndarray
    records: np.ndarray

    @property
    def length(self) -> int:
        """Cycles of the program itself; flips are drawn from these."""
        return len(self.rows) - DRAIN


def record(
    program: Program, before: Callable[[SteppedMachine], None] | None = None, limit: int | None = None
) -> Recording:
    """Step the model through a program to its end and `DRAIN` cycles beyond.

    Parameters
    ----------
    program : Program
    before : callable, optional
        Called with the machine before every cycle; it may change the state of that cycle.
    limit : int, optional
        Cycles after which a program counts as ended, whatever it still does.
    """
    machine = SteppedMachine(program, digest=True)
    rows, records = [], []
    left = DRAIN
    while left:
        machine.trace.rewind()
        machine.stimulus.rewind()
        full = False
        while left and not full:
            if before is not None:
                before(machine)
            if machine.finished or (limit is not None and machine.cycle_count >= limit):
                left -= 1
            machine.cycle()
            machine.stimulus.next()
            full = machine.trace.next()
        rows.append(machine.stimulus.rows().copy())
        records.append(machine.trace.records().copy())
    return Recording(np.concatenate(rows), np.concatenate(records))
