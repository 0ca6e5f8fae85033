# SPDX-License-Identifier: Apache-2.0
"""The same flip in RTL and model: two machines that are wrong in the same way have to stay in step."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from beatmatch.machine import SteppedMachine
from beatmatch.program import Program
from tb.flips.counterparts import Counterpart, counterparts
from tb.flips.recording import Recording, record


class _Once:
    """Flips one bit of the model in the first cycle from `cycle` on in which both sides hold it."""

    def __init__(self, counterpart: Counterpart, bit: int, cycle: int) -> None:
        self.counterpart, self.bit, self.cycle = counterpart, bit, cycle
        self.done = False

    def __call__(self, machine: SteppedMachine) -> None:
        if self.done or machine.cycle_count < self.cycle:
            return
        if self.counterpart.holds(machine, self.bit):
            self.cycle, self.done = machine.cycle_count, True
            self.counterpart.flip(machine, self.bit)


async def run_on_both(bench, program: Program, rng: random.Random, count: int) -> list[dict[str, Any]]:
    """Run a program `count` times, each with another flip on both sides; units take turns.

    Returns
    -------
    list of dict
        ``unit, variable, bit, cycle``, ``first``: first cycle in which the sides differ (-1: none does), ``effect``:
        the flip changed a record.
    """
    by_unit: dict[str, list[Counterpart]] = {}
    for counterpart in counterparts(SteppedMachine(program)):
        by_unit.setdefault(counterpart.unit, []).append(counterpart)
    plain = record(program)
    turn = rng.randrange(len(by_unit))
    outcomes = []
    for number in range(count):
        group = list(by_unit.values())[(turn + number) % len(by_unit)]
        (counterpart,) = rng.choices(group, weights=[item.width for item in group])
        once = _Once(counterpart, rng.randrange(counterpart.width), rng.randrange(plain.length))
        flipped = record(program, once, limit=2 * plain.length)
        first = await _compare(bench, flipped, once)
        outcomes.append(
            {
                "unit": counterpart.unit,
                "variable": counterpart.variable,
                "bit": counterpart.low + once.bit,
                "cycle": once.cycle,
                "first": first,
                "effect": not np.array_equal(flipped.records, plain.records),
            }
        )
    return outcomes


async def _compare(bench, flipped: Recording, once: _Once) -> int:
    """The RTL with the flip, driven by what the flipped model's agents drove; the first differing cycle or -1."""
    access, cycle = bench.access, once.cycle
    await bench.start(np.zeros(access.bytes, np.uint8))
    before = await bench.drive(flipped.rows[:cycle])
    index, bit = access.find(once.counterpart.variable, once.counterpart.low + once.bit)
    access.write(access.flip(access.read(), index, bit))
    after = await bench.drive(flipped.rows[cycle:])
    different = (np.concatenate([before, after]) != flipped.records).any(axis=1)
    return int(np.argmax(different)) if different.any() else -1
