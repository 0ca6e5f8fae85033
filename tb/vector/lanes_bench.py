# SPDX-License-Identifier: Apache-2.0
"""The arithmetic pipeline of the vector engine against beatmatch.numerics: random and corner values, every shift.

Run by tests/sim/test_vector.py on bm_vector_pipeline. Every lane has parameters of its own, and every row is one
vector per lane; a batch keeps parameters and operation, as an outer iteration does.
"""

import os

import cocotb
import numpy as np

from beatmatch import numerics
from tb.pins import Mismatch, Pins

INPUTS = (
    "rst_ni", "add_i", "max_i", "raw_i", "zero_point_i", "clip_low_i", "clip_high_i", "params_i", "multiplier_b_i",
    "data_valid_i", "data_first_i", "data_last_i", "data_end_i", "data_dst_i", "a_i", "b_i",
)  # fmt: skip
OUTPUTS = ("biased_valid_o", "product_valid_o", "scaled_valid_o", "scaled_end_o", "scaled_dst_o", "result_o")
LEAST, GREATEST = -(1 << 31), (1 << 31) - 1
ROWS = 64
"""Elements of a batch."""
LATENCY = 3
"""Cycles from the data stage to the scaled stage."""


def int32(rng: np.random.Generator, shape) -> np.ndarray:
    """Random int32: all of the range, corners, small values and values of every length."""
    corners = rng.choice(np.array([LEAST, LEAST + 1, GREATEST, GREATEST - 1, -1, 0, 1]), shape)
    lengths = rng.integers(LEAST, GREATEST + 1, shape) >> rng.integers(0, 32, shape)
    return np.choose(rng.integers(0, 3, shape), [corners, lengths, rng.integers(-300, 300, shape)])


def multipliers(rng: np.random.Generator, cols: int) -> np.ndarray:
    powers = 1 << rng.integers(0, 24, cols)
    corners = rng.choice(np.array([0, 1, 3, (1 << 24) - 1, 1 << 23]), cols)
    return np.choose(rng.integers(0, 3, cols), [powers, corners, rng.integers(0, 1 << 24, cols)])


def packed(values: np.ndarray, kind: str) -> int:
    return int.from_bytes(np.ascontiguousarray(values).astype(kind).tobytes(), "little")


def three_bytes(values: np.ndarray) -> int:
    return int.from_bytes(values.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes(), "little")


class Batch:
    """Stimulus of one batch and, from numerics, the rows that must come out."""

    def __init__(self, rng: np.random.Generator, cols: int, number: int) -> None:
        self.kind = ("requant", "add", "max", "sum")[number % 4]
        self.raw = rng.random() < 0.2
        self.zero_point, low, high = (int(v) for v in rng.integers(-128, 128, 3))
        self.low, self.high = (low, high) if rng.random() < 0.5 else (-128, 127)
        self.bias = int32(rng, cols)
        self.ma, self.mb = multipliers(rng, cols), multipliers(rng, cols)
        self.shift = (np.arange(cols) + number * cols // 4) % 64 if rng.random() < 0.5 else rng.integers(0, 40, cols)
        self.a, self.b = int32(rng, (ROWS, cols)), rng.integers(-128, 128, (ROWS, cols))
        if self.kind in ("max", "sum"):
            self.last = rng.random(ROWS) < 0.4
            self.last[-1] = True
        else:
            self.last = np.ones(ROWS, dtype=bool)
        self.first = np.concatenate(([True], self.last[:-1]))
        self.gap = rng.random(ROWS) < rng.choice((0.0, 0.3))

    def windows(self) -> np.ndarray:
        """The reduced rows, int64 [results, cols]."""
        if self.kind in ("requant", "add"):
            return self.a
        pool = numerics.pool_max if self.kind == "max" else numerics.pool_sum
        ends = np.flatnonzero(self.last) + 1
        groups = np.split(self.a, ends[:-1])
        return np.stack([pool(group, np.ones(len(group), dtype=bool)) for group in groups])

    def expected(self) -> np.ndarray:
        """The results, int64 [results, cols]."""
        a = self.windows()
        if self.kind == "add":
            if self.raw:
                return numerics.add_raw(a, self.b, self.bias, self.ma, self.mb)
            return numerics.add(
                a, self.b, self.bias, self.ma, self.mb, self.shift, self.zero_point, self.low, self.high
            )
        if self.raw:
            return numerics.requantise_raw(a, self.bias)
        return numerics.requantise(a, self.bias, self.ma, self.shift, self.zero_point, self.low, self.high)


@cocotb.test()
async def lanes(dut):
    """Every result of every lane."""
    vectors, seed = int(os.environ["VECTORS"]), int(os.environ["COCOTB_RANDOM_SEED"])
    rng = np.random.default_rng(seed)
    cols = len(dut.b_i) // 8
    pins = Pins(dut, INPUTS, OUTPUTS)
    await pins.start()
    await pins.next()
    pins.drive(rst_ni=1)

    checked = number = 0
    while checked < vectors:
        batch = Batch(rng, cols, number)
        number += 1
        noise = int(rng.integers(0, 4)) << 62  # the two bits of a channel that mean nothing
        row = int.from_bytes(numerics.pack_parameters(batch.bias, batch.ma, batch.shift), "little") | noise
        pins.drive(
            add_i=batch.kind == "add", max_i=batch.kind == "max", raw_i=batch.raw, zero_point_i=batch.zero_point & 255,
            clip_low_i=batch.low & 255, clip_high_i=batch.high & 255, params_i=row,
            multiplier_b_i=three_bytes(batch.mb),
        )  # fmt: skip
        if not batch.raw:
            checked += int(batch.last.sum()) * cols
        results = iter(batch.expected())
        due: list[int] = []  # cycles in which a row must stand in the scaled stage
        element = 0
        while element < ROWS or due:
            if element < ROWS and not batch.gap[element]:
                pins.drive(
                    data_valid_i=1, data_first_i=batch.first[element], data_last_i=batch.last[element],
                    a_i=packed(batch.a[element], "<i4"), b_i=packed(batch.b[element], "<i1"),
                )  # fmt: skip
                if batch.last[element]:
                    due.append(pins.cycle + LATENCY)
                element += 1
            else:
                pins.drive(data_valid_i=0)
                if element < ROWS:
                    batch.gap[element] = False
            await pins.settle()
            valid = bool(due) and due[0] == pins.cycle
            pins.compare(f"seed {seed}", scaled_valid_o=int(valid))
            if valid:
                due.pop(0)
                check(int(dut.result_o.value), next(results), batch, f"seed {seed}, batch {number}")
            await pins.next()


def check(seen: int, expected: np.ndarray, batch: Batch, hint: str) -> None:
    """Compare one row; int8 results are the low bytes."""
    got = np.frombuffer(seen.to_bytes(4 * len(expected), "little"), dtype="<i4").astype(np.int64)
    if not batch.raw:
        got = (got & 255 ^ 128) - 128
    if not (got == expected).all():
        lane = int(np.flatnonzero(got != expected)[0])
        raise Mismatch(
            f"lane {lane} ({batch.kind}, raw {batch.raw}): {got[lane]}, numerics has {expected[lane]}; bias "
            f"{batch.bias[lane]}, ma {batch.ma[lane]}, mb {batch.mb[lane]}, shift {batch.shift[lane]}; {hint}"
        )
