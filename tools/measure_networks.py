# SPDX-License-Identifier: Apache-2.0
"""Time the packaged networks and the TPU paper's applications for the documents.

python tools/measure_networks.py            measure all, keep docs/data/networks.json and tpu_v1.json, write the tables
python tools/measure_networks.py --only tpu_v1
python tools/measure_networks.py --check    measure cycles again and compare them with the records
python tools/measure_networks.py --table    only write the tables from the records
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.progress import track

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from beatmatch.compiler.builder import default_timing, default_weight_timing  # noqa: E402
from beatmatch.config import preset  # noqa: E402
from beatmatch.memory import MemoryTiming  # noqa: E402
from beatmatch.networks.library import names  # noqa: E402
from beatmatch.networks.result import NetworkResult  # noqa: E402
from beatmatch.networks.timing import time_network  # noqa: E402
from beatmatch.networks.tpu_v1 import APPLICATIONS, tops  # noqa: E402

DATA = ROOT / "docs/data"
CONFIG = "mxu128"
PAPER = DATA / "tpu_v1_isca17.csv"
BARS = {"MLP0": 8, "MLP1": 8, "CNN0": 8, "LSTM1": 15, "LSTM0": 20}
"""Percent that TOPS should be within."""
ROWS = {
    "useful MACs": ("useful_MACs_of_peak", ("useful",)),
    "unused MACs": ("unused_MACs", ("unused",)),
    "weight stall": ("weight_stall", ("weight_stall",)),
    "weight shift": ("weight_shift", ("weight_shift",)),
    "non-matrix": ("non_matrix", ("raw_stall", "input_stall", "other", "estimate")),
    "of it RAW stalls": ("raw_stalls", ("raw_stall",)),
    "of it input stalls": ("input_data_stalls", ("input_stall",)),
}
"""Rows of the comparison: the paper's name, and the shares that it is the sum of."""


def measure_network(name: str) -> dict:
    """A packaged network in a process of its own, so that its seconds and its memory are its own."""
    command = [sys.executable, "-m", "beatmatch.cli", "network", name, "--config", CONFIG, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    kept = ("macs", "cycles", "estimated_cycles", "utilization", "fidelity", "cpu_seconds", "peak_rss_mb")
    return {key: found[key] for key in kept} | {"memory_bytes": found["memory_bytes"]}


def measure_application(name: str) -> dict:
    """Every variant of an application."""
    config = preset("tpu_v1")
    return {label: _variant(time_network(graph, config)) for label, graph in APPLICATIONS[name]().items()}


def _variant(result: NetworkResult) -> dict:
    shares = {key: round(100 * value, 2) for key, value in result.shares().items()}
    return {"macs": result.macs, "cycles": result.cycles, "tops": round(tops(result.macs, result.cycles), 2)} | {
        "shares": shares, "memory_bytes": result.memory_bytes,
    }  # fmt: skip


def measure_speedups(name: str) -> dict:
    """Speedup of one variant of an application with four times the weight memory's rate, or the clock."""
    config = preset("tpu_v1")
    host, weights = default_timing(config), default_weight_timing(config)
    graph = list(APPLICATIONS[name]().values())[VARIANT.get(name, 0)]
    base = time_network(graph, config).cycles
    fast = replace(weights, read_bandwidth=(config.mem_bytes, 1))
    memory = time_network(graph, config, weight_timing=fast).cycles
    clock = time_network(graph, config, _slower(host, 4), weight_timing=_slower(weights, 4)).cycles
    return {"cycles": base, "memory": round(base / memory, 3), "clock": round(4 * base / clock, 3)}


def _slower(memory: MemoryTiming, times: int) -> MemoryTiming:
    """The same memory seen from a clock that is so many times faster."""
    rates = {
        key: (rate[0], rate[1] * times)
        for key in ("read_bandwidth", "write_bandwidth")
        if (rate := getattr(memory, key)) is not None
    }
    latencies = {key: getattr(memory, key) * times for key in ("read_latency", "write_latency")}
    return replace(memory, **rates, **latencies)


VARIANT = {"CNN0": 1, "CNN1": 1}
"""Of the kernels of Figure 11's runs: 3 x 3."""
SHARES = {"MLP0": 30.5, "MLP1": 30.5, "LSTM0": 14.5, "LSTM1": 14.5, "CNN0": 2.5, "CNN1": 2.5}
"""Percent of the deployed load (the paper: MLPs 61, LSTMs 29, CNNs 5), halved between two applications."""

PARTS = {
    "networks": (names, measure_network),
    "tpu_v1": (lambda: list(APPLICATIONS), measure_application),
    "figure_11": (lambda: list(APPLICATIONS), measure_speedups),
}


def measure(part: str) -> dict:
    """The record of a part."""
    listing, one = PARTS[part]
    return {name: one(name) for name in track(listing(), part)}


def networks_table(record: dict) -> Iterator[str]:
    """The packaged networks on one configuration."""
    yield f"On `{CONFIG}`, batch 1, `beatmatch network NAME --config {CONFIG}`:"
    yield ""
    yield "| network | MACs | cycles | estimates | utilization | MB moved / minimum | fidelity | CPU s | peak MB |"
    yield "|---|---:|---:|---:|---:|---:|---|---:|---:|"
    for name, row in record.items():
        moved = row["memory_bytes"]
        share = row["estimated_cycles"] / row["cycles"]
        sizes = f"{(moved['read'] + moved['written']) / 1e6:.1f} / {moved['minimum'] / 1e6:.1f}"
        yield (
            f"| `{name}` | {row['macs']:,} | {row['cycles']:,} | {share:.1%} | {row['utilization']:.1%} | {sizes} | "
            f"{row['fidelity']} | {row['cpu_seconds']:.1f} | {row['peak_rss_mb']:.0f} |"
        )


def paper() -> dict[str, dict[str, float]]:
    """Rows of the paper's tables by metric and application; empty cells left out."""
    with PAPER.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    rows = [row for row in rows if row["unit"] != "name"]
    return {row["metric"]: {name: float(row[name]) for name in APPLICATIONS if row[name]} for row in rows}


def tpu_table(record: dict) -> Iterator[str]:
    """Table 3 side by side: the paper's, ours, the difference."""
    theirs = paper()
    yield "| | " + " | ".join(f"{name}: paper | ours | difference" for name in record) + " |"
    yield "|---|" + "---:|" * 3 * len(record)
    for label, (metric, keys) in ROWS.items():
        cells = [f"| {label}, %"]
        for name, variants in record.items():
            values = [sum(one["shares"][key] for key in keys) for one in variants.values()]
            cells.append(_three(theirs[metric][name], values, 1, points=True))
        yield " | ".join(cells) + " |"
    cells = ["| **TOPS**"]
    for name, variants in record.items():
        cells.append(_three(theirs["TOPS"][name], [one["tops"] for one in variants.values()], 1, points=False))
    yield " | ".join(cells) + " |"


def _three(theirs: float, values: list[float], digits: int, points: bool) -> str:
    low, high = min(values), max(values)
    away = [value - theirs if points else 100 * (value / theirs - 1) for value in (low, high)]
    unit = "" if points else " %"
    ours = f"{low:.{digits}f}" if low == high else f"{low:.{digits}f} to {high:.{digits}f}"
    gaps = f"{away[0]:+.1f}{unit}" if low == high else f"{away[0]:+.1f} to {away[1]:+.1f}{unit}"
    return f"{theirs:g} | {ours} | {gaps}"


def speedups_table(record: dict) -> Iterator[str]:
    """The two trends of Figure 11 that the paper states in numbers."""
    yield "| speedup with | " + " | ".join(record) + " | mean | paper | difference |"
    yield "|---|" + "---:|" * (len(record) + 3)
    total = sum(SHARES[name] for name in record)
    mean = sum(SHARES[name] * row["memory"] for name, row in record.items()) / total
    cells = " | ".join(f"{row['memory']:.2f}" for row in record.values())
    what = "weight memory x 4, held to the port's 128 bytes a cycle (x 2.64)"
    yield f"| {what} | {cells} | {mean:.2f}, by deployed load | 3 | {mean / 3 - 1:+.0%} |"
    mean = sum(record[name]["clock"] for name in VARIANT) / len(VARIANT)
    cells = " | ".join(f"{row['clock']:.2f}" for row in record.values())
    yield f"| clock x 4, the same memories | {cells} | {mean:.2f}, of the CNNs | 2 | {mean / 2 - 1:+.0%} |"


TABLES = {
    "networks": (ROOT / "docs/networks.md", "timed", networks_table),
    "tpu_v1": (ROOT / "docs/tpu_v1_applications.md", "table 3", tpu_table),
    "figure_11": (ROOT / "docs/tpu_v1_applications.md", "figure 11", speedups_table),
}


def write_table(part: str, record: dict) -> None:
    """Put a table between its markers."""
    page, mark, rows = TABLES[part]
    text = page.read_text()
    start, end = f"<!-- {mark} -->", f"<!-- {mark}: end -->"
    head, rest = text.split(start)
    page.write_text(head + start + "\n" + "\n".join(rows(record)) + "\n" + end + rest.split(end)[1])


def main() -> int:
    """Run; 1 if a check found other cycles than the record has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=tuple(PARTS), action="append", help="one part (all)")
    parser.add_argument("--check", action="store_true", help="compare with the records instead of writing them")
    parser.add_argument("--table", action="store_true", help="write the tables from the records")
    arguments = parser.parse_args()
    different = 0
    for part in arguments.only or PARTS:
        path = DATA / f"{part}.json"
        record = json.loads(path.read_text()) if arguments.table or arguments.check else {}
        found = record if arguments.table else measure(part)
        if arguments.check:
            different += sum(_cycles(found[name]) != _cycles(record.get(name)) for name in found)
            continue
        path.write_text(json.dumps(found, indent=1) + "\n")
        write_table(part, found)
    return int(different > 0)


def _cycles(row: dict | None) -> object:
    """What has to be the same again."""
    kept = ("macs", "cycles", "memory_bytes", "memory", "clock")
    if row is None or "cycles" in row:
        return row and [row.get(key) for key in kept]
    return {label: _cycles(one) for label, one in row.items()}


if __name__ == "__main__":
    sys.exit(main())
