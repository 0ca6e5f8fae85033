# SPDX-License-Identifier: Apache-2.0
"""Timing facts of load, store, the memory port and their shared blocks, straight from docs/timing.md."""

import numpy as np
import pytest

from beatmatch.config import Config
from beatmatch.isa import Error, Opcode, make
from beatmatch.memory import SLVERR, ErrorRange, MemoryAgent, MemoryImage, MemoryTiming
from beatmatch.stations.gearbox import Gearbox
from beatmatch.stations.load import LOAD, Load
from beatmatch.stations.port import Port
from beatmatch.stations.row_bursts import RowBursts
from beatmatch.stations.store import Store
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID, unpack

TINY = Config(4, 4, 1024, 2, mem_bits=32, outstanding=4)
NARROW = Config(16, 16, 256, 2, mem_bits=32, outstanding=4)
WIDE = Config(4, 4, 1024, 2, mem_bits=256, outstanding=4)


class Silent:
    """A requester that never asks."""

    def __init__(self):
        self.bursts = self
        self.valid = False


class Rig:
    """Load, store and the port with everything granted at once, from cycle 0 on."""

    def __init__(self, config, timing, loads=(), stores=(), size=1 << 20):
        self.config = config
        self.trace = TraceWriter(config, 4096)
        bases, sizes = [0] * 16, [size] * 16
        self.load = Load(config, self.trace, bases, sizes)
        self.store = Store(config, self.trace, bases, sizes)
        self.port = Port(config, self.trace, Silent(), self.load, Silent(), self.store)
        self.image = MemoryImage()
        self.image.write(0, np.arange(1 << 14, dtype=np.uint16).astype(np.uint8))
        self.mem = MemoryAgent(timing, self.image, config.mem_bytes)
        self.queues = [[(n, i) for n, i in enumerate(loads)], [(n, i) for n, i in enumerate(stores)]]
        self.scratchpad = np.zeros((config.sp_words, config.lanes), np.uint8)
        self.errors = []

    def run(self, cycles=200, halt_at=None):
        load, store, port, mem, trace = self.load, self.store, self.port, self.mem, self.trace
        data = self.scratchpad[0]
        for cycle in range(cycles):
            halt = halt_at is not None and cycle >= halt_at
            heads = [queue[0] if queue else None for queue in self.queues]
            waits = [engine.wait_request(head) for engine, head in zip((load, store), heads, strict=True)]
            grants = [wait >= 0 and not halt for wait in waits]
            write = load.sp_write(halt)
            taken = load.taken(write is not None, halt)
            port.select(mem, taken, halt)
            read = store.sp_request
            store.step(heads[1], grants[1], halt, read >= 0, data, mem)
            load.step(heads[0], grants[0], halt, taken, port.ar_id == LOAD, mem if port.r_id == LOAD else None)
            if read >= 0:
                data = self.scratchpad[read].copy()
            if write is not None:
                self.scratchpad[write[0], : write[1]] = write[2][: write[1]]
            for which in (0, 1):
                if grants[which] and waits[which] >> 18:
                    self.queues[which].pop(0)
            self.errors += [(cycle, *engine.error) for engine in (load, store) if engine.error]
            mem.commit(port.ar, port.aw, port.w, port.rready, True)
            trace.next()
        return self

    def cycles(self, name):
        """Cycles in which the event slot ``station.slot`` is valid."""
        slot = self.trace.layout.slot(*name.split("."))
        return [i for i, word in enumerate(self.trace.records()[:, slot.offset]) if word & VALID]

    def fields(self, name):
        """Its header fields, in order."""
        slot = self.trace.layout.slot(*name.split("."))
        words = self.trace.records()[:, slot.offset]
        return [unpack(slot.slot, int(word)) for word in words if word & VALID]


@pytest.mark.parametrize("latency", [1, 20])
def test_load_of_one_word(latency):
    rig = Rig(TINY, MemoryTiming(read_latency=latency), [make(Opcode.LOAD, offset=8, row_bytes=3, dst=5)]).run()
    assert rig.cycles("load.issue") == [0]
    assert rig.cycles("port.ar") == [3]
    assert rig.cycles("load.write") == [3 + latency + 1]
    assert rig.cycles("load.retire") == [3 + latency + 2]
    assert rig.scratchpad[5].tolist() == [8, 9, 10, 0]
    assert not rig.load.busy()


def test_load_streams_a_word_per_cycle_across_rows_and_instructions():
    rows = {"row_bytes": 16, "rows": 4, "row_stride": 16, "dst_row_stride": 4}
    rig = Rig(TINY, MemoryTiming(read_latency=3), [make(Opcode.LOAD, **rows), make(Opcode.LOAD, dst=64, **rows)]).run()
    assert rig.cycles("load.issue") == [0, 5]  # four rows generated in 1..4
    first = 3 + 3 + 1
    assert rig.cycles("load.write") == list(range(first, first + 32))
    assert rig.cycles("load.retire") == [first + 16, first + 32]
    assert rig.scratchpad[:16].tobytes() == bytes(range(64)) == rig.scratchpad[64:80].tobytes()


def test_load_gathers_narrow_beats_and_splits_wide_ones():
    narrow = Rig(NARROW, MemoryTiming(read_latency=1), [make(Opcode.LOAD, row_bytes=22, dst=1)]).run()
    assert narrow.cycles("load.write") == [4 + 4, 4 + 6]  # after four beats, after two more
    wide = Rig(WIDE, MemoryTiming(read_latency=1), [make(Opcode.LOAD, row_bytes=40, dst=1)]).run()
    # beat in 4, in the beat register from 5 on, words in the word register from 6 on; the second beat is behind
    assert wide.cycles("load.write") == list(range(6, 16))
    for rig, size in ((narrow, 22), (wide, 40)):
        assert rig.scratchpad[1:].tobytes()[:size] == bytes(range(size))


def test_bursts_end_at_4_kib_and_at_256_beats():
    crossing = Rig(TINY, MemoryTiming(), [make(Opcode.LOAD, offset=4096 - 8, row_bytes=20)]).run()
    assert [f["len"] for f in crossing.fields("port.ar")] == [1, 2]
    long = Rig(TINY, MemoryTiming(), [make(Opcode.LOAD, row_bytes=1500)]).run()
    assert [f["len"] for f in long.fields("port.ar")] == [255, 118]


def test_outstanding_bursts_are_limited():
    rows = {"row_bytes": 4, "rows": 6, "row_stride": 4, "dst_row_stride": 1}
    rig = Rig(TINY, MemoryTiming(read_latency=20), [make(Opcode.LOAD, **rows)]).run()
    assert rig.cycles("port.ar") == [3, 4, 5, 6, 3 + 20 + 2, 3 + 20 + 3]


def test_each_signals_per_iteration_and_waits_for_an_empty_row_register():
    rig = Rig(
        TINY, MemoryTiming(read_latency=1),
        [make(Opcode.LOAD, each=1, outer=3, row_bytes=4, outer_stride=4, dst_outer_stride=1, dst_ring=1)],
    ).run()  # fmt: skip
    assert rig.cycles("load.issue") == [0, 3, 5]  # row register occupied in 2 and 4
    assert [(f["iteration"], f["last"]) for f in rig.fields("load.issue")] == [(0, 0), (1, 0), (2, 1)]
    assert [(f["iteration"], f["last"]) for f in rig.fields("load.retire")] == [(0, 0), (1, 0), (2, 1)]
    assert rig.scratchpad[:2].tolist() == [[8, 9, 10, 11], [4, 5, 6, 7]]


def test_store_of_one_word():
    rig = Rig(TINY, MemoryTiming(write_latency=7), stores=[make(Opcode.STORE, offset=12, row_bytes=3, src=9)])
    rig.scratchpad[9] = [1, 2, 3, 4]
    rig.run()
    assert rig.cycles("store.issue") == [0]
    assert rig.cycles("port.aw") == [3]
    assert rig.cycles("store.sp_read") == [5]
    assert rig.cycles("port.w") == [7]
    assert rig.cycles("store.retire") == [7 + 7 + 1]
    assert rig.image.read(8, 8).tolist() == [8, 9, 10, 11, 1, 2, 3, 15]


@pytest.mark.parametrize(("config", "beats"), [(TINY, 16), (NARROW, 16), (WIDE, 2)])
def test_store_streams_beats(config, beats):
    rig = Rig(config, MemoryTiming(write_latency=1), stores=[make(Opcode.STORE, offset=0x2000, row_bytes=62)])
    rig.scratchpad.reshape(-1)[:] = np.arange(rig.scratchpad.size, dtype=np.uint32).astype(np.uint8)
    rig.run()
    words = max(1, config.mem_bytes // config.lanes)  # per beat
    first = 6 + words  # a word in the buffer in 6, the W register is valid the cycle after the last of a beat
    assert rig.cycles("port.w") == [first + words * i for i in range(beats)]
    assert rig.image.read(0x2000, 62).tolist() == list(range(62))
    assert rig.image.read(0x2000 + 62, 2).tolist() == [62, 63]  # as it was


@pytest.mark.parametrize(
    ("fields", "size", "error"),
    [
        ({"offset": 2, "row_bytes": 4}, 1 << 20, Error.UNALIGNED),
        ({"offset": 4, "row_bytes": 4}, 8, None),
        ({"offset": 4, "row_bytes": 4}, 7, Error.WINDOW),
        ({"row_bytes": 4, "dst": 1023}, 1 << 20, None),
        ({"row_bytes": 5, "dst": 1023}, 1 << 20, Error.LOCAL_RANGE),
        ({"offset": 2, "row_bytes": 8, "dst": 1023}, 1, Error.UNALIGNED),
        ({"row_bytes": 8, "dst": 1023}, 1, Error.WINDOW),
    ],
)
def test_bad_rows_are_refused_when_they_would_be_generated(fields, size, error):
    for opcode in (Opcode.LOAD, Opcode.STORE):
        values = dict(fields)
        if opcode == Opcode.STORE and "dst" in values:
            values["src"] = values.pop("dst")
        engines = {"loads" if opcode == Opcode.LOAD else "stores": [make(opcode, **values)]}
        rig = Rig(TINY, MemoryTiming(), size=size, **engines).run(2)
        assert rig.errors == ([] if error is None else [(1, int(error), 0)])


def test_bus_errors_are_raised_with_the_beat_and_the_response():
    timing = MemoryTiming(read_latency=5, write_latency=5, errors=(ErrorRange(8, 11, SLVERR),))
    load = Rig(TINY, timing, [make(Opcode.LOAD, row_bytes=16)]).run(40)
    assert load.errors == [(3 + 5 + 2, int(Error.BUS_SLVERR), 0)]
    store = Rig(TINY, timing, stores=[make(Opcode.STORE, row_bytes=16)]).run(40)
    assert store.errors == [(10 + 5, int(Error.BUS_SLVERR), 0)]


def test_halted_load_drops_and_halted_store_finishes_its_bursts():
    load = Rig(TINY, MemoryTiming(read_latency=5), [make(Opcode.LOAD, row_bytes=64)]).run(100, halt_at=12)
    assert load.cycles("load.write") == [9, 10, 11]
    assert load.load.busy() and not load.load.pending()
    rows = {"row_bytes": 2048, "row_stride": 2048, "rows": 2, "src_row_stride": 8}
    store = Rig(TINY, MemoryTiming(), stores=[make(Opcode.STORE, **rows)]).run(600, halt_at=4)
    assert len(store.cycles("port.aw")) == 2  # put in 2 and 3: the first row's two bursts
    assert len(store.cycles("port.w")) == 512
    assert not store.store.pending()
    last = Rig(TINY, MemoryTiming(), stores=[make(Opcode.STORE, row_bytes=16)]).run(100, halt_at=4)
    assert len(last.cycles("port.w")) == 4 and not last.store.pending()
    assert not last.cycles("store.retire")  # all is written, but nothing is signalled any more


def test_port_keeps_a_shown_choice_and_prefers_fetch_then_load_then_weights():
    trace = TraceWriter(TINY, 64)
    requesters = [Silent() for _ in range(3)]
    for number, requester in enumerate(requesters):
        requester.address, requester.length = 4096 * number, 0
    store = Silent()
    store.w_valid = False
    port = Port(TINY, trace, *requesters, store)
    mem = MemoryAgent(MemoryTiming(), MemoryImage(), TINY.mem_bytes)
    chosen = []
    for valid, ready in (((0, 0, 1), 0), ((1, 1, 1), 0), ((1, 1, 1), 1), ((1, 1, 0), 1), ((0, 1, 0), 1)):
        for requester, value in zip(requesters, valid, strict=True):
            requester.valid = bool(value)
        mem.arready = bool(ready)
        port.select(mem, False, False)
        chosen.append((port.ar[0], port.ar_id))
    assert chosen == [(2, -1), (2, -1), (2, 2), (0, 0), (1, 1)]


def test_zero_rows_go_onto_the_list_without_a_burst_and_give_one_zero_word():
    bursts, gearbox = RowBursts(4, 1), Gearbox(4, 8)
    words, generated = [], 0
    for _ in range(12):
        front = bursts.rows[0] if bursts.rows else None
        if gearbox.valid:
            words.append((gearbox.data, gearbox.bytes, gearbox.last, gearbox.meta))
        bursts.advance(True, False, False)
        if not bursts.row_valid and generated < 3:
            bursts.put(0, 6, True, generated)
            generated += 1
        if gearbox.step(front, None, gearbox.valid):
            bursts.rows.popleft()
    assert words == [(bytes(8), 6, True, number) for number in range(3)]
    assert bursts.inflight == 0
