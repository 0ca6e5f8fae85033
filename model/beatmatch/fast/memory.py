# SPDX-License-Identifier: Apache-2.0
"""The memory port and the memory behind it without their data: `stations.port.Port`, `memory.MemoryAgent`.

Functions with ``p`` and ``a`` work on that port and the memory behind it; the weight port has its own of both.
"""

from __future__ import annotations

from beatmatch.fast import dram, load, recorder, weights
from beatmatch.fast.bursts import gearbox_ready
from beatmatch.fast.compiled import compiled
from beatmatch.fast.recorder import emit
from beatmatch.fast.registers import layout
from beatmatch.isa.fields import INSTRUCTION_BYTES
from beatmatch.memory.banks import READ, WRITE

READS, WRITES = 256, 128
"""Places for bursts that the memory holds: more than all engines may have outstanding."""
STALL_AR, STALL_R, STALL_AW, STALL_W, STALL_B = (1 << index for index in range(5))
FAULT = 7
"""Numbers of an error range: first page and offset, last page and offset, response, reads, writes."""
FAULTS = 64
"""Places for error ranges."""
FAR = 1 << 62
"""A cycle that never comes."""
STALL_CYCLES = 1 << 12
"""Cycles of stalls that are worked out at a time."""

PORT = layout("Port", "kept ar_choice ar_page ar_offset ar_length ar_id r_id rready aw aw_page aw_offset aw_length w")
"""``kept``, ``ar_choice``, ``ar_id``, ``r_id``: a requester, -1 for none; ``aw`` and ``w`` are valid in this cycle."""

MEMORY = layout(
    "Memory",
    "read_latency write_latency read_n read_d write_n write_d shared max_reads max_writes stalls flags_first faults "
    "arready awready wready rvalid rid rresp rlast bvalid bresp ar_count aw_count read_next write_next last_was_read "
    "reads_first reads_count reading read_id read_left read_page read_offset "
    "writes_first writes_count writing write_beats write_left write_page write_offset write_resp "
    "answers_first answers_count",
    {
        **{name: READS for name in ("reads_time", "reads_id", "reads_page", "reads_offset", "reads_length")},
        **{name: WRITES for name in ("writes_page", "writes_offset", "writes_length")},
        **{name: WRITES for name in ("answers_time", "answers_resp")},
        "ranges": FAULT * FAULTS,
        "stall_flags": STALL_CYCLES,
    },
    dram=dram.LAYOUT,
)
"""Rates are fractions ``read_n / read_d`` of bytes per cycle, ``read_n`` 0 without a limit (or with a DRAM, whose own
rate it is); ``faults`` error ranges
stand in ``ranges``, stall flags of the cycles from ``flags_first`` on in ``stall_flags``."""


@compiled
def reset_port(p):
    """Forget the kept choice; for a reset of the core, not for a start."""
    p.kept = p.ar_choice = p.ar_id = p.r_id = -1
    p.rready = p.aw = p.w = 0


@compiled
def reset_memory(m, a):
    """Forget every burst."""
    a.ar_count = a.aw_count = a.reads_count = a.writes_count = a.answers_count = a.reading = a.writing = 0
    a.read_next = a.write_next = a.last_was_read = 0
    a.rvalid = a.rlast = a.bvalid = a.rid = a.rresp = a.bresp = 0
    a.arready = a.awready = a.wready = 1
    if a.dram.on:
        dram.reset(a.dram)
    if a.stalls:
        stall = a.stall_flags[m.now - a.flags_first]
        a.arready = 0 if stall & STALL_AR else 1
        a.awready = 0 if stall & STALL_AW else 1
        a.wready = 0 if stall & STALL_W else 1


@compiled
def fetch_ready(m, halt):
    """Whether fetch accepts a beat in this cycle."""
    if halt:
        return 1
    fetch = m.frontend.fetch
    return gearbox_ready(fetch.gearbox, fetch.bursts, 1, m.sizes.mem_bytes, INSTRUCTION_BYTES)


@compiled
def _show(p, b, choice):
    """AR shows this requester's burst register."""
    p.ar_choice = choice
    p.ar_page = b.page
    p.ar_offset = b.offset
    p.ar_length = b.length


@compiled
def select(m, taken, halt):
    """Decide this cycle's handshakes: AR's choice is kept until it is accepted."""
    p, a = m.port, m.memory
    p.ar_id = p.ar_choice = -1
    fetch, loads, tiles = m.frontend.fetch.bursts, m.load.transfer.bursts, m.weights.bursts
    if p.kept == 0 or (p.kept < 0 and fetch.valid):
        _show(p, fetch, 0)
    elif p.kept == load.LOAD or (p.kept < 0 and loads.valid):
        _show(p, loads, load.LOAD)
    elif p.kept == weights.WEIGHTS or (p.kept < 0 and tiles.valid and not m.sizes.weight_port):
        _show(p, tiles, weights.WEIGHTS)
    if p.ar_choice >= 0:
        if a.arready:
            p.kept = -1
            p.ar_id = p.ar_choice
            emit(m, recorder.AR, p.ar_choice << 8 | p.ar_length, p.ar_page << 10 | p.ar_offset >> 2)
        else:
            p.kept = p.ar_choice

    p.r_id = -1
    p.rready = 0
    if a.rvalid:
        if a.rid == 0:
            p.rready = fetch_ready(m, halt)
        elif a.rid == load.LOAD:
            p.rready = load.read_ready(m, taken, halt)
        else:
            p.rready = weights.read_ready(m, halt)
        if p.rready:
            p.r_id = a.rid
            m.moved = 1
    s = m.store
    stores = s.transfer.bursts
    p.aw = stores.valid
    p.w = s.w_valid
    if p.aw:
        p.aw_page, p.aw_offset, p.aw_length = stores.page, stores.offset, stores.length
        if a.awready:
            emit(m, recorder.AW, stores.length, stores.page << 10 | stores.offset >> 2)
            _look_for_program(m, stores)
    if p.w and a.wready:
        emit(m, recorder.W, s.w_last, 0)


@compiled
def _look_for_program(m, b):
    """Note a burst that writes where the program stands."""
    h = m.host
    last = b.offset + (b.length + 1) * m.sizes.mem_bytes - 1
    begins = h.prog_page < b.page or (h.prog_page == b.page and h.prog_offset <= last)
    ends = b.page < h.prog_end_page or (b.page == h.prog_end_page and b.offset <= h.prog_end_offset)
    if begins and ends:
        h.overwritten = 1


@compiled
def _response(m, a, write, page, offset):
    """What a beat at this address answers."""
    last = offset + m.sizes.mem_bytes - 1
    for index in range(a.faults):
        at = FAULT * index
        f = a.ranges
        if not f[at + 5 + write]:
            continue
        begins = f[at] < page or (f[at] == page and f[at + 1] <= last)
        ends = page < f[at + 2] or (page == f[at + 2] and offset <= f[at + 3])
        if begins and ends:
            return f[at + 4]
    return 0


@compiled
def commit(m, a, p):
    """End a cycle: the handshakes of this one, then the outputs of the next."""
    if a.rvalid and p.rready:
        if a.rlast:
            a.ar_count -= 1
            a.rlast = 0
        a.rvalid = a.rid = a.rresp = 0
    if a.bvalid:
        a.bvalid = a.bresp = 0
        a.aw_count -= 1
        m.moved = 1
    if p.ar_id >= 0:
        at = (a.reads_first + a.reads_count) & (READS - 1)
        a.reads_time[at] = m.now + a.read_latency
        a.reads_id[at] = p.ar_choice
        a.reads_page[at] = p.ar_page
        a.reads_offset[at] = p.ar_offset
        a.reads_length[at] = p.ar_length
        if a.dram.on:
            dram.arrive(a.dram, p.ar_page, p.ar_offset, p.ar_length + 1, m.sizes.mem_bytes, READ, m.now)
        a.reads_count += 1
        a.ar_count += 1
    waiting = p.w and not a.wready
    if p.aw and a.awready:
        at = (a.writes_first + a.writes_count) & (WRITES - 1)
        a.writes_page[at] = p.aw_page
        a.writes_offset[at] = p.aw_offset
        a.writes_length[at] = p.aw_length
        a.writes_count += 1
        a.aw_count += 1
    if p.w and a.wready:
        _accept(m, a)
    following = m.now + 1
    stall = a.stall_flags[following - a.flags_first] if a.stalls else 0
    if a.ar_count and not a.rvalid and not stall & STALL_R:
        _present(m, a, following, waiting)
    if a.answers_count and not a.bvalid and not stall & STALL_B and a.answers_time[a.answers_first] <= following:
        a.bvalid = 1
        a.bresp = a.answers_resp[a.answers_first]
        a.answers_first = (a.answers_first + 1) & (WRITES - 1)
        a.answers_count -= 1
        m.moved = 1
    a.arready = 1 if a.ar_count < a.max_reads and not stall & STALL_AR else 0
    a.awready = 1 if a.aw_count < a.max_writes and not stall & STALL_AW else 0
    a.wready = 0 if stall & STALL_W else 1
    if a.shared:
        if following * a.read_n + a.read_n <= a.read_next:
            a.wready = 0
    elif a.write_n and following * a.write_n + a.write_n <= a.write_next:
        a.wready = 0


@compiled
def _present(m, a, cycle, write_waiting):
    """Present the next read beat in this cycle, if its time has come."""
    if not a.reading and (not a.reads_count or a.reads_time[a.reads_first] > cycle):
        return
    if a.dram.on:
        if dram.next_pass(a.dram) + a.read_latency > cycle:
            return
        dram.take(a.dram, m.sizes.mem_bytes)
    if a.read_n:
        now = cycle * a.read_n
        if now + a.read_n <= a.read_next or (a.shared and write_waiting and a.last_was_read):
            return
        a.read_next = max(a.read_next, now) + m.sizes.mem_bytes * a.read_d
        a.last_was_read = 1
    if not a.reading:
        at = a.reads_first
        a.reading = 1
        a.read_id = a.reads_id[at]
        a.read_page = a.reads_page[at]
        a.read_offset = a.reads_offset[at]
        a.read_left = a.reads_length[at] + 1
        a.reads_first = (at + 1) & (READS - 1)
        a.reads_count -= 1
    a.rvalid = 1
    a.rid = a.read_id
    a.rresp = _response(m, a, 0, a.read_page, a.read_offset) if a.faults else 0
    a.read_offset += m.sizes.mem_bytes
    a.read_left -= 1
    if not a.read_left:
        a.rlast = 1
        a.reading = 0
    m.moved = 1


@compiled
def _accept(m, a):
    """Take a write beat in this cycle."""
    if a.shared:
        a.read_next = max(a.read_next, m.now * a.read_n) + m.sizes.mem_bytes * a.read_d
        a.last_was_read = 0
    elif a.write_n:
        a.write_next = max(a.write_next, m.now * a.write_n) + m.sizes.mem_bytes * a.write_d
    if not a.writing:
        at = a.writes_first
        a.writing = 1
        a.write_page = a.writes_page[at]
        a.write_offset = a.writes_offset[at]
        a.write_beats = a.write_left = a.writes_length[at] + 1
        a.write_resp = 0
        a.writes_first = (at + 1) & (WRITES - 1)
        a.writes_count -= 1
    if a.faults:
        a.write_resp = max(a.write_resp, _response(m, a, 1, a.write_page, a.write_offset))
    a.write_offset += m.sizes.mem_bytes
    a.write_left -= 1
    if not a.write_left:
        at = (a.answers_first + a.answers_count) & (WRITES - 1)
        written = m.now
        if a.dram.on:
            size = m.sizes.mem_bytes
            offset = a.write_offset - a.write_beats * size
            written = dram.arrive(a.dram, a.write_page, offset, a.write_beats, size, WRITE, m.now)
        a.answers_time[at] = written + a.write_latency
        a.answers_resp[at] = a.write_resp
        a.answers_count += 1
        a.writing = 0


@compiled
def next_read(a):
    """The first cycle in which a read beat can become valid while nothing else happens; for a memory without stalls."""
    if a.rvalid or not (a.reading or a.reads_count):
        return FAR
    if a.dram.on:
        return dram.next_pass(a.dram) + a.read_latency
    first = 0 if a.reading else a.reads_time[a.reads_first]
    if a.read_n:  # the first cycle with bandwidth left: cycle * n + n > next
        first = max(first, a.read_next // a.read_n)
    return first
