# SPDX-License-Identifier: Apache-2.0
"""Memory rows to bursts, and beats to words, without their data: `RowBursts` and `Gearbox` of the stepped tier.

Addresses are pairs of a page number and an offset in the page, so that 64-bit addresses fit into signed registers.
"""

from __future__ import annotations

from beatmatch.fast.compiled import compiled
from beatmatch.fast.registers import layout
from beatmatch.stations.row_bursts import BOUNDARY, MAX_BEATS

PAGES = (1 << 52) - 1
"""Page numbers wrap to this many."""
RING = 256
"""Places of the row list: more than rows that have begun plus the one whose last word is in the word register."""

_META = ("retire", "signals", "ends", "space", "local")

BURSTS = layout(
    "Bursts",
    "row_valid next_page next_offset left bytes zero valid page offset length inflight open_bytes placed placed_last "
    "first count " + " ".join(_META),
    {name: RING for name in ("row_bytes", "row_zero", *(f"row_{name}" for name in _META))},
)
"""Row register, burst register (AR or AW), and the list of rows that have begun; ``retire`` to ``local``: the row's
meta, as in the stepped tier."""

GEARBOX = layout("Gearbox", "valid bytes last index row next assembly held consumed")
"""``row`` is the word's place in the row list, ``held`` says that the beat register is occupied."""


@compiled
def clear_bursts(b):
    """Reset values."""
    b.row_valid = b.valid = b.inflight = b.open_bytes = b.placed = b.first = b.count = 0


@compiled
def clear_gearbox(g):
    """Reset values."""
    g.valid = g.next = g.assembly = g.held = g.consumed = 0


@compiled
def put_row(b, page, offset, size, beat, zero):
    """Load the row register; the caller sets the meta."""
    b.row_valid = 1
    b.next_page = page
    b.next_offset = offset
    b.bytes = size
    b.left = (size + beat - 1) // beat
    b.zero = zero
    b.open_bytes = 0


@compiled
def _begin_row(b):
    """The row of the row register goes onto the list."""
    at = (b.first + b.count) & (RING - 1)
    b.row_bytes[at] = b.bytes
    b.row_zero[at] = b.zero
    b.row_retire[at] = b.retire
    b.row_signals[at] = b.signals
    b.row_ends[at] = b.ends
    b.row_space[at] = b.space
    b.row_local[at] = b.local
    b.count += 1


@compiled
def pop_row(b):
    """The row at the head leaves the list."""
    b.first = (b.first + 1) & (RING - 1)
    b.count -= 1


@compiled
def advance(m, b, ready, answered, halt):
    """One cycle: the handshake of the burst register, a burst or zero row out of the row register."""
    if ready:
        b.valid = 0
    b.placed = 0
    if b.row_valid and not halt:
        room = b.count <= m.sizes.outstanding
        if b.zero:
            if room:
                _begin_row(b)
                b.row_valid = 0
                m.moved = 1
        elif not b.valid and b.inflight < m.sizes.outstanding and (b.open_bytes or room):
            if not b.open_bytes:
                _begin_row(b)
            beat = m.sizes.mem_bytes
            beats = min((BOUNDARY - b.next_offset) // beat, MAX_BEATS)
            if beats >= b.left:
                beats = b.left
                b.row_valid = 0
            b.valid = b.placed = 1
            b.placed_last = 0 if b.row_valid else 1
            b.page = b.next_page
            b.offset = b.next_offset
            b.length = beats - 1
            b.inflight += 1
            b.left -= beats
            b.open_bytes += beats * beat
            b.next_offset += beats * beat
            if b.next_offset >= BOUNDARY:
                b.next_offset -= BOUNDARY
                b.next_page = (b.next_page + 1) & PAGES
            m.moved = 1
    if answered:
        b.inflight -= 1


@compiled
def gearbox_ready(g, b, taken, mem_bytes, out_bytes):
    """Whether a beat is accepted in this cycle (not halted); ``taken``: the word register is emptied in it."""
    if not b.count or b.row_zero[b.first]:
        return 0
    if mem_bytes <= out_bytes:
        return 1 if taken or not g.valid else 0
    if not g.held:
        return 1
    if g.valid and not taken:
        return 0
    left = b.row_bytes[b.first] - (g.next + 1) * out_bytes
    return 1 if g.consumed + out_bytes == mem_bytes and left > 0 else 0


@compiled
def gearbox_step(m, g, b, head, beat, taken, out_bytes):
    """One cycle (not halted); ``head``: the list was not empty at its start. 1: remove the head of the row list."""
    if taken and g.valid:
        g.valid = 0
        m.moved = 1
    if not head:
        return 0
    total = b.row_bytes[b.first]
    if b.row_zero[b.first]:
        if g.valid:
            return 0
        g.valid = g.last = 1
        g.bytes = min(total, out_bytes)
        g.index = 0
        g.row = b.first
        m.moved = 1
        return 1
    left = total - g.next * out_bytes
    mem_bytes = m.sizes.mem_bytes
    if mem_bytes <= out_bytes:
        if not beat:
            return 0
        m.moved = 1
        g.assembly += mem_bytes
        if g.assembly < out_bytes and g.assembly < left:
            return 0
        g.assembly = 0
    else:
        if not g.held or g.valid:
            if beat:
                g.held = 1
                m.moved = 1
            return 0
        m.moved = 1
        start = g.consumed + out_bytes
        if start == mem_bytes or left <= out_bytes:
            g.held = beat
            g.consumed = 0
        else:
            g.consumed = start
    g.valid = 1
    g.row = b.first
    g.index = g.next
    if left <= out_bytes:
        g.bytes = left
        g.last = 1
        g.next = 0
        return 1
    g.bytes = out_bytes
    g.last = 0
    g.next += 1
    return 0
