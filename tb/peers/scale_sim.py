# SPDX-License-Identifier: Apache-2.0
"""SCALE-Sim from outside: topology tables in, its compute report out."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tb.peers.environments import SCALE_SIM, ensure
from tb.peers.limits import Limits, Used, run

DRIVER = Path(__file__).parent / "drivers/run_scale_sim.py"


@dataclass(frozen=True)
class Job:
    """One topology table on one machine.

    Parameters
    ----------
    topology : str
        The table's text.
    rows, cols : int
        Of the array.
    dataflow : str
        ``ws``, ``os`` or ``is``.
    gemm : bool
        Whether the columns are M, N, K.
    ifmap_kb, filter_kb, ofmap_kb : int
        On-chip memories.
    """

    topology: str
    rows: int
    cols: int
    dataflow: str = "ws"
    gemm: bool = False
    ifmap_kb: int = 64
    filter_kb: int = 64
    ofmap_kb: int = 64


@dataclass(frozen=True)
class Line:
    """One line of the compute report; texts are as it writes them."""

    layer: str
    cycles: int
    stalls: int
    utilization: str
    mapping: str


def simulate(jobs: list[Job], limits: Limits) -> tuple[list[list[Line]], Used]:
    """Run all jobs in one process.

    Raises
    ------
    PeerError
        If SCALE-Sim fails or reaches a limit.
    """
    python = ensure(SCALE_SIM)
    with tempfile.TemporaryDirectory() as folder:
        described = []
        for number, job in enumerate(jobs):
            table, out = (str(Path(folder) / f"{number}.{suffix}") for suffix in ("csv", "json"))
            Path(table).write_text(job.topology)
            described.append({**vars(job), "topology": table, "out": out})
        path = Path(folder) / "jobs.json"
        path.write_text(json.dumps(described))
        used = run(SCALE_SIM.title, [python, "-I", DRIVER, path], limits, Path(folder))
        return [_lines(json.loads(Path(item["out"]).read_text())) for item in described], used


def _lines(rows: list[dict]) -> list[Line]:
    columns = ("Total Cycles", "Stall Cycles", "Overall Util %", "Mapping Efficiency %")
    found = []
    for row in rows:
        cycles, stalls, utilization, mapping = (row[name] for name in columns)
        found.append(Line(row["layer"], int(cycles), int(stalls), utilization, mapping))
    return found
