# SPDX-License-Identifier: Apache-2.0
"""A run in Chrome's trace format, for https://ui.perfetto.dev (which reads the file without sending it anywhere)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from beatmatch.report.timeline import ENGINES, PORT, Timeline

CYCLES_PER_UNIT = 1000
"""The format counts microseconds; one cycle is shown as one nanosecond."""

_LANES = 8  # thread numbers kept free per engine


def trace_events(timeline: Timeline, name: str = "beatmatch", process: int = 1) -> list[dict]:
    """All events of one run: a track per engine (more where its instructions overlap) and counter tracks.

    Parameters
    ----------
    timeline : Timeline
    name : str
        Shown as the process.
    process : int
        Its number; several runs in one file need different ones.
    """
    events = [_meta("process_name", process, 0, name=f"{name}: {timeline.cycles:,} cycles, 1 ns is 1 cycle")]
    for label, spans in timeline.group_spans().items():
        events += [_slice(process, 1, label, start, end, {}) for start, end in spans]
    if len(events) > 1:
        events += _thread(process, 1, "layers")
    for number, engine in enumerate(ENGINES, start=1):
        intervals, places, lanes = timeline.lanes(engine)
        for lane in range(lanes):
            events += _thread(process, number * _LANES + lane, engine if lane == 0 else f"{engine} (overlapping)")
        for interval, lane in zip(intervals, places, strict=True):
            instruction = timeline.instructions[interval.index]
            label = instruction.opcode.name if instruction else "?"
            facts = {
                "instruction": interval.index,
                "iteration": interval.iteration,
                "cycles": interval.end - interval.start,
                "queued for": interval.start - interval.dispatched,
                "text": timeline.text(interval.index),
            }
            events.append(_slice(process, number * _LANES + lane, label, interval.start, interval.end, facts))
    return events + _counters(timeline, process)


def _counters(timeline: Timeline, process: int) -> list[dict]:
    windows, peak = timeline.windows(), timeline.config.peak_macs
    useful = windows.useful_macs / (windows.length * peak)
    active = windows.categories["active"] / windows.length
    events: list[dict] = []
    for index, share in enumerate(useful):
        cycle = index * windows.width
        percent = {"useful": round(100 * float(share), 2), "unused": round(100 * float(active[index] - share), 2)}
        events.append(_counter(process, "array occupancy (%)", cycle, percent))
        beats = {user: round(100 * int(windows.port[user][index]) / int(windows.length[index]), 2) for user in PORT}
        store = beats.pop("store")
        events.append(_counter(process, "memory read beats (% of cycles)", cycle, beats))
        events.append(_counter(process, "memory write beats (% of cycles)", cycle, {"store": store}))
    # Every counter falls to zero where the run ends.
    return events + [_counter(process, e["name"], timeline.cycles, dict.fromkeys(e["args"], 0)) for e in events[-3:]]


def write(path: Path, runs: Iterable[tuple[str, Timeline]]) -> None:
    """One file with the named runs, each as a process of its own."""
    events: list[dict] = []
    for process, (name, timeline) in enumerate(runs, start=1):
        events += trace_events(timeline, name, process)
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}, separators=(",", ":")))


def _slice(process: int, thread: int, name: str, start: int, end: int, facts: dict) -> dict:
    event = {"ph": "X", "pid": process, "tid": thread, "name": name, "ts": start / CYCLES_PER_UNIT}
    return event | {"dur": (end - start) / CYCLES_PER_UNIT, "args": facts}


def _counter(process: int, name: str, cycle: int, values: dict) -> dict:
    return {"ph": "C", "pid": process, "name": name, "ts": cycle / CYCLES_PER_UNIT, "args": values}


def _meta(kind: str, process: int, thread: int, **facts: object) -> dict:
    return {"ph": "M", "pid": process, "tid": thread, "name": kind, "args": facts}


def _thread(process: int, thread: int, name: str) -> list[dict]:
    return [
        _meta("thread_name", process, thread, name=name),
        _meta("thread_sort_index", process, thread, sort_index=thread),
    ]
