# SPDX-License-Identifier: Apache-2.0
"""The vector engine without its values: `stations.vector.Vector`."""

from __future__ import annotations

from beatmatch.fast import recorder
from beatmatch.fast.compiled import compiled
from beatmatch.fast.recorder import emit
from beatmatch.fast.registers import layout
from beatmatch.isa.fields import Error, Format, Opcode, Space
from beatmatch.stations.control import ISSUE, LAST
from beatmatch.stations.vector import (
    BIASED,
    DATA,
    FROM_ACCUMULATOR,
    FROM_SCRATCHPAD,
    FROM_SECOND,
    IDLE,
    PARAM,
    PRODUCT,
    REQUEST,
    RUN,
    SCALED,
    SECOND,
    WAIT,
    WRITE,
)

LOCAL_RANGE = int(Error.LOCAL_RANGE)
ADD, MAXPOOL, AVGPOOL = int(Opcode.ADD), int(Opcode.MAXPOOL), int(Opcode.AVGPOOL)
ACCUMULATOR, INT32 = int(Space.ACCUMULATOR), int(Format.INT32)

LAYOUT = layout(
    "Vector",
    "phase place sync seq outer y x wy wx valid pending gap sp_read acc_read arriving write write_operand write_end "
    "chunk add raw accumulator pool gives limit tail src offset signals retire_next retire signal error error_seq "
    "request_second request_destination request_last request_end data_destination data_last data_end",
    {"stage_destination": 3, "stage_end": 3},
)
"""``write`` is the scratchpad word of the write register, -1 for none; the arrays are biased, product, scaled."""


@compiled
def reset(m):
    """Reset values."""
    v = m.vector
    v.sp_read = v.acc_read = v.arriving = v.write = v.retire = -1
    v.phase = v.outer = v.y = v.x = v.wy = v.wx = v.valid = v.pending = v.gap = v.chunk = v.signal = v.error = 0
    v.request_last = v.place = 0


@compiled
def wait_request(m, head, f):
    """The wait presented in this cycle, or -1."""
    v = m.vector
    if v.phase == IDLE:
        return -1 if head < 0 else f.sync | ISSUE
    return v.sync if v.phase == WAIT else -1


@compiled
def busy(m):
    """Something is to be done: what normal completion waits for."""
    v = m.vector
    return 1 if v.phase != IDLE or v.valid or v.retire >= 0 else 0


@compiled
def stuck(m, head_seq, granted):
    """Sequence number of the instruction whose wait is all that is left to do; -1 if there is other work."""
    v = m.vector
    if granted or v.valid:
        return -1
    if v.phase == IDLE:
        return head_seq if v.retire < 0 else -1
    return v.seq if v.phase == WAIT else -1


@compiled
def step(m, head, f, own, seq, granted, halt):
    """One cycle; ``f``: the queue head, ``own``: the instruction at work."""
    v = m.vector
    v.error = 0
    valid, phase = v.valid, v.phase
    if not valid and phase == IDLE and v.retire < 0 and not granted:
        return
    if v.retire >= 0:
        emit(m, recorder.VECTOR_RETIRE, v.retire, 0)
        v.retire = -1
        v.signal = 0
    if v.arriving >= 0:
        emit(m, recorder.VECTOR_SP_READ, v.arriving, 0)
        v.arriving = -1
    flags = _advance(m, valid, halt) if valid else 0

    # Request register: grants, then (if it is free) the next element.
    row_close = v.gap
    if row_close:
        v.gap = row_close - 1
    free = 1
    if valid & REQUEST:
        if v.request_last:
            row_close = 1
        if v.pending:
            _take_grants(m)
        if v.pending:
            flags |= REQUEST
            free = 0
        else:
            flags |= DATA
            v.data_destination, v.data_last, v.data_end = v.request_destination, v.request_last, v.request_end
            if v.request_last:
                v.gap = 2
    if phase == RUN:
        if free and not halt and _generate(m, own, row_close):
            flags |= REQUEST
    elif phase == PARAM:
        if not valid and not halt:
            _read_parameters(m, own)
    elif phase == SECOND:
        if not halt and not _parameter_error(m, own, 1):
            v.phase = RUN
    elif granted:
        _begin(m, head, f, own, seq)
    v.valid = flags
    if valid or flags or phase != v.phase or row_close:
        m.moved = 1


@compiled
def _advance(m, valid, halt):
    """Data, pipeline and write stages of this cycle; returns their valid flags of the next."""
    v = m.vector
    finished = valid & DATA and v.data_last
    flags = BIASED if finished else 0
    if valid & WRITE:
        emit(m, recorder.VECTOR_WRITE, v.write_operand, 0)
        if v.raw and v.chunk < 3:
            v.chunk += 1
            _present(m, v.write_operand + 1)
            flags |= WRITE
        else:
            v.chunk = 0
            v.write = -1
            if v.write_end and v.gives and not halt:
                v.retire = v.retire_next
                v.signal = v.signals
    if valid & (BIASED | PRODUCT | SCALED) or finished:
        if valid & SCALED:
            v.write_end = v.stage_end[2]
            v.chunk = 0
            _present(m, v.stage_destination[2])
            flags |= WRITE
        flags |= (valid & (BIASED | PRODUCT)) << 1
        v.stage_destination[2], v.stage_end[2] = v.stage_destination[1], v.stage_end[1]
        v.stage_destination[1], v.stage_end[1] = v.stage_destination[0], v.stage_end[0]
        v.stage_destination[0], v.stage_end[0] = v.data_destination, v.data_end
    return flags


@compiled
def _present(m, operand):
    """Put a row of results (or a chunk of one) into the write register."""
    m.vector.write_operand = operand
    m.vector.write = operand >> m.sizes.col_shift


@compiled
def _take_grants(m):
    """Reads of the request register that are granted in this cycle; their data arrive in the next."""
    v = m.vector
    if m.scratchpad.vector_granted and v.pending & (FROM_SCRATCHPAD | FROM_SECOND):
        v.arriving = v.sp_read
        if v.pending & FROM_SCRATCHPAD:
            v.pending -= FROM_SCRATCHPAD
            v.sp_read = v.request_second if v.pending & FROM_SECOND else -1
        else:
            v.pending -= FROM_SECOND
            v.sp_read = -1
    if m.accumulator.vector_granted and v.pending & FROM_ACCUMULATOR:
        v.pending -= FROM_ACCUMULATOR
        v.acc_read = -1


@compiled
def _generate(m, f, row_close):
    """The next element into the request register; 1 if it went there."""
    v = m.vector
    last = 1
    if v.pool:
        last = 1 if v.wx == f.kx - 1 and v.wy == f.ky - 1 else 0
    if last and row_close and v.raw:
        return 0
    iy, ix, padding = v.y, v.x, 0
    if v.pool:
        iy = v.y * f.stride_y + v.wy - f.pad_top
        ix = v.x * f.stride_x + v.wx - f.pad_left
        padding = 0 if 0 <= iy < f.height and 0 <= ix < f.width else 1
    source = v.src + iy * f.src_pitch_y + ix * f.src_pitch_x
    offset = v.offset + (v.y * f.x + v.x) * f.dst_pitch
    destination = f.dst + offset
    operands = m.sizes.col_operands
    if (
        (not padding and source >= v.limit)
        or destination + v.tail >= operands
        or (v.add and f.src2 + offset >= operands)
    ):
        v.error = LOCAL_RANGE
        v.error_seq = v.seq
        return 0
    pending = 0
    if not padding:
        if v.accumulator:
            pending = FROM_ACCUMULATOR
            v.acc_read = source
        else:
            pending = FROM_SCRATCHPAD
            v.sp_read = source >> m.sizes.col_shift
    if v.add:
        v.request_second = f.src2 + offset >> m.sizes.col_shift
        if not pending & FROM_SCRATCHPAD:
            v.sp_read = v.request_second
        pending |= FROM_SECOND
    v.pending = pending
    v.request_destination, v.request_last = destination, last
    v.request_end = 1 if _next(v, f, last) else 0
    if v.request_end:
        if v.outer + 1 == f.outer:
            v.phase = IDLE
            v.outer = 0
        else:
            v.outer += 1
            v.phase = WAIT if f.each else PARAM
    return 1


@compiled
def _next(v, f, last):
    """Go to the next element: wx, wy, x, y; wx fastest. 1: it was the last of the iteration."""
    if not last:
        v.wx += 1
        if v.wx == f.kx:
            v.wx = 0
            v.wy += 1
        return 0
    v.wx = v.wy = 0
    v.x += 1
    if v.x < f.x:
        return 0
    v.x = 0
    v.y += 1
    if v.y < f.y:
        return 0
    v.y = 0
    return 1


@compiled
def _begin(m, head, f, own, seq):
    """A wait is granted: take the queue head, or begin a further iteration."""
    v = m.vector
    if v.phase == IDLE:
        v.seq = seq
        v.place = head
        v.sync = f.sync
    else:
        f = own
    last = not f.each or v.outer + 1 == f.outer
    emit(m, recorder.VECTOR_ISSUE, v.seq | v.outer << 16 | (LAST if last else 0), 0)
    v.phase = PARAM


@compiled
def _parameter_error(m, f, extra):
    """Read a row of the parameter memory; 1, and an error, if there is no such row."""
    v = m.vector
    row = f.param + extra
    if f.param_mode == 2:
        row += v.outer
    if row >= m.sizes.param_rows:
        v.error = LOCAL_RANGE
        v.error_seq = v.seq
        return 1
    emit(m, recorder.PARAM_READ, row, 0)
    return 0


@compiled
def _read_parameters(m, f):
    """First cycle of the parameter phase: the pipeline is empty and takes over the instruction."""
    v = m.vector
    if f.param_mode and _parameter_error(m, f, 0):
        return
    v.add = 1 if f.opcode == ADD else 0
    v.pool = 1 if f.opcode == MAXPOOL or f.opcode == AVGPOOL else 0
    v.raw = 1 if f.dst_format == INT32 else 0
    v.tail = 3 if v.raw else 0
    v.accumulator = 1 if f.src_space == ACCUMULATOR else 0
    v.limit = m.sizes.acc_rows if v.accumulator else m.sizes.col_operands
    src_outer = v.outer & ((1 << f.src_ring) - 1) if f.src_ring else v.outer
    dst_outer = v.outer & ((1 << f.dst_ring) - 1) if f.dst_ring else v.outer
    v.src = f.src + src_outer * f.src_outer_stride
    v.offset = dst_outer * f.dst_outer_stride
    last = v.outer + 1 == f.outer
    v.gives = 1 if f.each or last else 0
    v.signals = f.signals
    v.retire_next = v.seq | v.outer << 16 | (LAST if last else 0)
    v.phase = SECOND if v.add and f.param_mode else RUN
