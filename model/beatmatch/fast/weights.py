# SPDX-License-Identifier: Apache-2.0
"""The weights engine and the weight FIFO without their data: `stations.weights.Weights`, `stations.weight_fifo`."""

from __future__ import annotations

from beatmatch.fast import recorder
from beatmatch.fast.bursts import (
    BURSTS,
    GEARBOX,
    PAGES,
    advance,
    clear_bursts,
    clear_gearbox,
    gearbox_ready,
    gearbox_step,
    pop_row,
    put_row,
)
from beatmatch.fast.compiled import compiled
from beatmatch.fast.recorder import emit
from beatmatch.fast.registers import layout
from beatmatch.isa.fields import Error, Opcode
from beatmatch.stations.control import ISSUE, LAST

WEIGHTS = 2
"""Number of weights on the memory port."""
WEIGHTS_SP = int(Opcode.WEIGHTS_SP)
UNALIGNED, WINDOW, LOCAL_RANGE = int(Error.UNALIGNED), int(Error.WINDOW), int(Error.LOCAL_RANGE)
SLVERR, DECERR = int(Error.BUS_SLVERR), int(Error.BUS_DECERR)

LAYOUT = layout(
    "Weights",
    "run opening waits each from_sp outer inner row seq count inner_count row_count row_bytes k_rows ring first at "
    "tile_at outer_at row_stride inner_stride outer_stride base_page base_low size sync signals retire signal error "
    "error_seq write_tile write_row sp_request "
    "request request_word request_zero request_retire request_signals request_ends "
    "arrived arrived_word arrived_zero arrived_retire arrived_signals arrived_ends "
    "fifo_count fifo_reserved fifo_done",
    bursts=BURSTS,
    gearbox=GEARBOX,
)
"""``request`` and ``arrived`` say that a scratchpad row is in the request register or arrives in this cycle."""


@compiled
def reset(m):
    """Reset values."""
    w = m.weights
    clear_bursts(w.bursts)
    clear_gearbox(w.gearbox)
    w.sp_request = w.retire = -1
    w.run = w.opening = w.waits = w.outer = w.inner = w.row = w.seq = w.signal = w.error = 0
    w.write_tile = w.write_row = w.request = w.arrived = w.fifo_count = w.fifo_reserved = w.fifo_done = 0


@compiled
def wait_request(m, head, f):
    """The wait presented in this cycle, or -1."""
    w = m.weights
    if w.run:
        if not w.waits or w.fifo_reserved == m.sizes.fifo_tiles:
            return -1
        full = w.request if w.from_sp else w.bursts.row_valid
        return -1 if full else w.sync
    return -1 if head < 0 else f.sync | ISSUE


@compiled
def read_ready(m, halt):
    """Ready for a read beat in this cycle; the FIFO never refuses a word."""
    if halt:
        return 1
    w = m.weights
    return gearbox_ready(w.gearbox, w.bursts, w.gearbox.valid, m.sizes.mem_bytes, m.sizes.cols)


@compiled
def in_flight(m):
    """Something is between the row's generation and its write."""
    w = m.weights
    b = w.bursts
    return 1 if b.row_valid or b.count or b.inflight or w.gearbox.valid or w.request or w.arrived else 0


@compiled
def busy(m):
    """Whether anything is under way, the signal and retire registers included."""
    return 1 if m.weights.run or m.weights.retire >= 0 or in_flight(m) else 0


@compiled
def stuck(m, head_seq, granted):
    """Sequence number of the instruction that can't go on; -1: not stuck."""
    w = m.weights
    if in_flight(m):
        return -1
    if w.run:
        if not w.row and w.fifo_reserved == m.sizes.fifo_tiles:
            return w.seq if w.fifo_count == m.sizes.fifo_tiles else -1
        return w.seq if w.waits and not granted else -1
    return head_seq if not granted and w.retire < 0 else -1


@compiled
def step(m, f, seq, granted, halt, sp_granted, ar_ready, beat, a):
    """One cycle; ``f`` and ``seq``: the queue head, ``beat``: a read beat from the memory ``a`` has its handshake."""
    w = m.weights
    g, b = w.gearbox, w.bursts
    w.error = 0
    if not (granted or w.run or w.retire >= 0 or in_flight(m)):
        return
    if w.retire >= 0:
        emit(m, recorder.WEIGHTS_RETIRE, w.retire, 0)
        w.retire = -1
        w.signal = 0
    slot_free = w.fifo_reserved < m.sizes.fifo_tiles
    sp_quiet = not w.request and not w.arrived
    mem_quiet = not (b.row_valid or b.count or g.valid)

    # Rows that arrive are written in this cycle.
    taken = g.valid
    if w.arrived:
        if not w.arrived_zero:
            emit(m, recorder.WEIGHTS_SP_READ, w.arrived_word, 0)
        if not halt:
            _write(m, w.arrived_ends, w.arrived_retire, w.arrived_signals)
    elif taken and not halt:
        _write(m, b.row_ends[g.row] and g.last, b.row_retire[g.row], b.row_signals[g.row])
    w.arrived = 0
    if w.request:
        m.moved = 1
        if sp_granted or w.request_zero:
            w.arrived = 1
            w.arrived_word, w.arrived_zero = w.request_word, w.request_zero
            w.arrived_retire, w.arrived_signals = w.request_retire, w.request_signals
            w.arrived_ends = w.request_ends
            w.request = 0

    head_row = b.count > 0
    front = b.row_retire[b.first]
    advance(m, b, ar_ready, beat and a.rlast, halt)
    if halt:
        g.valid = 0
    else:
        if w.run:
            if granted:
                last = LAST if w.outer == w.count - 1 else 0
                emit(m, recorder.WEIGHTS_ISSUE, w.seq | w.outer << 16 | last, 0)
            if (
                (granted or not w.waits)
                and (w.row or slot_free)
                and (not w.opening or (mem_quiet if w.from_sp else sp_quiet))
                and not (w.request if w.from_sp else b.row_valid)
            ):
                _generate(m)
        elif granted:
            emit(m, recorder.WEIGHTS_ISSUE, _issue(m, f, seq), 0)
        if beat and a.rresp:
            w.error = DECERR if a.rresp == 3 else SLVERR
            w.error_seq = front & 0xFFFF
        if gearbox_step(m, g, b, head_row, beat, taken, m.sizes.cols):
            pop_row(b)
    w.sp_request = w.request_word if w.request and not w.request_zero else -1


@compiled
def _write(m, ends, retire, signals):
    """Write a row to the FIFO; ``ends``: it ends an iteration or instruction."""
    w = m.weights
    emit(m, recorder.FIFO_WRITE, w.write_tile << 8 | w.write_row, 0)
    if w.write_row == m.sizes.rows - 1:
        w.fifo_done = 1
        w.write_row = 0
        w.write_tile = (w.write_tile + 1) % m.sizes.fifo_tiles
    else:
        w.write_row += 1
    if ends:
        w.retire = retire
        w.signal = signals


@compiled
def _issue(m, f, seq):
    """Load the registers; returns the issue event's header."""
    w = m.weights
    w.seq = seq
    w.from_sp = 1 if f.opcode == WEIGHTS_SP else 0
    w.run = w.opening = 1
    w.sync = f.sync
    w.signals = f.signals
    w.each = f.each
    w.count = f.outer
    w.inner_count = f.inner
    w.row_stride, w.inner_stride, w.outer_stride = f.row_stride, f.inner_stride, f.outer_stride
    if w.from_sp:
        w.ring = (1 << f.src_ring) - 1
        w.first = f.src
    else:
        w.ring = 0
        w.first = f.offset
        w.base_page = m.host.base_page[f.base]
        w.base_low = m.host.base_low[f.base]
        w.size = m.host.window[f.base]
    packed = f.packed and not w.from_sp
    w.row_count = 1 if packed else m.sizes.rows
    w.row_bytes = m.sizes.rows * m.sizes.cols if packed else f.n_lanes
    w.k_rows = f.k_rows
    w.at = w.tile_at = w.outer_at = w.first
    return seq | (LAST if not f.each or f.outer == 1 else 0)


@compiled
def _range_error(m, w):
    """The error code of the next row, 0 if it has none."""
    if w.from_sp:
        return LOCAL_RANGE if w.at >= m.sizes.col_operands else 0
    if (w.base_low + w.at) % m.sizes.mem_bytes:
        return UNALIGNED
    return WINDOW if w.at + w.row_bytes > w.size else 0


@compiled
def _generate(m):
    """Generate one row into the free row (or request) register, or raise the error it has."""
    w = m.weights
    b = w.bursts
    m.moved = 1
    last_row = w.row == w.row_count - 1
    last_inner = w.inner == w.inner_count - 1
    last_outer = w.outer == w.count - 1
    zero = 1 if last_inner and w.row >= w.k_rows and w.row_count > 1 else 0
    if not zero:
        w.error = _range_error(m, w)
        if w.error:
            w.error_seq = w.seq
            return
    retire = w.seq | w.outer << 16 | (LAST if last_outer or not w.each else 0)
    ends = 1 if last_row and last_inner and (w.each or last_outer) else 0
    if w.from_sp:
        w.request = 1
        w.request_word = w.at >> m.sizes.col_shift
        w.request_zero = zero
        w.request_retire, w.request_signals, w.request_ends = retire, w.signals, ends
    else:
        at = w.base_low + w.at
        put_row(b, (w.base_page + (at >> 12)) & PAGES, at & 4095, w.row_bytes, m.sizes.mem_bytes, zero)
        b.retire, b.signals, b.ends = retire, w.signals, ends
    if w.row == 0:
        w.fifo_reserved += 1
    w.opening = w.waits = 0
    if not last_row:
        w.row += 1
        w.at += w.row_stride
        return
    w.row = 0
    if not last_inner:
        w.inner += 1
        w.tile_at += w.inner_stride
        w.at = w.tile_at
        return
    w.inner = 0
    if last_outer:
        w.outer = 0
        w.run = 0
        return
    w.outer += 1
    w.waits = w.each
    index = w.outer & w.ring if w.ring else w.outer
    w.outer_at = w.first + index * w.outer_stride
    w.tile_at = w.at = w.outer_at
