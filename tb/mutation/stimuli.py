# SPDX-License-Identifier: Apache-2.0
"""The programs that mutants meet: random ones, and the directed kinds of the coverage suite."""

from __future__ import annotations

from beatmatch.config import Config
from beatmatch.machine import SteppedMachine
from tb.coverage.suite import KINDS
from tb.coverage.visitor import VisitedMachine
from tb.lockstep.streams import derive

Source = dict[str, str | int]

LONG = ("overflow", "sequence")
"""Kinds that need a hundred thousand cycles to reach one corner: no program for thousands of mutants."""
TURNS = {"random": 0, "visit": 8, "retires": 4, "interrupted": 6, "pages": 2, "edges": 2, "short_rows": 2}
"""How often a kind is drawn; the others once, in all variants. The caller counts the random ones."""
MOST_VARIANTS = 40
"""Of a kind with more variants, as many are taken, spread evenly."""


def choose(seed: int, random_programs: int) -> list[Source]:
    """Sources of the programs, in the order in which a mutant meets them: random ones first."""
    found = [_source(seed, "random", 0, turn) for turn in range(random_programs)]
    for kind, item in KINDS.items():
        if kind in LONG:
            continue
        step = -(-item.variants // MOST_VARIANTS)
        for turn in range(TURNS.get(kind, 1)):
            found += [_source(seed, kind, variant, turn) for variant in range(0, item.variants, step)]
    return found


def _source(seed: int, kind: str, variant: int, turn: int) -> Source:
    return {"kind": kind, "variant": variant, "seed": derive(seed, "mutation", kind, variant, turn) % (1 << 31)}


def name(source: Source) -> str:
    """Names a program in reports."""
    return f"{source['kind']} {source['variant']} (seed {source['seed']})"


def machine(source: Source, config: Config) -> SteppedMachine:
    """The model about to run the program of a source."""
    kind = KINDS[source["kind"]]
    program = kind.make(source["seed"], config, source["variant"])
    if kind.visits:
        return VisitedMachine(program, source["seed"], True)
    return SteppedMachine(program, digest=True)
