# SPDX-License-Identifier: Apache-2.0
"""What the process that starts a simulator and the tests inside it tell each other: one job file, one results file."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beatmatch.config import Config
from tb.lockstep.report import Divergence

VARIABLE = "BEATMATCH_UVM_JOB"


@dataclass
class Job:
    """Tests for one simulator process.

    Attributes
    ----------
    config : dict
        Configuration of the build.
    seed : int
        Base seed; everything random derives from it and the test's name.
    results : str
        File that gets a line of JSON per test that passed, and per divergence.
    programs : int or None
        Random programs per test; None leaves it to the test.
    patches, sources : list of str
        Planted faults of the model (``module:function``), and the core's files if they are not the repository's.
    """

    config: dict[str, Any]
    seed: int
    results: str
    programs: int | None = None
    patches: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the job file."""
        path.write_text(json.dumps(dataclasses.asdict(self)))

    @classmethod
    def load(cls) -> Job:
        """Read the job file that the environment names."""
        return cls(**json.loads(Path(os.environ[VARIABLE]).read_text()))

    def configuration(self) -> Config:
        """The configuration as a value."""
        return Config.from_dict(self.config)

    def note(self, kind: str, **values: Any) -> None:
        """Add a line to the results file."""
        with Path(self.results).open("a") as file:
            file.write(json.dumps({"kind": kind, **values}) + "\n")

    def note_failure(self, folder: Path, found: Divergence) -> None:
        """Say which folder holds a failing program."""
        self.note("failure", folder=str(folder), headline=found.headline(), divergence=found.to_dict())

    def read_results(self) -> list[dict[str, Any]]:
        """All complete lines of the results file."""
        path = Path(self.results)
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]
