# SPDX-License-Identifier: Apache-2.0
"""What must hold of a lockstep run whatever model and RTL do: that it compared all it says, of what it was told to run.

A comparison that looks at nothing agrees with everything. These checks cost nothing per cycle and have no exceptions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from beatmatch.program import Program
from beatmatch.trace import layout
from tb.lockstep.compare import Comparator
from tb.lockstep.job import Item, Result

NOTHING = hashlib.sha256().hexdigest()
"""The hash of a run without a record."""


class IntegrityError(RuntimeError):
    """The run does not prove what it seems to; the text says why."""


def check_block(driven: int, expected: np.ndarray, actual: np.ndarray) -> None:
    """A block as it comes from the transport: a record per row driven, and not the model's own memory.

    Raises IntegrityError.
    """
    if np.may_share_memory(expected, actual):
        raise IntegrityError("Both sides' records are the same memory: the model would be compared with itself.")
    if len(actual) != driven:
        raise IntegrityError(f"The transport gave {len(actual)} records for {driven} rows of stimulus.")


def check_program(driven: int, comparator: Comparator, diverged: bool) -> None:
    """Without a divergence every cycle that was driven has been compared, and hashed. Raises IntegrityError."""
    if not diverged and comparator.cycles != driven:
        raise IntegrityError(f"{driven} cycles were driven and {comparator.cycles} compared.")
    if comparator.cycles and comparator.digest() == NOTHING:
        raise IntegrityError(f"{comparator.cycles} cycles were compared and none hashed.")


def check_results(items: Sequence[Item], results: Sequence[Result], may_stop: bool) -> None:
    """One result per item, in order, each with cycles and events; fewer only behind a divergence that may stop.

    Raises IntegrityError.
    """
    if not items:
        raise IntegrityError("There is no program to run, so nothing would be shown.")
    wanted, got = [item.index for item in items], [result.index for result in results]
    stopped = may_stop and bool(results) and results[-1].divergence is not None
    if got != (wanted[: len(got)] if stopped else wanted):
        raise IntegrityError(f"The results are of programs {_short(got)}, not of {_short(wanted)}.")
    for result in results:
        if result.divergence is None and not (result.cycles and result.events):
            seen = f"{result.cycles} cycles with {result.events} events"
            raise IntegrityError(f"Program {result.index} ended after {seen}: it shows nothing.")


def _short(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", ..." if len(numbers) > 12 else "") if numbers else "none"


def check_origin(source: dict[str, Any], program: Program) -> None:
    """A random program is the one of its seed. Raises IntegrityError."""
    if "random" in source and program.seed != source["random"]:
        raise IntegrityError(f"Seed {source['random']} was asked for; the program is of seed {program.seed}.")


def to_the_end(
    program: Program, blocks: Iterator[tuple[np.ndarray, np.ndarray]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The blocks of a run, which has to leave the core idle: a host that gives up early would cut the comparison short.

    Raises IntegrityError behind the last block.
    """
    status = layout(program.config).slot("host", "status").offset
    busy = True
    for rows, records in blocks:
        if len(records):
            busy = bool(records[-1, status] & 1)
        yield rows, records
    if busy:
        raise IntegrityError("The model's host ended the run while the core was still busy, or before it began.")
