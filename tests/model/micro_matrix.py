# SPDX-License-Identifier: Apache-2.0
"""Micro-programs of matmul and the accumulator, with their cycles derived by hand from docs/timing.md."""

from __future__ import annotations

from beatmatch.config import Config
from tests.model.micro_terms import (
    AR_AFTER_ISSUE,
    LOAD,
    SMALL,
    TINY,
    WEIGHTS,
    Micro,
    fetch_end,
    head,
    load,
    matmul,
    micro,
    padded,
    signal,
    wait,
    weights,
)

EDGE = 3  # a row generated in g: +1 request register, +2 data in the bank's register, +3 = X at the array's edge


def commit(config: Config) -> int:
    """Cycles from X, the row at the array's edge, to A, its write into the accumulator."""
    return config.rows + config.cols + 1


# In all programs of this file where load and weights share the port, the data beats come in the order of the ARs:
# fetch, load, weights, each burst in its AR cycle + latency or right behind the beats before it.


@micro(busy={20: 93, 50: 153})
def matmul_one_row(latency: int) -> Micro:
    """One tile, its rows strided in memory, and one activation row."""
    c = TINY
    m = Micro(c, latency, [load(4, **signal(0)), weights(c, packed=0, row_stride=8), matmul(c, 1, acc=5, **wait(0))])
    m.starts()
    ar = head(c, latency, 0) + AR_AFTER_ISSUE
    m.sees("port.ar", ar, id=LOAD, len=0)
    loaded = max(ar + latency, fetch_end(c, latency, 4)) + 1 + 1  # beat; +1 write; +1 retire
    m.sees("load.retire", loaded, seq=0)
    ar = head(c, latency, 1) + AR_AFTER_ISSUE
    m.streams("port.ar", ar, 4, id=WEIGHTS, len=0)  # one row, one burst, one beat per cycle
    first = ar + latency + 1  # output register = FIFO write register
    m.streams("weights.fifo_write", first, 4, row=[0, 1, 2, 3], tile=0)
    m.sees("weights.retire", first + 3 + 1, seq=1, iteration=0, last=1)
    shift = first + 3 + 1  # F: the tile count is visible
    m.streams("matmul.shift", shift, 4, row=[0, 1, 2, 3], tile=0)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)  # g: shadow_full is visible the cycle after F
    m.sees("matmul.issue", issue, seq=2, iteration=0, last=1)
    m.sees("matmul.sp_read", row + 2, address=0)
    m.sees("matmul.row", row + EDGE, acc=5, add=0, swap=1, pad=0)
    write = row + EDGE + commit(c)
    m.sees("accumulator.write", write, address=5, add=0, overflow=0)
    m.sees("matmul.retire", write + 1, seq=2, iteration=0, last=1)
    m.ends(write + 1)
    return m


@micro(busy={20: 104, 50: 164})
def matmul_rows_as_tile(latency: int) -> Micro:
    """M = R with a packed tile: one burst of the whole tile, eight rows in eight cycles."""
    c = SMALL
    m = Micro(c, latency, [load(64, **signal(0)), weights(c), matmul(c, 8, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=8)
    m.reads(WEIGHTS, 1, beats=8)
    ar = head(c, latency, 0) + AR_AFTER_ISSUE
    beat = max(ar + latency, fetch_end(c, latency, 4))
    loaded = beat + 7 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    first = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, beat + 8) + 1  # eight beats of load come first
    m.streams("weights.fifo_write", first, 8, row=list(range(8)), tile=0)
    shift = first + 7 + 1
    m.sees("weights.retire", shift, seq=1)  # as the tile count, one cycle after the last row
    m.streams("matmul.shift", shift, 8, row=list(range(8)), tile=0)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.sees("matmul.issue", issue, seq=2)
    m.streams("matmul.sp_read", row + 2, 8, address=list(range(8)))
    m.streams("matmul.row", row + EDGE, 8, acc=list(range(8)), add=0, swap=[1] + [0] * 7)
    write = row + EDGE + commit(c)
    m.streams("accumulator.write", write, 8, address=list(range(8)))
    m.sees("matmul.retire", write + 7 + 1, seq=2)
    m.ends(write + 7 + 1)
    return m


@micro(busy={20: 112, 50: 172})
def matmul_more_rows_than_tile(latency: int) -> Micro:
    """M = 12 > R = 8, as three lines of four."""
    c = SMALL
    m = Micro(c, latency, [load(96, **signal(0)), weights(c), matmul(c, 4, y=3, height=3, src_pitch_y=4, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=12)
    m.reads(WEIGHTS, 1, beats=8)
    ar = head(c, latency, 0) + AR_AFTER_ISSUE
    beat = max(ar + latency, fetch_end(c, latency, 4))
    loaded = beat + 11 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    first = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, beat + 12) + 1
    shift = first + 7 + 1
    m.sees("weights.retire", shift, seq=1)  # as the tile count, one cycle after the last row
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.sees("matmul.issue", issue, seq=2)
    m.streams("matmul.sp_read", row + 2, 12, address=list(range(12)))
    m.streams("matmul.row", row + EDGE, 12, acc=list(range(12)))
    write = row + EDGE + commit(c)
    m.streams("accumulator.write", write, 12, address=list(range(12)))
    m.sees("matmul.retire", write + 11 + 1, seq=2)
    m.ends(write + 11 + 1)
    return m


@micro(busy={20: 97, 50: 157})
def accumulate_short_tiles(latency: int) -> Micro:
    """M = 1 < R, two k tiles into one accumulator row: the second row follows R cycles after the first, and adds."""
    c = TINY
    m = Micro(c, latency, [load(8, **signal(0)), weights(c, inner=2), matmul(c, 1, kc=2, src_kc_stride=1, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=2)
    m.reads(WEIGHTS, 1, beats=4, count=2)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4))
    loaded = beat + 1 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    first = head(c, latency, 1) + AR_AFTER_ISSUE + latency + 1  # two bursts of four beats, no gap
    m.streams("weights.fifo_write", first, 8, row=[0, 1, 2, 3] * 2, tile=[0] * 4 + [1] * 4)
    shift = first + 3 + 1
    m.sees("weights.retire", first + 7 + 1, seq=1)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    # next F: F + R; shadow_full clear in g+2; second tile's count visible
    second_shift = max(shift + 4, row + 2, first + 7 + 1)
    second_row = max(row + 1, second_shift + 1)
    assert second_row == row + c.rows  # the tile interval is max(M, R)
    m.streams("matmul.shift", shift, 4, row=[0, 1, 2, 3], tile=0)
    m.streams("matmul.shift", second_shift, 4, row=[0, 1, 2, 3], tile=1)
    m.sees("matmul.row", row + EDGE, acc=0, add=0, swap=1)
    m.sees("matmul.row", second_row + EDGE, acc=0, add=1, swap=1)
    write = second_row + EDGE + commit(c)
    m.sees("accumulator.write", row + EDGE + commit(c), address=0, add=0)
    m.sees("accumulator.write", write, address=0, add=1)
    m.sees("matmul.retire", write + 1, seq=2)
    m.ends(write + 1)
    return m


@micro(busy={20: 128, 50: 188})
def accumulate_long_tiles(latency: int) -> Micro:
    """M = 10 > R = 8, two k tiles: twenty rows in twenty cycles."""
    c = SMALL
    m = Micro(
        c, latency, [load(160, **signal(0)), weights(c, inner=2), matmul(c, 10, kc=2, src_kc_stride=10, **wait(0))]
    )
    m.starts()
    m.reads(LOAD, 0, beats=20)
    m.reads(WEIGHTS, 1, beats=8, count=2)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4))
    loaded = beat + 19 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    first = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, beat + 20) + 1
    m.streams("weights.fifo_write", first, 16, row=list(range(8)) * 2, tile=[0] * 8 + [1] * 8)
    shift = first + 7 + 1
    m.sees("weights.retire", first + 15 + 1, seq=1)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    second_shift = max(shift + 8, row + 2, first + 15 + 1)
    second_row = max(row + 10, second_shift + 1)
    assert second_row == row + 10
    m.streams("matmul.shift", shift, 8, row=list(range(8)), tile=0)
    m.streams("matmul.shift", second_shift, 8, row=list(range(8)), tile=1)
    adds = [0] * 10 + [1] * 10
    swaps = ([1] + [0] * 9) * 2
    m.streams("matmul.sp_read", row + 2, 20, address=list(range(20)))
    m.streams("matmul.row", row + EDGE, 20, acc=list(range(10)) * 2, add=adds, swap=swaps)
    write = row + EDGE + commit(c)
    m.streams("accumulator.write", write, 20, address=list(range(10)) * 2, add=adds)
    m.ends(write + 19 + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 120, 50: 180})
def matmul_after_preload(latency: int) -> Micro:
    """The first tile is in the shadow long before the rows come: M = 1 rows 3 and then R = 8 cycles apart."""
    c = SMALL
    m = Micro(c, latency, [weights(c, inner=3), load(24, **signal(0)), matmul(c, 1, kc=3, src_kc_stride=1, **wait(0))])
    m.starts()
    m.reads(WEIGHTS, 0, beats=8, count=3)
    m.reads(LOAD, 1, beats=3)
    first = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4)) + 1
    m.streams("weights.fifo_write", first, 24, row=list(range(8)) * 3, tile=[0] * 8 + [1] * 8 + [2] * 8)
    shift = first + 7 + 1
    m.sees("weights.retire", first + 23 + 1, seq=0)
    beat = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, first - 1 + 24)  # behind the tiles' 24 beats
    loaded = beat + 2 + 1 + 1
    m.sees("load.retire", loaded, seq=1)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    # second F: shadow_full clear in g+2 is the latest; third: R cycles after the second
    second_shift = max(shift + 8, row + 2, first + 15 + 1)
    second_row = max(row + 1, second_shift + 1)
    third_shift = max(second_shift + 8, second_row + 2, first + 23 + 1)
    third_row = max(second_row + 1, third_shift + 1)
    assert (second_row - row, third_row - second_row) == (3, 8)
    for tile, cycle in enumerate((shift, second_shift, third_shift)):
        m.streams("matmul.shift", cycle, 8, row=list(range(8)), tile=tile)
    m.sees("matmul.issue", issue, seq=2)
    for i, cycle in enumerate((row, second_row, third_row)):
        m.sees("matmul.sp_read", cycle + 2, address=i)
        m.sees("matmul.row", cycle + EDGE, acc=0, add=int(i > 0), swap=1)
        m.sees("accumulator.write", cycle + EDGE + commit(c), address=0, add=int(i > 0))
    m.ends(third_row + EDGE + commit(c) + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 97, 50: 157})
def matmul_keep(latency: int) -> Micro:
    """Two rows with a new tile, then three rows that keep it, in the next instruction: five rows in five cycles."""
    c = TINY
    m = Micro(
        c,
        latency,
        [load(20, **signal(0)), weights(c), matmul(c, 2, **wait(0)), matmul(c, 3, src=2, acc=8, keep=1, accumulate=1)],
    )
    m.starts()
    m.reads(LOAD, 0, beats=5)
    m.reads(WEIGHTS, 1, beats=4)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 5))
    loaded = beat + 4 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    first = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, beat + 5) + 1
    shift = first + 3 + 1
    m.sees("weights.retire", shift, seq=1)  # as the tile count, one cycle after the last row
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    keeps = row + 1  # issues in the cycle in which the last row of the one before is generated
    assert keeps >= head(c, latency, 3)
    m.sees("matmul.issue", issue, seq=2)
    m.sees("matmul.issue", keeps, seq=3)
    m.streams("matmul.row", row + EDGE, 5, acc=[0, 1, 8, 9, 10], add=[0, 0, 1, 1, 1], swap=[1, 0, 0, 0, 0])
    write = row + EDGE + commit(c)
    m.streams("accumulator.write", write, 5, address=[0, 1, 8, 9, 10], add=[0, 0, 1, 1, 1])
    m.sees("matmul.retire", write + 1 + 1, seq=2)
    m.sees("matmul.retire", write + 4 + 1, seq=3)
    m.ends(write + 4 + 1)
    return m


@micro(busy={20: 100, 50: 160})
def matmul_back_to_back(latency: int) -> Micro:
    """Two instructions with a tile each, M = R = 4: eight rows in eight cycles."""
    c = TINY
    m = Micro(
        c, latency, [load(32, **signal(0)), weights(c, inner=2), matmul(c, 4, **wait(0)), matmul(c, 4, src=4, acc=4)]
    )
    m.starts()
    m.reads(LOAD, 0, beats=8)
    m.reads(WEIGHTS, 1, beats=4, count=2)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 5))
    loaded = beat + 7 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    first = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, beat + 8) + 1
    shift = first + 3 + 1
    m.sees("weights.retire", first + 7 + 1, seq=1)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    second_issue = row + 3
    second_shift = max(shift + 4, row + 2, first + 7 + 1)
    assert max(second_issue + 1, second_shift + 1) == row + 4
    m.sees("matmul.issue", issue, seq=2)
    m.sees("matmul.issue", second_issue, seq=3)
    m.streams("matmul.row", row + EDGE, 8, acc=list(range(8)), add=0, swap=[1, 0, 0, 0] * 2)
    write = row + EDGE + commit(c)
    m.sees("matmul.retire", write + 3 + 1, seq=2)
    m.sees("matmul.retire", write + 7 + 1, seq=3)
    m.ends(write + 7 + 1)
    return m


@micro(busy={20: 96, 50: 156})
def matmul_padding(latency: int) -> Micro:
    """Four output columns over two input columns and a pad on both sides: padding rows take their cycle, no read."""
    c = TINY
    rows = matmul(c, 4, width=2, pad_left=1, pad_value=-3, **wait(0))
    m = Micro(c, latency, [load(8, **signal(0)), weights(c), rows])
    m.starts()
    m.reads(LOAD, 0, beats=2)
    m.reads(WEIGHTS, 1, beats=4)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4))
    loaded = beat + 1 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    shift = head(c, latency, 1) + AR_AFTER_ISSUE + latency + 3 + 1 + 1  # last of four beats; +1 written; +1 F
    m.sees("weights.retire", shift, seq=1)  # as the tile count, one cycle after the last row
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.streams("matmul.sp_read", row + 1 + 2, 2, address=[0, 1])  # rows 1 and 2 only
    m.streams("matmul.row", row + EDGE, 4, acc=[0, 1, 2, 3], pad=[1, 0, 0, 1], swap=[1, 0, 0, 0])
    write = row + EDGE + commit(c)
    m.streams("accumulator.write", write, 4, address=[0, 1, 2, 3])
    m.ends(write + 3 + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 118, 50: 178})
def convolution(latency: int) -> Micro:
    """A 2x2 kernel over the top left corner of a padded input: four tiles in the order ky, kx, of two rows each."""
    c = SMALL
    window = {"kx": 2, "ky": 2, "pad_left": 1, "pad_top": 1, "width": 2, "height": 2, "src_pitch_y": 2}
    m = Micro(c, latency, [load(16, **signal(0)), weights(c, inner=4), matmul(c, 2, **window, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=2)
    m.reads(WEIGHTS, 1, beats=8, count=4)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4))
    loaded = beat + 1 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    first = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, beat + 2) + 1  # 32 rows without a gap
    shift = first + 7 + 1
    m.sees("weights.retire", first + 31 + 1, seq=1)
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    # M = 2 < R = 8: tiles follow each other R cycles apart, in the FIFO too
    m.sees("matmul.issue", issue, seq=2)
    for tile in range(4):
        m.streams("matmul.shift", shift + 8 * tile, 8, row=list(range(8)), tile=tile)
        # input row ky-1 and columns kx-1, kx: only tiles (1, 0) and (1, 1) meet the input
        pads = ([1, 1], [1, 1], [1, 0], [0, 0])[tile]
        edge = row + 8 * tile + EDGE
        m.streams("matmul.row", edge, 2, acc=[0, 1], add=int(tile > 0), swap=[1, 0], pad=pads)
        m.streams("accumulator.write", edge + commit(c), 2, address=[0, 1], add=int(tile > 0))
    m.sees("matmul.sp_read", row + 16 + 1 + 2, address=0)
    m.streams("matmul.sp_read", row + 24 + 2, 2, address=[0, 1])
    m.ends(row + 24 + 1 + EDGE + commit(c) + 1, "matmul.retire", 2)
    return m


@micro(busy={20: 97, 50: 157})
def matmul_each(latency: int) -> Micro:
    """Two iterations with `each`: the second's wait is granted in the cycle in which its row is generated."""
    c = TINY
    m = Micro(
        c,
        latency,
        [
            load(4, each=1, outer=2, outer_stride=4, dst_outer_stride=1, **signal(0)),
            weights(c, outer=2),
            matmul(c, 1, each=1, outer=2, src_outer_stride=1, acc_outer_stride=1, **wait(0)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=1, count=2, step=2)
    m.reads(WEIGHTS, 1, beats=4, count=2)
    ar = head(c, latency, 0) + AR_AFTER_ISSUE
    assert ar + latency >= fetch_end(c, latency, 4)
    loaded = ar + latency + 1 + 1
    m.streams("load.retire", loaded, 2, step=2, seq=0, iteration=[0, 1])  # iterations are two cycles apart
    first = head(c, latency, 1) + AR_AFTER_ISSUE + latency + 1
    m.sees("weights.retire", first + 7 + 1, seq=1, iteration=1, last=1)  # without `each`: once, the last iteration
    shift = first + 3 + 1
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    second_shift = max(shift + 4, row + 2, first + 7 + 1)
    second_row = max(row + 1, second_shift + 1, loaded + 2 + 1)
    m.sees("matmul.issue", issue, seq=2, iteration=0, last=0)
    m.sees("matmul.issue", second_row, seq=2, iteration=1, last=1)
    m.sees("matmul.row", row + EDGE, acc=0, add=0)
    m.sees("matmul.row", second_row + EDGE, acc=1, add=0)
    m.sees("matmul.retire", row + EDGE + commit(c) + 1, seq=2, iteration=0, last=0)
    m.sees("matmul.retire", second_row + EDGE + commit(c) + 1, seq=2, iteration=1, last=1)
    m.ends(second_row + EDGE + commit(c) + 1)
    return m


@micro(busy={20: 149, 50: 209})
def matmul_each_late(latency: int) -> Micro:
    """Two iterations of two k tiles with `each`: only the iteration's first tile waits, and here it is for the load."""
    c = SMALL
    m = Micro(
        c,
        latency,
        [
            weights(c, inner=2, outer=2, outer_stride=128),
            load(128, each=1, outer=2, outer_stride=128, dst_outer_stride=16, **signal(0)),
            matmul(c, 1, kc=2, each=1, outer=2, src_kc_stride=1, src_outer_stride=16, acc_outer_stride=1, **wait(0)),
        ],
    )
    m.starts()
    m.reads(WEIGHTS, 0, beats=8, count=4)
    m.reads(LOAD, 1, beats=16, count=2, step=2)
    first = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4)) + 1
    shift = first + 7 + 1  # tile k is complete 8k cycles later
    m.sees("weights.retire", first + 31 + 1, seq=0)
    loaded = first + 32 + 15 + 1  # the loads' beats come behind the 32 of the tiles
    m.streams("load.retire", loaded, 2, step=16, seq=1, iteration=[0, 1])
    issue = max(head(c, latency, 2), loaded + 1)
    row = max(issue + 1, shift + 1)
    shifts = [shift, max(shift + 8, row + 2, shift + 8)]
    rows = [row, max(row + 1, shifts[1] + 1)]
    shifts.append(max(shifts[1] + 8, rows[1] + 2, shift + 16))
    rows.append(max(rows[1] + 1, shifts[2] + 1, loaded + 16 + 1))
    assert rows[2] == loaded + 16 + 1 > shifts[2] + 1  # the wait is what binds
    shifts.append(max(shifts[2] + 8, rows[2] + 2, shift + 24))
    rows.append(max(rows[2] + 1, shifts[3] + 1))
    m.sees("matmul.issue", issue, seq=2, iteration=0, last=0)
    m.sees("matmul.issue", rows[2], seq=2, iteration=1, last=1)
    for i in range(4):
        m.streams("matmul.shift", shifts[i], 8, row=list(range(8)), tile=i)
        m.sees("matmul.sp_read", rows[i] + 2, address=(0, 1, 16, 17)[i])
        m.sees("matmul.row", rows[i] + EDGE, acc=i // 2, add=i % 2, swap=1)
    m.sees("matmul.retire", rows[1] + EDGE + commit(c) + 1, seq=2, iteration=0, last=0)
    m.sees("matmul.retire", rows[3] + EDGE + commit(c) + 1, seq=2, iteration=1, last=1)
    m.ends(rows[3] + EDGE + commit(c) + 1)
    return m


@micro(busy={20: 57, 50: 87})
def matmul_all_padding(latency: int) -> Micro:
    """One padding row that keeps the weights: nothing is waited for, from issue to retire R + C + 6 cycles."""
    c = TINY
    m = Micro(c, latency, [padded(c, 1, acc=9)])
    m.starts()
    issue = head(c, latency, 0)
    row = issue + 1
    write = row + EDGE + commit(c)
    m.sees("matmul.issue", issue, seq=0)
    m.sees("matmul.row", row + EDGE, acc=9, add=0, swap=0, pad=1)
    m.never("matmul.sp_read", "matmul.shift")
    m.sees("accumulator.write", write, address=9)
    m.sees("matmul.retire", write + 1, seq=0)
    assert write + 1 == issue + c.rows + c.cols + 6
    m.ends(write + 1)
    return m
