# SPDX-License-Identifier: Apache-2.0
"""Micro-programs of the vector station and of a whole chain, with their cycles derived by hand from docs/timing.md."""

from __future__ import annotations

from beatmatch.isa import Format, Opcode, Space
from tests.model.micro_matrix import EDGE, commit
from tests.model.micro_memory import READ_AFTER_ISSUE, W_AFTER_ISSUE
from tests.model.micro_terms import (
    AR_AFTER_ISSUE,
    LOAD,
    SMALL,
    TINY,
    WEIGHTS,
    WRITE_LATENCY,
    Micro,
    fetch_end,
    head,
    load,
    matmul,
    micro,
    padded,
    signal,
    store,
    vector,
    wait,
    weights,
)

# Chain of an element: issue; +1 parameter cycle; +1 first element generated.
ELEMENT = 2
READ = 2  # generated; +1 request register, granted; +1 data (`read`, `sp_read`)
# generated; +1 request register = q; q+1 data; q+2 biased; q+3 products; q+4 scaled; q+5 write register, written
WRITE = 6

ACCUMULATOR = {"src_space": int(Space.ACCUMULATOR), "src_format": int(Format.INT32)}


def rows_ready(config, issue: int, rows: int) -> int:
    """Retire cycle of a matmul of ``rows`` padding rows that keeps the weights, from its issue."""
    return issue + 1 + rows - 1 + EDGE + commit(config) + 1


@micro(busy={20: 71, 50: 101})
def requant_plain(latency: int) -> Micro:
    """Three accumulator rows with param_mode 0: one row per cycle, ten cycles from issue to the first write's end."""
    c = TINY
    m = Micro(c, latency, [padded(c, 3, **signal(0)), vector(Opcode.REQUANT, x=3, **ACCUMULATOR, **wait(0))])
    m.starts()
    done = rows_ready(c, head(c, latency, 0), 3)
    issue = max(head(c, latency, 1), done + 1)
    element = issue + ELEMENT
    m.sees("matmul.retire", done, seq=0)
    m.sees("vector.issue", issue, seq=1, iteration=0, last=1)
    m.never("vector.param_read", "vector.sp_read")
    m.streams("accumulator.read", element + READ, 3, address=[0, 1, 2])
    m.streams("vector.write", element + WRITE, 3, address=[64, 65, 66])
    retire = element + WRITE + 2 + 1
    m.sees("vector.retire", retire, seq=1, iteration=0, last=1)
    m.ends(retire)
    return m


@micro(busy={20: 87, 50: 147})
def requant_parameters(latency: int) -> Micro:
    """The same with param_mode 1; the parameter row is eight words of the load, row 1 is words 8 to 15."""
    c = TINY
    m = Micro(
        c,
        latency,
        [
            load(32, dst_space=int(Space.PARAMETER), dst=8, **signal(0)),
            padded(c, 3, **signal(1)),
            vector(Opcode.REQUANT, x=3, param_mode=1, param=1, **ACCUMULATOR, **wait(0, 1)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=8)
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4))
    m.streams("load.write", beat + 1, 8, address=list(range(8, 16)), space=int(Space.PARAMETER))
    loaded = beat + 7 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    done = rows_ready(c, head(c, latency, 1), 3)
    m.sees("matmul.retire", done, seq=1)
    issue = max(head(c, latency, 2), loaded + 1, done + 1)  # granted when both counters show it
    element = issue + ELEMENT
    m.sees("vector.issue", issue, seq=2)
    m.sees("vector.param_read", issue + 1, address=1)
    m.streams("vector.write", element + WRITE, 3, address=[64, 65, 66])
    m.ends(element + WRITE + 2 + 1, "vector.retire", 2)
    return m


@micro(busy={20: 75, 50: 105})
def requant_int32(latency: int) -> Micro:
    """Two rows as int32: four chunks, so four cycles, a row."""
    c = TINY
    raw = vector(Opcode.REQUANT, x=2, dst_format=int(Format.INT32), dst_pitch=4, **ACCUMULATOR, **wait(0))
    m = Micro(c, latency, [padded(c, 2, **signal(0)), raw])
    m.starts()
    done = rows_ready(c, head(c, latency, 0), 2)
    m.sees("matmul.retire", done, seq=0)
    issue = max(head(c, latency, 1), done + 1)
    element = issue + ELEMENT
    m.sees("vector.issue", issue, seq=1)
    m.streams("accumulator.read", element + READ, 2, step=4, address=[0, 1])
    m.streams("vector.write", element + WRITE, 8, address=list(range(64, 72)))
    m.ends(element + WRITE + 7 + 1, "vector.retire", 1)
    return m


@micro(busy={20: 103, 50: 163})
def requant_outer(latency: int) -> Micro:
    """Two iterations with param_mode 2: the second's parameter row is read when the pipeline has run empty."""
    c = TINY
    strides = {"outer": 2, "src_outer_stride": 2, "dst_outer_stride": 2}
    m = Micro(
        c,
        latency,
        [
            load(64, dst_space=int(Space.PARAMETER), **signal(0)),
            padded(c, 4, **signal(1)),
            vector(Opcode.REQUANT, x=2, param_mode=2, **strides, **ACCUMULATOR, **wait(0, 1)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=16)
    loaded = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 4)) + 15 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    done = rows_ready(c, head(c, latency, 1), 4)
    m.sees("matmul.retire", done, seq=1)
    issue = max(head(c, latency, 2), loaded + 1, done + 1)
    element = issue + ELEMENT
    empty = element + 1 + WRITE + 1  # the second element is in the write register in element+1+WRITE
    m.sees("vector.issue", issue, seq=2, iteration=0, last=1)
    m.sees("vector.param_read", issue + 1, address=0)
    m.sees("vector.param_read", empty, address=1)
    m.streams("vector.write", element + WRITE, 2, address=[64, 65])
    m.streams("vector.write", empty + 1 + WRITE, 2, address=[66, 67])
    retire = empty + 1 + WRITE + 1 + 1
    m.sees("vector.retire", retire, seq=2, iteration=1, last=1)
    m.ends(retire)
    return m


@micro(busy={20: 89, 50: 149})
def requant_each(latency: int) -> Micro:
    """Scratchpad to scratchpad in two iterations with `each`, against a load with `each`."""
    c = TINY
    strides = {"outer": 2, "src_outer_stride": 2, "dst_outer_stride": 2}
    m = Micro(
        c,
        latency,
        [
            load(8, each=1, outer=2, outer_stride=8, dst_outer_stride=2, **signal(0)),
            vector(Opcode.REQUANT, x=2, each=1, **strides, **wait(0), **signal(1)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=2, count=2, step=2)
    ar = head(c, latency, 0) + AR_AFTER_ISSUE
    loaded = ar + latency + 2 + 1
    m.streams("load.retire", loaded, 2, step=2, seq=0, iteration=[0, 1])
    issue = max(head(c, latency, 1), loaded + 1)
    element = issue + ELEMENT
    # a cycle of its own, after the last element (element+1) at the earliest; the second signal shows in loaded+3
    second = max(element + 2, loaded + 3)
    empty = element + 1 + WRITE + 1  # the parameter cycle needs an empty pipeline with param_mode 0 too
    last = empty + 1
    m.sees("vector.issue", issue, seq=1, iteration=0, last=0)
    m.sees("vector.issue", second, seq=1, iteration=1, last=1)
    m.streams("vector.sp_read", element + READ, 2, address=[0, 1])
    m.streams("vector.sp_read", last + READ, 2, address=[2, 3])
    m.streams("vector.write", element + WRITE, 2, address=[64, 65])
    m.streams("vector.write", last + WRITE, 2, address=[66, 67])
    m.sees("vector.retire", element + 1 + WRITE + 1, seq=1, iteration=0, last=0)
    m.sees("vector.retire", last + 1 + WRITE + 1, seq=1, iteration=1, last=1)
    m.ends(last + 1 + WRITE + 1)
    return m


@micro(busy={20: 110, 50: 170})
def requant_each_late(latency: int) -> Micro:
    """As requant_each, but each load takes sixteen beats: the second iteration waits; it writes the other bank."""
    c = TINY
    strides = {"outer": 2, "src_outer_stride": 16, "dst_outer_stride": 2, "dst": 600}
    m = Micro(
        c,
        latency,
        [
            load(64, each=1, outer=2, outer_stride=64, dst_outer_stride=16, **signal(0)),
            vector(Opcode.REQUANT, x=2, each=1, **strides, **wait(0)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=16, count=2, step=2)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 15 + 1 + 1
    m.streams("load.retire", loaded, 2, step=16, seq=0, iteration=[0, 1])
    issue = max(head(c, latency, 1), loaded + 1)
    element = issue + ELEMENT
    second = max(element + 2, loaded + 16 + 1)
    last = second + ELEMENT  # the pipeline has been empty for long
    m.sees("vector.issue", issue, seq=1, iteration=0, last=0)
    m.sees("vector.issue", second, seq=1, iteration=1, last=1)
    m.streams("vector.sp_read", element + READ, 2, address=[0, 1])
    m.streams("vector.sp_read", last + READ, 2, address=[16, 17])
    m.streams("vector.write", element + WRITE, 2, address=[600, 601])
    m.streams("vector.write", last + WRITE, 2, address=[602, 603])
    m.sees("vector.retire", element + 1 + WRITE + 1, seq=1, iteration=0, last=0)
    m.sees("vector.retire", last + 1 + WRITE + 1, seq=1, iteration=1, last=1)
    m.ends(last + 1 + WRITE + 1)
    return m


@micro(busy={20: 107, 50: 167})
def read_conflict_with_store(latency: int) -> Micro:
    """Store waits for the bank that vector reads eight rows from."""
    c = TINY
    copy = vector(Opcode.REQUANT, x=8, dst=600, **wait(0))
    m = Micro(c, latency, [load(48, **signal(0, 1)), copy, store(16, src=8, **wait(1))])
    m.starts()
    m.reads(LOAD, 0, beats=12)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 11 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    issue = max(head(c, latency, 2), loaded + 1)  # of both
    element = issue + ELEMENT  # requests element+1 .. element+8
    m.streams("vector.sp_read", element + READ, 8, address=list(range(8)))
    m.sees("vector.retire", element + WRITE + 7 + 1, seq=1)
    granted = element + 8 + 1  # the store's first request is there since issue+4
    m.streams("store.sp_read", granted + 1, 4, address=[8, 9, 10, 11])
    w = granted + 3  # +1 data; +1 visible in the buffer; +1 W
    m.streams("port.w", w, 4, last=[0, 0, 0, 1])
    m.sees("store.retire", w + 3 + WRITE_LATENCY + 1, seq=2)
    m.ends(w + 3 + WRITE_LATENCY + 1)
    return m


@micro(busy={20: 113, 50: 173})
def read_conflict_with_matmul(latency: int) -> Micro:
    """Vector reads the bank that matmul streams twelve rows from: its first element waits for the last of them."""
    c = TINY
    m = Micro(
        c,
        latency,
        [
            load(80, **signal(0, 1)),
            matmul(c, 12, keep=1, **wait(0)),
            vector(Opcode.REQUANT, x=2, src=16, dst=600, **wait(1)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=20)
    issue = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 19 + 1 + 1 + 1  # of both
    assert issue >= head(c, latency, 2)
    m.sees("load.retire", issue - 1, seq=0)
    row = issue + 1  # requests row+1 .. row+12
    m.streams("matmul.sp_read", row + 2, 12, address=list(range(12)))
    m.sees("matmul.retire", row + 11 + EDGE + commit(c) + 1, seq=1)
    # the first element's request is valid from issue+ELEMENT+1 on, granted after matmul's last
    granted = row + 12 + 1
    m.streams("vector.sp_read", granted + 1, 2, address=[16, 17])  # the second enters as the first is granted
    m.streams("vector.write", granted + 5, 2, address=[600, 601])
    m.sees("vector.retire", granted + 5 + 1 + 1, seq=2)
    m.ends(row + 11 + EDGE + commit(c) + 1)
    return m


@micro(busy={20: 88, 50: 148})
def add_scratchpad(latency: int) -> Micro:
    """Both operands in the scratchpad: two reads, so two cycles, a row."""
    c = TINY
    m = Micro(c, latency, [load(24, **signal(0)), vector(Opcode.ADD, x=3, src2=3, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=6)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 5 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    issue = max(head(c, latency, 1), loaded + 1)
    element = issue + ELEMENT
    m.sees("vector.issue", issue, seq=1)
    m.streams("vector.sp_read", element + READ, 6, address=[0, 3, 1, 4, 2, 5])
    m.streams("vector.write", element + 1 + WRITE, 3, step=2, address=[64, 65, 66])  # +1: the second read's grant is q
    m.ends(element + 1 + WRITE + 4 + 1, "vector.retire", 1)
    return m


@micro(busy={20: 103, 50: 163})
def add_accumulator(latency: int) -> Micro:
    """One operand from the accumulator, one from the scratchpad, read together; two parameter rows."""
    c = TINY
    m = Micro(
        c,
        latency,
        [
            load(8),
            load(64, dst_space=int(Space.PARAMETER), offset=64, **signal(0)),  # in order: it retires after the first
            padded(c, 2, **signal(1)),
            vector(Opcode.ADD, x=2, param_mode=1, **ACCUMULATOR, **wait(0, 1)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=2)
    m.reads(LOAD, 1, beats=16)
    assert head(c, latency, 0) + AR_AFTER_ISSUE + latency >= fetch_end(c, latency, 5)
    loaded = head(c, latency, 1) + AR_AFTER_ISSUE + latency + 15 + 1 + 1
    m.sees("load.retire", head(c, latency, 0) + AR_AFTER_ISSUE + latency + 1 + 1 + 1, seq=0)
    m.sees("load.retire", loaded, seq=1)
    done = rows_ready(c, head(c, latency, 2), 2)
    m.sees("matmul.retire", done, seq=2)
    issue = max(head(c, latency, 3), loaded + 1, done + 1)
    element = issue + ELEMENT + 1  # two parameter cycles
    m.sees("vector.issue", issue, seq=3)
    m.streams("vector.param_read", issue + 1, 2, address=[0, 1])
    m.streams("accumulator.read", element + READ, 2, address=[0, 1])
    m.streams("vector.sp_read", element + READ, 2, address=[0, 1])
    m.streams("vector.write", element + WRITE, 2, address=[64, 65])
    m.ends(element + WRITE + 1 + 1, "vector.retire", 3)
    return m


@micro(busy={20: 92, 50: 152})
def maxpool_2x2(latency: int) -> Micro:
    """Two windows of 2x2 over a 4x2 input: one element per cycle, a result with every fourth."""
    c = TINY
    pool = {"kx": 2, "ky": 2, "stride_x": 2, "stride_y": 2, "width": 4, "height": 2, "src_pitch_y": 4}
    m = Micro(c, latency, [load(32, **signal(0)), vector(Opcode.MAXPOOL, x=2, **pool, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=8)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 7 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    issue = max(head(c, latency, 1), loaded + 1)
    element = issue + ELEMENT
    m.sees("vector.issue", issue, seq=1)
    m.streams("vector.sp_read", element + READ, 8, address=[0, 1, 4, 5, 2, 3, 6, 7])
    m.streams("vector.write", element + 3 + WRITE, 2, step=4, address=[64, 65])
    m.ends(element + 7 + WRITE + 1, "vector.retire", 1)
    return m


@micro(busy={20: 88, 50: 148})
def avgpool_padding(latency: int) -> Micro:
    """Two windows over a 2x2 input with a pad on both sides: a padding element takes its cycle and reads nothing."""
    c = TINY
    pool = {"kx": 2, "ky": 2, "stride_x": 2, "stride_y": 2, "width": 2, "height": 2, "pad_left": 1, "src_pitch_y": 2}
    m = Micro(c, latency, [load(16, **signal(0)), vector(Opcode.AVGPOOL, x=2, **pool, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=4)
    loaded = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 3 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    issue = max(head(c, latency, 1), loaded + 1)
    element = issue + ELEMENT
    for i, address in ((1, 0), (3, 2), (4, 1), (6, 3)):  # elements 0 and 2 are column -1, 5 and 7 column 2
        m.sees("vector.sp_read", element + i + READ, address=address)
    m.streams("vector.write", element + 3 + WRITE, 2, step=4, address=[64, 65])
    m.ends(element + 7 + WRITE + 1, "vector.retire", 1)
    return m


@micro(busy={20: 94, 25: 104})
def write_conflict(latency: int) -> Micro:
    """Vector writes three words into the bank that load fills: load and the beats behind it are three cycles late."""
    c = TINY
    m = Micro(
        c,
        latency,
        [load(96), padded(c, 3, **signal(0)), vector(Opcode.REQUANT, x=3, **ACCUMULATOR, **wait(0))],
    )
    m.starts()
    m.reads(LOAD, 0, beats=24)
    first = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 1  # of 24 words, one per cycle
    done = rows_ready(c, head(c, latency, 1), 3)
    m.sees("matmul.retire", done, seq=1)
    issue = max(head(c, latency, 2), done + 1)
    blocked = issue + ELEMENT + WRITE  # the first of three cycles
    m.sees("vector.retire", blocked + 2 + 1, seq=2)
    before = blocked - first
    assert 0 < before < 24
    m.streams("vector.write", blocked, 3, address=[64, 65, 66])
    m.streams("load.write", first, before, address=list(range(before)))
    # the word in the output register stays there; no beat is accepted until it is written
    m.streams("load.write", blocked + 3, 24 - before, address=list(range(before, 24)))
    m.sees("load.retire", first + 23 + 3 + 1, seq=0)
    m.ends(first + 23 + 3 + 1)
    return m


@micro(busy={20: 146, 50: 206})
def whole_chain(latency: int) -> Micro:
    """Load, weights, matmul, requantise with parameters, store: one 8x8 tile and eight rows."""
    c = SMALL
    m = Micro(
        c,
        latency,
        [
            load(64, **signal(0)),
            weights(c),
            load(64, dst_space=int(Space.PARAMETER), offset=256, **signal(1)),
            matmul(c, 8, **wait(0), **signal(2)),
            vector(Opcode.REQUANT, x=8, param_mode=1, **ACCUMULATOR, **wait(1, 2), **signal(3)),
            store(64, src=64, **wait(3)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=8)
    m.reads(WEIGHTS, 1, beats=8)
    m.reads(LOAD, 2, beats=8)
    # data beats: eight of the activations, eight of the tile, eight of the parameters, in the order of their ARs
    beat = max(head(c, latency, 0) + AR_AFTER_ISSUE + latency, fetch_end(c, latency, 7))
    tile_beat = max(head(c, latency, 1) + AR_AFTER_ISSUE + latency, beat + 8)
    parameter_beat = max(head(c, latency, 2) + AR_AFTER_ISSUE + latency, tile_beat + 8)
    loaded = beat + 7 + 1 + 1
    parameters = parameter_beat + 7 + 1 + 1
    m.sees("load.retire", loaded, seq=0)
    m.sees("load.retire", parameters, seq=2)
    first = tile_beat + 1
    m.streams("weights.fifo_write", first, 8, row=list(range(8)), tile=0)
    shift = first + 7 + 1
    m.sees("weights.retire", shift, seq=1)  # as the tile count, one cycle after the last row
    issue = max(head(c, latency, 3), loaded + 1)
    row = max(issue + 1, shift + 1)
    m.sees("matmul.issue", issue, seq=3)
    m.streams("matmul.row", row + EDGE, 8, acc=list(range(8)))
    write = row + EDGE + commit(c)
    m.streams("accumulator.write", write, 8, address=list(range(8)))
    multiplied = write + 7 + 1
    m.sees("matmul.retire", multiplied, seq=3)
    issue = max(head(c, latency, 4), parameters + 1, multiplied + 1)
    element = issue + ELEMENT
    m.sees("vector.issue", issue, seq=4)
    m.sees("vector.param_read", issue + 1, address=0)
    m.streams("accumulator.read", element + READ, 8, address=list(range(8)))
    m.streams("vector.write", element + WRITE, 8, address=list(range(64, 72)))
    requantised = element + WRITE + 7 + 1
    m.sees("vector.retire", requantised, seq=4)
    issue = max(head(c, latency, 5), requantised + 1)
    m.sees("store.issue", issue, seq=5)
    m.sees("port.aw", issue + AR_AFTER_ISSUE, len=7)
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 8, address=list(range(64, 72)))
    w = issue + W_AFTER_ISSUE
    m.streams("port.w", w, 8, last=[0] * 7 + [1])
    retire = w + 7 + WRITE_LATENCY + 1
    m.sees("store.retire", retire, seq=5)
    m.ends(retire)
    return m
