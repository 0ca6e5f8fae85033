# SPDX-License-Identifier: Apache-2.0
"""What the process that starts a simulator and the session inside it tell each other: job and result files."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from beatmatch.config import Config

JOB_VARIABLE = "BEATMATCH_LOCKSTEP_JOB"
DEFAULT_SIDE = "tb.lockstep.model_side:make"


class Side(Protocol):
    """The model side of one program: what drives the RTL, and what its record has to be."""

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Stimulus rows and records, uint32 [cycles, words] each, block by block to the end of the program.

        Both arrays may be reused for the next block.
        """


@dataclass
class Item:
    """One program to run.

    Attributes
    ----------
    index : int
        Its number in the whole run; results are put in this order.
    source : dict
        Where the program comes from, understood by the side's maker.
    """

    index: int
    source: dict[str, Any]


@dataclass
class Job:
    """Programs for one simulator process.

    Attributes
    ----------
    config : dict
        Configuration of the build.
    side : str
        ``module:function`` that makes a `Side` from (source, config).
    patches : list of str
        ``module:function`` to call first with a function like `setattr`: planted faults of the model.
    stop : bool
        Stop at the first program that diverges.
    stop_like : list of str
        Stop at the first program that diverges with this kind, station and slot.
    until : int or None
        Cycles of each program that are run, all by default.
    """

    config: dict[str, Any]
    items: list[Item]
    results: str
    side: str = DEFAULT_SIDE
    patches: list[str] = field(default_factory=list)
    stop: bool = False
    stop_like: list[str] = field(default_factory=list)
    until: int | None = None

    def save(self, path: Path) -> None:
        """Write the job file."""
        path.write_text(json.dumps(dataclasses.asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read a job file."""
        data = json.loads(path.read_text())
        return cls(**{**data, "items": [Item(**item) for item in data["items"]]})

    def configuration(self) -> Config:
        """The configuration as a value."""
        return Config.from_dict(self.config)


@dataclass
class Result:
    """What one program came to.

    Attributes
    ----------
    cycles, events, digests : int
        Compared and found equal.
    sha256 : str
        Over the equal records.
    divergence : dict or None
        As `Divergence.to_dict`.
    seconds : float
        Wall time.
    cpu_seconds, model_seconds, transport_seconds : float
        Time of this process's one thread: in all, in the model, in the simulator with its transport. A machine that
        others load stretches wall time, not these.
    notes : dict
        What the side's ``notes()`` says about the program it ran, if it has that method.
    """

    index: int
    cycles: int
    events: int
    digests: int
    sha256: str
    seconds: float
    cpu_seconds: float
    model_seconds: float
    transport_seconds: float
    divergence: dict[str, Any] | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """One line of JSON for the results file."""
        return json.dumps(dataclasses.asdict(self)) + "\n"


def read_results(path: Path) -> list[Result]:
    """The complete lines of a results file that may still be growing."""
    if not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def locate(name: str) -> Callable:
    """The function that ``module:function`` names."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
