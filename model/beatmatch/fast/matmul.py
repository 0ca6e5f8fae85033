# SPDX-License-Identifier: Apache-2.0
"""The matrix unit without its values: `stations.matmul.Matmul`.

Nothing stalls behind the sequencer, so a row's later cycles follow from the cycle of its generation: it is kept under
that cycle, and each stage looks at the place that many cycles ago.
"""

from __future__ import annotations

from beatmatch.fast import recorder
from beatmatch.fast.compiled import compiled
from beatmatch.fast.recorder import emit
from beatmatch.fast.registers import layout
from beatmatch.isa.fields import Error
from beatmatch.stations.control import ISSUE, LAST
from beatmatch.stations.matmul import ADD, PAD, SWAP

LOCAL_RANGE = int(Error.LOCAL_RANGE)
RING = 1024
"""Cycles that rows are kept for: more than the longest way through an array."""
REQUEST, DATA, EDGE = 1, 2, 3
"""Cycles from a row's generation to its place in the request register, its data, and the array's edge."""
NONE, ACTIVE, WEIGHT_SHIFT, WEIGHT_STALL, WAIT = range(5)
"""What a cycle is."""

LAYOUT = layout(
    "Matmul",
    "run each swaps waits last bad pad adds last_tile tile_end place sync seq outer ky kx kc y x iy0 ix0 tile_address "
    "tile_acc address acc lanes useful rows loading shadow_full loader_row slot retire signal error error_seq "
    "sp_read level level_useful",
    {
        name: RING
        for name in ("valid", "word", "header", "row_acc", "row_add", "row_swap", "row_lanes", "row_useful",
                     "row_ends", "row_retire", "row_signal")
    },
)  # fmt: skip
"""``place`` is the instruction's in the program; the arrays hold rows by the cycle of their generation, ``word`` -1
for padding."""


@compiled
def reset(m):
    """Reset values."""
    u = m.matmul
    u.sp_read = u.retire = -1
    u.run = u.swaps = u.waits = u.last = u.rows = u.loading = u.shadow_full = u.loader_row = u.slot = 0
    u.place = u.seq = u.outer = u.ky = u.kx = u.kc = u.y = u.x = u.signal = u.error = 0
    for index in range(RING):
        u.valid[index] = 0


@compiled
def _shadow_wait(m):
    """A tile's first row waits for the shadow registers."""
    u = m.matmul
    if not u.swaps:
        return 0
    if not u.shadow_full:
        return 1
    before = (m.now - REQUEST) & (RING - 1)
    return 1 if u.rows and u.valid[before] and u.row_swap[before] else 0


@compiled
def wait_request(m, head, f):
    """The wait presented in this cycle, or -1."""
    u = m.matmul
    if u.run:
        if _shadow_wait(m):
            return -1
        if u.waits:
            return u.sync
        if not u.last or u.bad:
            return -1
    return -1 if head < 0 else f.sync | ISSUE


@compiled
def busy(m):
    """Whether anything is under way, the signal and retire registers included; the loader does not count."""
    u = m.matmul
    return 1 if u.run or u.rows or u.retire >= 0 else 0


@compiled
def stuck(m, head, f, head_seq, granted):
    """Sequence number of the instruction that can't go on; -1: not stuck."""
    u = m.matmul
    if u.rows:
        return -1
    if _shadow_wait(m):
        return u.seq if not u.loading and not m.weights.fifo_count else -1
    if granted or wait_request(m, head, f) < 0:
        return -1
    return u.seq if u.run else head_seq


@compiled
def observe(m, head, f, granted):
    """What this cycle is: ``level`` and the useful multiply-accumulates in it."""
    u = m.matmul
    edge = (m.now - EDGE) & (RING - 1)
    u.level_useful = 0
    if u.rows and u.valid[edge]:
        u.level = ACTIVE
        u.level_useful = u.row_useful[edge]
    elif _shadow_wait(m):
        u.level = WEIGHT_SHIFT if u.loading or m.weights.fifo_count else WEIGHT_STALL
    elif not granted and wait_request(m, head, f) >= 0:
        u.level = WAIT
    else:
        u.level = NONE


@compiled
def step(m, head, f, own, seq, granted, halt):
    """One cycle, behind weights and before `fifo_commit`; 1 if somebody else may go on because of it in the next.

    ``f``: the queue head, ``own``: the instruction at work.
    """
    u, w = m.matmul, m.weights
    u.error = 0
    start = not (halt or u.loading or u.shadow_full) and w.fifo_count > 0
    if not (granted or u.run or u.rows or u.retire >= 0 or start or u.loading):
        return 0
    run, more = u.run, start or granted
    if u.retire >= 0:
        emit(m, recorder.MATMUL_RETIRE, u.retire, 0)
        u.retire = -1
        u.signal = 0
    before = (m.now - REQUEST) & (RING - 1)
    swapping = u.rows and u.valid[before] and u.row_swap[before]
    if u.rows:
        m.moved = 1
        _rows(m, halt)
    _generate(m, head, f, own, seq, granted, halt)
    if start:
        w.fifo_count -= 1
        u.loading = u.shadow_full = 1
    elif swapping:
        u.shadow_full = 0
    if u.loading:
        emit(m, recorder.SHIFT, u.slot << 8 | u.loader_row, 0)
        u.loader_row += 1
        if u.loader_row == m.sizes.rows:
            w.fifo_reserved -= 1
            u.loading = u.loader_row = 0
            u.slot = (u.slot + 1) % m.sizes.fifo_tiles
            more = 1
    return 1 if more or u.retire >= 0 or u.run != run else 0


@compiled
def fifo_commit(m):
    """End of the FIFO's cycle."""
    w = m.weights
    if w.fifo_done:
        w.fifo_count += 1
        w.fifo_done = 0


@compiled
def _rows(m, halt):
    """Rows on their way: data that arrive, the edge, the commit."""
    u = m.matmul
    commits = (m.now - m.sizes.array_depth) & (RING - 1)
    if u.valid[commits]:
        u.valid[commits] = 0
        u.rows -= 1
        if u.row_ends[commits] and not halt:
            u.retire = u.row_retire[commits]
            u.signal = u.row_signal[commits]
    data = (m.now - DATA) & (RING - 1)
    if u.valid[data] and u.word[data] >= 0:
        emit(m, recorder.MATMUL_SP_READ, u.word[data], 0)
    edge = (m.now - EDGE) & (RING - 1)
    if u.valid[edge]:
        emit(m, recorder.MATMUL_ROW, u.header[edge], u.row_useful[edge])


@compiled
def _generate(m, head, f, own, seq, granted, halt):
    """The sequencer: a row into the request register, an instruction from the queue."""
    u = m.matmul
    issue = granted
    u.sp_read = -1
    if u.run:
        if u.waits and granted:
            issue = 0
            last = LAST if u.outer == own.outer - 1 else 0
            emit(m, recorder.MATMUL_ISSUE, u.seq | u.outer << 16 | last, 0)
        if not halt and (granted or not u.waits) and not _shadow_wait(m):
            if u.bad:
                u.error = LOCAL_RANGE
                u.error_seq = u.seq
            else:
                _row(m, own)
                u.rows += 1
                m.moved = 1
                _advance(m, own)
    if issue:
        u.seq = seq
        u.place = head
        u.sync = f.sync
        u.run = 1
        u.each = f.each
        emit(m, recorder.MATMUL_ISSUE, seq | (LAST if not f.each or f.outer == 1 else 0), 0)
        _start_tile(m, f)


@compiled
def _row(m, f):
    """The current row, kept under this cycle."""
    u = m.matmul
    at = m.now & (RING - 1)
    u.valid[at] = 1
    u.word[at] = u.sp_read = -1 if u.pad else u.address >> m.sizes.act_shift
    u.header[at] = u.acc | (ADD if u.adds else 0) | (SWAP if u.swaps else 0) | (PAD if u.pad else 0)
    u.row_acc[at] = u.acc
    u.row_add[at] = u.adds
    u.row_swap[at] = u.swaps
    u.row_lanes[at] = u.lanes
    u.row_useful[at] = u.useful
    last_outer = u.outer == f.outer - 1
    u.row_ends[at] = 1 if u.tile_end and u.last_tile and (u.each or last_outer) else 0
    u.row_retire[at] = u.seq | u.outer << 16 | (LAST if last_outer or not u.each else 0)
    u.row_signal[at] = f.signals


@compiled
def _start_tile(m, f):
    """What is constant in a tile, and its first row."""
    u = m.matmul
    first_tile = not (u.ky or u.kx or u.kc)
    src_outer = u.outer & ((1 << f.src_ring) - 1) if f.src_ring else u.outer
    acc_outer = u.outer & ((1 << f.acc_ring) - 1) if f.acc_ring else u.outer
    u.tile_address = f.src + u.kc * f.src_kc_stride + src_outer * f.src_outer_stride
    u.tile_acc = f.acc + acc_outer * f.acc_outer_stride
    u.iy0 = u.ky * f.dilation_y - f.pad_top
    u.ix0 = u.kx * f.dilation_x - f.pad_left
    u.adds = 1 if f.accumulate or not first_tile else 0
    u.lanes = f.k_lanes if u.kc == f.kc - 1 else m.sizes.rows
    u.useful = u.lanes * f.n_lanes
    u.swaps = 0 if f.keep and first_tile and u.outer == 0 else 1
    u.waits = 1 if f.each and first_tile and u.outer != 0 else 0
    u.last_tile = 1 if u.ky == f.ky - 1 and u.kx == f.kx - 1 and u.kc == f.kc - 1 else 0
    _locate(m, f)


@compiled
def _locate(m, f):
    """Where the current row reads and writes."""
    u = m.matmul
    iy = u.y * f.stride_y + u.iy0
    ix = u.x * f.stride_x + u.ix0
    u.pad = 0 if 0 <= iy < f.height and 0 <= ix < f.width else 1
    u.address = u.tile_address + iy * f.src_pitch_y + ix * f.src_pitch_x
    u.acc = u.tile_acc + u.y * f.x + u.x
    u.bad = 1 if u.acc >= m.sizes.acc_rows or (not u.pad and u.address >= m.sizes.act_operands) else 0
    u.tile_end = 1 if u.x == f.x - 1 and u.y == f.y - 1 else 0
    u.last = 1 if u.tile_end and u.last_tile and u.outer == f.outer - 1 else 0


@compiled
def _advance(m, f):
    """Go to the next row: x, y, kc, kx, ky, outer; x fastest."""
    u = m.matmul
    u.swaps = u.waits = 0
    u.x += 1
    if u.x < f.x:
        _locate(m, f)
        return
    u.x = 0
    u.y += 1
    if u.y < f.y:
        _locate(m, f)
        return
    u.y = 0
    u.kc += 1
    if u.kc == f.kc:
        u.kc = 0
        u.kx += 1
        if u.kx == f.kx:
            u.kx = 0
            u.ky += 1
            if u.ky == f.ky:
                u.ky = 0
                u.outer += 1
                if u.outer == f.outer:
                    u.outer = 0
                    u.run = 0
                    return
    _start_tile(m, f)
