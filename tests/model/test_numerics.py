# SPDX-License-Identifier: Apache-2.0
"""The arithmetic rules against a second statement of them in Python's unbounded integers and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from beatmatch import numerics

INT32 = (-(1 << 31), (1 << 31) - 1)


def exact_round(value: int, shift: int) -> int:
    """Python's own rounding of a fraction, which is half to even."""
    return round(Fraction(value, 1 << shift))


def corner_values(rng: np.random.Generator) -> list[int]:
    edges = [0, 1, -1, 2, 3, -2, -3, (1 << 59) - 1, -(1 << 59)]
    for bit in range(1, 60):
        edges += [(1 << bit) - 1, 1 << bit, (1 << bit) + 1, -(1 << bit), (3 << bit) % (1 << 59)]
    edges = [v for v in edges if abs(v) <= 1 << 59]
    return edges + [int(v) for v in rng.integers(-(1 << 59), 1 << 59, 300)]


def test_round_half_even_is_the_fraction_rounding():
    rng = np.random.default_rng(1)
    values = np.array(corner_values(rng), dtype=np.int64)
    for shift in range(64):
        got = numerics.round_half_even(values, shift)
        assert [int(v) for v in got] == [exact_round(int(v), shift) for v in values], shift


def test_round_half_even_of_ties():
    assert numerics.round_half_even([-3, -1, 1, 3, 5], 1).tolist() == [-2, 0, 0, 2, 2]
    assert numerics.round_half_even([-6, -2, 2, 6], 2).tolist() == [-2, 0, 0, 2]


def test_requantise_and_add_are_exact():
    rng = np.random.default_rng(2)
    n = 3000
    corners = np.array([INT32[0], INT32[1], 0, -1, 1])
    a = np.where(rng.random(n) < 0.3, rng.choice(corners, n), rng.integers(INT32[0], INT32[1] + 1, n))
    bias = np.where(rng.random(n) < 0.3, rng.choice(corners, n), rng.integers(INT32[0], INT32[1] + 1, n))
    ma, mb = rng.integers(0, 1 << 24, n), rng.integers(0, 1 << 24, n)
    b = rng.integers(-128, 128, n)
    shift = rng.integers(0, 64, n)
    single = numerics.requantise(a, bias, ma, shift, 3, -100, 90)
    double = numerics.add(a, b, bias, ma, mb, shift, -4, -100, 90)
    raw, raw_add = numerics.requantise_raw(a, bias), numerics.add_raw(a, b, bias, ma, mb)
    for i in range(n):
        u = int(a[i]) + int(bias[i])
        v = int(a[i]) * int(ma[i]) + int(b[i]) * int(mb[i]) + int(bias[i])
        assert single[i] == min(max(exact_round(u * int(ma[i]), int(shift[i])) + 3, -100), 90)
        assert double[i] == min(max(exact_round(v, int(shift[i])) - 4, -100), 90)
        assert raw[i] == (u + (1 << 31)) % (1 << 32) - (1 << 31)
        assert raw_add[i] == (v + (1 << 31)) % (1 << 32) - (1 << 31)


def test_crossed_clip_bounds_end_at_clip_high():
    assert numerics.clip(np.array([-5, 0, 9]), 4, -2).tolist() == [-2, -2, -2]


def test_pools_skip_padding():
    window = np.array([[5, -7], [9, -3]])
    assert numerics.pool_max(window, [True, False]).tolist() == [5, -7]
    assert numerics.pool_sum(window, [True, True]).tolist() == [14, -10]
    assert numerics.pool_max(window, [False, False]).tolist() == [-(1 << 31)] * 2
    assert numerics.pool_sum(np.array([[INT32[1]], [1]]), [True, True]).tolist() == [INT32[0]]


def test_accumulate_flags_signed_overflow():
    total, overflow = numerics.accumulate([INT32[1], INT32[0], 5], [1, -1, -6])
    assert total.tolist() == [INT32[0], INT32[1], -1]
    assert overflow.tolist() == [True, True, False]


def test_multiply_accumulate_wraps():
    ones = np.full((1, 4), -128, dtype=np.int8)
    assert numerics.multiply_accumulate(ones, ones.T).tolist() == [[4 * 128 * 128]]


def test_parameter_rows_round_trip():
    rng = np.random.default_rng(3)
    bias, multiplier, shift = rng.integers(INT32[0], INT32[1], 8), rng.integers(0, 1 << 24, 8), rng.integers(0, 64, 8)
    packed = numerics.pack_parameters(bias, multiplier, shift)
    assert len(packed) == 64
    for given, back in zip((bias, multiplier, shift), numerics.unpack_parameters(packed), strict=True):
        assert given.tolist() == back.tolist()
    assert numerics.pack_parameters([-2], [0x123456], [5]).hex() == "feffffff56341205"


@pytest.mark.parametrize("row", [([1 << 31], [0], [0]), ([0], [1 << 24], [0]), ([0], [-1], [0]), ([0], [0], [64])])
def test_parameters_that_do_not_fit_are_refused(row):
    with pytest.raises(ValueError, match="must be from"):
        numerics.pack_parameters(*row)


def test_quantize_multiplier():
    rng = np.random.default_rng(4)
    for scale in [1.0, 0.5, 0.0123, 3.0, 16777215.0, 2.0**-40, 1 - 2.0**-30, *np.exp(rng.uniform(-25, 16, 200))]:
        multiplier, shift = numerics.quantize_multiplier(float(scale))
        assert 1 << 23 <= multiplier < 1 << 24 and 0 <= shift <= 63
        assert abs(multiplier / 2.0**shift - scale) <= scale * 2.0**-24
    assert numerics.quantize_multiplier(0.0) == (0, 0)
    assert numerics.quantize_multiplier(2.0**-63) == (1, 63)
    for bad in (-1.0, float("nan"), float("inf"), 2.0**24):
        with pytest.raises(ValueError, match="scale"):
            numerics.quantize_multiplier(bad)
