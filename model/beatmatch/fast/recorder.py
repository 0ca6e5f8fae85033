# SPDX-License-Identifier: Apache-2.0
"""Events to intervals while they happen.

An interval is a row of eight numbers: slot, first cycle, stride, count, first header, its step, first number
that goes with it, its step. Every slot keeps one open interval, which the next event either continues or closes.
"""

from __future__ import annotations

from beatmatch.fast.compiled import compiled
from beatmatch.fast.registers import layout
from beatmatch.trace import STATIONS

SLOTS = tuple((station, slot.name) for station, slots in STATIONS.items() for slot in slots if slot.kind == "event")
"""Slots of events in the order of the trace record; those of stations that a configuration lacks stay empty."""

HOST_ERROR = SLOTS.index(("host", "error"))
FETCH = SLOTS.index(("frontend", "fetch"))
DISPATCH = SLOTS.index(("frontend", "dispatch"))
AR, AW, W = (SLOTS.index(("port", name)) for name in ("ar", "aw", "w"))
LOAD_ISSUE, LOAD_RETIRE, LOAD_WRITE = (SLOTS.index(("load", name)) for name in ("issue", "retire", "write"))
WEIGHTS_ISSUE, WEIGHTS_RETIRE, WEIGHTS_SP_READ, FIFO_WRITE = (
    SLOTS.index(("weights", name)) for name in ("issue", "retire", "sp_read", "fifo_write")
)
MATMUL_ISSUE, MATMUL_RETIRE, MATMUL_SP_READ, MATMUL_ROW, SHIFT = (
    SLOTS.index(("matmul", name)) for name in ("issue", "retire", "sp_read", "row", "shift")
)
ACC_WRITE, ACC_READ = (SLOTS.index(("accumulator", name)) for name in ("write", "read"))
VECTOR_ISSUE, VECTOR_RETIRE, VECTOR_SP_READ, PARAM_READ, VECTOR_WRITE = (
    SLOTS.index(("vector", name)) for name in ("issue", "retire", "sp_read", "param_read", "write")
)
WEIGHT_AR = SLOTS.index(("weight_port", "ar"))
STORE_ISSUE, STORE_RETIRE, STORE_SP_READ = (SLOTS.index(("store", name)) for name in ("issue", "retire", "sp_read"))

CATEGORY = len(SLOTS)
"""Behind the slots of events: what a cycle was, an entry where it changes."""
PLACES = CATEGORY + 1

ROW = 8
"""Numbers of an interval."""
BUFFER = 1 << 14
"""Intervals between two visits of Python."""

_OPEN = ("count", "first", "last", "stride", "header", "last_header", "step", "extra", "last_extra", "extra_step")

LOG = layout("Log", "keep used category", {name: PLACES for name in ("total", *_OPEN)} | {"out": BUFFER * ROW})
"""``total`` events per slot; the open interval of each; ``used`` intervals in the buffer ``out``."""


@compiled
def _close(log, slot, count):
    """Put the first ``count`` events of the open interval into the buffer."""
    out, at = log.out, ROW * log.used
    out[at] = slot
    out[at + 1] = log.first[slot]
    out[at + 2] = log.stride[slot] if count > 1 else 1
    out[at + 3] = count
    out[at + 4] = log.header[slot]
    out[at + 5] = log.step[slot] if count > 1 else 0
    out[at + 6] = log.extra[slot]
    out[at + 7] = log.extra_step[slot] if count > 1 else 0
    log.used += 1


@compiled
def emit(m, slot, header, extra):
    """An event of this cycle: its header without the valid bit, and a number that goes with it.

    The number is the address of a burst in units of four bytes, the useful multiply-accumulates of a row, else 0.
    """
    m.moved = 1
    record(m, slot, header, extra)


@compiled
def record(m, slot, header, extra):
    """Put an event into the intervals."""
    log = m.log
    log.total[slot] += 1
    if not log.keep:
        return
    now, count = m.now, log.count[slot]
    if count == 0:
        log.first[slot] = now
        log.header[slot] = header
        log.extra[slot] = extra
    elif count == 1:
        log.stride[slot] = now - log.last[slot]
        log.step[slot] = header - log.last_header[slot]
        log.extra_step[slot] = extra - log.last_extra[slot]
    elif (
        now - log.last[slot] != log.stride[slot]
        or header - log.last_header[slot] != log.step[slot]
        or extra - log.last_extra[slot] != log.extra_step[slot]
    ):
        if count == 2:  # two that only look like an interval: the second may begin a longer one
            _close(log, slot, 1)
            log.first[slot] = log.last[slot]
            log.header[slot] = log.last_header[slot]
            log.extra[slot] = log.last_extra[slot]
            log.stride[slot] = now - log.last[slot]
            log.step[slot] = header - log.last_header[slot]
            log.extra_step[slot] = extra - log.last_extra[slot]
            count = 1
        else:
            _close(log, slot, count)
            log.first[slot] = now
            log.header[slot] = header
            log.extra[slot] = extra
            count = 0
    log.last[slot] = now
    log.last_header[slot] = header
    log.last_extra[slot] = extra
    log.count[slot] = count + 1


@compiled
def close_all(m):
    """Put every open interval into the buffer, which must have room for one per slot."""
    for slot in range(PLACES):
        if m.log.count[slot]:
            _close(m.log, slot, m.log.count[slot])
            m.log.count[slot] = 0
