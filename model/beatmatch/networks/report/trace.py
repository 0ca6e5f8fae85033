# SPDX-License-Identifier: Apache-2.0
"""A network's layers over time in Chrome's trace format, for https://ui.perfetto.dev; one cycle is one nanosecond.

The counters of a layer hold over its window; what a window moved is spread over it evenly.
"""

from __future__ import annotations

import json
from pathlib import Path

from beatmatch.networks.report.sheet import write_text
from beatmatch.networks.report.words import WHERE, machine, size
from beatmatch.networks.result import ESTIMATE, LayerResult, NetworkResult
from beatmatch.report.perfetto import CYCLES_PER_UNIT

TRACKS = {"core": 1, ESTIMATE: 2}
"""Thread of what ran, and of what was priced."""
CYCLES, MEMORY = "cycles (%)", "memory bytes per cycle"
"""Counter tracks."""


def trace_events(result: NetworkResult, process: int = 1) -> list[dict]:
    """All events: a slice per layer that takes time, and counters of shares and traffic."""
    title = f"{result.name} on {machine(result)}: {result.cycles:,} cycles, 1 ns is 1 cycle"
    events = [_meta("process_name", process, 0, name=title)]
    for label, thread in TRACKS.items():
        events.append(_meta("thread_name", process, thread, name=f"layers ({label})"))
        events.append(_meta("thread_sort_index", process, thread, sort_index=thread))
    for layer in result:
        if layer.cycles:
            events.append(_slice(layer, process))
            shares = layer.shares(result.config)
            events.append(_counter(CYCLES, layer.start, process, {n: round(100 * shares[n], 2) for n in WHERE}))
            moved = {"read": layer.read_bytes, "written": layer.written_bytes}
            rates = {name: round(value / layer.cycles, 3) for name, value in moved.items()}
            events.append(_counter(MEMORY, layer.start, process, rates))
    # Every counter falls to zero where the network ends.
    events.append(_counter(CYCLES, result.cycles, process, dict.fromkeys(WHERE, 0)))
    return [*events, _counter(MEMORY, result.cycles, process, {"read": 0, "written": 0})]


def write_trace(path: str | Path, *results: NetworkResult) -> None:
    """One file, each result as a process of its own; raises ResultError if it cannot be written."""
    events = [event for number, result in enumerate(results, 1) for event in trace_events(result, number)]
    write_text(path, json.dumps({"displayTimeUnit": "ns", "traceEvents": events}, separators=(",", ":")))


def _slice(layer: LayerResult, process: int) -> dict:
    facts = {
        "operator": layer.op, "output": size(layer), "cycles": layer.cycles, "macs": layer.macs,
        "read": layer.read_bytes, "written": layer.written_bytes, "fidelity": layer.fidelity, "note": layer.note,
    }  # fmt: skip
    place = {"ph": "X", "pid": process, "tid": TRACKS[ESTIMATE if layer.accounting is None else "core"]}
    times = {"ts": layer.start / CYCLES_PER_UNIT, "dur": layer.cycles / CYCLES_PER_UNIT}
    return {**place, "name": layer.name, **times, "args": facts}


def _counter(name: str, cycle: int, process: int, values: dict) -> dict:
    return {"ph": "C", "pid": process, "name": name, "ts": cycle / CYCLES_PER_UNIT, "args": values}


def _meta(kind: str, process: int, thread: int, **facts: object) -> dict:
    return {"ph": "M", "pid": process, "tid": thread, "name": kind, "args": facts}
