# SPDX-License-Identifier: Apache-2.0
"""The golden model as one side of a lockstep run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from beatmatch.config import Config
from beatmatch.features import features
from beatmatch.isa.fields import Error
from beatmatch.machine import SteppedMachine
from beatmatch.program import Program
from tb.lockstep import random_programs
from tb.lockstep.integrity import check_origin, to_the_end

LIMIT = 2_000_000
"""Cycles after which a program without an end is given up; the machine's own watchdogs end it long before."""


def program_of(source: dict[str, Any], config: Config) -> Program:
    """The program that a job item names: ``{"random": seed}`` or ``{"file": path}``."""
    if "file" in source:
        return Program.load(source["file"]).replace(config=config)
    program = random_programs.generate(source["random"], config)
    check_origin(source, program)
    return program


class ModelSide:
    """Steps the model through a program, block by block, for at most `limit` cycles."""

    def __init__(self, program: Program, limit: int = LIMIT) -> None:
        self.machine = SteppedMachine(program, digest=True)
        self._limit = limit

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Stimulus rows and records to the end of the program."""
        return to_the_end(self.machine.program, self.machine.blocks(self._limit))

    def notes(self) -> dict[str, Any]:
        """Features and sizes of the program, for the fidelity record."""
        found = features(self.machine.program, Error(self.machine.frontend.error_code))
        return {"flags": sorted(found.flags), "sizes": found.sizes}


def make(source: dict[str, Any], config: Config) -> ModelSide:
    """The model side of a job item."""
    return ModelSide(program_of(source, config))
