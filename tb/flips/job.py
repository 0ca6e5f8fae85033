# SPDX-License-Identifier: Apache-2.0
"""What the process that starts a simulator and the session inside it tell each other."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beatmatch.config import Config
from tb.flips.state import Element

JOB_VARIABLE = "BEATMATCH_FLIPS_JOB"


@dataclass
class Job:
    """Work for one simulator process.

    Attributes
    ----------
    config : dict
    state : list of Element
        All state of the build.
    results : str
        File that gets a line of JSON per result.
    programs : list of (int, int)
        Seeds of random programs, and how many flips are made in the run of each.
    poison : int
        Runs of each of them with random contents in all storage that a reset leaves.
    both : list of (int, int)
        Seeds of random programs, and how many runs of each have the same flip in RTL and model.
    """

    config: dict[str, Any]
    state: list[Element]
    results: str
    programs: list[tuple[int, int]] = field(default_factory=list)
    poison: int = 0
    both: list[tuple[int, int]] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the job file."""
        path.write_text(json.dumps(dataclasses.asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read a job file."""
        data = json.loads(path.read_text())
        return cls(**{**data, "state": [Element(**element) for element in data["state"]]})

    def configuration(self) -> Config:
        """The configuration as a value."""
        return Config.from_dict(self.config)
