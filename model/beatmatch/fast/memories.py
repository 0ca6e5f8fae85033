# SPDX-License-Identifier: Apache-2.0
"""Scratchpad and accumulators without their contents: who is granted, and which sums may leave 32 bits."""

from __future__ import annotations

from beatmatch.fast import load, recorder
from beatmatch.fast.compiled import compiled
from beatmatch.fast.matmul import RING
from beatmatch.fast.recorder import emit
from beatmatch.fast.registers import layout

ADD_BIT = 1 << 12
SAFE_LANES = (1 << 31 - 14) - 1
"""Products of int8 values that certainly fit into an int32 sum: each is at most 2^14."""

SCRATCHPAD = layout("Scratchpad", "weights_granted vector_granted store_granted load_granted")
ACCUMULATOR = layout("Accumulator", "vector_granted read arriving unsafe", {"lanes": 4096})
"""``lanes``: products summed in a row since it was overwritten; ``unsafe``: some sum may have left 32 bits."""


@compiled
def reset_accumulator(m):
    """Reset values; the memory keeps its contents, and so its bounds."""
    m.accumulator.read = m.accumulator.arriving = -1
    m.accumulator.vector_granted = 0


@compiled
def arbitrate_scratchpad(m, halt):
    """Per bank one read (matmul > weights > vector > store) and one write (vector > load)."""
    s, shift = m.scratchpad, m.sizes.sp_shift
    matmul = m.matmul.sp_read >> shift  # -1 stays -1: no bank
    weights = m.weights.sp_request >> shift
    vector = m.vector.sp_read >> shift
    store = m.store.sp_request >> shift
    s.weights_granted = 1 if weights >= 0 and weights != matmul else 0
    s.vector_granted = 1 if vector >= 0 and vector != matmul and vector != weights else 0
    s.store_granted = 1 if store >= 0 and store != matmul and store != weights and store != vector else 0
    word = load.sp_write(m, halt)
    s.load_granted = 1 if word >= 0 and word >> shift != m.vector.write >> shift else 0


@compiled
def arbitrate_accumulator(m):
    """Vector's read waits for an add in its bank that commits in the next cycle."""
    a, u = m.accumulator, m.matmul
    read = m.vector.acc_read
    a.vector_granted = 0
    a.read = -1
    if read >= 0:
        before = (m.now + 1 - m.sizes.array_depth) & (RING - 1)
        taken = u.rows and u.valid[before] and u.row_add[before]
        if not taken or u.row_acc[before] >> m.sizes.acc_shift != read >> m.sizes.acc_shift:
            a.vector_granted = 1
            a.read = read


@compiled
def step_accumulator(m):
    """Vector's read arrives, matmul's row commits; before matmul steps."""
    a, u = m.accumulator, m.matmul
    if a.arriving >= 0:
        emit(m, recorder.ACC_READ, a.arriving, 0)
    a.arriving = a.read
    commits = (m.now - m.sizes.array_depth) & (RING - 1)
    if u.rows and u.valid[commits]:
        row = u.row_acc[commits]
        if u.row_add[commits]:
            a.lanes[row] += u.row_lanes[commits]
            if a.lanes[row] > SAFE_LANES:
                a.unsafe = 1
            emit(m, recorder.ACC_WRITE, row | ADD_BIT, 0)
        else:
            a.lanes[row] = u.row_lanes[commits]
            emit(m, recorder.ACC_WRITE, row, 0)
