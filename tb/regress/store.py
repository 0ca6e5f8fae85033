# SPDX-License-Identifier: Apache-2.0
"""Results of a regression on disk, written as they come, so that a run that was stopped can go on."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

from tb.lockstep.evidence import fingerprint, name_files
from tb.lockstep.job import Result
from tb.toolchain import ROOT, SIM_BUILD

REPORT = SIM_BUILD / "report"
PARTS = REPORT / "parts"
RUNS = REPORT / "runs"
HISTORY = REPORT / "history.jsonl"

GENERATORS = (
    *("tb/regress/workloads.py", "tb/regress/networks.py", "tb/regress/plan.py"),
    *("model/beatmatch/compiler/*.py", "model/beatmatch/networks/**/*.py"),
)


@cache
def identity() -> dict[str, str]:
    """What the results of a plan depend on: the sides that are compared, and what draws the programs."""
    paths = (path for pattern in GENERATORS for path in ROOT.glob(pattern))
    return {"fingerprint": fingerprint(), "generators": name_files(paths)}


class Store:
    """The results file of one regression: a header line that says what it is, then a line per result or failure.

    Parameters
    ----------
    path : Path
    header : dict
        What the results depend on. A file with another header is not resumed but begun anew.
    resume : bool
        Keep what the file holds.
    """

    def __init__(self, path: Path, header: dict[str, Any], resume: bool = False) -> None:
        self.path = path
        self.results: dict[int, Result] = {}
        self.crashes: dict[int, dict[str, str]] = {}
        self.seconds = 0.0
        self.build_seconds = 0.0
        header = {**header, **identity()}
        path.parent.mkdir(parents=True, exist_ok=True)
        self.resumed = resume and path.exists() and self._read(header)
        if not self.resumed:
            path.write_text(json.dumps(header) + "\n")

    @classmethod
    def read(cls, path: Path, header: dict[str, Any]) -> Store | None:
        """The results of an earlier run with this header and the same sources; None if there is no such run."""
        first = path.read_text().partition("\n")[0] if path.exists() else ""
        if not first or json.loads(first) != {**header, **identity()}:
            return None
        return cls(path, header, resume=True)

    def _read(self, header: dict[str, Any]) -> bool:
        lines = [line for line in self.path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        if not lines or json.loads(lines[0]) != header:
            return False
        for line in lines[1:]:
            self._take(json.loads(line))
        self.path.write_text("".join(lines))  # without a line that was being written when the run was killed
        return True

    def _take(self, record: dict[str, Any]) -> None:
        if "result" in record:
            result = Result(**record["result"])
            self.results[result.index] = result
        elif "crash" in record:
            self.crashes[record["index"]] = record["crash"]
        else:
            self.seconds += record["seconds"]
            self.build_seconds += record["build_seconds"]

    def _add(self, record: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        self._take(record)

    def add(self, result: Result) -> None:
        """A program that ran."""
        self._add({"result": dataclasses.asdict(result)})

    def crash(self, index: int, kind: str, text: str) -> None:
        """A program that stopped its simulator."""
        self._add({"index": index, "crash": {"kind": kind, "text": text}})

    def spent(self, seconds: float, build_seconds: float) -> None:
        """Wall time and time of builds that were spent on it, more than so far."""
        self._add({"seconds": seconds, "build_seconds": build_seconds})

    def done(self) -> set[int]:
        """Indices that need not run again."""
        return set(self.results) | set(self.crashes)


def write_part(name: str, figures: dict[str, Any], folder: Path | None = None) -> Path:
    """Write the figures of a part of the report."""
    folder = folder or PARTS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(figures, indent=1) + "\n")
    return path
