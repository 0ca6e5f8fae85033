# SPDX-License-Identifier: Apache-2.0
"""One program under limits, and what it took: processor time and peak memory of its own process and no other."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tb import toolchain
from tb.peers.environments import PeerError

LAUNCHER = Path(__file__).parent / "drivers/launch.py"
GRACE = 60
"""Seconds that the launcher has to end what is over its limit."""


@dataclass(frozen=True)
class Limits:
    """What a program may take.

    Parameters
    ----------
    seconds : int
        Of the wall clock.
    gigabytes : float
        Of address space, which is what the system can limit; resident memory is less.
    """

    seconds: int
    gigabytes: float


@dataclass(frozen=True)
class Used:
    """What a program took.

    Attributes
    ----------
    cpu_seconds : float
        User and system time of the process and the children that it waited for.
    wall_seconds : float
    peak_bytes : int
        Largest resident memory.
    """

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int


def run(name: str, command: Sequence[str | Path], limits: Limits, folder: Path = toolchain.ROOT) -> Used:
    """Run a command to its end.

    Raises
    ------
    PeerError
        If it fails or reaches a limit; the text ends with the last line that it wrote.
    """
    with tempfile.TemporaryDirectory() as scratch:
        job, out, log = (Path(scratch) / leaf for leaf in ("job.json", "out.json", "log.txt"))
        job.write_text(json.dumps({
            "command": [str(part) for part in command], "folder": str(folder), "log": str(log), "out": str(out),
            "seconds": limits.seconds, "bytes": int(limits.gigabytes * 2**30),
        }))  # fmt: skip
        launcher = subprocess.Popen([sys.executable, "-I", "-S", str(LAUNCHER), str(job)])
        try:
            launcher.wait(limits.seconds + GRACE)
        finally:
            if launcher.poll() is None:
                launcher.terminate()
                launcher.wait()
        answer = json.loads(out.read_text()) if out.exists() else {"exit": launcher.returncode, "late": False}
        lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    if answer["late"]:
        raise PeerError(f"{name} was stopped after {limits.seconds} s, its limit.")
    if answer["exit"]:
        last = lines[-1] if lines else "it wrote nothing"
        raise PeerError(f"{name} ended with {answer['exit']} under a limit of {limits.gigabytes} GB: {last}")
    return Used(answer["cpu_seconds"], answer["wall_seconds"], answer["peak_bytes"])
