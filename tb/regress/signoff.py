# SPDX-License-Identifier: Apache-2.0
"""``signoff``: every run that the report needs, except nightly, one after the other; a failing one stops nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tb.lockstep.evidence import name_files
from tb.regress.store import PARTS, REPORT
from tb.toolchain import ROOT

MINUTES = 120
"""What all steps together may take on two cores."""
STATE, LOGS = "signoff.json", "logs"


@dataclass(frozen=True)
class Step:
    """One command of the sign-off.

    Attributes
    ----------
    name : str
    arguments : tuple of str
        Behind the interpreter.
    parts : tuple of str
        Files that it has to leave in the parts folder.
    jobs : bool
        Whether it takes ``--jobs``.
    """

    name: str
    arguments: tuple[str, ...]
    parts: tuple[str, ...] = ()
    jobs: bool = False


STEPS = (
    Step("regress", ("-m", "tb.regress", "regress"), ("regress-verilator.json", "regress-icarus.json"), jobs=True),
    Step("uvm", ("-m", "tb.uvm"), ("uvm.json",)),
    Step("coverage", ("-m", "tb.coverage"), ("coverage.json",), jobs=True),
    Step("mutation", ("-m", "tb.mutation"), ("mutants-rtl.json",), jobs=True),
    Step("model mutation", ("-m", "tb.model_mutation"), ("mutants-model.json",), jobs=True),
    Step("formal", ("-m", "tb.formal"), ("formal.json",), jobs=True),
    Step("faults", ("-m", "tb.flips"), ("faults.json",), jobs=True),
    Step("planted", ("-m", "tb.planted"), ("planted.json",)),
    Step("reruns", ("-m", "tb.regress", "reruns"), ("reruns.json",), jobs=True),
    Step(
        "tests",
        ("-m", "pytest", "-n", "2", "--dist", "worksteal", f"--junitxml={PARTS / 'tests.xml'}", "tests"),
        ("tests.xml",),
    ),
    Step("testplan", ("-m", "tb.regress", "testplan"), ("testplan.json",)),
    Step("report", ("-m", "tb.report")),
)
"""In the order in which they run: what judges the figures of others comes last."""


def sources() -> str:
    """Sixteen hex digits that name everything that a step can depend on."""
    kinds = (".py", ".sv", ".svh", ".cpp", ".toml", ".f")
    folders = (ROOT / name for name in ("rtl", "model", "tb", "tests", "docs"))
    return name_files(path for folder in folders for path in folder.rglob("*") if path.suffix in kinds)


def names() -> list[str]:
    """The names of the steps."""
    return [step.name for step in STEPS]


class SignOff:
    """Runs steps and keeps what became of them.

    Parameters
    ----------
    steps : sequence of Step
    root : Path
        The report's folder.
    jobs : int
    resume : bool
        Leave out what passed before, on the same sources.
    """

    def __init__(self, steps: Sequence[Step], root: Path = REPORT, jobs: int = 2, resume: bool = False) -> None:
        self.steps, self.root, self.jobs = tuple(steps), root, jobs
        self.state: dict[str, dict[str, Any]] = {}
        self.sources = sources()
        path = root / STATE
        if resume and path.exists():
            before = json.loads(path.read_text())
            if before["sources"] == self.sources:
                self.state = before["steps"]

    def run(self, out: Console) -> bool:
        """Run what is left; True if every step has passed."""
        for step in self.steps:
            if self.state.get(step.name, {}).get("result") == "pass":
                out.print(f"{step.name}: passed before")
                continue
            with out.status(f"{step.name}: {' '.join(step.arguments[1:])}"):
                self.state[step.name] = self._one(step)
            self._save()
            row = self.state[step.name]
            out.print(f"{step.name}: {row['result']}, {row['seconds']:.0f} s{_because(row)}", highlight=False)
        return all(self.state[step.name]["result"] == "pass" for step in self.steps)

    def _one(self, step: Step) -> dict[str, Any]:
        log = self.root / LOGS / f"{step.name.replace(' ', '-')}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        (self.root / "parts").mkdir(parents=True, exist_ok=True)
        arguments = [sys.executable, *step.arguments, *(("--jobs", str(self.jobs)) if step.jobs else ())]
        began, started = time.time(), time.monotonic()
        with log.open("wb") as file:
            code = subprocess.run(arguments, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file, stderr=file).returncode
        row = {"seconds": round(time.monotonic() - started, 1), "code": code, "log": str(log), "reason": ""}
        stale = [name for name in step.parts if not _written(self.root / "parts" / name, began)]
        if code:
            row["reason"] = f"exit code {code}"
        elif stale:
            row["reason"] = f"it left no {stale[0]}"
        return {"result": "fail" if row["reason"] else "pass", **row}

    def _save(self) -> None:
        data = {"sources": self.sources, "seconds": self.seconds(), "minutes": MINUTES, "steps": self.state}
        (self.root / STATE).write_text(json.dumps(data, indent=1) + "\n")

    def seconds(self) -> float:
        """Wall time of all steps, those of an earlier run included."""
        return round(sum(row["seconds"] for row in self.state.values()), 1)

    def table(self) -> Table:
        """What became of every step."""
        table = Table("step", "result", "seconds", "why, and where the log is", title="sign-off", title_justify="left")
        for step in self.steps:
            row = self.state.get(step.name, {"result": "not run", "seconds": 0.0, "reason": "", "log": ""})
            why = f"{row['reason']}; {row['log']}" if row["reason"] else ""
            table.add_row(step.name, row["result"], f"{row['seconds']:,.0f}", why)
        table.add_row("all", "", f"{self.seconds():,.0f}", f"at most {60 * MINUTES:,} on two cores")
        return table


def _written(path: Path, since: float) -> bool:
    """Whether a file was written by the step that began then; a second of slack for coarse clocks of file systems."""
    return path.exists() and path.stat().st_mtime >= since - 1


def _because(row: dict[str, Any]) -> str:
    return f" ({row['reason']}; {row['log']})" if row["reason"] else ""
