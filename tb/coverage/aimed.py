# SPDX-License-Identifier: Apache-2.0
"""Programs that are reset, or started again, in a chosen state: one run of the model finds the cycles to aim at."""

from __future__ import annotations

import random

import numpy as np

from beatmatch.config import Config
from beatmatch.machine import SteppedMachine
from beatmatch.program import HostEvent, Program
from tb.coverage.micro_control import machine_states, reset_states
from tb.coverage.state import Tracker
from tb.lockstep import random_programs
from tb.lockstep.streams import derive

STATES = reset_states.bins
LIMIT = 20_000
TRIES = 40


def _cycles_of(program: Program, state: str) -> np.ndarray:
    """Cycles of a run of the program in which the machine is in a state."""
    machine, tracker = SteppedMachine(program, digest=False), Tracker(program.config)
    found, done = [], 0
    for rows, records in machine.blocks(LIMIT):
        window = tracker.window(records, rows)
        found.append(np.flatnonzero(machine_states(window)[state][window.new :]) + done)
        done += len(records)
    return np.concatenate(found)


def aimed(rng: random.Random, config: Config, variant: int) -> Program:
    """A random program that is reset in a named state, and started again."""
    state = STATES[variant % len(STATES)]
    for turn in range(TRIES):
        program = random_programs.generate(derive(rng.getrandbits(60), turn), config).replace(host=())
        cycles = _cycles_of(program, state)
        if len(cycles):
            at, length = int(rng.choice(cycles.tolist())), rng.choice((1, 1, 2, 3))
            events = (HostEvent(at, "reset", length), HostEvent(at + length + rng.randint(0, 3), "start"))
            return program.replace(host=events, origin=f"tb.coverage, reset: {state}")
    raise RuntimeError(f"No program was found that is ever in the state {state!r} on {config}.")


def start_race(rng: random.Random, config: Config, variant: int) -> Program:
    """A start that is written about when the run before ends: ignored, or the begin of the next run."""
    program = random_programs.generate(rng.getrandbits(60), config).replace(host=())
    begins, ends = (_cycles_of(program, state) for state in ("in the clear cycle", "after done"))
    programming = int(begins[0])  # cycles from a start event to the cycle in which it takes effect
    at = max(0, int(ends[0]) - programming + variant % 5 - 2)
    return program.replace(host=(HostEvent(at, "start"),), origin="tb.coverage, start race")
