# SPDX-License-Identifier: Apache-2.0
"""One workload on one tool, in a process of its own: processor time, peak memory, cycles."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from beatmatch.config import PRESETS
from beatmatch.networks.like.scale_sim import report
from tb.peers import scale_sim
from tb.peers.environments import BEATMATCH, SCALE_SIM, ZIGZAG, PeerError, ensure
from tb.peers.limits import Limits, Used, run

CONFIG = "mxu128"
OURS = BEATMATCH.name
ZIGZAG_DRIVER = Path(__file__).parent / "drivers/run_zigzag.py"
FIRST = "128x128x128"
"""What makes the fast tier's machine code, once per installation."""


@dataclass(frozen=True)
class Workload:
    """A network of the package, or a product as `MxNxK`.

    Parameters
    ----------
    name : str
    peers : tuple of str
        The tools that run it besides Beatmatch.
    gigabytes : float
        Free memory that it needs.
    """

    name: str
    peers: tuple[str, ...] = (SCALE_SIM.name, ZIGZAG.name)
    gigabytes: float = 2.0


WORKLOADS = (
    Workload("resnet50", (SCALE_SIM.name,), 12.0),
    Workload("resnet18", (ZIGZAG.name,)),
    Workload("512x512x512"),
    Workload("128x3072x768"),
    Workload("1x1000x2048"),
)
"""ResNets of batch 1; a square product, a feed-forward layer of BERT-base at 128 tokens, ResNet-50's last layer."""
ADDRESS_SPACE = 16.0
"""Gigabytes that no tool may exceed; more than any of them holds in memory at once."""


def measure(workload: Workload, tool: str, seconds: int) -> dict:
    """Run it, and keep what it took.

    Parameters
    ----------
    workload : Workload
    tool : str
        `OURS` or one of the workload's peers.
    seconds : int
        Limit of the wall clock.

    Raises
    ------
    PeerError
        If memory is short, or the tool fails, reaches a limit, or does other work than it was given.
    """
    free = available_gigabytes()
    if free < workload.gigabytes:
        raise PeerError(f"{workload.name} needs {workload.gigabytes} GB of free memory, and {free:.1f} are there.")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found, used = TOOLS[tool](workload, Limits(seconds, ADDRESS_SPACE), Path(folder))
    return {
        **found,
        "cpu_seconds": round(used.cpu_seconds, 2),
        "wall_seconds": round(used.wall_seconds, 1),
        "peak_mb": round(used.peak_bytes / 2**20, 1),
        "load": round(load, 1),
    }


def available_gigabytes() -> float:
    """Memory that programs could have now, by the kernel's own estimate."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) / 2**20


def _ours(workload: Workload, limits: Limits, folder: Path) -> tuple[dict, Used]:
    out = folder / "ours.json"
    used = run(BEATMATCH.title, [*_module(workload), "--out", out], limits)
    return json.loads(out.read_text()), used


def _scale_sim(workload: Workload, limits: Limits, folder: Path) -> tuple[dict, Used]:
    ensure(SCALE_SIM)
    table, layers = folder / "topology.csv", _layers(workload, limits, folder)
    config = PRESETS[CONFIG]
    half = config.sp_words * config.lanes // 2**11  # the scratchpad, shared by inputs and filters, in KiB
    job = scale_sim.Job(
        table.read_text(), config.rows, config.cols, "ws", False, half, half, config.acc_rows * config.cols * 4 // 2**10
    )
    (lines,), used = scale_sim.simulate([job], limits)
    streaming = 0
    for line, layer in zip(lines, layers, strict=True):
        like = report(layer["rows"], layer["columns"], layer["length"], config.rows, config.cols)
        if line.stalls or line.cycles != like.cycles:
            raise PeerError(f"SCALE-Sim gives {line}, and --like scale-sim {like}: please report {layer['layer']}.")
        streaming += like.streaming
    rows = [{"layer": line.layer, "cycles": line.cycles} for line in lines]
    found = {"cycles": sum(line.cycles for line in lines), "macs": _macs(layers), "layers": rows}
    return {**found, "streaming": streaming}, used


def _zigzag(workload: Workload, limits: Limits, folder: Path) -> tuple[dict, Used]:
    python = ensure(ZIGZAG)
    config, layers = PRESETS[CONFIG], _layers(workload, limits, folder)
    job, out = folder / "job.json", folder / "out.json"
    job.write_text(json.dumps({
        "rows": config.rows, "cols": config.cols, "weights_per_multiplier": config.fifo_tiles,
        "sram_bytes": config.sp_words * config.lanes + config.acc_rows * config.cols * 4,
        "port_bits": config.mem_bits, "layers": layers, "out": str(out),
    }))  # fmt: skip
    used = run(ZIGZAG.title, [python, "-I", ZIGZAG_DRIVER, job], limits, folder)
    rows = json.loads(out.read_text())
    macs = sum(row["macs"] for row in rows)
    if macs != _macs(layers):
        raise PeerError(f"ZigZag counts {macs:,} multiply-accumulates in {workload.name}, not {_macs(layers):,}.")
    found = {"cycles": sum(row["cycles"] for row in rows), "macs": macs, "layers": rows}
    return {**found, "mapped": sum(row["mapped"] for row in rows)}, used


def _layers(workload: Workload, limits: Limits, folder: Path) -> list[dict]:
    """The layers of a workload, which are also written as a topology table."""
    path = folder / "layers.json"
    run(BEATMATCH.title, [*_module(workload), "--layers", path, "--topology", folder / "topology.csv"], limits)
    return json.loads(path.read_text())


def _macs(layers: list[dict]) -> int:
    return sum(layer["rows"] * layer["columns"] * layer["length"] * layer["count"] for layer in layers)


def _module(workload: Workload) -> list[str | Path]:
    return [ensure(BEATMATCH), "-m", "tb.peers.ours", workload.name, "--config", CONFIG]


TOOLS: dict[str, Callable[[Workload, Limits, Path], tuple[dict, Used]]] = {
    OURS: _ours, SCALE_SIM.name: _scale_sim, ZIGZAG.name: _zigzag,
}  # fmt: skip
"""How each tool is run: what it found, and what it took."""


def warm(seconds: int) -> None:
    """Make the fast tier's machine code where it is not there yet."""
    with tempfile.TemporaryDirectory() as folder:
        _ours(Workload(FIRST), Limits(seconds, ADDRESS_SPACE), Path(folder))
