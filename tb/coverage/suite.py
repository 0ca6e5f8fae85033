# SPDX-License-Identifier: Apache-2.0
"""The coverage suite: which programs run on which configurations, and how each is made again from its name and seed.

The programs are random ones of the lockstep run and directed ones (`directed_*.py`). Which of them are run is
data (`suite.json`), chosen by `tb.coverage.choose` from a larger pool so that every bin is hit from several seeds.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from beatmatch.config import Config
from beatmatch.program import Program
from tb.coverage import directed_counts, directed_decode, directed_memory, directed_order
from tb.coverage.aimed import STATES, aimed, start_race
from tb.coverage.collide import SCENARIOS, collide
from tb.lockstep import random_errors, random_programs
from tb.lockstep.streams import derive, stream

Maker = Callable[[random.Random, Config, int], Program]
"""What makes a directed program: of random numbers, a configuration, and the number of a variant."""

CHOSEN = Path(__file__).resolve().with_name("suite.json")

VERILATOR: dict[str, Config] = {
    "narrow": Config(4, 4, 512, 2, 32, 2, 2, 2, 32, 2, 4),
    "wide": Config(4, 8, 192, 3, 48, 3, 3, 3, 32, 3, 8),
    "tall": Config(8, 4, 128, 1, 32, 1, 4, 1, 512, 4, 8),
    "split": Config(16, 4, 128, 2, 32, 2, 3, 2, 32, 4, 8, weight_port=1),
}
"""Small configurations that take every generate branch of the RTL between them; code coverage is measured on these."""

ICARUS: dict[str, Config] = {
    "banks": Config(4, 8, 128, 8, 64, 8, 16, 4, 64, 8, 8),
    "eighths": Config(32, 4, 64, 2, 32, 4, 2, 2, 1024, 5, 4),
    "columns": Config(4, 32, 160, 5, 40, 5, 4, 2, 256, 2, 4),
    "quarters": Config(16, 4, 96, 6, 24, 6, 3, 1, 64, 1, 4),
    "halves": Config(8, 16, 112, 7, 28, 7, 5, 5, 128, 16, 16),
    "fourths": Config(4, 16, 64, 4, 16, 4, 2, 8, 32, 3, 4),
    "deep": Config(8, 8, 128, 8, 32, 8, 8, 8, 64, 16, 8),
    "apart": Config(4, 8, 128, 2, 32, 2, 3, 2, 256, 4, 8, weight_port=1),
    "large": Config(64, 32, 16, 1, 4, 1, 2, 2, 32, 2, 4),
}
"""Configurations of other shapes, for the bins that depend on shape, banks and depths."""

CONFIGS = VERILATOR | ICARUS
ORDINARY = tuple(name for name in CONFIGS if name != "large")
"""Where programs of any kind run; `large` only has long tiles, and is slow."""


@dataclass(frozen=True)
class Kind:
    """A kind of program.

    Attributes
    ----------
    make : callable
        Makes the program of a seed for a configuration, in a variant.
    variants : int
        How many variants there are. In a round of candidates each is drawn once, on the configurations in turn.
    each : int
        Without variants: candidates per configuration in a round.
    always : bool
        Not a candidate: `each` programs of every variant are in the suite for the sake of code coverage.
    visits : bool
        The host visits registers before, in and after the run.
    configs : tuple of str
        Where it runs.
    """

    make: Callable[[int, Config, int], Program]
    variants: int = 1
    each: int = 1
    always: bool = False
    visits: bool = False
    configs: tuple[str, ...] = ORDINARY


def _directed(maker: Maker) -> Callable[[int, Config, int], Program]:
    return lambda seed, config, variant: maker(stream(seed, maker.__name__), config, variant)


def _random(seed: int, config: Config, variant: int) -> Program:
    return random_programs.generate(seed, config)


def _error(seed: int, config: Config, variant: int) -> Program:
    kind = tuple(random_errors.KINDS)[variant % len(random_errors.KINDS)]
    program, turn = random_programs.generate(seed, config), 0
    while "disturbed" in program.origin:  # it has its own error already
        turn += 1
        program = random_programs.generate(derive(seed, turn), config)
    return random_errors.disturb(stream(seed, "coverage", "error"), program, kind)


SMALL = ("narrow", "wide", "tall")

KINDS: dict[str, Kind] = {
    "random": Kind(_random, each=6),
    "error": Kind(_error, len(random_errors.KINDS) * 2),
    "visit": Kind(_random, each=2, visits=True, configs=(*SMALL, "deep")),
    "refused": Kind(_directed(directed_decode.refused), len(directed_decode.REFUSALS), configs=SMALL),
    "extreme": Kind(_directed(directed_decode.extreme), len(directed_decode.EXTREMES), configs=SMALL),
    "many": Kind(_directed(directed_counts.many), 27, configs=SMALL),
    "few_in_rings": Kind(_directed(directed_counts.few_in_rings), 3, configs=SMALL),
    "tokens": Kind(_directed(directed_order.tokens), 2, configs=SMALL),
    "overflow": Kind(_directed(directed_counts.overflow), configs=("tall",)),
    "pages": Kind(_directed(directed_memory.pages), configs=(*SMALL, "columns", "fourths")),
    "edges": Kind(_directed(directed_memory.edges), configs=SMALL),
    "short_rows": Kind(_directed(directed_order.short_rows)),
    "retires": Kind(_directed(directed_order.retires), each=2, configs=(*SMALL, "deep")),
    "interrupted": Kind(_directed(directed_order.interrupted), each=2, configs=(*SMALL, "deep")),
    "stuck": Kind(_directed(directed_order.stuck), 30, configs=SMALL),
    "bad_answers": Kind(_directed(directed_memory.bad_answers), 24, configs=SMALL),
    "parameter_rows": Kind(_directed(directed_memory.parameter_rows), configs=SMALL),
    "collide": Kind(_directed(collide), len(SCENARIOS), configs=SMALL),
    "aimed": Kind(_directed(aimed), len(STATES), configs=SMALL),
    "start_race": Kind(_directed(start_race), 5, configs=SMALL),
    "busy_port": Kind(_directed(directed_memory.busy_port), configs=(*SMALL, "deep")),
    "big_tiles": Kind(_directed(directed_memory.big_tiles), configs=("large",)),
    "part_words": Kind(
        _directed(directed_memory.part_words), configs=("eighths", "columns", "quarters", "fourths", "wide", "tall")
    ),
    "chorus": Kind(_directed(directed_order.chorus), configs=SMALL),
    "wrong_transfer": Kind(_directed(directed_memory.wrong_transfer), 6, configs=SMALL),
    "halt_beside": Kind(_directed(directed_order.halt_beside), 5, configs=SMALL),
    "twice": Kind(_directed(directed_order.twice), 12, configs=SMALL),
    "anything": Kind(_directed(directed_decode.anything), each=24, always=True, configs=SMALL),
    "stream": Kind(_directed(directed_order.stream), each=3, configs=("deep", "halves")),
    "second_row": Kind(_directed(directed_counts.second_row), always=True, configs=SMALL),
    "shared_counter": Kind(_directed(directed_order.shared_counter), always=True, configs=SMALL),
    "loops": Kind(_directed(directed_counts.loops), always=True, configs=SMALL),
    "late_error": Kind(_directed(directed_counts.late_error), 5, always=True, configs=("tall",)),
    "sequence": Kind(_directed(directed_counts.sequence), always=True, configs=("tall",)),
}


@dataclass(frozen=True)
class Entry:
    """One program of the suite: configuration and kind by name, variant and seed."""

    config: str
    kind: str
    variant: int
    seed: int

    def program(self) -> Program:
        """The program; the same for ever, as long as its generator does not change."""
        return KINDS[self.kind].make(self.seed, CONFIGS[self.config], self.variant)

    def source(self) -> dict[str, object]:
        """What a lockstep job says to name it (`tb.coverage.side`)."""
        return asdict(self)


def chosen() -> list[Entry]:
    """The programs that are run, from `suite.json`."""
    table = json.loads(CHOSEN.read_text())
    return [
        Entry(config, kind, variant, seed)
        for config, kinds in table["programs"].items()
        for kind, pairs in kinds.items()
        for variant, seed in pairs
    ]


def save(entries: list[Entry], made_by: str) -> None:
    """Write `suite.json`, sorted, each program once."""
    table: dict[str, dict[str, list[list[int]]]] = {}
    for entry in sorted(set(entries), key=lambda e: (list(CONFIGS).index(e.config), e.kind, e.variant, e.seed)):
        table.setdefault(entry.config, {}).setdefault(entry.kind, []).append([entry.variant, entry.seed])
    lines = []
    for config, kinds in table.items():
        inner = ",\n".join(f'      "{kind}": {json.dumps(pairs)}' for kind, pairs in kinds.items())
        lines.append(f'    "{config}": {{\n{inner}\n    }}')
    text = ",\n".join(lines)
    CHOSEN.write_text(f'{{\n  "made_by": {json.dumps(made_by)},\n  "programs": {{\n{text}\n  }}\n}}\n')


def fixed(seed: int) -> list[Entry]:
    """The programs that are always in the suite."""
    return [
        Entry(config, kind, variant, derive(seed, "coverage", config, kind, variant, turn) % (1 << 31))
        for kind, item in KINDS.items()
        if item.always
        for config in item.configs
        for variant in range(item.variants)
        for turn in range(item.each)
    ]


def pool(seed: int, rounds: int) -> list[Entry]:
    """Candidates for the suite: every variant of every kind once a round."""
    found = []
    for number in range(rounds):
        for kind, item in KINDS.items():
            if item.always:
                continue
            turns = item.each if item.variants == 1 else 1
            for variant in range(item.variants):
                places = item.configs
                if item.variants > 1:
                    places = (item.configs[(variant + number) % len(item.configs)],)
                for config in places:
                    for turn in range(turns):
                        name = derive(seed, "coverage", config, kind, variant, number, turn) % (1 << 31)
                        found.append(Entry(config, kind, variant, name))
    return found
