# SPDX-License-Identifier: Apache-2.0
"""A folder per failing program: the program file, the report, and what is needed to run it again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beatmatch.config import Config
from beatmatch.program import Program
from tb import toolchain
from tb.lockstep import runner
from tb.lockstep.report import Divergence

PROGRAM, REPORT, DATA = "program.bmp", "report.txt", "run.json"


@dataclass
class Failure:
    """One failing run in its folder."""

    folder: Path
    program: Program
    sim: str
    divergence: Divergence
    patches: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    def save(self) -> None:
        """Write program, report and replay data."""
        self.folder.mkdir(parents=True, exist_ok=True)
        shown = self.folder
        if shown.is_relative_to(toolchain.ROOT):
            shown = shown.relative_to(toolchain.ROOT)
        found = self.divergence
        found.sim, found.seed = self.sim, f"{self.program.seed} ({self.program.origin})"
        found.program = str(shown / PROGRAM)
        found.replay = f"make replay RUN={shown}"
        self.program.save(self.folder / PROGRAM)
        (self.folder / REPORT).write_text(found.text())
        data: dict[str, Any] = {
            "sim": self.sim,
            "patches": self.patches,
            "sources": self.sources,
            "divergence": found.to_dict(),
        }
        (self.folder / DATA).write_text(json.dumps(data, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Failure:
        """Read a folder back; FileNotFoundError if it is not one."""
        folder = folder if folder.is_absolute() else toolchain.ROOT / folder
        data = json.loads((folder / DATA).read_text())
        return cls(
            folder,
            Program.load(folder / PROGRAM),
            data["sim"],
            Divergence.from_dict(data["divergence"]),
            data["patches"],
            data["sources"],
        )

    @property
    def config(self) -> Config:
        """The configuration of the program."""
        return self.program.config

    def source_paths(self) -> list[Path] | None:
        """The files of the core if they are not the repository's own."""
        return [Path(name) for name in self.sources] or None


def folder_of(name: str) -> Path:
    """Where the run of this name is kept."""
    return runner.RUNS / name
