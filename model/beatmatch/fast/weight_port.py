# SPDX-License-Identifier: Apache-2.0
"""The weight port without its data: `stations.weight_port.WeightPort`. Its memory is as in `fast.memory`."""

from __future__ import annotations

from beatmatch.fast import recorder, weights
from beatmatch.fast.compiled import compiled
from beatmatch.fast.recorder import emit


@compiled
def select(m, halt):
    """Decide this cycle's handshakes; the port's registers are those of `memory.PORT`, of which it keeps nothing."""
    p, a, b = m.weight_port, m.weight_memory, m.weights.bursts
    p.ar_id = p.ar_choice = p.r_id = -1
    p.rready = 0
    if b.valid:
        p.ar_choice = weights.WEIGHTS
        p.ar_page, p.ar_offset, p.ar_length = b.page, b.offset, b.length
        if a.arready:
            p.ar_id = weights.WEIGHTS
            emit(m, recorder.WEIGHT_AR, b.length, b.page << 10 | b.offset >> 2)
    if a.rvalid and weights.read_ready(m, halt):
        p.rready = 1
        p.r_id = weights.WEIGHTS
        m.moved = 1
