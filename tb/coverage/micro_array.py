# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: rows, swaps and weight shifts of the systolic array."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from tb.coverage.group import MICROARCHITECTURAL, buckets, group, hit, in_buckets
from tb.coverage.window import Window, before


@group(MICROARCHITECTURAL, "Rows at the array's edge: of data and of padding, swapping, adding.",
       [f"{kind} {what}" for kind, what in product(("data", "padding"), (
           "swaps", "keeps", "adds", "overwrites", "swaps behind a row", "swaps behind a gap",
           "behind the other kind"))])  # fmt: skip
def rows(w: Window) -> Iterable[str]:
    row, pad = w.on("matmul", "row"), w.field("matmul", "row", "pad").astype(bool)
    swap, add = w.field("matmul", "row", "swap").astype(bool), w.field("matmul", "row", "add").astype(bool)
    for kind, mine in (("data", row & ~pad), ("padding", row & pad)):
        other = before(row) & (before(pad) != pad)
        yield from (f"{kind} {name}" for name in hit({
            "swaps": mine & swap, "keeps": mine & ~swap, "adds": mine & add, "overwrites": mine & ~add,
            "swaps behind a row": mine & swap & before(row), "swaps behind a gap": mine & swap & ~before(row),
            "behind the other kind": mine & other,
        }))  # fmt: skip


@group(MICROARCHITECTURAL, "From one swap to the next, in cycles against the rows of the array, with and without gaps.",
       ("interval = rows", "interval > rows in a stream", "interval > rows with gaps",
       "interval = rows with one row a tile",
        "swap while the next tile is shifted", "swap in the first cycle of a shift", "swap in the cycle after a shift",
        "swap with the first row after a run began"))  # fmt: skip
def swaps(w: Window) -> Iterable[str]:
    size = w.config.rows
    row = w.on("matmul", "row")
    swap = w.field("matmul", "row", "swap").astype(bool)
    shift = w.on("matmul", "shift")
    first = shift & (w.field("matmul", "shift", "row") == 0)
    at = np.flatnonzero(swap)
    total = np.cumsum(row)
    between = np.diff(at)
    streamed = total[at[1:]] - total[at[:-1]]
    yield from hit({
        "interval = rows": between == size, "interval > rows in a stream": (between > size) & (streamed == between),
        "interval > rows with gaps": (between > size) & (streamed < between),
        "interval = rows with one row a tile": (between == size) & (streamed == 1),
        "swap while the next tile is shifted": swap & shift, "swap in the first cycle of a shift": swap & first,
        "swap in the cycle after a shift": swap & ~shift & before(shift),
        "swap with the first row after a run began": swap & (w.state["flying.matmul"] > 0) & ~_seen(row,
        w.state["clear"]),
    })  # fmt: skip


def _seen(events: np.ndarray, resets: np.ndarray) -> np.ndarray:
    """Whether there was an event since the last reset (or the window's begin), before each cycle."""
    total = np.cumsum(events) - events
    anchor = np.maximum.accumulate(np.where(resets, total, 0))
    return total > anchor


GAPS = (1, 2, 4, 16)


@group(MICROARCHITECTURAL, "Weights are shifted while the array runs or stands; shifts one behind the other.",
       ["while a row enters", "while no row enters", "behind another without a gap",
           *(f"gap {g}" for g in buckets(GAPS)),
        "begins with a row", "ends with a row", "while halted", "while matmul has no instruction"])  # fmt: skip
def weight_shifts(w: Window) -> Iterable[str]:
    shift, row = w.on("matmul", "shift"), w.on("matmul", "row")
    number = w.field("matmul", "shift", "row")
    first, last = shift & (number == 0), shift & (number == w.config.rows - 1)
    yield from hit({
        "while a row enters": shift & row, "while no row enters": shift & ~row,
        "behind another without a gap": first & before(last), "begins with a row": first & row,
        "ends with a row": last & row,
        "while halted": shift & w.flag("status.halt"),
        "while matmul has no instruction": shift & (w.state["flying.matmul"] == 0),
    })  # fmt: skip
    ends, begins = np.flatnonzero(last), np.flatnonzero(first)
    for end in ends.tolist():
        later = begins[begins > end]
        if len(later):
            yield from (f"gap {size}" for size in in_buckets(GAPS, later[:1] - end - 1))


@group(MICROARCHITECTURAL,
       "Rows are in the pipeline between the edge and the accumulators: how many, and who works beside.",
       ("one", "as many as the latency", "with the vector unit reading", "with the next instruction issued",
        "while halted", "commit while halted"))  # fmt: skip
def array_pipeline(w: Window) -> Iterable[str]:
    depth = w.config.rows + w.config.cols + 1
    row, commit = w.on("matmul", "row"), w.on("accumulator", "write")
    inside = np.cumsum(row.astype(np.int64)) - np.cumsum(commit.astype(np.int64))
    inside -= min(0, int(inside.min(initial=0)))
    halt = w.flag("status.halt")
    return hit({
        "one": (inside == 1) & row, "as many as the latency": inside >= depth,
        "with the vector unit reading": (inside > 0) & w.on("accumulator", "read"),
        "with the next instruction issued": (inside > 0) & w.state["starts.matmul"],
        "while halted": (inside > 0) & halt,
        "commit while halted": commit & halt,
    })  # fmt: skip
