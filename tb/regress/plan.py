# SPDX-License-Identifier: Apache-2.0
"""What a regression runs: programs dealt to configurations, as a function of its kind, simulator and seeds alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beatmatch.config import Config, preset
from tb.lockstep import random_config
from tb.lockstep.campaign import Batch
from tb.lockstep.job import Item
from tb.lockstep.streams import derive
from tb.regress.networks import NETWORKS

SIMS = ("verilator", "icarus")


@dataclass(frozen=True)
class Volume:
    """How much a regression runs on one simulator.

    Attributes
    ----------
    random, compiled : int
        Short random programs and long compiled ones, dealt in turn to the random configurations.
    configs : int
        Random configurations. The smaller of the two simulators' numbers divides the larger, so that program `i` meets
        the same configuration on both as often as possible: these are the shared programs.
    presets : tuple of str
        Presets that get programs of their own.
    each : (int, int, int)
        Random, compiled and large programs of each preset.
    networks : tuple of str
        Whole networks, each on each preset.
    programs, cycles : int
        What the run must come to; a run that stays below fails.
    """

    random: int
    compiled: int
    configs: int
    presets: tuple[str, ...] = ()
    each: tuple[int, int, int] = (0, 0, 0)
    networks: tuple[str, ...] = ()
    programs: int = 1
    cycles: int = 1


VOLUMES: dict[str, dict[str, Volume]] = {
    "smoke": {
        "verilator": Volume(24, 2, 2, programs=24, cycles=10_000),
        "icarus": Volume(12, 0, 2, programs=12, cycles=5_000),
    },
    "regress": {
        "verilator": Volume(300, 24, 6, ("tiny", "small", "base"), (12, 2, 3), programs=300, cycles=300_000),
        "icarus": Volume(330, 2, 30, ("tiny",), (12, 1, 0), programs=300, cycles=300_000),
    },
    "nightly": {
        "verilator": Volume(
            4700, 230, 60, ("tiny", "small", "base", "large"), (20, 4, 12), programs=5000, cycles=10_000_000
        ),
        "icarus": Volume(450, 4, 30, ("tiny", "small"), (12, 2, 0), programs=400, cycles=500_000),
    },
    "networks": {
        "verilator": Volume(0, 0, 1, ("large",), networks=NETWORKS, programs=4, cycles=5_000_000),
    },
}
"""Kinds of regressions, by name and simulator. Millions of cycles of a large array are no work for Icarus."""


def plan(
    kind: str, sim: str, seeds: Sequence[int], configs: int | None = None, config: Config | None = None
) -> list[Batch]:
    """The batches of a regression; items are numbered through.

    Parameters
    ----------
    kind, sim : str
        Which of `VOLUMES`.
    seeds : sequence of int
        Base seeds; each brings the whole volume.
    configs : int or None
        Random configurations instead of the kind's own number.
    config : Config or None
        All programs on this configuration instead of random ones and presets.
    """
    volume = VOLUMES[kind][sim]
    batches: list[Batch] = []
    index = 0

    def add(batch: Batch, source: dict[str, int]) -> None:
        nonlocal index
        batch.items.append(Item(index, source))
        index += 1

    for seed in seeds:
        count = 1 if config is not None else configs or volume.configs
        dealt = [Batch(config or random_config.generate(seed, number), []) for number in range(count)]
        for number in range(volume.random):
            add(dealt[number % count], {"random": derive(seed, "program", number)})
        for number in range(volume.compiled):
            add(dealt[number % count], {"compiled": derive(seed, "compiled", number)})
        presets = [preset(name) for name in volume.presets] if config is None else []
        for own in [config] if config is not None and volume.networks else presets:
            batch = Batch(own, [])
            for source, programs in zip(("random", "compiled", "large"), volume.each, strict=True):
                for number in range(programs):
                    add(batch, {source: derive(seed, "preset", own.name, number)})
            for network in volume.networks:
                add(batch, {"network": network, "seed": derive(seed, "network", network)})
            dealt.append(batch)
        batches += dealt
    return [batch for batch in batches if batch.items]


def parse_seeds(text: str) -> list[int]:
    """Base seeds from ``7``, ``1,2,9`` or ``1..4``; raises ValueError for anything else."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        if not first.isdecimal() or (dots and not last.isdecimal()):
            raise ValueError(f"--seeds is {text!r}; it must be base seeds such as 7, 1,2,9 or 1..4.")
        seeds += range(int(first), int(last) + 1) if dots else [int(first)]
    if not seeds or len(set(seeds)) != len(seeds):
        raise ValueError(f"--seeds is {text!r}; it must name at least one base seed, and none twice.")
    return seeds
