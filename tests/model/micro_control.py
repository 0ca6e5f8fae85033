# SPDX-License-Identifier: Apache-2.0
"""Micro-programs of fetch, dispatch, semaphores, errors and ends of runs, derived by hand from docs/timing.md."""

from __future__ import annotations

from beatmatch.isa import Engine, Error
from tests.model.micro_matrix import EDGE, commit
from tests.model.micro_memory import READ_AFTER_ISSUE, W_AFTER_ISSUE
from tests.model.micro_terms import (
    AR_AFTER_ISSUE,
    FETCH,
    FIRST_AR,
    LOAD,
    PROGRAM_ADDRESS,
    TINY,
    WEIGHTS,
    WIDE,
    WRITE_LATENCY,
    Micro,
    entry,
    fetch_end,
    head,
    load,
    micro,
    padded,
    signal,
    store,
    wait,
    weights,
)


def refuse(m: Micro, raised: int, error: Error, engine: Engine, seq: int) -> None:
    """The error is raised in a cycle: the next one shows it, and halt."""
    m.sees("host.error", raised + 1, seq=seq, engine=int(engine), code=int(error))


@micro(busy={20: 209, 100: 304})
def fetch_twenty(latency: int) -> Micro:
    """Twenty instructions: chunks of eight, eight and five entries; the third waits for five places in the buffer."""
    c = TINY
    m = Micro(c, latency, [padded(c, 1, acc=i) for i in range(20)])
    m.sees("port.ar", FIRST_AR, id=FETCH, len=63)
    m.sees("port.ar", FIRST_AR + 1, id=FETCH, len=63)  # 16 - 8 requested >= 8, register free by its handshake
    # entry e is pushed in its fetch cycle, at the head the next, out of the buffer the one after: five are out when
    # entry 4 is; in that cycle the AR is put in the register, and the next cycle shows it
    fetched = [FIRST_AR + latency + 8 * (e + 1) for e in range(16)]
    third = fetched[4] + 2 + 1
    m.sees("port.ar", third, id=FETCH, len=39)
    beat = max(third + latency, FIRST_AR + latency + 2 * 64)  # behind the 128 beats of the first two
    fetched += [beat + 8 * (e + 1) for e in range(5)]
    for e, cycle in enumerate(fetched):
        m.sees("frontend.fetch", cycle, seq=(e - 1) % 65536)
    for i in range(20):
        dispatch = fetched[i + 1] + 2
        m.sees("frontend.dispatch", dispatch, seq=i, engine=int(Engine.MATMUL))
        m.sees("matmul.issue", dispatch + 1, seq=i)
        row = dispatch + 2
        m.sees("matmul.retire", row + EDGE + commit(c) + 1, seq=i)
    m.ends(fetched[20] + 4 + EDGE + commit(c) + 1)
    return m


@micro(busy={20: 59, 50: 89})
def fetch_two_chunks_wide(latency: int) -> Micro:
    """MB > 32: the program starts two entries before a chunk boundary; one cycle is lost at it."""
    c = WIDE
    m = Micro(c, latency, [padded(c, 1, acc=i) for i in range(3)], program_address=PROGRAM_ADDRESS + 256 - 64)
    m.streams("port.ar", FIRST_AR, 2, id=FETCH, len=0)
    beat = FIRST_AR + latency
    # two entries a beat: moved in beat+1 and beat+2 (row popped); the next beat is taken in beat+3
    fetched = [beat + 2, beat + 3, beat + 5, beat + 6]
    for e, cycle in enumerate(fetched):
        m.sees("frontend.fetch", cycle, seq=(e - 1) % 65536)
    for i in range(3):
        m.sees("matmul.issue", fetched[i + 1] + 3, seq=i)  # rows one, then two cycles apart: never in the way
        m.sees("matmul.retire", fetched[i + 1] + 3 + 1 + EDGE + commit(c) + 1, seq=i)
    m.ends(fetched[3] + 3 + 1 + EDGE + commit(c) + 1)
    return m


@micro(busy={60: 281, 100: 441})
def queue_full(latency: int) -> Micro:
    """Six loads behind one that waits: the queue holds four, dispatch stops at the fifth."""
    c = TINY
    loads = [load(4, offset=4 * i, dst=i, **(wait(0) if i == 0 else {})) for i in range(6)]
    m = Micro(c, latency, [weights(c, **signal(0)), *loads])
    tile_ar = head(c, latency, 0) + AR_AFTER_ISSUE
    assert tile_ar + latency >= fetch_end(c, latency, 8)
    given = tile_ar + latency + 4 + 1  # last row written, +1 retire
    m.sees("weights.retire", given, seq=0)
    issue = given + 1
    # the pop in `issue` shows in the count one cycle later: the fifth goes in then, and fills the queue again;
    # the pop of the second in issue+2 shows in issue+3: the sixth goes in then
    dispatches = [head(c, latency, i) - 1 for i in range(5)] + [issue + 1, issue + 3]
    for i, cycle in enumerate(dispatches):
        m.sees("frontend.dispatch", cycle, seq=i, engine=int(Engine.WEIGHTS if i == 0 else Engine.LOAD))
    # a row is generated the cycle after its issue, and the next instruction can issue one after that
    m.streams("load.issue", issue, 6, step=2, seq=[1, 2, 3, 4, 5, 6])
    ar = issue + AR_AFTER_ISSUE
    # four bursts fly; the first answer in ar+latency: +1 the fifth's burst is put, +1 AR; the second answer is 2 later
    fifth = max(ar + 8, ar + latency + 2)
    ars = [ar, ar + 2, ar + 4, ar + 6, fifth, fifth + 2]
    m.sees("port.ar", FIRST_AR, id=FETCH, len=63)
    m.sees("port.ar", tile_ar, id=WEIGHTS, len=3)
    for i, cycle in enumerate(ars):
        m.sees("port.ar", cycle, id=LOAD, len=0)
        m.sees("load.write", cycle + latency + 1, address=i)
        m.sees("load.retire", cycle + latency + 2, seq=i + 1)
    m.ends(ars[5] + latency + 2)
    return m


@micro(busy={20: 68, 50: 128})
def header_counters(latency: int) -> Micro:
    """A wait for three that the header's counter meets: it costs nothing."""
    m = Micro(TINY, latency, [load(4, wait0_id=7, wait0_n=3)], counters={7: 3})
    m.starts()
    m.reads(LOAD, 0, beats=1)
    issue = head(TINY, latency, 0)
    m.sees("load.issue", issue, seq=0)
    m.ends(issue + AR_AFTER_ISSUE + latency + 2, "load.retire", 0)
    return m


@micro(busy={20: 95, 50: 155})
def two_signals_one_wait(latency: int) -> Micro:
    """A store that waits for two units of a counter that two loads signal: it issues the cycle after the second."""
    c = TINY
    m = Micro(
        c,
        latency,
        [load(4, **signal(3)), load(4, offset=4, dst=1, **signal(3)), store(8, wait0_id=3, wait0_n=2)],
    )
    m.starts()
    m.reads(LOAD, 0, beats=1)
    m.reads(LOAD, 1, beats=1)
    ar = head(c, latency, 1) + AR_AFTER_ISSUE
    assert ar + latency >= fetch_end(c, latency, 4)
    second = ar + latency + 2
    issue = second + 1
    m.sees("load.retire", head(c, latency, 0) + AR_AFTER_ISSUE + latency + 2, seq=0)
    m.sees("load.retire", second, seq=1)
    m.sees("store.issue", issue, seq=2)
    m.streams("store.sp_read", issue + READ_AFTER_ISSUE, 2, address=[0, 1])
    retire = issue + W_AFTER_ISSUE + 1 + WRITE_LATENCY + 1
    m.sees("store.retire", retire, seq=2)
    m.ends(retire)
    return m


@micro(busy={20: 58, 50: 88})
def deadlock(latency: int) -> Micro:
    """A load that nobody will ever signal: the sixteenth cycle of standing still raises the error."""
    m = Micro(TINY, latency, [load(4, **wait(5))])
    m.starts()
    stuck = head(TINY, latency, 0)  # the first cycle: queue head visible, wait not granted
    raised = stuck + 15
    refuse(m, raised, Error.DEADLOCK, Engine.LOAD, 0)
    m.never("load.issue", "load.retire")
    m.busy = raised + 1  # halted with nothing pending
    return m


@micro(busy={20: 84, 50: 144})
def deadlock_after_work(latency: int) -> Micro:
    """A store waits for two units and gets one: the count starts the cycle after the signal."""
    m = Micro(TINY, latency, [load(4, **signal(0)), store(4, wait0_id=0, wait0_n=2)])
    m.starts()
    m.reads(LOAD, 0, beats=1)
    loaded = head(TINY, latency, 0) + AR_AFTER_ISSUE + latency + 2
    assert loaded >= head(TINY, latency, 1)
    m.sees("load.retire", loaded, seq=0)
    raised = loaded + 1 + 15
    refuse(m, raised, Error.DEADLOCK, Engine.STORE, 1)
    m.never("store.issue", "port.aw")
    m.busy = raised + 1
    return m


@micro(busy={20: 59, 50: 89})
def deadlock_no_tile(latency: int) -> Micro:
    """A matmul whose tile nobody loads: it issues, and stands still from the next cycle on."""
    m = Micro(TINY, latency, [padded(TINY, 1, keep=0)])
    m.starts()
    issue = head(TINY, latency, 0)
    m.sees("matmul.issue", issue, seq=0)
    raised = issue + 1 + 15
    refuse(m, raised, Error.DEADLOCK, Engine.MATMUL, 0)
    m.never("matmul.row", "matmul.retire")
    m.busy = raised + 1
    return m


@micro(busy={20: 117, 50: 207})
def deadlock_no_slot(latency: int) -> Micro:
    """Four tiles that nobody uses: one goes to the shadow, two fill the FIFO, the fourth finds no slot."""
    c = TINY
    m = Micro(c, latency, [weights(c, inner=4)])
    m.starts()
    m.reads(WEIGHTS, 0, beats=4, count=2)
    first = head(c, latency, 0) + AR_AFTER_ISSUE + latency + 1
    shift = first + 3 + 1
    third = shift + 3 + 1  # slot released at the end of F + R - 1; row generated; +1 row register; +1 AR
    m.sees("port.ar", third + 2, id=WEIGHTS, len=3)
    last = third + 2 + latency + 1 + 3
    m.streams("weights.fifo_write", first, 8, row=[0, 1, 2, 3] * 2)
    m.streams("weights.fifo_write", last - 3, 4, row=[0, 1, 2, 3])
    raised = last + 1 + 15  # nothing in flight and the tile count 2 from last+1 on
    refuse(m, raised, Error.DEADLOCK, Engine.WEIGHTS, 0)
    m.never("weights.retire")
    m.busy = raised + 1
    return m


@micro(busy={20: 56, 50: 86})
def matmul_range_error(latency: int) -> Micro:
    """The second row has no accumulator row: the first, generated before, still commits, and the run ends after it."""
    c = TINY
    m = Micro(c, latency, [padded(c, 2, acc=c.acc_rows - 1)])
    m.starts()
    row = head(c, latency, 0) + 1
    refuse(m, row + 1, Error.LOCAL_RANGE, Engine.MATMUL, 0)
    m.sees("matmul.row", row + EDGE, acc=c.acc_rows - 1)
    m.sees("accumulator.write", row + EDGE + commit(c), address=c.acc_rows - 1)
    m.never("matmul.retire")
    m.busy = row + EDGE + commit(c) + 1
    return m


@micro(busy={20: 66, 50: 126})
def cycle_limit(latency: int) -> Micro:
    """The limit falls between a load's AR and its beat: the beat is dropped, and the run ends after it."""
    m = Micro(TINY, latency, [load(4)])
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.cycle_limit = ar + 1
    raised = m.cycle_limit + 1  # the counter shows t - 1 in cycle t
    m.sees("port.ar", FIRST_AR, id=FETCH, len=15)
    m.sees("port.ar", ar, id=LOAD, len=0)
    refuse(m, raised, Error.CYCLE_LIMIT, Engine.FRONTEND, 0)
    m.never("load.write", "load.retire")
    m.busy = ar + latency + 1  # inflight is 0 the cycle after the beat: done is set in that cycle
    return m


@micro(busy={20: 68, 50: 128})
def cycle_limit_met(latency: int) -> Micro:
    """A limit equal to the cycles that the program takes does not end it."""
    m = load_twin(latency)
    m.cycle_limit = m.busy
    m.never("host.error")
    return m


@micro(busy={20: 69, 50: 129})
def cycle_limit_last(latency: int) -> Micro:
    """A limit one below falls into the cycle in which the run would end: the error wins, and the run ends one later."""
    m = load_twin(latency)
    m.cycle_limit = m.busy - 1
    raised = m.cycle_limit + 1
    refuse(m, raised, Error.CYCLE_LIMIT, Engine.FRONTEND, 0)
    m.busy = raised + 1
    return m


def load_twin(latency: int) -> Micro:
    """One load of one beat, as in `load_one_beat`."""
    m = Micro(TINY, latency, [load(4)])
    m.starts()
    m.reads(LOAD, 0, beats=1)
    retire = head(TINY, latency, 0) + AR_AFTER_ISSUE + latency + 2
    m.sees("load.retire", retire, seq=0)
    m.ends(retire)
    return m


@micro(busy={20: 47, 50: 77})
def illegal_opcode(latency: int) -> Micro:
    """The first instruction is refused; the rest of the chunk is still taken before the run ends."""
    m = Micro(TINY, latency, [31, load(4)])
    raised = head(TINY, latency, 0) - 1  # its first cycle in the decode register
    refuse(m, raised, Error.ILLEGAL_OPCODE, Engine.FRONTEND, 0)
    m.never("frontend.dispatch", "load.issue")
    for e in (0, 1):  # entry 2 would follow after halt is 1
        m.sees("frontend.fetch", entry(TINY, latency, e), seq=(e - 1) % 65536)
    m.busy = max(raised + 1, fetch_end(TINY, latency, 3))  # no burst is open the cycle after the last beat
    return m


@micro(busy={20: 66, 50: 126})
def zero_size(latency: int) -> Micro:
    """The second instruction has no rows: it is refused while the first one's beat is on its way, which is dropped."""
    m = Micro(TINY, latency, [load(4), load(4, rows=0)])
    ar = head(TINY, latency, 0) + AR_AFTER_ISSUE
    m.sees("frontend.dispatch", head(TINY, latency, 0) - 1, seq=0)
    m.sees("port.ar", FIRST_AR, id=FETCH, len=23)
    m.sees("port.ar", ar, id=LOAD, len=0)
    raised = head(TINY, latency, 1) - 1
    refuse(m, raised, Error.ZERO_SIZE, Engine.FRONTEND, 1)
    m.never("load.write", "load.retire")
    m.busy = max(raised + 1, fetch_end(TINY, latency, 3), ar + latency + 1)
    return m


@micro(busy={20: 3})
def program_unaligned(latency: int) -> Micro:
    """A program address that is not a multiple of 32: nothing is fetched."""
    m = Micro(TINY, latency, [load(4)], program_address=PROGRAM_ADDRESS + 16)
    refuse(m, 2, Error.PROGRAM, Engine.FRONTEND, 0)
    m.never("port.ar", "frontend.fetch")
    m.busy = 3
    return m


@micro(busy={20: 68, 50: 128})
def semaphore_overflow(latency: int) -> Micro:
    """A signal to a counter that holds 255: the error is raised in the cycle of the retire event."""
    m = Micro(TINY, latency, [load(4, **signal(0))], counters={0: 255})
    m.starts()
    m.reads(LOAD, 0, beats=1)
    retire = head(TINY, latency, 0) + AR_AFTER_ISSUE + latency + 2
    m.sees("load.retire", retire, seq=0)
    refuse(m, retire, Error.SEMAPHORE_OVERFLOW, Engine.FRONTEND, 0)
    m.busy = retire + 1
    return m
