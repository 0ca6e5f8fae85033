# SPDX-License-Identifier: Apache-2.0
"""Measure the presets for the README: cycles, cells, lockstep. Everything is kept in `docs/data/presets.json`.

python tools/measure_presets.py                              measure all and write the README's table
python tools/measure_presets.py --only gemm --preset small   a part of it; the rest of the record stands
python tools/measure_presets.py --table                      only write the table from the record
python tools/measure_presets.py --check                      compare the README with the record
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from beatmatch.compiler import compile_gemm  # noqa: E402
from beatmatch.config import DEFAULT_BANDWIDTH, DEFAULT_LATENCY, DEFAULT_WEIGHT_MEMORY, PRESETS, Config  # noqa: E402
from beatmatch.machine import run_stepped  # noqa: E402
from tb import toolchain  # noqa: E402

RECORD = ROOT / "docs/data/presets.json"
README = ROOT / "README.md"
START, END = (
    "<!-- presets: written by tools/measure_presets.py from docs/data/presets.json -->",
    "<!-- presets: end -->",
)

GEMM = {"tiny": 64, "small": 128, "base": 256, "large": 512, "mxu128": 1024, "tpu_v1": 1024}
"""Edge of the square matrix product that each preset is measured with."""
PROGRAMS = {"tiny": 100, "small": 100, "base": 40, "large": 10, "mxu128": 0, "tpu_v1": 0}
"""Random programs in lockstep on each preset; on random configurations there are far more."""
RANDOM = {"verilator": (300, 6), "icarus": (300, 30)}
"""Random programs and configurations of the two campaigns."""
KEPT = ("programs", "configs", "cycles", "events", "digests", "mismatches", "seed", "trace_sha256")


def source_digest() -> str:
    """Twelve hex digits over the RTL's files."""
    state = hashlib.sha256()
    for path in toolchain.rtl_sources():
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


def measure_gemm(name: str) -> dict:
    """Cycles of a square product with dense operands and results in memory, on the stepped tier."""
    config, edge = PRESETS[name], GEMM[name]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, (edge, edge)).astype(np.int8) for _ in range(2))
    found: dict = {"size": edge, "bound": edge**3 // config.peak_macs, "latency": DEFAULT_LATENCY[name]}
    for kind in ("int8", "int32"):
        result = run_stepped(compile_gemm(a, b, config, out=kind))
        if result.error:
            raise RuntimeError(f"gemm {edge} on {name} stopped with {result.error.name}.")
        found[kind] = result.cycles
    return found


def measure_cells(name: str) -> dict:
    """Generic gates, flip-flops and memory bits by Yosys."""
    total = json.loads(_run("-m", "tb.synth", "--config", name, "--json"))["total"]
    return {key: total[key] for key in ("gates", "flip_flops", "memory_bits")} | {"rtl": source_digest()}


def measure_lockstep(name: str) -> dict:
    """Random programs on this preset under Verilator."""
    return _lockstep("--random", str(PROGRAMS[name]), "--config", name, "--sim", "verilator")


def measure_random(simulator: str) -> dict:
    """The campaign over random configurations."""
    programs, configs = RANDOM[simulator]
    return _lockstep("--random", str(programs), "--configs", str(configs), "--sim", simulator)


def _lockstep(*arguments: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lockstep.json"
        _run("-m", "tb.lockstep.cli", *arguments, "--json", str(path), "--seed", "1")
        found = json.loads(path.read_text())
    return {key: found[key] for key in KEPT} | {"rtl": source_digest()}


def _run(*arguments: str) -> str:
    run = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    return run.stdout


PARTS = {"gemm": measure_gemm, "cells": measure_cells, "lockstep": measure_lockstep}


def jobs(only: list[str], presets: list[str]) -> list[tuple[str, str]]:
    """What to measure: (part, preset or simulator)."""
    wanted = [(part, name) for part in PARTS if part in only for name in presets]
    wanted = [(part, name) for part, name in wanted if part != "lockstep" or PROGRAMS[name]]
    return wanted + [("random", simulator) for simulator in RANDOM if "random" in only]


def measure(record: dict, wanted: list[tuple[str, str]], console: Console) -> list[str]:
    """Fill the record, saving after each figure; returns sentences about what failed."""
    failures = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(wanted))
        for part, name in wanted:
            progress.update(task, description=f"{part} {name}")
            started = time.monotonic()
            try:
                found = measure_random(name) if part == "random" else PARTS[part](name)
            except RuntimeError as error:
                failures.append(f"{part} {name}: {error}")
            else:
                place = record.setdefault("random", {}) if part == "random" else record["presets"].setdefault(name, {})
                place[name if part == "random" else part] = found
                RECORD.parent.mkdir(parents=True, exist_ok=True)
                RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
                console.print(f"{part} {name}: {found} ({time.monotonic() - started:.0f} s)", highlight=False)
            progress.advance(task)
    return failures


# ----- the table -----


def table(record: dict) -> str:
    """The README's lines between the markers."""
    lines = [
        "| preset | array | scratchpad | memory port | int8 matrix product | cells | memory bits | in lockstep |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, config in PRESETS.items():
        found = record["presets"].get(name, {})
        lines.append(
            f"| `{name}` | {config.rows} x {config.cols} | {_bytes(config.sp_words * config.lanes)} | "
            f"{_ports(config)} | {_gemm(found.get('gemm'))} | "
            f"{_cells(found.get('cells'))} | {_status(found.get('lockstep'))} |"
        )
    lines += [""]
    for simulator, found in sorted(record.get("random", {}).items()):
        lines.append(
            f"- Random configurations under {simulator.capitalize()}: {found['programs']} programs over "
            f"{found['configs']} configurations, {found['cycles']:,} cycles, {found['events']:,} events and "
            f"{found['digests']:,} state digests compared, **{found['mismatches']} mismatches**."
        )
    return "\n".join(lines).rstrip() + "\n"


def _ports(config: Config) -> str:
    """Width of the memory port, latency and rate of the memory; likewise of the weight port, if there is one."""
    ports = [f"{config.mem_bits} bit, {_memory(DEFAULT_LATENCY[config.name], DEFAULT_BANDWIDTH.get(config.name))}"]
    if config.weight_port:
        ports.append(f"weights: {config.mem_bits} bit, {_memory(*DEFAULT_WEIGHT_MEMORY[config.name])}")
    return "; ".join(ports)


def _memory(latency: int, bandwidth: tuple[int, int] | None) -> str:
    return f"{latency} cycles" + (f", {bandwidth[0] / bandwidth[1]:.4g} B/cycle" if bandwidth else "")


def _bytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def _gemm(found: dict | None) -> str:
    if not found:
        return "-"
    return f"{found['size']}³: {found['int8']:,} cycles, {found['int8'] / found['bound']:.3f} x the bound"


def _cells(found: dict | None) -> str:
    if not found:
        return "- | -"
    return f"{found['gates'] + found['flip_flops']:,} | {found['memory_bits']:,}"


def _status(found: dict | None) -> str:
    if not found:
        return "not on this preset itself"
    if found["mismatches"]:
        return f"**{found['mismatches']} mismatches** in {found['programs']} programs"
    return f"{found['programs']} programs, {found['cycles']:,} cycles, 0 mismatches"


def with_table(text: str, record: dict) -> str:
    """The README with the table between its markers."""
    before, found, rest = text.partition(START)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{README.name} lacks the markers of the table: {START} ... {END}")
    return f"{before}{START}\n{table(record)}{END}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, write or check; 1 if something failed or the README is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "random"], default=[*PARTS, "random"])
    parser.add_argument("--preset", nargs="+", choices=list(GEMM), default=list(GEMM))
    parser.add_argument("--table", action="store_true", help="measure nothing; write the table from the record")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the table is not the record's")
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {"presets": {}}
    failures = [] if options.table or options.check else measure(record, jobs(options.only, options.preset), console)
    text = README.read_text()
    wanted = with_table(text, record)
    if options.check and text != wanted:
        failures.append("README.md shows another table than docs/data/presets.json: make measure, or --table.")
    elif text != wanted:
        README.write_text(wanted)
    for failure in failures:
        console.print(failure, markup=False, highlight=False)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
