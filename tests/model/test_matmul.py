# SPDX-License-Identifier: Apache-2.0
"""The matrix unit alone: its values against plain int64, its cycles against the formulas of docs/timing.md."""

import numpy as np
import pytest

from beatmatch.config import Config
from beatmatch.isa import Error, Opcode, make
from beatmatch.stations.matmul import ISSUE, LAST, PAD, SWAP, Matmul
from beatmatch.stations.scratchpad import Scratchpad
from beatmatch.stations.weight_fifo import WeightFifo
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

SHAPES = [(4, 4), (8, 8), (4, 16), (16, 4)]
SLOTS = ("issue", "retire", "sp_read", "row", "shift")


class Unit:
    """The station with an endless supply of grants and the given tiles; events are (cycle, header) by slot."""

    def __init__(self, rows=4, cols=4, seed=1):
        self.config = config = Config(rows=rows, cols=cols, sp_words=256, acc_rows=256, fifo_tiles=2)
        self.trace = TraceWriter(config, 1)
        self.scratchpad, self.fifo = Scratchpad(config), WeightFifo(config)
        self.rng = np.random.default_rng(seed)
        self.scratchpad.memory[:] = self.rng.integers(0, 256, self.scratchpad.memory.shape)
        self.matmul = Matmul(config, self.trace, self.scratchpad, self.fifo)
        self.offsets = {name: self.trace.offset("matmul", name) for name in SLOTS}
        self.events = {name: [] for name in SLOTS}
        self.commits = []  # (cycle, row, add, sums)
        self.levels, self.errors, self.reads = [], [], []
        self.queue, self.tiles, self.written, self.cycle, self.seq = [], [], 0, 0, 0

    def push(self, **fields):
        fields.setdefault("k_lanes", self.config.rows)
        self.queue.append((self.seq, make(Opcode.MATMUL, **fields)))
        self.seq += 1

    def tile(self):
        """A random tile, which is in the FIFO as soon as there is a slot."""
        tile = self.rng.integers(-128, 128, (self.config.rows, self.config.cols)).astype(np.int8)
        self.tiles.append(tile)
        return tile

    def step(self, granted=True, halt=False):
        matmul, fifo = self.matmul, self.fifo
        head = self.queue[0] if self.queue else None
        request = matmul.wait_request(head)
        granted = granted and request >= 0 and not halt
        if matmul.sp_read >= 0:
            self.reads.append((self.cycle, matmul.sp_read))
        if matmul.acc_row >= 0:
            self.commits.append((self.cycle, matmul.acc_row, bool(matmul.acc_add), matmul.acc_data))
        self.levels.append(matmul.levels(head, granted))
        self.scratchpad.arbitrate(matmul.sp_read, -1, -1, -1, None, None)
        if self.tiles and fifo.reserved < self.config.fifo_tiles:
            fifo.memory[self.written % self.config.fifo_tiles] = self.tiles.pop(0)
            self.written += 1
            fifo.reserve()
            fifo.tile_done()
        matmul.step(head, granted, halt)
        if matmul.error:
            self.errors.append((self.cycle, *matmul.error))
        for name, offset in self.offsets.items():
            if self.trace.words[offset]:
                self.events[name].append((self.cycle, self.trace.words[offset] ^ VALID))
        self.trace.array[:] = 0
        self.scratchpad.commit()
        if granted and request & ISSUE:
            self.queue.pop(0)
        self.cycle += 1

    def run(self, limit=20000):
        """To the end of everything."""
        while self.queue or self.matmul.busy():
            assert self.cycle < limit
            self.step()

    def operands(self, first, count):
        """Activation operands from the scratchpad, int64 [count, rows]."""
        operands = self.scratchpad.memory.view(np.int8).reshape(-1, self.config.rows)
        return operands[first : first + count].astype(np.int64)


@pytest.mark.parametrize(("rows", "cols"), SHAPES)
def test_one_row_takes_the_cycles_of_the_contract(rows, cols):
    unit = Unit(rows, cols)
    tile = unit.tile()
    for _ in range(rows + 3):
        unit.step()  # the tile is in the shadow registers
    unit.push(src=5, acc=7, sig0_en=1, sig0_id=3)
    issue = unit.cycle
    unit.run()
    generated = issue + 1
    edge = generated + 3
    commit = edge + rows + cols + 1
    assert unit.events["issue"] == [(issue, LAST)]
    assert unit.reads == [(generated + 1, 5 // unit.config.act_parts)]
    assert unit.events["sp_read"] == [(generated + 2, 5 // unit.config.act_parts)]
    assert unit.events["row"] == [(edge, 7 | SWAP)]
    [(cycle, row, add, sums)] = unit.commits
    assert (cycle, row, add) == (commit, 7, False)
    assert np.array_equal(sums, unit.operands(5, 1)[0] @ tile.astype(np.int64))
    assert unit.events["retire"] == [(commit + 1, LAST)]
    shifts = [cycle for cycle, _ in unit.events["shift"]]
    assert shifts == list(range(1, rows + 1)) and [header for _, header in unit.events["shift"]] == list(range(rows))
    assert unit.cycle == commit + 2


@pytest.mark.parametrize(("rows", "cols"), SHAPES)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 15, 16, 17, 40])
def test_the_tile_interval_is_the_larger_of_m_and_rows(rows, cols, m):
    unit = Unit(rows, cols)
    for _ in range(12):
        unit.tile()
    unit.push(x=m, kc=6)
    unit.push(x=m, kc=6)
    unit.run()
    starts = [cycle for cycle, header in unit.events["row"] if header & SWAP]
    assert len(starts) == 12
    assert set(np.diff(starts)) == {max(m, rows)}


@pytest.mark.parametrize("seed", range(25))
def test_values_are_those_of_plain_int64(seed):
    """Random shapes of the array, rows per tile, tiles, keep and accumulate, in one stream of instructions."""
    rng = np.random.default_rng(1000 + seed)
    unit = Unit(*SHAPES[seed % len(SHAPES)], seed=seed)
    operands = unit.config.sp_words * unit.config.act_parts
    expected, kept = [], np.zeros((unit.config.rows, unit.config.cols), np.int64)
    for _ in range(8):
        m, kc, outer = int(rng.integers(1, 20)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
        keep, accumulate = bool(rng.integers(2)), bool(rng.integers(2))
        src, step = int(rng.integers(operands - 200)), int(rng.integers(1, 20))
        acc, acc_step = int(rng.integers(100)), int(rng.integers(40))
        lanes = int(rng.integers(1, unit.config.rows + 1))
        unit.push(
            x=m, kc=kc, outer=outer, keep=keep, accumulate=accumulate, src=src, src_pitch_x=1, width=m,
            src_kc_stride=step, src_outer_stride=2 * step, acc=acc, acc_outer_stride=acc_step, k_lanes=lanes,
        )  # fmt: skip
        for o in range(outer):
            for k in range(kc):
                if not (keep and o == 0 and k == 0):
                    kept = unit.tile().astype(np.int64)
                rows = unit.operands(src + o * 2 * step + k * step, m)
                if k == kc - 1:
                    rows = np.where(np.arange(unit.config.rows) < lanes, rows, 0)
                add = accumulate or k > 0
                expected += [(acc + o * acc_step + i, add, rows[i] @ kept) for i in range(m)]
    unit.run()
    assert [(row, add) for _, row, add, _ in unit.commits] == [(row, add) for row, add, _ in expected]
    for (cycle, _, _, sums), (_, _, values) in zip(unit.commits, expected, strict=True):
        assert np.array_equal(sums, values), cycle
    edges = [cycle for cycle, _ in unit.events["row"]]
    latency = unit.config.rows + unit.config.cols + 1
    assert [cycle for cycle, *_ in unit.commits] == [cycle + latency for cycle in edges]


def test_instructions_follow_without_a_gap():
    unit = Unit()
    unit.tile()
    for _ in range(8):
        unit.step()
    for i in range(3):
        unit.push(x=3, keep=i > 0, acc=10 * i)
    unit.run()
    edges = [cycle for cycle, _ in unit.events["row"]]
    assert edges == list(range(edges[0], edges[0] + 9))
    assert [cycle for cycle, _ in unit.events["issue"]] == [edges[0] - 4, edges[0] - 1, edges[0] + 2]


def test_an_instruction_after_a_waiting_single_row_issues_one_cycle_later():
    unit = Unit()
    unit.push(keep=1, each=1, outer=2, accumulate=1, acc_outer_stride=1)
    unit.push(keep=1, acc=9)
    unit.tile()  # for the second iteration
    unit.run()
    (first, _), (second, wait), (next_issue, _) = unit.events["issue"]
    assert wait == 1 << 16 | LAST and next_issue == second + 1 > first


def test_a_convolution_window_reads_padding_where_it_leaves_the_input():
    unit = Unit(8, 8)
    height, width, pad = 3, 4, -7
    tiles = [unit.tile().astype(np.int64) for _ in range(9)]
    unit.push(
        x=width, y=height, kx=3, ky=3, pad_left=1, pad_top=1, width=width, height=height, src_pitch_x=1,
        src_pitch_y=width, pad_value=pad, src=20, acc=1,
    )  # fmt: skip
    unit.run()
    image = np.full((height + 2, width + 2, 8), pad, np.int64)
    image[1:-1, 1:-1] = unit.operands(20, height * width).reshape(height, width, 8)
    sums = np.zeros((height * width, 8), np.int64)
    for _, row, add, values in unit.commits:
        sums[row - 1] = sums[row - 1] + values if add else values
    windows = [image[ky : ky + height, kx : kx + width].reshape(-1, 8) for ky in range(3) for kx in range(3)]
    assert np.array_equal(sums, sum(window @ tile for window, tile in zip(windows, tiles, strict=True)))
    pads = [bool(header & PAD) for _, header in unit.events["row"]]
    inside = [(height - abs(ky - 1)) * (width - abs(kx - 1)) for ky in range(3) for kx in range(3)]
    assert pads[:4] == [True] * 4 and pads.count(False) == sum(inside)
    assert len(unit.reads) == pads.count(False)


@pytest.mark.parametrize(
    ("fields", "legal"),
    [
        ({"src": 255}, True), ({"src": 256}, False), ({"acc": 255}, True), ({"acc": 256}, False),
        ({"src": 254, "x": 3, "src_pitch_x": 1, "width": 2}, True),  # the third row is padding
        ({"src": 254, "x": 3, "src_pitch_x": 1, "width": 3}, False),
    ],
)  # fmt: skip
def test_range_check(fields, legal):
    unit = Unit()
    unit.push(keep=1, **fields)
    for _ in range(30):
        unit.step(halt=bool(unit.errors))
    if legal:
        assert not unit.errors and unit.events["retire"]
    else:
        rows_before = fields.get("x", 1) - 1
        assert unit.errors == [(1 + rows_before, int(Error.LOCAL_RANGE), 0)]
        assert len(unit.commits) == rows_before and not unit.events["retire"]


def test_the_category_of_a_cycle():
    """Nothing to shift: stall; a tile on its way: shift; rows: active; a semaphore: wait."""
    unit = Unit(4, 4)
    unit.push(each=1, outer=2, n_lanes=3, k_lanes=2)
    for _ in range(3):
        unit.step()
    assert [level[1:3] for level in unit.levels] == [(False, False), (False, True), (False, True)]
    unit.tile()
    unit.step()  # the tile's last row is written: still a stall
    unit.step()  # F: complete, not begun
    unit.step()
    assert [level[1:3] for level in unit.levels[3:5]] == [(False, True), (True, False)]
    active = next(i for i in range(100) if not unit.step(granted=False) and unit.levels[-1][0])
    assert active < 5 and unit.levels[-1] == (True, False, False, False, 6)
    unit.step(granted=False)
    assert unit.levels[-1][2]  # no tile for the second iteration
    unit.tile()
    for _ in range(8):
        unit.step(granted=False)
    assert unit.levels[-1] == (False, False, False, True, 0)
