# SPDX-License-Identifier: Apache-2.0
"""Two-dimensional transfers without their data: `stations.transfer.Transfer`, what load and store have in common."""

from __future__ import annotations

from beatmatch.fast.bursts import BURSTS, PAGES, clear_bursts, put_row
from beatmatch.fast.compiled import compiled
from beatmatch.fast.registers import layout
from beatmatch.isa.fields import Error
from beatmatch.stations.control import ISSUE, LAST

UNALIGNED, WINDOW, LOCAL_RANGE = int(Error.UNALIGNED), int(Error.WINDOW), int(Error.LOCAL_RANGE)

TRANSFER = layout(
    "Transfer",
    "run starting each outer row seq count rows space limit ring row_bytes row_words row_stride outer_stride "
    "local_row_stride local_stride local local_outer local_first offset outer_offset base_page base_low size sync "
    "signals retire signal error error_seq",
    bursts=BURSTS,
)
"""``base_page`` and ``base_low`` are the base register's address."""


@compiled
def clear_transfer(t):
    """Reset values."""
    clear_bursts(t.bursts)
    t.retire = -1
    t.signal = t.error = t.run = t.starting = t.each = t.outer = t.row = t.seq = 0


@compiled
def transfer_wait(t, head, f):
    """The wait presented in this cycle: -1 for none, else 18 bits of sync and `ISSUE`; ``head``: -1 or
    its place in the program, ``f``: what stands there."""
    if t.run:
        return t.sync if t.starting and not t.bursts.row_valid else -1
    return -1 if head < 0 else f.sync | ISSUE


@compiled
def begin_transfer(m, t, f, seq):
    """Load the registers of an instruction, the local addresses excepted; returns the issue event's header."""
    t.run = 1
    t.seq = seq
    t.each = f.each
    t.sync = f.sync
    t.signals = f.signals
    t.count = f.outer
    t.rows = f.rows
    t.row_bytes = f.row_bytes
    t.row_words = (f.row_bytes + m.sizes.lanes - 1) // m.sizes.lanes
    t.row_stride = f.row_stride
    t.outer_stride = f.outer_stride
    t.offset = t.outer_offset = f.offset
    t.base_page = m.host.base_page[f.base]
    t.base_low = m.host.base_low[f.base]
    t.size = m.host.window[f.base]
    return seq | (LAST if not f.each or f.outer == 1 else 0)


@compiled
def set_local(t, first, row_stride, outer_stride, ring):
    """Local addresses of an instruction."""
    t.local = t.local_outer = t.local_first = first
    t.local_row_stride = row_stride
    t.local_stride = outer_stride
    t.ring = (1 << ring) - 1


@compiled
def iteration_header(t):
    """The issue event's header of a further iteration."""
    return t.seq | t.outer << 16 | (LAST if t.outer == t.count - 1 else 0)


@compiled
def generate_row(m, t):
    """Generate one row into the free row register, or raise the error it has."""
    b = t.bursts
    m.moved = 1
    t.starting = 0
    at = t.base_low + t.offset
    if at % m.sizes.mem_bytes:
        t.error = UNALIGNED
        t.error_seq = t.seq
        return
    if t.offset + t.row_bytes > t.size:
        t.error = WINDOW
        t.error_seq = t.seq
        return
    if t.local + t.row_words > t.limit:
        t.error = LOCAL_RANGE
        t.error_seq = t.seq
        return
    last_row = t.row == t.rows - 1
    last_outer = t.outer == t.count - 1
    put_row(b, (t.base_page + (at >> 12)) & PAGES, at & 4095, t.row_bytes, m.sizes.mem_bytes, 0)
    b.retire = t.seq | t.outer << 16 | (LAST if last_outer else 0)
    b.signals = t.signals
    b.ends = 1 if last_row and (t.each or last_outer) else 0
    b.space = t.space
    b.local = t.local
    if not last_row:
        t.row += 1
        t.offset += t.row_stride
        t.local += t.local_row_stride
        return
    t.row = 0
    if last_outer:
        t.outer = 0
        t.run = 0
        return
    t.outer += 1
    t.starting = t.each
    t.outer_offset += t.outer_stride
    t.offset = t.outer_offset
    if t.ring and not t.outer & t.ring:
        t.local_outer = t.local_first
    else:
        t.local_outer += t.local_stride
    t.local = t.local_outer
