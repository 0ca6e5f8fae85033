# SPDX-License-Identifier: Apache-2.0
"""The weights engine alone: what lands in the FIFO, and when, against the formulas of docs/timing.md."""

from types import SimpleNamespace

import numpy as np
import pytest

from beatmatch.config import Config
from beatmatch.isa import Error, Opcode, make
from beatmatch.stations.control import ISSUE, LAST
from beatmatch.stations.weight_fifo import WeightFifo
from beatmatch.stations.weights import Weights
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

SHAPES = [(4, 4, 32), (8, 8, 64), (4, 16, 32), (16, 4, 256), (8, 8, 256)]
SLOTS = ("issue", "retire", "sp_read", "fifo_write")
BASE = 1 << 20


class Unit:
    """The station with a memory that answers after `latency` cycles; events are (cycle, header) by slot."""

    def __init__(self, rows=4, cols=4, mem_bits=32, latency=5, **sizes):
        options = {"rows": rows, "cols": cols, "mem_bits": mem_bits, "sp_words": 256, "fifo_tiles": 4} | sizes
        self.config = config = Config(**options)
        self.trace = TraceWriter(config, 1)
        rng = np.random.default_rng(rows * cols)
        self.image = rng.integers(-128, 128, 1 << 16).astype(np.int8)
        self.words = rng.integers(0, 256, (config.sp_words, config.lanes)).astype(np.uint8)
        self.scratchpad = SimpleNamespace(weights_data=self.words[0])
        self.fifo = WeightFifo(config)
        bases, sizes = [BASE] * 15 + [BASE + 1], [1 << 16] * 16
        self.weights = Weights(config, self.trace, bases, sizes, self.scratchpad, self.fifo)
        self.offsets = {name: self.trace.offset("weights", name) for name in SLOTS}
        self.events = {name: [] for name in SLOTS}
        self.queue, self.beats, self.bursts, self.errors, self.tiles = [], [], [], [], []
        self.latency, self.cycle, self.seq = latency, 0, 0

    def push(self, opcode, **fields):
        defaults = {"k_rows": self.config.rows, "n_lanes": self.config.cols}
        self.queue.append((self.seq, make(opcode, **defaults | fields)))
        self.seq += 1

    def step(self, granted=True, sp_granted=True, drain=True, halt=False):
        weights, fifo, size = self.weights, self.fifo, self.config.mem_bytes
        head = self.queue[0] if self.queue else None
        request = weights.wait_request(head)
        granted = granted and request >= 0 and not halt
        bursts = weights.bursts
        if bursts.valid:
            self.bursts.append((self.cycle, bursts.address, bursts.length))
            for i in range(bursts.length + 1):
                start = bursts.address - BASE + i * size
                data = self.image[start : start + size].tobytes()
                beat = SimpleNamespace(rdata=data, rresp=0, rlast=i == bursts.length)
                self.beats.append((self.cycle + self.latency, beat))
        beat = None
        if self.beats and self.beats[0][0] <= self.cycle and weights.read_ready(False, halt):
            beat = self.beats.pop(0)[1]
        word = weights.sp_request
        sp_granted = sp_granted and word >= 0
        weights.step(head, granted, halt, sp_granted, bursts.valid, beat)
        if weights.error:
            self.errors.append((self.cycle, *weights.error))
        for name, offset in self.offsets.items():
            if self.trace.words[offset]:
                self.events[name].append((self.cycle, self.trace.words[offset] ^ VALID))
        self.trace.array[:] = 0
        fifo.commit()
        if drain and fifo.count:  # the array takes a tile in no time
            self.tiles.append(fifo.memory[len(self.tiles) % self.config.fifo_tiles].copy())
            fifo.begin()
            fifo.release()
        if sp_granted:
            self.scratchpad.weights_data = self.words[word]
        if granted and request & ISSUE:
            self.queue.pop(0)
        self.cycle += 1

    def run(self, limit=20000, **options):
        """To the end of everything."""
        while self.queue or self.weights.busy():
            assert self.cycle < limit
            self.step(**options)


@pytest.mark.parametrize(("rows", "cols", "mem_bits"), SHAPES)
@pytest.mark.parametrize("packed", [0, 1])
def test_tiles_from_memory(rows, cols, mem_bits, packed):
    unit = Unit(rows, cols, mem_bits)
    align = unit.config.mem_bytes
    k_rows, lanes = (rows, cols) if packed else (rows - 1, cols - 3)
    row, inner, outer, offset = 3 * align * cols, align * 5, align * 7, 2 * align
    unit.push(
        Opcode.WEIGHTS_MEM, offset=offset, inner=3, outer=2, row_stride=row, inner_stride=inner, outer_stride=outer,
        packed=packed, k_rows=k_rows, n_lanes=lanes,
    )  # fmt: skip
    unit.run()
    expected = []
    for o in range(2):
        for i in range(3):
            start = offset + o * outer + i * inner
            if packed:
                tile = unit.image[start : start + rows * cols].reshape(rows, cols)
            else:
                tile = np.zeros((rows, cols), np.int8)
                for r in range(rows if i < 2 else k_rows):
                    tile[r, :lanes] = unit.image[start + r * row : start + r * row + lanes]
            expected.append(tile)
    assert np.array_equal(unit.tiles, expected)
    assert not unit.errors and len(unit.events["fifo_write"]) == 6 * rows
    last, _ = unit.events["fifo_write"][-1]
    assert unit.events["retire"] == [(last + 1, 1 << 16 | LAST)]


@pytest.mark.parametrize(("rows", "cols", "mem_bits"), SHAPES)
def test_tiles_from_the_scratchpad(rows, cols, mem_bits):
    unit = Unit(rows, cols, mem_bits)
    operands = unit.words.view(np.int8).reshape(-1, cols)
    unit.push(
        Opcode.WEIGHTS_SP, src=11, inner=2, outer=5, row_stride=2, inner_stride=37, outer_stride=5, src_ring=1,
        k_rows=rows - 2, n_lanes=cols - 1,
    )  # fmt: skip
    unit.run()
    expected = np.zeros((10, rows, cols), np.int8)
    for t in range(10):
        for r in range(rows - 2 if t % 2 else rows):
            expected[t, r, : cols - 1] = operands[11 + (t // 2 % 2) * 5 + t % 2 * 37 + 2 * r, : cols - 1]
    assert np.array_equal(unit.tiles, expected)
    zero_rows = 5 * 2
    assert len(unit.events["sp_read"]) == 10 * rows - zero_rows
    writes = [cycle for cycle, _ in unit.events["fifo_write"]]
    assert writes == list(range(3, 3 + 10 * rows))  # issue 0, generated 1, request 2, data 3


def test_the_cycles_of_a_tile_from_memory():
    """4 x 4, one beat per row: row register 2, AR 3, beat 3 + latency, FIFO one later, signal one later."""
    unit = Unit(latency=9)
    unit.push(Opcode.WEIGHTS_MEM, row_stride=4, sig1_en=1, sig1_id=9)
    signals = {}
    for _ in range(25):
        signals[unit.cycle] = unit.weights.signal
        unit.step()
    assert unit.events["issue"] == [(0, LAST)]
    assert unit.bursts == [(3 + r, BASE + 4 * r, 0) for r in range(4)]
    assert unit.events["fifo_write"] == [(3 + 9 + 1 + r, r) for r in range(4)]
    assert unit.events["retire"] == [(17, LAST)]
    assert {cycle: value for cycle, value in signals.items() if value} == {17: 1 << 6 | 9 << 7}


def test_a_row_waits_for_its_read():
    unit = Unit()
    unit.push(Opcode.WEIGHTS_SP, row_stride=1)
    while unit.weights.sp_request < 0:
        unit.step(sp_granted=False)
    for _ in range(7):
        unit.step(sp_granted=False)
    assert unit.weights.sp_request == 0 and not unit.events["fifo_write"]
    granted = unit.cycle
    unit.run()
    assert [cycle for cycle, _ in unit.events["sp_read"]] == [granted + 1 + r for r in range(4)]


def test_the_sources_never_overlap():
    unit = Unit(latency=12)
    for _ in range(2):
        unit.push(Opcode.WEIGHTS_MEM, row_stride=4)
        unit.push(Opcode.WEIGHTS_SP, row_stride=1)
    unit.run()
    memory = unit.image[:16].reshape(4, 4)
    local = unit.words.view(np.int8)[:4]
    assert np.array_equal(unit.tiles, [memory, local, memory, local])
    mem_done = unit.events["fifo_write"][3][0]
    # the first scratchpad row: the list is empty and the word register free from the cycle after the write on
    assert unit.events["sp_read"][0][0] == mem_done + 1 + 2


def test_slots_hold_back_the_first_row_of_a_tile():
    unit = Unit(fifo_tiles=2)
    unit.push(Opcode.WEIGHTS_SP, inner=4, row_stride=1)
    for _ in range(30):
        unit.step(drain=False)
    assert unit.fifo.reserved == unit.fifo.count == 2 and len(unit.events["fifo_write"]) == 8
    assert unit.weights.stuck(None, False) == 0
    unit.fifo.begin()  # a tile is being shifted: its slot will be free, so nothing is stuck
    assert unit.weights.stuck(None, False) == -1
    unit.fifo.release()
    freed = unit.cycle
    for _ in range(10):
        unit.step(drain=False)
    assert [cycle for cycle, _ in unit.events["fifo_write"][8:]] == [freed + 2 + r for r in range(4)]


def test_each_waits_per_iteration():
    unit = Unit()
    unit.push(Opcode.WEIGHTS_SP, row_stride=1, each=1, outer=3)
    unit.step()
    for _ in range(20):
        unit.step(granted=False)
    assert len(unit.events["fifo_write"]) == 4
    assert unit.weights.stuck(None, False) == 0 and unit.weights.stuck(None, True) == -1
    again = unit.cycle
    unit.run()
    assert [cycle for cycle, _ in unit.events["issue"]] == [0, again, again + 5]  # the request register is empty again
    assert [header for _, header in unit.events["retire"]] == [0, 1 << 16, 2 << 16 | LAST]


@pytest.mark.parametrize(
    ("opcode", "fields", "error"),
    [
        (Opcode.WEIGHTS_MEM, {"row_stride": 2}, Error.UNALIGNED),
        (Opcode.WEIGHTS_MEM, {"base": 15}, Error.UNALIGNED),
        (Opcode.WEIGHTS_MEM, {"offset": (1 << 16) - 4, "row_stride": 4}, Error.WINDOW),
        (Opcode.WEIGHTS_SP, {"src": 255, "row_stride": 1}, Error.LOCAL_RANGE),
    ],
)
def test_errors(opcode, fields, error):
    unit = Unit()
    unit.push(opcode, **fields)
    for _ in range(40):
        unit.step(halt=bool(unit.errors))
    at = 1 if fields.get("base") else 2
    assert unit.errors == [(at, int(error), 0)]
    assert not unit.events["retire"]
    assert not unit.weights.pending()


@pytest.mark.parametrize("opcode", [Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP])
def test_zero_rows_are_not_checked(opcode):
    unit = Unit()
    last = {"offset": (1 << 16) - 4} if opcode == Opcode.WEIGHTS_MEM else {"src": 255}
    unit.push(opcode, k_rows=1, row_stride=3, **last)
    unit.run()
    assert not unit.errors and not unit.tiles[0][1:].any()


def test_halt_drops_what_arrives():
    unit = Unit(latency=20)
    unit.push(Opcode.WEIGHTS_MEM, row_stride=4)
    for _ in range(8):
        unit.step()
    while unit.weights.pending():
        unit.step(halt=True)
    assert not unit.events["fifo_write"] and not unit.events["retire"]
