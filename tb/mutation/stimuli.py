# SPDX-License-Identifier: Apache-2.0
"""The programs that mutants meet: random ones, the directed kinds of the coverage suite, and resets at any time."""

from __future__ import annotations

from beatmatch import csr
from beatmatch.config import Config
from beatmatch.machine import SteppedMachine
from beatmatch.program import HostEvent, Program
from tb.coverage.suite import KINDS
from tb.coverage.visitor import VisitedMachine
from tb.lockstep import random_programs
from tb.lockstep.streams import derive, stream

Source = dict[str, str | int]

RANDOM, RESET = "random", "reset"
LEFT_OUT = ("sequence",)
"""Kinds that need half a million cycles to reach one corner: no program for hundreds of survivors."""
TURNS = {RANDOM: 0, "visit": 8, "retires": 4, "interrupted": 6, "pages": 2, "edges": 2, "short_rows": 2}
"""How often a kind is drawn; the others once, in all variants. The caller counts the random ones."""
OVERFLOW, OVERFLOW_ROWS = "overflow", 8
"""A kind whose length falls with the number of rows, and from how many on it is bearable: one variant of it."""
RESETS = 60


def choose(seed: int, random_count: int, config: Config) -> list[Source]:
    """Sources of the programs, in the order in which a mutant meets them: random ones first, the longest last."""
    found = [_source(seed, RANDOM, 0, turn) for turn in range(random_count)]
    found += [_source(seed, RESET, 0, turn) for turn in range(RESETS)]
    for kind, item in KINDS.items():
        if kind not in (*LEFT_OUT, OVERFLOW):
            turns = range(TURNS.get(kind, 1))
            found += [_source(seed, kind, variant, turn) for turn in turns for variant in range(item.variants)]
    if config.rows >= OVERFLOW_ROWS:
        found.append(_source(seed, OVERFLOW, 0, 0))
    return found


def _source(seed: int, kind: str, variant: int, turn: int) -> Source:
    return {"kind": kind, "variant": variant, "seed": derive(seed, "mutation", kind, variant, turn) % (1 << 31)}


def name(source: Source) -> str:
    """Names a program in reports."""
    return f"{source['kind']} {source['variant']} (seed {source['seed']})"


def machine(source: Source, config: Config) -> SteppedMachine:
    """The model about to run the program of a source."""
    if source["kind"] == RESET:
        return SteppedMachine(_reset(source["seed"], config), digest=True)
    kind = KINDS[source["kind"]]
    program = kind.make(source["seed"], config, source["variant"])
    if kind.visits:
        return VisitedMachine(program, source["seed"], True)
    return SteppedMachine(program, digest=True)


def _reset(seed: int, config: Config) -> Program:
    """A random program that a reset ends in the middle: what a reset forgets to clear shows in the digests."""
    rng = stream(seed, "mutation", "reset")
    cycle, length = rng.randint(150, 1200), rng.choice((1, 1, 2))
    events = (HostEvent(cycle, "reset", length), HostEvent(cycle + length + 20, "read", address=csr.STATUS.address))
    return random_programs.generate(seed, config).replace(host=events)
