# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: engines at work together, their queues, bubbles, and the order of their instructions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

import numpy as np

from tb.coverage.group import MICROARCHITECTURAL, buckets, group, hit, in_buckets
from tb.coverage.window import ENGINES, Window, before

EVENTS = (
    "frontend.fetch", "frontend.dispatch", "port.ar", "port.aw", "port.w", "load.write", "weights.sp_read",
    "weights.fifo_write", "matmul.sp_read", "matmul.row", "matmul.shift", "accumulator.write", "accumulator.read",
    "vector.sp_read", "vector.param_read", "vector.write", "store.sp_read",
)  # fmt: skip
STREAMS = (
    "load.write",
    "weights.fifo_write",
    "matmul.row",
    "vector.write",
    "store.sp_read",
    "port.w",
    "frontend.dispatch",
)
GAPS = (1, 2, 4, 16)
RUNS = (1, 2, 4, 16)
FLYING = (1, 2, 3)


@group(MICROARCHITECTURAL, "Engines with an instruction issued and not retired in the same cycle.",
       [f"{a} {b}" for a, b in combinations(ENGINES, 2)] + [f"{n} engines" for n in (1, 2, 3, 4, 5)])  # fmt: skip
def engine_overlap(w: Window) -> Iterable[str]:
    at_work = {engine: w.state[f"flying.{engine}"] > 0 for engine in ENGINES}
    masks = {f"{a} {b}": at_work[a] & at_work[b] for a, b in combinations(ENGINES, 2)}
    total = sum(mask.astype(np.int64) for mask in at_work.values())
    return hit(masks | {f"{n} engines": total == n for n in (1, 2, 3, 4, 5)})


@group(MICROARCHITECTURAL, "Two events in the same cycle.", (f"{a} {b}" for a, b in combinations(EVENTS, 2)))
def event_pairs(w: Window) -> Iterable[str]:
    stack = np.array([w.event(name) for name in EVENTS], dtype=np.float32)
    together = stack @ stack.T
    return (f"{EVENTS[a]} {EVENTS[b]}" for a, b in combinations(range(len(EVENTS)), 2) if together[a, b])


@group(MICROARCHITECTURAL, "Cycles without the event between two events of a stream.",
       [f"{name} none" for name in STREAMS] + [f"{name} {size}" for name, size in product(STREAMS,
           buckets(GAPS))])  # fmt: skip
def bubbles(w: Window) -> Iterable[str]:
    for name in STREAMS:
        gaps = np.diff(np.flatnonzero(w.event(name))) - 1
        if (gaps == 0).any():
            yield f"{name} none"
        yield from (f"{name} {size}" for size in in_buckets(GAPS, gaps))


@group(MICROARCHITECTURAL, "Events of a stream in consecutive cycles.",
       (f"{name} {size}" for name, size in product(STREAMS, buckets(RUNS))))  # fmt: skip
def streaks(w: Window) -> Iterable[str]:
    for name in STREAMS:
        places = np.flatnonzero(w.event(name))
        if len(places):
            ends = np.flatnonzero(np.diff(places, append=places[-1] + 2) > 1)
            yield from (f"{name} {size}" for size in in_buckets(RUNS, np.diff(ends, prepend=-1)))


@group(MICROARCHITECTURAL, "Instructions of an engine in flight at once.",
       (f"{engine} {size}" for engine, size in product(ENGINES, buckets(FLYING))))  # fmt: skip
def instructions_in_flight(w: Window) -> Iterable[str]:
    for engine in ENGINES:
        yield from (f"{engine} {size}" for size in in_buckets(FLYING, w.state[f"flying.{engine}"]))


@group(MICROARCHITECTURAL, "Two engines issue, or retire, in the same cycle; one engine does both.",
       [f"{slot} {a} {b}" for slot in ("issue", "retire") for a, b in combinations(ENGINES, 2)]
       + [f"{engine} issues {how}" for engine in ENGINES for how in ("and retires", "next to a retire")])  # fmt: skip
def issue_and_retire(w: Window) -> Iterable[str]:
    masks = {}
    for slot in ("issue", "retire"):
        masks |= {f"{slot} {a} {b}": w.on(a, slot) & w.on(b, slot) for a, b in combinations(ENGINES, 2)}
    for engine in ENGINES:
        issue, retire = w.on(engine, "issue"), w.on(engine, "retire")
        masks[f"{engine} issues and retires"] = issue & retire
        masks[f"{engine} issues next to a retire"] = issue & before(retire)
    return hit(masks)


@group(MICROARCHITECTURAL, "An engine's queue: how full, and pushed and popped.",
       (f"{engine} {what}" for engine, what in product(ENGINES, (
           "empty at work", "one", "several", "full", "pushed empty", "popped full", "pushed and popped",
           "pushed to full", "full for a while"))))  # fmt: skip
def queues(w: Window) -> Iterable[str]:
    depth = w.config.queue_depth
    target = w.field("frontend", "dispatch", "engine")
    for index, engine in enumerate(ENGINES, 1):
        count = w.state[f"queued.{engine}"]
        push = w.on("frontend", "dispatch") & (target == index)
        pop = w.state[f"starts.{engine}"]
        full = count == depth
        yield from (f"{engine} {name}" for name in hit({
            "empty at work": (count == 0) & (w.state[f"flying.{engine}"] > 0), "one": count == 1, "several": count > 1,
            "full": full, "pushed empty": push & (count == 0), "popped full": pop & full,
            "pushed and popped": push & pop,
            "pushed to full": push & (count == depth - 1),
            "full for a while": full & before(full) & before(full, 2) & before(full, 3) & before(full, 4),
        }))  # fmt: skip


BUFFERED = (0, 1, 2, 8, 14)


@group(MICROARCHITECTURAL, "Instructions fetched and not dispatched yet (the buffer holds 16, decode one more).",
       [f"buffered {size}" for size in buckets(BUFFERED)] + ["fetched and dispatched",
           "fetched while none dispatches"])  # fmt: skip
def fetch_buffer(w: Window) -> Iterable[str]:
    run = w.flag("status.busy") & ~w.flag("status.halt")
    yield from (f"buffered {size}" for size in in_buckets(BUFFERED, w.state["fetched"][run]))
    fetch, dispatch = w.on("frontend", "fetch"), w.on("frontend", "dispatch")
    waits = w.state["fetched"] > 1
    yield from hit({
        "fetched and dispatched": fetch & dispatch,
        "fetched while none dispatches": fetch & waits & ~dispatch & ~before(dispatch) & ~before(dispatch, 2),
    })  # fmt: skip
