# SPDX-License-Identifier: Apache-2.0
"""One piece of a regression in a process of its own, watched: its results, or what stopped it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tb.lockstep import runner
from tb.lockstep.job import Result, read_results
from tb.regress import worker
from tb.regress.chunks import Chunk
from tb.toolchain import ROOT

STALL_SECONDS = 1800.0
"""A piece whose results stop growing for so long has hung. Wall time: a loaded machine only makes it wait longer."""
POLL_SECONDS = 0.1
STOP = threading.Event()
"""Set to end all pieces that run in this process; what they have finished is kept."""


@dataclass
class Outcome:
    """What became of a piece.

    Attributes
    ----------
    results : list of Result
        Of the programs that ran, also if a later one stopped the piece.
    build_seconds : float
        0 if the build came from the cache.
    error : str
        Empty, or why not all programs ran; ``kind`` is then ``crash``, ``timeout``, ``build`` or ``stopped``.
    """

    results: list[Result]
    build_seconds: float = 0.0
    error: str = ""
    kind: str = ""


def execute(
    chunk: Chunk,
    patches: Sequence[str] = (),
    stall: float = STALL_SECONDS,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Build if needed, run all programs of the piece, and never raise for what a simulator does.

    Parameters
    ----------
    chunk : Chunk
    patches : sequence of str
        Planted faults of the model.
    stall : float
        Seconds without a new result after which the piece has hung.
    environment : mapping of str to str, optional
        Variables that its process gets besides those of this one.
    """
    runner.RUNS.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="piece-", dir=runner.RUNS))
    items = [dataclasses.asdict(item) for item in chunk.items]
    task = {"config": chunk.config.to_dict(), "sim": chunk.sim, "items": items, "patches": list(patches)}
    (folder / worker.TASK).write_text(json.dumps(task))
    kind = _watch(folder, stall, {**os.environ, **(environment or {})})
    outcome = Outcome(read_results(folder / runner.RESULTS), _build_seconds(folder))
    if kind:
        built = (folder / worker.BUILT).exists()
        outcome.kind = kind if built or kind != "crash" else "build"
        outcome.error = _error(folder, outcome.kind)
    shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _watch(folder: Path, stall: float, environment: Mapping[str, str]) -> str:
    """Run the worker to its end; empty, or what ended it."""
    results = folder / runner.RESULTS
    with (folder / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tb.regress.worker", str(folder)],
            cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        grown, size = time.monotonic(), 0
        while True:
            try:
                return "crash" if process.wait(POLL_SECONDS) else ""
            except subprocess.TimeoutExpired:
                pass
            now = results.stat().st_size if results.exists() else 0
            if now != size:
                grown, size = time.monotonic(), now
            if STOP.is_set() or time.monotonic() - grown > stall:
                _end(process)
                return "stopped" if STOP.is_set() else "timeout"


def _end(process: subprocess.Popen) -> None:
    """End the worker with the simulator that it started: they share a session."""
    with contextlib.suppress(ProcessLookupError):  # it ended by itself
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _build_seconds(folder: Path) -> float:
    path = folder / worker.BUILT
    try:
        return json.loads(path.read_text())["seconds"]
    except (OSError, ValueError):  # not built, or killed while it wrote
        return 0.0


def _error(folder: Path, kind: str) -> str:
    """What the worker said, or the end of its log."""
    if kind == "timeout":
        return "The simulator hung: its results stopped growing."
    if kind == "stopped":
        return "The run was stopped."
    for name in (worker.ERROR, "worker.log"):
        path = folder / name
        text = path.read_text(errors="replace").strip() if path.exists() else ""
        if text:
            return text
    return "The worker died without a word."
