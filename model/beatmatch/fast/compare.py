# SPDX-License-Identifier: Apache-2.0
"""A program on the fast and on the stepped tier: what differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beatmatch.events import EventLog
from beatmatch.fast.run import FastResult, run_fast
from beatmatch.machine import SteppedResult, run_stepped
from beatmatch.program import Program

LIMIT = 1_000_000
"""Cycles after which a program is taken to have no end."""


@dataclass(frozen=True)
class Difference:
    """The first event of a slot that differs, or a figure (then the cycle is -1)."""

    cycle: int
    what: str
    stepped: str
    fast: str

    def __str__(self) -> str:
        where = f"cycle {self.cycle}: " if self.cycle >= 0 else ""
        return f"{where}{self.what}: stepped {self.stepped}, fast {self.fast}"


def compare(program: Program) -> tuple[list[Difference], int, int]:
    """Run a program on both tiers; the differences in order of time, the cycles and the events compared."""
    stepped, fast = run_stepped(program, limit=LIMIT), run_fast(program, limit=LIMIT)
    return differences(stepped, fast), stepped.events.cycles, len(stepped.events)


def differences(stepped: SteppedResult, fast: FastResult) -> list[Difference]:
    """What two results of one program differ in: figures first, then events in order of time."""
    figures = [
        Difference(-1, name, str(here), str(there))
        for name in ("error", "error_engine", "error_seq", "accounting", "dram")
        if (here := getattr(stepped, name)) != (there := getattr(fast, name))
    ]
    if fast.overflow is not None and fast.overflow != stepped.overflow:
        figures.append(Difference(-1, "overflow", str(stepped.overflow), str(fast.overflow)))
    if fast.start >= 0:
        (window,) = fast.events.accounting([fast.start, fast.start + fast.cycles])
        if window != stepped.accounting:
            figures.append(Difference(-1, "accounting of the run's window", str(stepped.accounting), str(window)))
    for name in ("cycles", "count"):
        here, there = getattr(stepped.events, name), getattr(fast.events, name)
        if here != there:
            figures.append(Difference(-1, f"{name} of the events", str(here), str(there)))
    events = [
        found
        for slot in fast.events.slots()
        if (found := _first(slot, stepped.events, fast.events, fast.overflow is not None)) is not None
    ]
    return figures + sorted(events, key=lambda item: item.cycle)


def _first(slot: tuple[str, str], stepped: EventLog, fast, overflow_known: bool) -> Difference | None:
    """The first event of a slot that differs."""
    here, fields = stepped.headers(*slot)
    there, others = fast.headers(*slot)
    common = min(len(here), len(there))
    different = here[:common] != there[:common]
    for name, values in fields.items():
        if name != "overflow" or overflow_known:
            different |= values[:common] != others[name][:common]
    if not different.any() and len(here) == len(there):
        return None
    index = int(np.argmax(different)) if different.any() else common
    shown = [_show(cycles, values, index) for cycles, values in ((here, fields), (there, others))]
    first = min(int(cycles[index]) for cycles in (here, there) if index < len(cycles))
    return Difference(first, f"{'.'.join(slot)} number {index}", *shown)


def _show(cycles: np.ndarray, fields: dict[str, np.ndarray], index: int) -> str:
    if index == len(cycles):
        return "none"
    return f"cycle {cycles[index]} " + " ".join(f"{name}={values[index]}" for name, values in fields.items())
