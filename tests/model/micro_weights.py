# SPDX-License-Identifier: Apache-2.0
"""Micro-programs of weights and its tiles, with their cycles derived by hand from docs/timing.md."""

from __future__ import annotations

from beatmatch.isa import Opcode, make
from tests.model.micro_matrix import EDGE, commit
from tests.model.micro_memory import READ_AFTER_ISSUE, W_AFTER_ISSUE
from tests.model.micro_terms import (
    AR_AFTER_ISSUE,
    LOAD,
    NARROW,
    SPLIT,
    TINY,
    WEIGHTS,
    WIDE,
    WRITE_LATENCY,
    Micro,
    fetch_end,
    head,
    load,
    matmul,
    micro,
    signal,
    store,
    wait,
    weights,
)

# In all programs of this file where load and weights share the port, the data beats come in the order of the ARs:
# fetch, load, weights, each burst in its AR cycle + latency or right behind the beats before it.


@micro(busy={20: 107, 50: 167})
def weights_zero_rows(latency: int) -> Micro:
    """MB < C: rows of six bytes (two beats), two of four rows; the other two are zero rows without a beat."""
    c = NARROW
    tile = weights(c, packed=0, k_rows=2, n_lanes=6, row_stride=8)
    m = Micro(c, latency, [load(4, **signal(0)), tile, matmul(c, 1, k_lanes=2, n_lanes=6, **wait(0))])
    m.starts()
    ar = head(c, latency, 0) + AR_AFTER_ISSUE
    m.sees("port.ar", ar, id=LOAD, len=0)
    loaded = max(ar + latency, fetch_end(c, latency, 4)) + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    ar = head(c, latency, 1) + AR_AFTER_ISSUE
    m.streams("port.ar", ar, 2, id=WEIGHTS, len=1)
    beat = ar + latency  # four beats
    m.sees("weights.fifo_write", beat + 2, row=0, tile=0)  # its second beat is beat+1; output register the cycle after
    m.sees("weights.fifo_write", beat + 4, row=1, tile=0)
    # row 1's last beat (beat+3) pops it; the zero row is at the head in beat+4, moves, and is written in beat+5
    m.sees("weights.fifo_write", beat + 5, row=2, tile=0)
    m.sees("weights.fifo_write", beat + 6, row=3, tile=0)
    m.sees("weights.retire", beat + 7, seq=1)
    shift = beat + 7
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.sees("matmul.issue", issue, seq=2)
    m.sees("matmul.row", row + EDGE, acc=0, swap=1)
    write = row + EDGE + commit(c)
    m.sees("accumulator.write", write, address=0)
    m.ends(write + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 99, 50: 159})
def weights_zero_rows_wide(latency: int) -> Micro:
    """MB > C: two rows of one beat each, then fourteen zero rows; the row list holds three, and two bursts fly."""
    c = WIDE
    tile = weights(c, packed=0, k_rows=2, row_stride=64)
    m = Micro(c, latency, [load(16, **signal(0)), tile, matmul(c, 1, k_lanes=2, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=1)
    m.reads(WEIGHTS, 1, beats=1, count=2)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 2 + 1  # beat; +1 moves; +1 written; +1 retire
    m.sees("load.retire", loaded, seq=0)
    ar = head(c, latency, 1) + AR_AFTER_ISSUE
    beat = ar + latency
    m.sees("weights.fifo_write", beat + 2, row=0, tile=0)
    # row 0 is popped in beat+1; row 1's beat waits until row 1 is at the head in beat+2; +2 as above
    m.sees("weights.fifo_write", beat + 4, row=1, tile=0)
    # row 1 moves and is popped in beat+3; zero row 2 is at the head in beat+4 with the beat register empty; +1
    m.streams("weights.fifo_write", beat + 5, 14, row=list(range(2, 16)), tile=0)
    last = beat + 5 + 13
    m.sees("weights.retire", last + 1, seq=1)
    shift = last + 1
    m.streams("matmul.shift", shift, 16, row=list(range(16)), tile=0)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.sees("matmul.issue", issue, seq=2)
    write = row + EDGE + commit(c)
    m.sees("accumulator.write", write, address=0)
    m.ends(write + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 98, 50: 158})
def weights_packed_wide(latency: int) -> Micro:
    """MB = R*C: the whole tile is one beat, unpacked at one row per cycle."""
    c = WIDE
    m = Micro(c, latency, [load(16, **signal(0)), weights(c), matmul(c, 1, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=1)
    m.reads(WEIGHTS, 1, beats=1)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 2 + 1
    m.sees("load.retire", loaded, seq=0)
    first = head(c, latency, 1) + AR_AFTER_ISSUE + latency + 2
    m.streams("weights.fifo_write", first, 16, row=list(range(16)), tile=0)
    shift = first + 15 + 1
    m.sees("weights.retire", shift, seq=1)  # as the tile count, one cycle after the last row
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.sees("matmul.issue", issue, seq=2)
    write = row + EDGE + commit(c)
    m.sees("accumulator.write", write, address=0)
    m.ends(write + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 134, 50: 224})
def weights_row_list_full(latency: int) -> Micro:
    """One row from memory and fifteen zero rows fill the list of three; the next instruction issues after the last."""
    c = WIDE
    tiles = [weights(c, packed=0, k_rows=1, row_stride=64), weights(c)]
    m = Micro(c, latency, [*tiles, matmul(c, 1, kc=2, width=1, pad_left=1)])
    m.starts()
    m.reads(WEIGHTS, 0, beats=1)
    beat = head(c, latency, 0) + AR_AFTER_ISSUE + latency
    m.streams("weights.fifo_write", beat + 2, 16, row=list(range(16)), tile=0)  # row r moves in beat+1+r
    # rows 0, 1, 2 are on the list; row 0's pop in beat+1 shows in beat+2: row 3 is pushed, row 4 generated; then a row
    # every cycle: row 15 is generated in beat+13
    second = beat + 13 + 1
    m.sees("weights.issue", head(c, latency, 0), seq=0)
    m.sees("weights.issue", second, seq=1)
    m.sees("port.ar", second + AR_AFTER_ISSUE, id=WEIGHTS, len=0)
    last = second + AR_AFTER_ISSUE + latency + 2
    m.streams("weights.fifo_write", last, 16, row=list(range(16)), tile=1)
    m.sees("weights.retire", beat + 2 + 15 + 1, seq=0)
    m.sees("weights.retire", last + 15 + 1, seq=1)
    shifts = [beat + 2 + 15 + 1, last + 15 + 1]
    for tile, shift in enumerate(shifts):
        m.streams("matmul.shift", shift, 16, row=list(range(16)), tile=tile)
        m.sees("matmul.row", shift + 1 + EDGE, acc=0, add=tile, swap=1, pad=1)
    retire = shifts[1] + 1 + EDGE + commit(c) + 1
    m.sees("matmul.retire", retire, seq=2)
    m.ends(retire)
    return m


@micro(busy={20: 120, 50: 180})
def weights_each_late(latency: int) -> Micro:
    """Tiles from the scratchpad with `each`: the second one waits for the second iteration of the load."""
    c = TINY
    tiles = make(Opcode.WEIGHTS_SP, each=1, outer=2, k_rows=4, n_lanes=4, row_stride=1, outer_stride=16, **wait(0))
    fill = load(64, each=1, outer=2, outer_stride=64, dst_outer_stride=16, **signal(0))
    m = Micro(c, latency, [fill, tiles, matmul(c, 1, kc=2, width=1, pad_left=1)])
    m.starts()
    m.reads(LOAD, 0, beats=16, count=2, step=2)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 15 + 1 + 1
    m.streams("load.retire", loaded, 2, step=16, seq=0, iteration=[0, 1])
    issue = max(head(c, latency, 1), loaded + 1)
    second = loaded + 16 + 1
    m.sees("weights.issue", issue, seq=1, iteration=0, last=0)
    m.sees("weights.issue", second, seq=1, iteration=1, last=1)
    starts = [issue + 3, second + 2]  # a further iteration's row is generated in its issue cycle
    for i, data in enumerate(starts):
        m.streams("weights.sp_read", data, 4, address=[16 * i + r for r in range(4)])
        m.streams("weights.fifo_write", data, 4, row=[0, 1, 2, 3], tile=i)
        m.sees("weights.retire", data + 3 + 1, seq=1, iteration=i, last=i)
        m.sees("matmul.row", data + 3 + 1 + 1 + EDGE, acc=0, add=i, swap=1)  # written; +1 F; +1 g
    retire = starts[1] + 5 + EDGE + commit(c) + 1
    m.sees("matmul.retire", retire, seq=2)
    m.ends(retire)
    return m


@micro(busy={20: 94, 50: 154})
def weights_from_scratchpad(latency: int) -> Micro:
    """A tile of three rows and a zero row from the scratchpad; the zero row takes its cycle but reads nothing."""
    c = TINY
    tile = make(Opcode.WEIGHTS_SP, k_rows=3, n_lanes=4, row_stride=1, **wait(0))
    m = Micro(c, latency, [load(20, **signal(0, 1)), tile, matmul(c, 1, src=4, k_lanes=3, **wait(1))])
    m.starts()
    m.reads(LOAD, 0, beats=5)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4))
    loaded = beat + 4 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    issue = max(head(c, latency, 1), loaded + 1)
    m.sees("weights.issue", issue, seq=1)
    data = issue + 3  # +1 generated; +1 request register, granted; +1 data, written to the FIFO
    m.streams("weights.sp_read", data, 3, address=[0, 1, 2])
    m.streams("weights.fifo_write", data, 4, row=[0, 1, 2, 3], tile=0)
    m.sees("weights.retire", data + 3 + 1, seq=1)
    shift = data + 3 + 1
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.sees("matmul.issue", issue, seq=2)
    m.sees("matmul.sp_read", row + 2, address=4)
    write = row + EDGE + commit(c)
    m.sees("accumulator.write", write, address=0)
    m.ends(write + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 116, 50: 206})
def weights_wait_for_slot(latency: int) -> Micro:
    """Three tiles with `each` through a FIFO of two: the third iteration waits until the first tile is shifted out."""
    c = TINY
    tiles = weights(c, each=1, outer=3, **signal(0))
    m = Micro(c, latency, [tiles, matmul(c, 1, kc=3, width=1, pad_left=1)])
    m.starts()
    issue = head(c, latency, 0)
    second = issue + 3  # row register empty again, as for load
    ar = issue + AR_AFTER_ISSUE
    first = ar + latency + 1  # the second burst follows in ar+2, so its four beats are right behind
    shift = first + 3 + 1
    third = shift + 3 + 1  # the slot is released at the end of F + R - 1
    third_write = third + 2 + latency + 1
    for i, cycle in enumerate((issue, second, third)):
        m.sees("weights.issue", cycle, seq=0, iteration=i, last=int(i == 2))
    m.streams("port.ar", ar, 2, step=2, id=WEIGHTS, len=3)
    m.sees("port.ar", third + 2, id=WEIGHTS, len=3)
    m.streams("weights.fifo_write", first, 8, row=[0, 1, 2, 3] * 2, tile=[0] * 4 + [1] * 4)
    m.streams("weights.fifo_write", third_write, 4, row=[0, 1, 2, 3], tile=0)  # the slot of the first tile again
    for i, cycle in enumerate((first + 3, first + 7, third_write + 3)):
        m.sees("weights.retire", cycle + 1, seq=0, iteration=i, last=int(i == 2))
    issue = head(c, latency, 1)
    row = max(issue + 1, shift + 1)
    second_shift = max(shift + 4, row + 2, first + 7 + 1)
    second_row = second_shift + 1
    third_shift = max(second_shift + 4, second_row + 2, third_write + 3 + 1)
    third_row = third_shift + 1
    for i, cycle in enumerate((row, second_row, third_row)):
        m.sees("matmul.row", cycle + EDGE, acc=0, add=int(i > 0), swap=1, pad=1)
    m.ends(third_row + EDGE + commit(c) + 1, "matmul.retire", 1)
    return m


@micro(busy={20: 98, 50: 158})
def read_conflict(latency: int) -> Micro:
    """Weights and store read one bank: weights goes first, the store's first word is two cycles late."""
    c = TINY
    tile = make(Opcode.WEIGHTS_SP, k_rows=4, n_lanes=4, row_stride=1, **wait(0), **signal(2))
    m = Micro(c, latency, [load(32, **signal(0, 1)), tile, store(16, src=4, **wait(1)), matmul(c, 1, **wait(2))])
    m.starts()
    m.reads(LOAD, 0, beats=8)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 5))
    loaded = beat + 7 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    issue = loaded + 1  # both: two counters, signalled in one cycle
    assert issue >= head(c, latency, 2)
    m.sees("weights.issue", issue, seq=1)
    m.sees("store.issue", issue, seq=2)
    m.streams("weights.sp_read", issue + 3, 4, address=[0, 1, 2, 3])  # requests in issue+2 .. issue+5
    # the store's first request is valid in issue+4, beaten in issue+4 and issue+5, granted in issue+6
    late = 2
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE + late, 4, address=[4, 5, 6, 7])
    w = issue + W_AFTER_ISSUE + late
    m.streams("port.w", w, 4, last=[0, 0, 0, 1])
    stored = w + 3 + WRITE_LATENCY + 1
    m.sees("store.retire", stored, seq=2)
    tile_done = issue + 3 + 3 + 1
    m.sees("weights.retire", tile_done, seq=1)
    row = tile_done + 1 + 1  # issue the cycle after the retire; +1; the shift starts with the retire
    m.sees("matmul.sp_read", row + 2, address=0)
    m.sees("matmul.retire", row + EDGE + commit(c) + 1, seq=3)
    m.ends(max(stored, row + EDGE + commit(c) + 1))
    return m


@micro(busy={20: 104, 50: 164})
def weights_beaten_by_matmul(latency: int) -> Micro:
    """Two tiles from the scratchpad: matmul's first row takes the bank from the second tile's last row."""
    c = TINY
    tiles = make(Opcode.WEIGHTS_SP, inner=2, k_rows=4, n_lanes=4, row_stride=1, inner_stride=4, **wait(0))
    m = Micro(c, latency, [load(40, **signal(0, 1)), tiles, matmul(c, 1, src=8, kc=2, src_kc_stride=1, **wait(1))])
    m.starts()
    m.reads(LOAD, 0, beats=10)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4))
    issue = beat + 9 + 1 + 1 + 1  # of both
    assert issue >= head(c, latency, 2)
    m.sees("load.retire", issue - 1, seq=0)
    data = issue + 3
    shift = data + 3 + 1
    row = shift + 1
    # row 7 requests in data+7-1, as matmul does: row+1
    assert data + 7 - 1 == row + 1
    m.streams("weights.sp_read", data, 7, address=list(range(7)))
    m.sees("weights.sp_read", data + 7 + 1, address=7)
    m.streams("weights.fifo_write", data, 7, row=[0, 1, 2, 3, 0, 1, 2], tile=[0] * 4 + [1] * 3)
    m.sees("weights.fifo_write", data + 7 + 1, row=3, tile=1)
    m.sees("weights.retire", data + 8 + 1, seq=1)
    second_shift = max(shift + 4, row + 2, data + 8 + 1)
    second_row = second_shift + 1
    m.sees("matmul.sp_read", row + 2, address=8)
    m.sees("matmul.sp_read", second_row + 2, address=9)
    m.streams("matmul.shift", shift, 4, row=[0, 1, 2, 3], tile=0)
    m.streams("matmul.shift", second_shift, 4, row=[0, 1, 2, 3], tile=1)
    m.ends(second_row + EDGE + commit(c) + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 131, 50: 191})
def weights_beside_load(latency: int) -> Micro:
    """A port of their own: a tile from a faster memory comes before load's sixty-four beats do."""
    c = SPLIT
    m = Micro(c, latency, [load(256), weights(c)])
    m.starts()
    m.reads(LOAD, 0, beats=64)
    ar = head(c, latency, 1) + AR_AFTER_ISSUE
    m.sees("weight_port.ar", ar, len=3)
    # four beats from ar + 7 on; each completes a row, which is in the output register and written the cycle after
    m.streams("weights.fifo_write", ar + m.weight_latency + 1, 4, row=[0, 1, 2, 3], tile=0)
    tile = ar + m.weight_latency + 4 + 1
    m.sees("weights.retire", tile, seq=1)
    m.streams("matmul.shift", tile, 4, row=[0, 1, 2, 3], tile=0)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 3))
    m.ends(beat + 63 + 1 + 1, "load.retire", 0)  # the last beat; +1 written; +1 retire
    return m


@micro(busy={20: 112, 50: 202})
def weights_signal_load(latency: int) -> Micro:
    """Two tiles, one after the other on their port; load waits for the first, while the second comes."""
    c = SPLIT
    tiles = weights(c, outer=2, each=1, **signal(0))
    m = Micro(c, latency, [tiles, load(64, **wait(0))], weight_latency=latency)
    m.starts()
    ar = head(c, latency, 0) + AR_AFTER_ISSUE
    # the next iteration's wait is presented once the row register is seen to be empty: two cycles behind the first row
    m.streams("weight_port.ar", ar, 2, 2, len=3)
    # the second tile's beats come right behind the first one's
    m.streams("weights.fifo_write", ar + latency + 1, 8, row=[0, 1, 2, 3] * 2, tile=[0] * 4 + [1] * 4)
    retire = ar + latency + 4 + 1
    m.streams("weights.retire", retire, 2, 4, seq=0)
    issue = max(head(c, latency, 1), retire + 1)
    m.sees("load.issue", issue, seq=1)
    m.sees("port.ar", issue + AR_AFTER_ISSUE, id=LOAD, len=15)
    m.ends(issue + AR_AFTER_ISSUE + latency + 15 + 1 + 1, "load.retire", 1)
    return m
