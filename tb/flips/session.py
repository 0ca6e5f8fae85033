# SPDX-License-Identifier: Apache-2.0
"""The cocotb test of fault injection: every flip of a job in one simulator process.

A program is run once without a flip, and its states at the cycles of the flips are kept. Each flip then starts from
the kept state with one bit inverted, and is driven by the recorded stimulus until its fate is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import cocotb
import numpy as np

from beatmatch import stimulus
from tb.flips.access import StateAccess
from tb.flips.both import run_on_both
from tb.flips.fate import Flip, Golden, Outcome, draw, place_of
from tb.flips.job import JOB_VARIABLE, Job
from tb.flips.recording import Recording, record
from tb.lockstep import random_programs, transport
from tb.lockstep.streams import stream

CHECKPOINT = 32
"""Cycles between two comparisons of the whole state."""


@cocotb.test()
async def flips(dut):
    """Work through the job; what becomes of a flip is a result, a broken control run an error."""
    job = Job.load(Path(os.environ[JOB_VARIABLE]))
    config = job.configuration()
    bench = Bench(transport.make(dut, config), StateAccess(job.state))
    with Path(job.results).open("a") as results:

        def note(**what) -> None:
            results.write(json.dumps(what) + "\n")
            results.flush()

        for seed, count in job.programs:
            program = random_programs.generate(seed, config)
            recording = record(program)
            chosen = draw(stream(seed, "flips"), job.state, count, recording.length)
            golden = await bench.golden(recording, {flip.cycle for flip in chosen}, seed)
            for flip in chosen:
                outcome = await bench.follow(recording, golden, flip)
                if outcome.slot:
                    outcome.slot = place_of(config, int(outcome.slot))
                note(what="flip", seed=seed, **outcome.to_dict(job.state[flip.element]))
            # A program with a planted mistake may read what nothing wrote, and is no witness here.
            for round_number in range(0 if "disturbed" in program.origin else job.poison):
                first = await bench.poisoned(recording, seed, round_number)
                note(what="poison", seed=seed, round=round_number, cycles=len(recording.rows), differs=first)
        for seed, count in job.both:
            program = random_programs.generate(seed, config)
            for outcome in await run_on_both(bench, program, stream(seed, "both"), count):
                note(what="both", seed=seed, **outcome)


class Bench:
    """The core between two edges of the clock: put it into a state, drive it, look at it."""

    def __init__(self, link: transport.Transport, access: StateAccess) -> None:
        self.link, self.access = link, access
        self._reset_row = np.zeros((1, link.row_words), np.uint32)

    async def drive(self, rows: np.ndarray) -> np.ndarray:
        """Drive rows and copy the records of their cycles."""
        records, _ = await self.link.exchange(rows)
        return records.copy()

    async def start(self, state: np.ndarray) -> np.ndarray:
        """The state after a reset that began in `state`."""
        await self.drive(self._reset_row)  # the simulation stands behind a rising edge from here on
        self.access.write(state)
        rows = np.repeat(self._reset_row, transport.RESET_ROWS, axis=0)
        await self.drive(rows)
        return self.access.read()

    async def golden(self, recording: Recording, cycles: set[int], seed: int) -> Golden:
        """Run without a flip and keep states. Raises AssertionError if this differs from the model.

        A second run, from the middle and out of a foreign state, has to end in the same state: so the bound
        variables are all the state there is.
        """
        total = len(recording.rows)
        wanted = sorted(cycles | set(range(0, total, CHECKPOINT)) | {total})
        states = {0: await self.start(np.zeros(self.access.bytes, np.uint8))}
        for first, last in pairwise(wanted):
            actual = await self.drive(recording.rows[first:last])
            assert np.array_equal(actual, recording.records[first:last]), f"seed {seed} differs unflipped"
            states[last] = self.access.read()
        golden = Golden(states, await self.start(states[total]))
        middle = wanted[len(wanted) // 2]
        self.access.write(~states[0] & self.access.masks())
        await self.drive(recording.rows[:3])
        self.access.write(states[middle])
        actual = await self.drive(recording.rows[middle:])
        assert np.array_equal(actual, recording.records[middle:]), f"seed {seed}: state is missing"
        assert np.array_equal(self.access.read(), states[total]), f"seed {seed}: state is missing"
        return golden

    async def follow(self, recording: Recording, golden: Golden, flip: Flip) -> Outcome:
        """Drive a flipped core until the records differ, the states are equal again, or the program is over."""
        self.access.write(self.access.flip(golden.states[flip.cycle], flip.element, flip.bit))
        for first, last in _stretches(flip.cycle, len(recording.rows)):
            actual = await self.drive(recording.rows[first:last])
            expected = recording.records[first:last]
            if not np.array_equal(actual, expected):
                row, word = (int(axis[0]) for axis in np.nonzero(actual != expected))
                return Outcome(flip, "flagged", latency=first + row - flip.cycle, slot=str(word))
            if np.array_equal(self.access.read(), golden.states[last]):
                return Outcome(flip, "masked", how="reconverged", latency=last - flip.cycle)
        kept = self.access.read() ^ golden.states[last]
        after = await self.start(self.access.read()) ^ golden.after_reset
        left = [self.access.state[index] for index in self.access.elements_of(after)]
        return Outcome(
            flip,
            "masked",
            how="dead storage" if left else "ended by reset",
            kept=sorted({self.access.state[index].variable for index in self.access.elements_of(kept)}),
            left=sorted({element.variable for element in left}),
        )

    async def poisoned(self, recording: Recording, seed: int, number: int) -> int:
        """Run with random contents in all storage that a reset leaves; the first differing cycle, -1: none differs.

        Rounds 2k and 2k+1 are complements of each other, so that every bit takes both values.
        """
        rng = np.random.default_rng(stream(seed, "poison", number // 2).getrandbits(64))
        contents = rng.integers(0, 256, self.access.bytes, np.uint8)
        await self.start((~contents if number % 2 else contents) & self.access.masks())
        actual = await self.drive(recording.rows)
        different = (actual != recording.records).any(axis=1)
        return int(np.argmax(different)) if different.any() else -1


def _stretches(first: int, total: int) -> Iterator[tuple[int, int]]:
    """From a cycle to the next checkpoint, and from there in growing steps to the end; all ends are checkpoints."""
    step = CHECKPOINT
    while first < total:
        last = min(total, first // CHECKPOINT * CHECKPOINT + step)
        yield first, last
        first, step = last, min(8 * CHECKPOINT, 2 * step)


assert stimulus.SHIFT["rst_n"] == 0, "a row of zeros has to be a cycle of reset"
