# SPDX-License-Identifier: Apache-2.0
"""Facts of *Vector* in docs/timing.md, on the model: addresses, latencies, values, errors."""

import itertools
import random

import numpy as np
import pytest

from beatmatch import numerics
from beatmatch.config import Config
from beatmatch.isa import Error, Format, Opcode, Space, make
from beatmatch.stations import vector_elements
from beatmatch.stations.vector import Vector
from beatmatch.stations.vector_elements import Elements
from beatmatch.stations.vector_lanes import Lanes
from beatmatch.stations.writer import TraceWriter

CONFIG = Config(16, 8, 64, 2, 64, 2, param_rows=8)  # words of 16 bytes: two column operands
FULL = {"clip_low": -128, "clip_high": 127}
ACCUMULATOR = {"src_space": Space.ACCUMULATOR, "src_format": Format.INT32}


class Run:
    """The engine with both memories; grants are given unless `refuse(cycle)` says no."""

    def __init__(self, refuse=lambda cycle: False, seed=1):
        self.vector = Vector(CONFIG, TraceWriter(CONFIG, 4096))
        rng = np.random.default_rng(seed)
        self.scratchpad = rng.integers(0, 256, (CONFIG.sp_words, CONFIG.lanes), dtype=np.uint8)
        self.accumulator = rng.integers(-(1 << 20), 1 << 20, (CONFIG.acc_rows, CONFIG.cols), dtype=np.int32)
        size = (CONFIG.param_rows, CONFIG.cols)
        bias, multiplier = rng.integers(-5000, 5000, size), rng.integers(1, 1 << 24, size)
        rows = numerics.pack_parameters(bias, multiplier, rng.integers(23, 36, size))
        self.vector.param_memory[:] = np.frombuffer(rows, dtype=np.uint8).reshape(self.vector.param_memory.shape)
        self.before = self.scratchpad.copy()
        self.refuse = refuse
        self.writes, self.reads, self.issues, self.retired = [], [], [], []
        self.errors = []
        self.waits = 0

    def __call__(self, *instructions, halt_at=None, cycles=400, wait_until=0):
        """Run instructions; `writes` becomes (cycle, word, part's first byte, data)."""
        vector, queue = self.vector, list(enumerate(instructions))
        sp_data, acc_data = self.scratchpad[0], self.accumulator[0]
        for cycle in range(cycles):
            head = queue[0] if queue else None
            halt = halt_at is not None and cycle >= halt_at
            wait = vector.wait_request(head)
            granted = wait >= 0 and not halt and cycle >= wait_until
            idle = not vector.busy()
            sp, acc = vector.sp_read, vector.acc_read
            refused = self.refuse(cycle)
            sp_granted, acc_granted = sp >= 0 and not refused, acc >= 0 and not refused
            if vector.write is not None:
                self.writes.append((cycle, vector.write[0], vector.write[1].start, vector.write[2].copy()))
            if vector.signal:
                self.retired.append(cycle)
            vector.step(head, granted, halt, sp_granted, acc_granted, sp_data, acc_data)
            if vector.error:
                self.errors.append((cycle, vector.error))
            if granted:
                self.issues.append(cycle)
                if wait >> 18:
                    queue.pop(0)
            if sp_granted:
                self.reads.append((cycle, sp))
                sp_data = self.scratchpad[sp].copy()
            if acc_granted:
                acc_data = self.accumulator[acc].copy()
            for _, word, start, data in self.writes[-1:]:
                self.scratchpad[word, start : start + CONFIG.cols] = data
            if idle and not queue and not vector.busy() and cycle > wait_until:
                break
        return self

    def operand(self, address, memory=None):
        """A column operand of the scratchpad as it was at the start, int64."""
        memory = self.before if memory is None else memory
        return memory.reshape(-1, CONFIG.cols)[address].view(np.int8).astype(np.int64)

    def result(self, address):
        return self.operand(address, self.scratchpad)

    def parameters(self, row):
        return numerics.unpack_parameters(self.vector.param_memory.reshape(CONFIG.param_rows, -1)[row])


def cycles(run):
    return [write[0] for write in run.writes]


# ----- time -----


def test_first_write_is_eight_cycles_after_issue_then_one_per_cycle():
    run = Run()(make(Opcode.REQUANT, x=4, src_pitch_x=1, dst=64, dst_pitch=1, sig0_en=1))
    assert run.issues == [0]
    assert cycles(run) == [8, 9, 10, 11]
    assert run.retired == [12]


def test_two_parameter_rows_cost_a_cycle_more_and_two_operands_of_the_scratchpad_a_cycle_each():
    plain = Run()(make(Opcode.ADD, x=3, src_pitch_x=1, src2=8, dst=64, dst_pitch=1))
    assert cycles(plain) == [9, 11, 13]
    assert [word for _, word in plain.reads] == [0, 4, 0, 4, 1, 5]
    rows = Run()(make(Opcode.ADD, x=3, src_pitch_x=1, src2=8, dst=64, dst_pitch=1, param_mode=1, **ACCUMULATOR))
    assert cycles(rows) == [9, 10, 11]


def test_a_window_takes_an_element_per_cycle_padding_included():
    run = Run()(make(Opcode.MAXPOOL, x=2, kx=2, ky=2, pad_top=1, width=8, height=8, dst=64, dst_pitch=1, src_pitch_x=1))
    assert cycles(run) == [8 + 3, 8 + 7]
    assert len(run.reads) == 4


def test_iterations_begin_when_the_pipeline_is_empty():
    run = Run()(make(Opcode.REQUANT, x=2, outer=2, src_pitch_x=1, dst=64, dst_pitch=1))
    assert cycles(run) == [8, 9, 17, 18]  # parameter cycle in 10, elements from 11 on
    each = Run()(make(Opcode.REQUANT, x=2, outer=2, each=1, src_pitch_x=1, dst=64, dst_pitch=1, sig0_en=1))
    assert each.issues == [0, 4]  # the cycle after the last element, generated in 3
    assert cycles(each) == [8, 9, 17, 18]
    assert each.retired == [10, 19]


def test_the_next_instruction_issues_behind_the_last_element_and_waits_for_an_empty_pipeline():
    one = make(Opcode.REQUANT, x=2, src_pitch_x=1, dst=64, dst_pitch=1)
    run = Run()(one, one)
    assert run.issues == [0, 4]
    assert cycles(run) == [8, 9, 17, 18]


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(8))
def test_int32_rows_are_four_cycles_apart_or_more_whatever_their_reads_wait_for(window, seed):
    rng = random.Random(seed)
    late = {cycle for cycle in range(400) if rng.random() < 0.5}
    pool = {"kx": window, "width": 500, "height": 1, "src_pitch_x": 1, "dst_pitch": 4, "dst": 64}
    run = Run(refuse=lambda cycle: cycle in late)(
        make(Opcode.AVGPOOL, x=6, dst_format=Format.INT32, **pool, **ACCUMULATOR)
    )
    first = cycles(run)[::4]
    assert cycles(run) == [cycle + chunk for cycle in first for chunk in range(4)]
    assert all(later - earlier >= 4 for earlier, later in itertools.pairwise(first))
    steady = cycles(Run()(make(Opcode.AVGPOOL, x=6, dst_format=Format.INT32, **pool, **ACCUMULATOR)))[::4]
    assert {later - earlier for earlier, later in itertools.pairwise(steady)} == {max(4, window)}


def test_halt_finishes_what_was_generated_and_gives_no_signal():
    run = Run()(make(Opcode.REQUANT, x=8, src_pitch_x=1, dst=64, dst_pitch=1, sig0_en=1), halt_at=4)
    assert cycles(run) == [8, 9]  # generated in 2 and 3
    assert run.retired == []
    assert run.vector.busy() and not run.vector.pending()


# ----- errors -----


@pytest.mark.parametrize(
    ("change", "cycle"),
    [
        ({"dst": 127}, 3),
        ({"dst": 124, "dst_format": Format.INT32, "dst_pitch": 4}, 6),  # rows of four chunks: generated in 2 and 6
        ({"src": 127}, 3),
        ({"src": 63, **ACCUMULATOR}, 3),
        ({"param_mode": 1, "param": 8}, 1),
        ({"param_mode": 2, "param": 7, "outer": 2, "dst_outer_stride": 1}, 10),  # rows written in 8 and 9
    ],
)
def test_range_errors_are_raised_where_the_element_or_row_would_be(change, cycle):
    fields = {"x": 2, "src_pitch_x": 1, "dst": 64, "dst_pitch": 1} | change
    run = Run()(make(Opcode.REQUANT, **fields), cycles=40)
    assert run.errors[0] == (cycle, (Error.LOCAL_RANGE, 0))


def test_the_second_parameter_row_is_checked_when_it_is_read():
    run = Run()(make(Opcode.ADD, x=2, src_pitch_x=1, dst=64, dst_pitch=1, param_mode=1, param=7), cycles=6)
    assert run.errors[0] == (2, (Error.LOCAL_RANGE, 0))
    assert not run.reads


def test_stuck_names_the_instruction_that_waits():
    vector = Vector(CONFIG, TraceWriter(CONFIG, 16))
    head = (7, make(Opcode.REQUANT))
    assert vector.stuck(None, False) == -1
    assert vector.stuck(head, True) == -1
    assert vector.stuck(head, False) == 7


# ----- values -----


def test_requantise_values():
    run = Run()(make(Opcode.REQUANT, x=5, src=3, src_pitch_x=2, dst=64, dst_pitch=1, param_mode=1, param=2,
                     zero_point=-3, clip_low=-90, clip_high=127, **ACCUMULATOR))  # fmt: skip
    expected = numerics.requantise(run.accumulator[3:13:2], *run.parameters(2), -3, -90, 127)
    assert [run.result(64 + i).tolist() for i in range(5)] == expected.tolist()


def test_add_values_take_the_second_multiplier_from_the_next_row():
    run = Run()(make(Opcode.ADD, x=4, src_pitch_x=1, src2=20, dst=64, dst_pitch=1, param_mode=1, param=2, **FULL))
    bias, ma, shift = run.parameters(2)
    mb = run.parameters(3)[1]
    for i in range(4):
        expected = numerics.add(run.operand(i), run.operand(20 + i), bias, ma, mb, shift)
        assert run.result(64 + i).tolist() == expected.tolist()


@pytest.mark.parametrize("opcode", [Opcode.MAXPOOL, Opcode.AVGPOOL])
def test_pool_values_skip_padding(opcode):
    fields = {"kx": 3, "ky": 2, "stride_x": 2, "stride_y": 3, "pad_left": 2, "pad_top": 1, "width": 5, "height": 4}
    run = Run()(make(opcode, x=3, y=2, src=4, src_pitch_x=1, src_pitch_y=5, dst=90, dst_pitch=1, **fields, **FULL))
    rule = numerics.pool_max if opcode is Opcode.MAXPOOL else numerics.pool_sum
    for y in range(2):
        for x in range(3):
            places = [(y * 3 + wy - 1, x * 2 + wx - 2) for wy in range(2) for wx in range(3)]
            inside = [0 <= iy < 4 and 0 <= ix < 5 for iy, ix in places]
            window = [run.operand(4 + iy * 5 + ix if ok else 0) for (iy, ix), ok in zip(places, inside, strict=True)]
            expected = np.clip(rule(np.array(window), inside), -128, 127)
            assert run.result(90 + y * 3 + x).tolist() == expected.tolist()


def test_raw_rows_are_four_operands_little_endian():
    run = Run()(make(Opcode.REQUANT, x=2, src_pitch_x=1, dst=64, dst_pitch=4, dst_format=Format.INT32, param_mode=1,
                     **ACCUMULATOR))  # fmt: skip
    expected = numerics.requantise_raw(run.accumulator[:2], run.parameters(0)[0])
    assert run.scratchpad.reshape(-1, 8)[64:72].tobytes() == expected.astype("<i4").tobytes()


@pytest.mark.parametrize("rows", [1, 3, 4])
def test_lanes_are_numerics_for_all_shifts_and_corners(rows):
    """The prepared form of the rounding rule against the stated one."""
    cols = 64
    rng = np.random.default_rng(rows)
    corners = np.array([-(1 << 31), (1 << 31) - 1, 0, 1, -1, 2, 3, 1 << 30])
    for trial in range(60):
        opcode = (Opcode.REQUANT, Opcode.ADD)[trial % 2]
        small = trial % 4 >= 2
        limit = 200 if small else 1 << 31
        lanes = Lanes(cols)
        fields = {"zero_point": int(rng.integers(-128, 128)), "clip_low": -100, "clip_high": 101}
        lanes.begin(make(opcode, **fields, **ACCUMULATOR))
        bias, shift = rng.integers(-limit, limit, cols), np.arange(cols)
        if small:
            shift = shift % 9
        ma, mb = (rng.integers(0, 8 if small else 1 << 24, cols) for _ in range(2))
        lanes.set_parameters(np.frombuffer(numerics.pack_parameters(bias, ma, shift), dtype=np.uint8))
        lanes.set_second_parameters(np.frombuffer(numerics.pack_parameters(bias, mb, shift), dtype=np.uint8))
        a = rng.integers(-limit, limit, (rows, cols))
        if not small:
            a = np.where(rng.random(a.shape) < 0.5, a, rng.choice(corners, a.shape))
        b = rng.integers(-128, 128, (rows, cols))
        slots = [lanes.reduce(a[i], True, True, b[i]) for i in range(rows)]
        lanes.finish(slots[0])
        got = [lanes.bytes[slot].view(np.int8).tolist() for slot in slots]
        if opcode is Opcode.ADD:
            expected = numerics.add(a, b, bias, ma, mb, shift, *fields.values())
        else:
            expected = numerics.requantise(a, bias, ma, shift, *fields.values())
        assert got == expected.tolist()


# ----- addresses -----


def test_elements_are_the_same_in_blocks_of_any_size(monkeypatch):
    instruction = make(
        Opcode.AVGPOOL, x=7, y=5, kx=3, ky=2, stride_x=2, stride_y=1, pad_left=1, pad_top=1, width=13, height=5,
        outer=9, src=1, src_pitch_x=1, src_pitch_y=13, src_outer_stride=3, src_ring=2, dst=40, dst_pitch=1,
        dst_outer_stride=2,
    )  # fmt: skip

    def walk():
        elements = Elements(CONFIG)
        elements.begin(instruction, 6)
        rows = []
        for number in range(elements.total):
            if number == elements.stop:
                elements.block(number)
            i = number - elements.start
            rows.append((elements.source[i], elements.source_part[i], elements.destination[i], elements.first[i],
                         elements.last[i], elements.state[i], number == elements.bad))  # fmt: skip
        return rows

    whole = walk()
    monkeypatch.setattr(vector_elements, "BLOCK", 11)
    assert walk() == whole
    # element 9 by hand: row 1 (y 0, x 1), window place 3 (wy 1, wx 0): iy 0, ix 1
    source = 1 + 6 % 4 * 3 + 0 * 13 + 1
    assert whole[9][:6] == (source // 2, source % 2, 40 + 6 * 2 + 1, False, False, 7 + 9)


def test_elements_never_wrap_an_address():
    elements = Elements(CONFIG)
    elements.begin(make(Opcode.REQUANT, x=4095, y=511, outer=255, src_pitch_y=65535, dst_pitch=1023), 254)
    assert elements.bad == 1
    elements.block(elements.total - 1)
    assert elements.bad == elements.total - 1
    assert elements.destination[0] == (elements.total - 1) * 1023
