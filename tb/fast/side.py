# SPDX-License-Identifier: Apache-2.0
"""The fast tier as the model side of a lockstep run: `make` is a job's ``side``.

The RTL gets its inputs from the stepped tier, and what its record has to be from both: every event from the intervals
of the fast tier, the data behind the events, the levels and the digests from the stepped tier, which knows values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from beatmatch.config import Config
from beatmatch.fast import Intervals, run_fast
from beatmatch.machine import SteppedMachine
from beatmatch.trace import layout
from tb.lockstep import model_side


class FastSide:
    """Blocks of a program whose events are those of the fast tier."""

    def __init__(self, program) -> None:
        self._machine = SteppedMachine(program)
        self._events: Intervals = run_fast(program).events
        place = layout(program.config)
        self._offsets = {slot: place.slot(*slot).offset for slot in self._events.slots()}

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Stimulus rows and records, block by block."""
        expanded = {slot: self._events.words(*slot) for slot in self._offsets}
        start = 0
        for rows, records in self._machine.blocks():
            for slot, offset in self._offsets.items():
                cycles, headers = expanded[slot]
                low, high = np.searchsorted(cycles, (start, start + len(records)))
                records[:, offset] = 0
                records[cycles[low:high] - start, offset] = headers[low:high]
            start += len(records)
            yield rows, records


def make(source: dict[str, Any], config: Config) -> FastSide:
    """The side of a program that a job names."""
    return FastSide(model_side.program_of(source, config))
