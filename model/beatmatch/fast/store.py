# SPDX-License-Identifier: Apache-2.0
"""The store engine without its data: `stations.store.Store`."""

from __future__ import annotations

from beatmatch.fast import recorder
from beatmatch.fast.bursts import advance, pop_row
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
from beatmatch.isa.fields import Error
from beatmatch.stations.store import BUFFER

SLVERR, DECERR = int(Error.BUS_SLVERR), int(Error.BUS_DECERR)
ISSUE, RETIRE, SP_READ = recorder.STORE_ISSUE, recorder.STORE_RETIRE, recorder.STORE_SP_READ
BURSTS = 128
"""Places for bursts on their way: more than a configuration may have outstanding."""

LAYOUT = layout(
    "Store",
    "sp_request request_bytes request_ends arriving arriving_bytes arriving_ends index requested buffer_first "
    "buffer_count used assembly lengths_first lengths_count answers_first answers_count beat w_valid w_bytes w_last",
    {
        "buffer_bytes": BUFFER,
        "buffer_ends": BUFFER,
        "lengths": BURSTS,
        "answers_retire": BURSTS,
        "answers_signals": BURSTS,
        "answers_finish": BURSTS,
    },
    transfer=TRANSFER,
)
"""``sp_request`` and ``arriving`` are scratchpad words, -1 for none; ``w_bytes``: the strobes of the W register."""


@compiled
def reset(m):
    """Reset values."""
    s = m.store
    clear_transfer(s.transfer)
    s.sp_request = s.arriving = -1
    s.index = s.requested = s.buffer_first = s.buffer_count = s.used = s.assembly = s.beat = s.w_valid = 0
    s.lengths_first = s.lengths_count = s.answers_first = s.answers_count = s.w_last = s.w_bytes = 0


@compiled
def wait_request(m, head, f):
    """The wait presented in this cycle, or -1."""
    return transfer_wait(m.store.transfer, head, f)


@compiled
def _in_flight(m):
    """Something is between the row's generation and its last answer."""
    b = m.store.transfer.bursts
    return 1 if b.row_valid or b.count or b.inflight else 0


@compiled
def busy(m):
    """Whether anything is under way, the signal and retire registers included."""
    t = m.store.transfer
    return 1 if t.run or t.retire >= 0 or _in_flight(m) else 0


@compiled
def stuck(m, head_seq, granted):
    """Sequence number of the instruction that can't go on; -1: not stuck."""
    t = m.store.transfer
    if granted:
        return -1
    if t.run:
        return t.seq if t.starting and not _in_flight(m) else -1
    return head_seq if not busy(m) else -1


@compiled
def step(m, f, seq, granted, halt, sp_granted):
    """One cycle; ``f`` and ``seq``: the queue head."""
    s, memory = m.store, m.memory
    t = s.transfer
    b = t.bursts
    t.error = 0
    if not (granted or t.run or _in_flight(m) or t.retire >= 0 or s.requested):
        return
    if t.retire >= 0:
        emit(m, RETIRE, t.retire, 0)
        t.retire = -1
        t.signal = 0
    front = b.count > 0
    partial = b.row_valid and b.open_bytes and b.count == 1
    begun = b.open_bytes
    run = t.run
    answered = memory.bvalid
    aw_length = b.length if b.valid and memory.awready else -1
    advance(m, b, aw_length >= 0, answered, halt)

    # W register; `removed` words leave the buffer in this cycle.
    removed = _drive(m, memory.wready)
    if aw_length >= 0:
        s.lengths[(s.lengths_first + s.lengths_count) & (BURSTS - 1)] = aw_length
        s.lengths_count += 1
    _request(m, sp_granted, front and not (halt and partial and s.index * m.sizes.lanes >= begun))
    s.requested -= removed

    # Answers.
    retire = 0
    if answered:
        at = s.answers_first
        s.answers_first = (at + 1) & (BURSTS - 1)
        s.answers_count -= 1
        retire = s.answers_retire[at]
        if s.answers_finish[at] and not halt:
            t.retire = retire
            t.signal = s.answers_signals[at]
    if b.placed:
        at = (s.answers_first + s.answers_count) & (BURSTS - 1)
        s.answers_count += 1
        s.answers_retire[at] = b.retire
        s.answers_signals[at] = b.signals
        s.answers_finish[at] = b.ends and b.placed_last
    if halt:
        return
    if run:
        if granted:
            emit(m, ISSUE, iteration_header(t), 0)
        if not b.row_valid and (granted or not t.starting):
            generate_row(m, t)
    elif granted:
        emit(m, ISSUE, begin_transfer(m, t, f, seq), 0)
        set_local(t, f.src, f.src_row_stride, f.src_outer_stride, f.src_ring)
        t.limit = m.sizes.sp_words
    if answered and memory.bresp:
        t.error = DECERR if memory.bresp == 3 else SLVERR
        t.error_seq = retire & 0xFFFF


@compiled
def _request(m, sp_granted, may_request):
    """The word that arrives goes into the buffer; then the read request register."""
    s = m.store
    b = s.transfer.bursts
    if s.arriving >= 0:
        emit(m, SP_READ, s.arriving, 0)
        at = (s.buffer_first + s.buffer_count) % BUFFER
        s.buffer_bytes[at] = s.arriving_bytes
        s.buffer_ends[at] = s.arriving_ends
        s.buffer_count += 1
        s.arriving = -1
    if s.sp_request >= 0:
        m.moved = 1
        if sp_granted:
            s.arriving, s.arriving_bytes, s.arriving_ends = s.sp_request, s.request_bytes, s.request_ends
            s.sp_request = -1
    if may_request and s.sp_request < 0 and s.requested < BUFFER:
        m.moved = 1
        lanes = m.sizes.lanes
        left = b.row_bytes[b.first] - s.index * lanes
        s.sp_request = b.row_local[b.first] + s.index
        s.request_ends = 1 if left <= lanes else 0
        s.request_bytes = left if s.request_ends else lanes
        s.requested += 1
        if s.request_ends:
            s.index = 0
            pop_row(b)
        else:
            s.index += 1


@compiled
def _drive(m, ready):
    """One cycle of the W register and the beat assembly; returns the words removed from the buffer."""
    s = m.store
    if s.w_valid and ready:
        s.w_valid = 0
        m.moved = 1
    if not s.buffer_count:
        return 0
    count, ends = s.buffer_bytes[s.buffer_first], s.buffer_ends[s.buffer_first]
    size = m.sizes.mem_bytes
    free = s.lengths_count and not s.w_valid
    removed = 1
    if size <= m.sizes.lanes:
        if not free:
            return 0
        count -= s.used
        if count > size:
            count = size
            s.used += size
            removed = 0
        else:
            s.used = 0
    else:
        collected = s.assembly + count
        if not ends and collected < size:
            s.assembly = collected
        elif not free:
            return 0
        else:
            count = collected
            s.assembly = 0
    m.moved = 1
    if removed:
        s.buffer_first = (s.buffer_first + 1) % BUFFER
        s.buffer_count -= 1
    if s.assembly:
        return removed
    s.w_valid = 1
    s.w_bytes = count
    s.w_last = 1 if s.beat == s.lengths[s.lengths_first] else 0
    if s.w_last:
        s.lengths_first = (s.lengths_first + 1) & (BURSTS - 1)
        s.lengths_count -= 1
        s.beat = 0
    else:
        s.beat += 1
    return removed
