# SPDX-License-Identifier: Apache-2.0
"""The oracle itself against exact fractions and hand-made cases: it is what everything else is compared with."""

from fractions import Fraction

import numpy as np

from beatmatch import numerics, oracle


def test_rounding_is_to_nearest_even():
    for shift in (0, 1, 2, 7, 40, 63):
        half = 1 << max(shift - 1, 0)
        for value in (*range(-9, 10), 2**57, -(2**57), 2**57 + 1, 3 * half, -half):
            assert oracle.round_half_even(value, shift) == round(Fraction(value, 2**shift))


def test_requantise_by_hand():
    total = np.array([[5, -5, 1000, 6]])
    np.testing.assert_array_equal(oracle.requantise(total, 0, 1, 1), [[2, -2, 127, 3]])
    np.testing.assert_array_equal(
        oracle.requantise(total, [1, 1, -1000, 0], [1, 2, 1, 1], [1, 2, 0, 2], 10, 0, 13), [[13, 8, 10, 12]]
    )


def test_matmul_and_convolution_by_hand():
    a = np.array([[1, 2], [3, -4]], np.int8)
    b = np.array([[5, 6], [-7, 8]], np.int8)
    np.testing.assert_array_equal(oracle.matmul(a, b), [[-9, 22], [43, -14]])
    x = np.arange(1, 10).reshape(1, 3, 3, 1)
    w = np.ones((2, 2, 1, 1))
    np.testing.assert_array_equal(oracle.conv2d(x, w)[0, :, :, 0], [[12, 16], [24, 28]])
    padded = oracle.conv2d(x, w, stride=(2, 2), pads=(1, 1, 0, 0), pad_value=10)
    np.testing.assert_array_equal(padded[0, :, :, 0], [[31, 25], [31, 28]])
    dilated = oracle.conv2d(x, w, dilation=(2, 2))
    np.testing.assert_array_equal(dilated[0, :, :, 0], [[1 + 3 + 7 + 9]])


def test_pooling_and_add_by_hand():
    x = np.arange(9).reshape(1, 3, 3, 1) - 4
    np.testing.assert_array_equal(oracle.pool(x, (2, 2), (1, 1))[0, :, :, 0], [[0, 1], [3, 4]])
    total = oracle.pool(x, (2, 2), (2, 2), (1, 1, 0, 0), "sum")
    np.testing.assert_array_equal(total[0, :, :, 0], [[-4, -3 - 2], [-1 + 2, 0 + 1 + 3 + 4]])
    a, b = np.array([[3, -100]]), np.array([[5, -100]])
    expected = [[1 + round(22 / 4), max(-128, 1 + round(-499 / 4))]]
    np.testing.assert_array_equal(oracle.add(a, b, 2, 3, 1, 2, 1), expected)


def test_the_machine_s_numerics_agree_with_it():
    rng = np.random.default_rng(0)
    total = rng.integers(-(2**31), 2**31, (40, 8))
    bias, m, s = rng.integers(-(2**31), 2**31, 8), rng.integers(0, 2**24, 8), rng.integers(0, 64, 8)
    expected = oracle.requantise(total, bias, m, s, -3, -100, 99)
    np.testing.assert_array_equal(numerics.requantise(total, bias, m, s, -3, -100, 99), expected)
    np.testing.assert_array_equal(oracle.wrap32(total * 3), numerics.wrap32(total * 3))
