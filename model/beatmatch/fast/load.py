# SPDX-License-Identifier: Apache-2.0
"""The load engine without its data: `stations.load.Load`."""

from __future__ import annotations

from beatmatch.fast import recorder
from beatmatch.fast.bursts import GEARBOX, advance, clear_gearbox, gearbox_ready, gearbox_step, pop_row
from beatmatch.fast.compiled import compiled
from beatmatch.fast.recorder import emit
from beatmatch.fast.registers import layout
from beatmatch.fast.transfer import (
    TRANSFER,
    begin_transfer,
    clear_transfer,
    generate_row,
    iteration_header,
    set_local,
    transfer_wait,
)
from beatmatch.isa.fields import Error, Space

LOAD = 1
"""Number of load on the memory port."""
PARAMETER = int(Space.PARAMETER)
SLVERR, DECERR = int(Error.BUS_SLVERR), int(Error.BUS_DECERR)
ISSUE, RETIRE, WRITE = recorder.LOAD_ISSUE, recorder.LOAD_RETIRE, recorder.LOAD_WRITE

LAYOUT = layout("Load", "", transfer=TRANSFER, gearbox=GEARBOX)


@compiled
def reset(m):
    """Reset values."""
    clear_transfer(m.load.transfer)
    clear_gearbox(m.load.gearbox)


@compiled
def wait_request(m, head, f):
    """The wait presented in this cycle, or -1."""
    return transfer_wait(m.load.transfer, head, f)


@compiled
def sp_write(m, halt):
    """Scratchpad word of this cycle's write request; -1: none."""
    g, b = m.load.gearbox, m.load.transfer.bursts
    if not g.valid or halt or b.row_space[g.row] == PARAMETER:
        return -1
    return b.row_local[g.row] + g.index


@compiled
def taken(m, sp_granted, halt):
    """Whether the write request of this cycle is granted: by the scratchpad, or a parameter word."""
    g = m.load.gearbox
    if not g.valid or halt:
        return 0
    return 1 if sp_granted or m.load.transfer.bursts.row_space[g.row] == PARAMETER else 0


@compiled
def read_ready(m, taken_now, halt):
    """Ready for a read beat in this cycle."""
    if halt:
        return 1
    return gearbox_ready(m.load.gearbox, m.load.transfer.bursts, taken_now, m.sizes.mem_bytes, m.sizes.lanes)


@compiled
def in_flight(m):
    """Something is between the row's generation and its last write."""
    b = m.load.transfer.bursts
    return 1 if b.row_valid or b.count or b.inflight or m.load.gearbox.valid else 0


@compiled
def busy(m):
    """Whether anything is under way, the signal and retire registers included."""
    t = m.load.transfer
    return 1 if t.run or t.retire >= 0 or in_flight(m) else 0


@compiled
def stuck(m, head_seq, granted):
    """Sequence number of the instruction that can't go on; -1: not stuck."""
    t = m.load.transfer
    if granted:
        return -1
    if t.run:
        return t.seq if t.starting and not in_flight(m) else -1
    return head_seq if not busy(m) else -1


@compiled
def step(m, f, seq, granted, halt, taken_now, ar_ready, beat):
    """One cycle; ``f`` and ``seq``: the queue head, ``beat``: a read beat for load has its handshake."""
    t, g = m.load.transfer, m.load.gearbox
    b = t.bursts
    t.error = 0
    if not (granted or t.run or b.row_valid or b.count or b.inflight or g.valid or t.retire >= 0):
        return
    if t.retire >= 0:
        emit(m, RETIRE, t.retire, 0)
        t.retire = -1
        t.signal = 0
    if taken_now:
        emit(m, WRITE, b.row_space[g.row] << 20 | b.row_local[g.row] + g.index, 0)
        if b.row_ends[g.row] and g.last:
            t.retire = b.row_retire[g.row]
            t.signal = b.row_signals[g.row]
    head_row = b.count > 0
    front = b.row_retire[b.first]
    run = t.run
    advance(m, b, ar_ready, beat and m.memory.rlast, halt)
    if halt:
        g.valid = 0
        return
    if run:
        if granted:
            emit(m, ISSUE, iteration_header(t), 0)
        if not b.row_valid and (granted or not t.starting):
            generate_row(m, t)
    elif granted:
        emit(m, ISSUE, begin_transfer(m, t, f, seq), 0)
        set_local(t, f.dst, f.dst_row_stride, f.dst_outer_stride, f.dst_ring)
        t.space = f.dst_space
        t.limit = m.sizes.param_limit if f.dst_space == PARAMETER else m.sizes.sp_words
    if beat and m.memory.rresp:
        t.error = DECERR if m.memory.rresp == 3 else SLVERR
        t.error_seq = front & 0xFFFF
    if gearbox_step(m, g, b, head_row, beat, taken_now, m.sizes.lanes):
        pop_row(b)
