# SPDX-License-Identifier: Apache-2.0
"""The model's side of a lockstep run that samples coverage: what it says it hit has been compared with the RTL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from beatmatch.config import Config
from beatmatch.machine import SteppedMachine
from tb.coverage.collector import Coverage, Hits
from tb.coverage.suite import KINDS, Entry
from tb.coverage.visitor import VisitedMachine

LIMIT = 2_000_000
"""Cycles after which a program without an end is given up."""


class CoveredSide:
    """Steps the model through a program of the suite and samples every block.

    A block is compared with the RTL's after it was sampled; so hits (`notes`) count only if the program's result has no
    divergence, and the run of the suite (`tb.coverage.runs`) ends with an error if one has.
    """

    def __init__(self, entry: Entry, digest: bool = True) -> None:
        program = entry.program()
        self.entry, self.config = entry, program.config
        if KINDS[entry.kind].visits:
            self.machine = VisitedMachine(program, entry.seed, digest)
        else:
            self.machine = SteppedMachine(program, digest)
        self._hits: Hits = {}

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Stimulus rows and records to the end of the program, sampled on the way."""
        coverage = Coverage()
        coverage.begin(self.entry, self.entry.seed)
        for rows, records in self.machine.blocks(LIMIT):
            coverage.sample(self.config, records, rows)
            yield rows, records
        self._hits = coverage.end()

    def notes(self) -> dict[str, Any]:
        """Bins hit by group; nothing unless all of the program was run."""
        return {"seed": self.entry.seed, "kind": self.entry.kind, "hits": self._hits}


def make(source: dict[str, Any], config: Config) -> CoveredSide:
    """The side of a job item; `source` is an `Entry` as a dictionary."""
    return CoveredSide(Entry(**source))
