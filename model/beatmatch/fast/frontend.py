# SPDX-License-Identifier: Apache-2.0
"""Fetch, decode, dispatch, queues, semaphores and the monitor of a run: `stations.frontend`, `stations.fetch`.

An entry of the program is its number: the instruction table holds what it means.
"""

from __future__ import annotations

from beatmatch.fast import load, matmul, recorder, store, vector, weights
from beatmatch.fast.bursts import BURSTS, GEARBOX, PAGES, RING, clear_bursts, clear_gearbox, gearbox_step, pop_row
from beatmatch.fast.compiled import compiled
from beatmatch.fast.recorder import emit
from beatmatch.fast.registers import layout
from beatmatch.isa.fields import INSTRUCTION_BYTES, SEMAPHORE_MAX, SEMAPHORES, Error
from beatmatch.stations.control import ISSUE, SIGNALLED
from beatmatch.stations.fetch import BUFFER_ENTRIES, CHUNK_ENTRIES
from beatmatch.stations.frontend import ENGINES, PATIENCE, SEQ_MASK

LOAD, WEIGHTS, MATMUL, VECTOR, STORE = range(ENGINES)
DEPTH = 32
"""Places of a queue."""
PROGRAM, OVERFLOW = int(Error.PROGRAM), int(Error.SEMAPHORE_OVERFLOW)
DEADLOCK, CYCLE_LIMIT = int(Error.DEADLOCK), int(Error.CYCLE_LIMIT)
SLVERR, DECERR = int(Error.BUS_SLVERR), int(Error.BUS_DECERR)

FETCH = layout(
    "Fetch",
    "left next_page next_offset entries reserved taken_bytes seq buffered error error_seq",
    bursts=BURSTS,
    gearbox=GEARBOX,
)
"""``buffered`` entries wait for decode."""

LAYOUT = layout(
    "Frontend",
    "halt error_new error_code error_engine error_seq done_set run started header_done all_dispatched dispatched "
    "hint decode decode_refusal decode_engine entry dispatching blocked still idle signalled granted_any front_code "
    "front_seq late_code late_engine late_seq",
    {
        "count": SEMAPHORES,
        "change": SEMAPHORES,
        "initial": SEMAPHORES,
        "waits": ENGINES,
        "granted": ENGINES,
        "signal": ENGINES,
        "queued": ENGINES,
        "queue_first": ENGINES,
        "queue_place": ENGINES * DEPTH,
        "queue_seq": ENGINES * DEPTH,
        "head": ENGINES,
        "head_seq": ENGINES,
    },
    fetch=FETCH,
)
"""``decode``: place of the instruction in the decode register, -1 for none; ``head``: places of the queue heads; the
error candidates of a cycle are ``front`` (program, decode) and ``late`` (deadlock, cycle limit)."""


@compiled
def reset(m):
    """What a cycle with reset or clear leaves behind."""
    u = m.frontend
    clear_bursts(u.fetch.bursts)
    clear_gearbox(u.fetch.gearbox)
    u.fetch.left = u.fetch.reserved = u.fetch.taken_bytes = u.fetch.buffered = u.fetch.error = 0
    u.fetch.seq = SEQ_MASK
    u.halt = u.error_new = u.done_set = u.error_code = u.error_engine = u.error_seq = 0
    u.run = u.started = u.header_done = u.all_dispatched = u.dispatched = u.dispatching = u.blocked = 0
    u.still = u.idle = u.signalled = u.granted_any = u.entry = u.hint = u.front_code = u.late_code = 0
    u.decode = -1
    for index in range(SEMAPHORES):
        u.count[index] = 0
    for index in range(ENGINES):
        u.granted[index] = u.queued[index] = u.queue_first[index] = 0
        u.head[index] = u.head_seq[index] = -1


@compiled
def _allows(u, sync):
    """Whether a wait {wait1_n, wait1_id, wait0_n, wait0_id} (18 bits) can be granted."""
    return u.count[sync & 31] >= (sync >> 5 & 15) and u.count[sync >> 9 & 31] >= (sync >> 14 & 15)


@compiled
def arbitrate(m, load_f, weights_f, matmul_f, vector_f, store_f):
    """Grant the waits of this cycle; the queue heads are given as instructions."""
    u = m.frontend
    if u.granted_any:
        u.granted_any = 0
        for index in range(ENGINES):
            u.granted[index] = 0
    if u.halt:
        return
    u.waits[LOAD] = load.wait_request(m, u.head[LOAD], load_f)
    u.waits[WEIGHTS] = weights.wait_request(m, u.head[WEIGHTS], weights_f)
    u.waits[MATMUL] = matmul.wait_request(m, u.head[MATMUL], matmul_f)
    u.waits[VECTOR] = vector.wait_request(m, u.head[VECTOR], vector_f)
    u.waits[STORE] = store.wait_request(m, u.head[STORE], store_f)
    for index in range(ENGINES):
        if u.waits[index] >= 0 and _allows(u, u.waits[index]):
            u.granted[index] = u.granted_any = 1


@compiled
def observe(m, matmul_f):
    """Look at the engines' registers, before any engine steps."""
    u = m.frontend
    u.done_set = 0
    u.run = m.host.run
    if not u.run:
        return
    u.signal[LOAD] = m.load.transfer.signal
    u.signal[WEIGHTS] = m.weights.signal
    u.signal[MATMUL] = m.matmul.signal
    u.signal[VECTOR] = m.vector.signal
    u.signal[STORE] = m.store.transfer.signal
    held = u.signal[LOAD] | u.signal[WEIGHTS] | u.signal[MATMUL] | u.signal[VECTOR] | u.signal[STORE]
    u.signalled = held & SIGNALLED
    fetch = u.fetch
    if u.halt:
        u.dispatching = 0
        waiting = fetch.bursts.inflight or m.load.transfer.bursts.inflight or m.weights.bursts.inflight
        u.done_set = 0 if waiting or m.matmul.rows or m.vector.valid or m.store.transfer.bursts.inflight else 1
        return
    u.front_code = 0
    if not u.started:
        u.started = 1
        m.moved = 1
        u.all_dispatched = 1 if m.host.prog_len == 0 else 0
        if m.host.prog_len == 0 or m.host.prog_unaligned:
            u.front_code = PROGRAM
            u.front_seq = 0
        else:
            fetch.next_page, fetch.next_offset = m.host.prog_page, m.host.prog_offset
            fetch.left = m.host.prog_len + 1
            _plan(fetch)
    if fetch.gearbox.valid:
        emit(m, recorder.FETCH, fetch.seq, 0)
    u.dispatching = u.blocked = 0
    if u.decode >= 0:
        if u.decode_refusal:
            if not u.front_code:
                u.front_code = u.decode_refusal
                u.front_seq = u.dispatched & SEQ_MASK
        elif u.queued[u.decode_engine] == m.sizes.queue_depth:
            u.blocked = 1
        else:
            u.dispatching = 1
            emit(m, recorder.DISPATCH, (u.decode_engine + 1) << 16 | u.dispatched & SEQ_MASK, 0)
    u.late_code = 0
    _progress(m, matmul_f)
    if not u.late_code and m.host.cycle_limit and m.host.cycles == m.host.cycle_limit:
        u.late_code = CYCLE_LIMIT
        u.late_engine = u.late_seq = 0


@compiled
def _busy(m, index):
    """Whether an engine is busy."""
    if index == LOAD:
        return load.busy(m)
    if index == WEIGHTS:
        return weights.busy(m)
    if index == MATMUL:
        return matmul.busy(m)
    if index == VECTOR:
        return vector.busy(m)
    return store.busy(m)


@compiled
def _stuck(m, index, matmul_f):
    """Sequence number that an engine is stuck on, -1 if it is not."""
    u = m.frontend
    seq, granted = u.head_seq[index], u.granted[index]
    if index == LOAD:
        return load.stuck(m, seq, granted)
    if index == WEIGHTS:
        return weights.stuck(m, seq, granted)
    if index == MATMUL:
        return matmul.stuck(m, u.head[index], matmul_f, seq, granted)
    if index == VECTOR:
        return vector.stuck(m, seq, granted)
    return store.stuck(m, seq, granted)


@compiled
def _progress(m, matmul_f):
    """Find the end of the run (``idle``) or a deadlock (``late``)."""
    u = m.frontend
    u.idle = 0
    if not (u.all_dispatched or u.blocked):
        u.still = 0
        return
    # The engine that was seen working in the cycle before most likely still is.
    if (u.head[u.hint] >= 0 or _busy(m, u.hint)) and _stuck(m, u.hint, matmul_f) < 0:
        u.still = 0
        return
    first = -1
    resting = 0
    for index in range(ENGINES):
        seq = _stuck(m, index, matmul_f)
        working = u.head[index] >= 0 or _busy(m, index)
        if seq >= 0:
            if first < 0:
                first = index
                u.late_seq = seq
            if not working:
                resting += 1
        elif working:
            u.hint = index
            u.still = 0
            return
        else:
            resting += 1
    u.idle = 1 if resting == ENGINES and u.all_dispatched else 0
    if first < 0 or u.signalled:
        u.still = 0
        return
    u.still += 1
    m.moved = 1
    if u.still == PATIENCE + 1:
        u.late_code = DEADLOCK
        u.late_engine = first + 1


@compiled
def commit(m, code):
    """End the cycle, after every engine has stepped."""
    u = m.frontend
    u.error_new = 0
    if not u.run:
        return
    halt = u.halt
    overflow = 0
    if u.signalled or u.granted_any:
        m.moved = 1
        overflow = _semaphores(m)
    popped = _decode(m, code)
    _fetch(m, halt, popped)
    if halt:
        return
    error, engine, seq = u.front_code, 0, u.front_seq
    if not error and overflow:
        error, seq = OVERFLOW, 0
    if not error and u.fetch.error:
        error, seq = u.fetch.error, u.fetch.error_seq
    if not error and u.late_code:
        error, engine, seq = u.late_code, u.late_engine, u.late_seq
    u.done_set = 1 if u.idle and not error else 0
    if not error:
        if m.load.transfer.error:
            error, engine, seq = m.load.transfer.error, LOAD + 1, m.load.transfer.error_seq
        elif m.weights.error:
            error, engine, seq = m.weights.error, WEIGHTS + 1, m.weights.error_seq
        elif m.matmul.error:
            error, engine, seq = m.matmul.error, MATMUL + 1, m.matmul.error_seq
        elif m.vector.error:
            error, engine, seq = m.vector.error, VECTOR + 1, m.vector.error_seq
        elif m.store.transfer.error:
            error, engine, seq = m.store.transfer.error, STORE + 1, m.store.transfer.error_seq
        else:
            return
    u.halt = u.error_new = 1
    u.error_code, u.error_engine, u.error_seq = error, engine, seq


@compiled
def _semaphores(m):
    """Add the signals, subtract the granted waits, take issued instructions off their queues; 1: an overflow."""
    u = m.frontend
    for index in range(SEMAPHORES):
        u.change[index] = 0
    for index in range(ENGINES):
        if u.signal[index] & 1:
            u.change[u.signal[index] >> 1 & 31] += 1
        if u.signal[index] & 64:
            u.change[u.signal[index] >> 7 & 31] += 1
        if u.granted[index]:
            sync = u.waits[index]
            u.change[sync & 31] -= sync >> 5 & 15
            u.change[sync >> 9 & 31] -= sync >> 14 & 15
            if sync & ISSUE:
                _pop(u, index)
    overflow = 0
    for index in range(SEMAPHORES):
        if u.change[index]:
            value = u.count[index] + u.change[index]
            if value > SEMAPHORE_MAX:
                value = SEMAPHORE_MAX
                overflow = 1
            u.count[index] = max(value, 0)
    return overflow


@compiled
def _head(u, index):
    """Show the oldest entry of a queue."""
    if u.queued[index]:
        at = index * DEPTH + u.queue_first[index]
        u.head[index] = u.queue_place[at]
        u.head_seq[index] = u.queue_seq[at]
    else:
        u.head[index] = u.head_seq[index] = -1


@compiled
def _pop(u, index):
    """The head of a queue has been issued."""
    u.queue_first[index] = (u.queue_first[index] + 1) % DEPTH
    u.queued[index] -= 1
    _head(u, index)


@compiled
def _decode(m, code):
    """Dispatch and decode; 1 if an entry leaves the buffer."""
    u, fetch = m.frontend, m.frontend.fetch
    if u.halt:
        return 0
    if u.dispatching:
        engine = u.decode_engine
        at = engine * DEPTH + (u.queue_first[engine] + u.queued[engine]) % DEPTH
        u.queue_place[at] = u.decode
        u.queue_seq[at] = u.dispatched & SEQ_MASK
        u.queued[engine] += 1
        _head(u, engine)
        u.dispatched += 1
        u.all_dispatched = 1 if u.dispatched == m.host.prog_len else 0
        u.decode = -1
    if not fetch.buffered or u.decode >= 0:
        return 0
    m.moved = 1
    fetch.buffered -= 1
    if not u.header_done:
        u.header_done = 1
        for index in range(SEMAPHORES):
            u.count[index] = u.initial[index]
    else:
        u.decode = u.entry
        u.decode_refusal, u.decode_engine = code[u.entry].refusal, code[u.entry].engine
        u.entry += 1
    return 1


@compiled
def _plan(fetch):
    """Size of the next chunk: up to the next multiple of 256 bytes, or the end of the program."""
    fetch.entries = min(CHUNK_ENTRIES - (fetch.next_offset // INSTRUCTION_BYTES) % CHUNK_ENTRIES, fetch.left)


@compiled
def _fetch(m, halt, popped):
    """One cycle of the program reader; ``popped``: decode took an entry out of the buffer."""
    fetch, memory = m.frontend.fetch, m.memory
    b, g = fetch.bursts, fetch.gearbox
    fetch.error = 0
    if not (popped or fetch.left or b.inflight or b.count or g.valid):
        return
    ar_taken, beat = m.port.ar_id == 0, m.port.r_id == 0
    if beat:
        if memory.rresp and not halt:
            fetch.error = DECERR if memory.rresp == 3 else SLVERR
            fetch.error_seq = (fetch.taken_bytes // INSTRUCTION_BYTES - 1) & SEQ_MASK
        fetch.taken_bytes += m.sizes.mem_bytes
        if memory.rlast:
            b.inflight -= 1
    put = 0
    if halt:
        g.valid = 0
    else:
        room = BUFFER_ENTRIES - fetch.reserved >= fetch.entries
        put = 1 if fetch.left and (ar_taken or not b.valid) and room else 0
        if g.valid:
            fetch.buffered += 1
            fetch.seq = (fetch.seq + 1) & SEQ_MASK
        if gearbox_step(m, g, b, b.count > 0, beat, 1, INSTRUCTION_BYTES):
            pop_row(b)
    if popped:
        fetch.reserved -= 1
    if ar_taken:
        b.valid = 0
    if put:
        m.moved = 1
        size = fetch.entries * INSTRUCTION_BYTES
        b.valid = 1
        b.page, b.offset = fetch.next_page, fetch.next_offset
        b.length = (size + m.sizes.mem_bytes - 1) // m.sizes.mem_bytes - 1
        b.inflight += 1
        at = (b.first + b.count) & (RING - 1)
        b.row_bytes[at] = size
        b.row_zero[at] = 0
        b.count += 1
        fetch.reserved += fetch.entries
        fetch.left -= fetch.entries
        fetch.next_offset += size
        if fetch.next_offset >= 4096:
            fetch.next_offset -= 4096
            fetch.next_page = (fetch.next_page + 1) & PAGES
        _plan(fetch)
