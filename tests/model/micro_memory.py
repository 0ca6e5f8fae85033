# SPDX-License-Identifier: Apache-2.0
"""Micro-programs of load, store and the memory port, with their cycles derived by hand from docs/timing.md."""

from __future__ import annotations

from beatmatch.isa import Engine, Error
from tests.model.micro_terms import (
    AR_AFTER_ISSUE,
    DATA,
    LOAD,
    NARROW,
    TINY,
    WIDE,
    WRITE_LATENCY,
    Micro,
    head,
    load,
    micro,
    signal,
    store,
    wait,
)

# Chain of a store: AW as AR. The row is on the list with the AW (issue+3), where the read request is loaded;
# +1 request granted; +1 data arrive (`sp_read`); +1 visible in the word buffer, W register loaded; +1 W handshake.
READ_AFTER_ISSUE = 5
W_AFTER_ISSUE = 7


@micro(busy={1: 30, 20: 68, 50: 128})
def load_one_beat(latency: int) -> Micro:
    """One word in one beat."""
    m = Micro(TINY, latency, [load(4, dst=3)])
    m.starts()
    issue = head(TINY, latency, 0)
    ar = issue + AR_AFTER_ISSUE
    beat = ar + latency
    write = beat + 1  # the beat completes a word: output register valid the next cycle = write request, granted
    retire = write + 1
    m.sees("load.issue", issue, seq=0, iteration=0, last=1)
    m.sees("port.ar", ar, id=LOAD, len=0)
    m.sees("load.write", write, address=3, space=0)
    m.sees("load.retire", retire, seq=0, iteration=0, last=1)
    m.ends(retire)
    return m


@micro(busy={1: 33, 20: 71, 50: 131})
def load_several_beats(latency: int) -> Micro:
    """One row of four words, four beats, one burst."""
    m = Micro(TINY, latency, [load(16)])
    m.starts()
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.sees("port.ar", ar, id=LOAD, len=3)
    write = ar + latency + 1
    m.streams("load.write", write, 4, address=[0, 1, 2, 3])  # a beat is a word: one per cycle
    retire = write + 3 + 1
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={1: 33, 20: 71})
def load_two_rows(latency: int) -> Micro:
    """Two rows of two words: the second row enters the row register as the first one's only burst leaves it."""
    m = Micro(TINY, latency, [load(8, rows=2, row_stride=64, dst=2, dst_row_stride=5)])
    m.starts()
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.streams("port.ar", ar, 2, id=LOAD, len=1)  # one burst per cycle
    write = ar + latency + 1  # beats of both rows follow each other: ar+1+latency <= ar+latency+2
    m.streams("load.write", write, 4, address=[2, 3, 7, 8])
    retire = write + 3 + 1
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={1: 33, 20: 71})
def load_crossing_4k(latency: int) -> Micro:
    """One row of four beats whose first beat is the last before a 4 KiB boundary: bursts of one and three beats."""
    m = Micro(TINY, latency, [load(16, offset=0x1000 - 4)])
    m.starts()
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.sees("port.ar", ar, id=LOAD, len=0)
    m.sees("port.ar", ar + 1, id=LOAD, len=2)  # the burst register is handshaken in `ar`: the next burst moves in
    write = ar + latency + 1  # second burst: beats from ar+1+latency on, right behind the first
    m.streams("load.write", write, 4, address=[0, 1, 2, 3])
    retire = write + 3 + 1
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={20: 324, 50: 384})
def load_long_row(latency: int) -> Micro:
    """A row of 257 beats: bursts of 256 and one."""
    m = Micro(TINY, latency, [load(4 * 257)])
    m.starts()
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.sees("port.ar", ar, id=LOAD, len=255)
    m.sees("port.ar", ar + 1, id=LOAD, len=0)
    write = ar + latency + 1
    m.streams("load.write", write, 257, address=list(range(257)))
    retire = write + 256 + 1
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={3: 40, 20: 91})
def load_outstanding(latency: int) -> Micro:
    """Six rows of one beat with four bursts outstanding: the fifth burst waits for the first answer."""
    m = Micro(TINY, latency, [load(4, rows=6, row_stride=4, dst_row_stride=1)])
    m.starts()
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.streams("port.ar", ar, 4, id=LOAD, len=0)
    # first answer in ar+latency; +1 inflight is 3: burst put; +1 AR
    fifth = max(ar + 4, ar + latency + 2)
    m.streams("port.ar", fifth, 2, id=LOAD, len=0)  # the second answer frees the sixth's place one cycle later
    m.streams("load.write", ar + latency + 1, 4, address=[0, 1, 2, 3])
    m.streams("load.write", fifth + latency + 1, 2, address=[4, 5])
    retire = fifth + 1 + latency + 1 + 1
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={20: 79, 50: 139})
def load_narrow_port(latency: int) -> Micro:
    """MB < L: two rows of 22 bytes, each a word of four beats and a word of two beats (the second half full)."""
    m = Micro(NARROW, latency, [load(22, rows=2, row_stride=24, dst_row_stride=2)])
    m.starts()
    ar = head(NARROW, latency, 0) + AR_AFTER_ISSUE
    m.streams("port.ar", ar, 2, id=LOAD, len=5)
    beat = ar + latency  # twelve beats, one per cycle
    m.sees("load.write", beat + 4, address=0)  # beat 3 completes the word; output register the cycle after
    m.sees("load.write", beat + 6, address=1)  # beat 5 ends the row
    m.sees("load.write", beat + 10, address=2)
    m.sees("load.write", beat + 12, address=3)
    retire = beat + 12 + 1
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={20: 72, 50: 132})
def load_wide_port(latency: int) -> Micro:
    """MB > L: two rows of two beats, four words in a beat; one cycle is lost between the rows."""
    m = Micro(WIDE, latency, [load(128, rows=2, row_stride=256, dst_row_stride=8)])
    m.starts()
    ar = head(WIDE, latency, 0) + AR_AFTER_ISSUE
    m.streams("port.ar", ar, 2, id=LOAD, len=1)
    beat = ar + latency  # taken into the beat register
    first = beat + 2  # +1 the first word moves to the output register; +1 it is written
    # beat 1 is taken as word 3 moves (beat+4), so its words follow without a gap
    m.streams("load.write", first, 8, address=list(range(8)))
    # word 7 moves in beat+8 and pops the row; beat 2 can only be taken in beat+9; +2 as above
    second = beat + 8 + 1 + 2
    m.streams("load.write", second, 8, address=list(range(8, 16)))
    retire = second + 7 + 1
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={20: 72, 50: 132})
def load_each_signal(latency: int) -> Micro:
    """Three iterations of one beat with `each`, into a ring of two: every iteration issues, retires and signals."""
    m = Micro(TINY, latency, [load(4, each=1, outer=3, outer_stride=4, dst_outer_stride=1, dst_ring=1, **signal(0))])
    m.starts()
    issue = head(TINY, latency, 0)
    # first row generated issue+1; row register valid issue+2; registered as empty issue+3: wait granted, row generated
    second = issue + 3
    third = second + 2  # row register valid second+1, empty second+2
    m.sees("load.issue", issue, seq=0, iteration=0, last=0)
    m.sees("load.issue", second, seq=0, iteration=1, last=0)
    m.sees("load.issue", third, seq=0, iteration=2, last=1)
    ars = [issue + AR_AFTER_ISSUE, second + 2, third + 2]  # a further iteration's row is generated in its issue cycle
    for i, ar in enumerate(ars):
        m.sees("port.ar", ar, id=LOAD, len=0)
        m.sees("load.write", ar + latency + 1, address=i % 2)
        m.sees("load.retire", ar + latency + 2, seq=0, iteration=i, last=int(i == 2))
    m.ends(ars[2] + latency + 2)
    return m


@micro(busy={20: 92, 50: 152})
def copy(latency: int) -> Micro:
    """Load four words, hand over by a semaphore, store them."""
    m = Micro(TINY, latency, [load(16, **signal(0)), store(16, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=4)
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    loaded = ar + latency + 4 + 1  # last of four words written in ar+latency+4; +1 retire
    # signal register in `loaded`; the counter shows it one cycle later, and the store is granted there
    issue = max(head(TINY, latency, 1), loaded + 1)
    aw = issue + AR_AFTER_ISSUE
    w = issue + W_AFTER_ISSUE
    retire = w + 3 + WRITE_LATENCY + 1  # last of four beats; its B; +1
    m.sees("load.retire", loaded, seq=0)
    m.sees("store.issue", issue, seq=1, iteration=0, last=1)
    m.sees("port.aw", aw, len=3)
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 4, address=[0, 1, 2, 3])
    m.streams("port.w", w, 4, last=[0, 0, 0, 1])
    m.sees("store.retire", retire, seq=1, iteration=0, last=1)
    m.ends(retire)
    return m


@micro(busy={20: 90, 50: 150})
def copy_each(latency: int) -> Micro:
    """Load and store of two iterations with `each`: the store starts on the first while the second is loaded."""
    m = Micro(
        TINY,
        latency,
        [
            load(8, each=1, outer=2, outer_stride=8, dst_outer_stride=2, **signal(0)),
            store(8, each=1, outer=2, outer_stride=8, src_outer_stride=2, **wait(0)),
        ],
    )
    m.starts()
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.streams("port.ar", ar, 2, step=2, id=LOAD, len=1)  # two cycles per iteration, as in load_each_signal
    loaded = ar + latency + 2 + 1  # second word written in ar+latency+2; +1
    m.streams("load.retire", loaded, 2, step=2, seq=0, iteration=[0, 1], last=[0, 1])  # beats have no gap
    issue = max(head(TINY, latency, 1), loaded + 1)
    # row register empty again in issue+3; the second signal shows in loaded+3
    second = max(issue + 3, loaded + 3)
    m.sees("store.issue", issue, seq=1, iteration=0, last=0)
    m.sees("store.issue", second, seq=1, iteration=1, last=1)
    m.sees("port.aw", issue + AR_AFTER_ISSUE, len=1)
    m.sees("port.aw", second + 2, len=1)
    # the second row is on the list in second+2 = issue+5, as the first one's two read requests have been loaded
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 4, address=[0, 1, 2, 3])
    w = issue + W_AFTER_ISSUE
    m.streams("port.w", w, 4, last=[0, 1, 0, 1])
    m.sees("store.retire", w + 1 + WRITE_LATENCY + 1, seq=1, iteration=0, last=0)
    m.sees("store.retire", w + 3 + WRITE_LATENCY + 1, seq=1, iteration=1, last=1)
    m.ends(w + 3 + WRITE_LATENCY + 1)
    return m


@micro(busy={20: 117, 50: 177})
def copy_each_late(latency: int) -> Micro:
    """As copy_each, but each load takes sixteen beats: the store's second iteration waits for the second signal."""
    m = Micro(
        TINY,
        latency,
        [
            load(64, each=1, outer=2, outer_stride=64, dst_outer_stride=16, **signal(0)),
            store(8, each=1, outer=2, outer_stride=8, src_outer_stride=16, **wait(0)),
        ],
    )
    m.starts()
    m.reads(LOAD, 0, beats=16, count=2, step=2)
    first = head(TINY, latency, 0) + AR_AFTER_ISSUE + latency + 1  # 32 words without a gap
    m.streams("load.retire", first + 15 + 1, 2, step=16, seq=0, iteration=[0, 1])
    issue = max(head(TINY, latency, 1), first + 16 + 1)
    second = max(issue + 3, first + 32 + 1)
    m.sees("store.issue", issue, seq=1, iteration=0, last=0)
    m.sees("store.issue", second, seq=1, iteration=1, last=1)
    m.sees("port.aw", issue + AR_AFTER_ISSUE, len=1)
    m.sees("port.aw", second + 2, len=1)  # its row is generated in its issue cycle: all is one cycle earlier
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 2, address=[0, 1])
    m.streams("store.sp_read", second + READ_AFTER_ISSUE - 1, 2, address=[16, 17])
    w = second + W_AFTER_ISSUE - 1
    m.streams("port.w", issue + W_AFTER_ISSUE, 2, last=[0, 1])
    m.streams("port.w", w, 2, last=[0, 1])
    m.sees("store.retire", issue + W_AFTER_ISSUE + 1 + WRITE_LATENCY + 1, seq=1, iteration=0, last=0)
    m.sees("store.retire", w + 1 + WRITE_LATENCY + 1, seq=1, iteration=1, last=1)
    m.ends(w + 1 + WRITE_LATENCY + 1)
    return m


@micro(busy={20: 98, 50: 158})
def store_narrow_port(latency: int) -> Micro:
    """MB < L: a row of 22 bytes leaves as four beats of the first word and two of the second."""
    m = Micro(NARROW, latency, [load(32, **signal(0)), store(22, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=8)
    ar = head(NARROW, latency, 0) + AR_AFTER_ISSUE
    loaded = ar + latency + 8 + 1  # eight beats, the second word is written in ar+latency+8; +1
    issue = max(head(NARROW, latency, 1), loaded + 1)
    m.sees("load.retire", loaded, seq=0)
    m.sees("port.aw", issue + AR_AFTER_ISSUE, len=5)
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 2, address=[0, 1])
    w = issue + W_AFTER_ISSUE
    m.streams("port.w", w, 6, last=[0, 0, 0, 0, 0, 1])  # the second word is there long before the fifth beat
    retire = w + 5 + WRITE_LATENCY + 1
    m.sees("store.retire", retire, seq=1)
    m.ends(retire)
    return m


@micro(busy={20: 148, 50: 208})
def store_buffer_full(latency: int) -> Micro:
    """MB < L: eight words leave in four beats each, so after four words a read follows each word that is used up."""
    m = Micro(NARROW, latency, [load(128, **signal(0)), store(128, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=32)
    ar = head(NARROW, latency, 0) + AR_AFTER_ISSUE
    loaded = ar + latency + 32 + 1
    issue = max(head(NARROW, latency, 1), loaded + 1)
    m.sees("load.retire", loaded, seq=0)
    m.sees("port.aw", issue + AR_AFTER_ISSUE, len=31)
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 4, address=[0, 1, 2, 3])
    w = issue + W_AFTER_ISSUE
    # word 0's last beat goes into the W register in w+3-1 and removes it; +1 request loaded; +1 granted; +1 data
    m.streams("store.sp_read", w + 3 - 1 + 3, 4, step=4, address=[4, 5, 6, 7])
    m.streams("port.w", w, 32, last=[0] * 31 + [1])
    retire = w + 31 + WRITE_LATENCY + 1
    m.sees("store.retire", retire, seq=1)
    m.ends(retire)
    return m


@micro(busy={20: 85, 50: 145})
def store_wide_port(latency: int) -> Micro:
    """MB > L: a row of 80 bytes leaves as a beat of four words and a beat of one word."""
    m = Micro(WIDE, latency, [load(128, **signal(0)), store(80, **wait(0))])
    m.starts()
    m.reads(LOAD, 0, beats=2)
    beat = head(WIDE, latency, 0) + AR_AFTER_ISSUE + latency
    loaded = beat + 2 + 7 + 1  # eight words as in load_wide_port; +1
    issue = max(head(WIDE, latency, 1), loaded + 1)
    m.sees("load.retire", loaded, seq=0)
    m.sees("port.aw", issue + AR_AFTER_ISSUE, len=1)
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 5, address=[0, 1, 2, 3, 4])
    # word k is visible in the buffer in issue+6+k and collected there; the fourth moves into the W register
    w = issue + 6 + 3 + 1
    m.sees("port.w", w, last=0)
    m.sees("port.w", w + 1, last=1)  # the fifth word, alone, moves one cycle later
    retire = w + 1 + WRITE_LATENCY + 1
    m.sees("store.retire", retire, seq=1)
    m.ends(retire)
    return m


@micro(busy={20: 44, 50: 74})
def load_window_error(latency: int) -> Micro:
    """A row that leaves its base register's window: refused in the cycle in which it would be generated."""
    m = Micro(TINY, latency, [load(16)], bases={0: (DATA[0][0], 12)})
    m.starts()
    issue = head(TINY, latency, 0)
    raised = issue + 1
    m.sees("load.issue", issue, seq=0)
    m.sees("host.error", raised + 1, seq=0, engine=int(Engine.LOAD), code=int(Error.WINDOW))
    m.never("load.write", "load.retire")
    m.busy = raised + 1  # halt is 1 and nothing is pending: done is set in that cycle
    return m


@micro(busy={20: 69, 50: 129})
def load_bus_error(latency: int) -> Micro:
    """The third of four beats fails: the word before it is written, it and the fourth are taken and dropped."""
    address = DATA[0][0] + 8
    m = Micro(TINY, latency, [load(16)], failing=(address, address + 3))
    m.starts()
    m.reads(LOAD, 0, beats=4)
    beat = head(TINY, latency, 0) + AR_AFTER_ISSUE + latency
    raised = beat + 2
    m.streams("load.write", beat + 1, 2, address=[0, 1])
    m.sees("host.error", raised + 1, seq=0, engine=int(Engine.LOAD), code=int(Error.BUS_SLVERR))
    m.never("load.retire")
    m.busy = beat + 3 + 1  # the burst is open until its last beat; idle the cycle after
    return m
