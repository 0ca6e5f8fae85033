# SPDX-License-Identifier: Apache-2.0
"""Whole networks as programs of a regression: millions of cycles, with counts as large as users' programs have."""

from __future__ import annotations

import random

from beatmatch.config import Config
from beatmatch.networks.lowering.placement import CORE, ESTIMATE, place
from beatmatch.networks.lowering.program import lower
from beatmatch.networks.read import read_network
from beatmatch.networks.timing import parts
from beatmatch.program import Program, Segment

NETWORKS = ("squeezenet1_1", "mobilenet_v2", "resnet18", "resnet50")
"""Of those that come with the package, networks that the core runs from the first to the last layer."""
LIMIT = 1 << 25
"""The watchdog: several times the cycles of the longest."""
RANDOM_BYTES = 1 << 24
"""What is random of each window of memory, from its start; the rest is zero."""


def generate(name: str, seed: int, config: Config) -> Program:
    """A network as one program, on random activations, weights and parameters.

    Raises
    ------
    GraphError
        The network does not fit on the chip.
    ValueError
        The core does not run all of it.
    """
    placement = place(read_network(name), config)
    steps = [step for kind, found in parts(placement) if kind != ESTIMATE for step in found]
    if len(steps) < len(placement.steps):
        raise ValueError(f"{name} has layers that the core of {config.name} cannot do: it is no program for lockstep.")
    program = lower(placement, [step for step in steps if step.where == CORE], config).program
    values = random.Random(seed)
    segments = [
        Segment(base.address, values.randbytes(min(base.size, RANDOM_BYTES))) for base in program.bases if base.size
    ]
    origin = f"tb.regress.networks {name}, seed {seed}"
    return program.replace(segments=segments, cycle_limit=LIMIT, origin=origin, seed=seed)
