# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of the machine, integer only: every rule of ``docs/numerics.md`` once, under its name.

Functions take and return numpy int64 arrays (anything that broadcasts), because the widest exact value of the
machine, the scaled sum of an addition, has 60 bits.
"""

from __future__ import annotations

import math

import numpy as np

MULTIPLIER_BITS = 24
SHIFT_BITS = 6
MAX_SHIFT = (1 << SHIFT_BITS) - 1
PARAMETER_BYTES = 8
"""Bytes of one channel in a row of the parameter memory."""

MAX_NEUTRAL = -(1 << 31)
"""What a padding element contributes to a maximum."""

SUM_NEUTRAL = 0
"""What a padding element contributes to a sum."""


def wrap32(value: np.ndarray | int) -> np.ndarray:
    """Low 32 bits as a signed value: arithmetic modulo 2^32.

    Parameters
    ----------
    value : array_like of int64
        Exact values.

    Returns
    -------
    numpy.ndarray of int64
        The same modulo 2^32, from -2^31 to 2^31 - 1.
    """
    return np.asarray(value, dtype=np.int64).astype(np.int32).astype(np.int64)


def multiply_accumulate(activations: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Rows of activations times a weight tile, modulo 2^32.

    Parameters
    ----------
    activations : array_like of int8, [M, rows]
    weights : array_like of int8, [rows, cols]

    Returns
    -------
    numpy.ndarray of int64, [M, cols]
    """
    return wrap32(np.asarray(activations, dtype=np.int64) @ np.asarray(weights, dtype=np.int64))


def accumulate(old: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum of an accumulator row and a new row, and which lanes left the signed 32-bit range.

    Returns
    -------
    sum : numpy.ndarray of int64
        Modulo 2^32.
    overflow : numpy.ndarray of bool
        Per lane; any of them sets the sticky flag.
    """
    exact = np.asarray(old, dtype=np.int64) + np.asarray(new, dtype=np.int64)
    wrapped = wrap32(exact)
    return wrapped, wrapped != exact


def round_half_even(value: np.ndarray | int, shift: np.ndarray | int) -> np.ndarray:
    """``value / 2^shift`` to the nearest integer, ties to the even one: the only rounding of the machine.

    Parameters
    ----------
    value : array_like of int64
        Exact values of at most 62 bits.
    shift : array_like of int
        0 to 63, per value or one for all; 0 is exact.

    Returns
    -------
    numpy.ndarray of int64
    """
    value = np.asarray(value, dtype=np.int64)
    shift = np.asarray(shift, dtype=np.int64)
    quotient = value >> shift
    rest = value - (quotient << shift)
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), np.int64(1))
    up = (rest > half) | ((rest == half) & ((quotient & 1) == 1))
    return quotient + up


def clip(value: np.ndarray, clip_low: int, clip_high: int) -> np.ndarray:
    """Maximum with ``clip_low`` first, then minimum with ``clip_high`` (which wins if the bounds cross)."""
    return np.minimum(np.maximum(value, clip_low), clip_high)


def requantise(
    a: np.ndarray,
    bias: np.ndarray,
    multiplier: np.ndarray,
    shift: np.ndarray,
    zero_point: int = 0,
    clip_low: int = -128,
    clip_high: int = 127,
) -> np.ndarray:
    """int32 to int8: ``clip(round_half_even((a + bias) * multiplier, shift) + zero_point)``.

    Parameters
    ----------
    a : array_like of int32, [..., cols]
    bias, multiplier, shift : array_like, [cols]
        int32, unsigned 24 bits, and 0 to 63.
    zero_point, clip_low, clip_high : int
        -128 to 127.

    Returns
    -------
    numpy.ndarray of int64, [..., cols]
        Values from -128 to 127.
    """
    biased = np.asarray(a, dtype=np.int64) + np.asarray(bias, dtype=np.int64)
    scaled = biased * np.asarray(multiplier, dtype=np.int64)
    return clip(round_half_even(scaled, shift) + zero_point, clip_low, clip_high)


def requantise_raw(a: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The int32 result of REQUANT and the pools: low 32 bits of ``a + bias``."""
    return wrap32(np.asarray(a, dtype=np.int64) + np.asarray(bias, dtype=np.int64))


def add_exact(
    a: np.ndarray, b: np.ndarray, bias: np.ndarray, multiplier_a: np.ndarray, multiplier_b: np.ndarray
) -> np.ndarray:
    """Scaled sum of two operands before rounding, ``a * ma + b * mb + bias`` (60 bits, exact)."""
    return (
        np.asarray(a, dtype=np.int64) * np.asarray(multiplier_a, dtype=np.int64)
        + np.asarray(b, dtype=np.int64) * np.asarray(multiplier_b, dtype=np.int64)
        + np.asarray(bias, dtype=np.int64)
    )


def add(
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray,
    multiplier_a: np.ndarray,
    multiplier_b: np.ndarray,
    shift: np.ndarray,
    zero_point: int = 0,
    clip_low: int = -128,
    clip_high: int = 127,
) -> np.ndarray:
    """Two operands with own scales to int8: ``clip(round_half_even(a*ma + b*mb + bias, shift) + zero_point)``.

    Parameters
    ----------
    a, b : array_like, [..., cols]
        int32 or int8; int8.
    bias, multiplier_a, shift : array_like, [cols]
        Parameter row ``p``.
    multiplier_b : array_like, [cols]
        Multiplier of parameter row ``p + 1``.

    Returns
    -------
    numpy.ndarray of int64, [..., cols]
    """
    exact = add_exact(a, b, bias, multiplier_a, multiplier_b)
    return clip(round_half_even(exact, shift) + zero_point, clip_low, clip_high)


def add_raw(
    a: np.ndarray, b: np.ndarray, bias: np.ndarray, multiplier_a: np.ndarray, multiplier_b: np.ndarray
) -> np.ndarray:
    """The int32 result of ADD: low 32 bits of the unshifted sum."""
    return wrap32(add_exact(a, b, bias, multiplier_a, multiplier_b))


def pool_max(window: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Maximum over axis 0 of the elements inside the input; -2^31 if there is none.

    Parameters
    ----------
    window : array_like, [elements, ...]
    inside : array_like of bool, [elements] or the shape of `window`

    Returns
    -------
    numpy.ndarray of int64, [...]
    """
    return np.where(_spread(inside, window), np.asarray(window, dtype=np.int64), MAX_NEUTRAL).max(axis=0)


def pool_sum(window: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Sum modulo 2^32 over axis 0 of the elements inside the input; 0 if there is none."""
    return wrap32(np.where(_spread(inside, window), np.asarray(window, dtype=np.int64), SUM_NEUTRAL).sum(axis=0))


def _spread(inside: np.ndarray, window: np.ndarray) -> np.ndarray:
    inside = np.asarray(inside, dtype=bool)
    return inside.reshape(inside.shape + (1,) * (np.ndim(window) - inside.ndim))


def pack_parameters(bias: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> bytes:
    """A row (or several) of the parameter memory as load reads it from memory.

    Parameters
    ----------
    bias : array_like of int32, [..., cols]
    multiplier : array_like, [..., cols]
        0 to 2^24 - 1.
    shift : array_like, [..., cols]
        0 to 63.

    Returns
    -------
    bytes
        8 per channel, little endian: bias, then multiplier in bits 23:0 and shift in bits 29:24 of one word.

    Raises
    ------
    ValueError
        If a value does not fit its field.
    """
    bias, multiplier, shift = np.broadcast_arrays(*(np.asarray(v, dtype=np.int64) for v in (bias, multiplier, shift)))
    for name, value, low, high in (
        ("bias", bias, -(1 << 31), (1 << 31) - 1),
        ("multiplier", multiplier, 0, (1 << MULTIPLIER_BITS) - 1),
        ("shift", shift, 0, MAX_SHIFT),
    ):
        if value.size and not (low <= value.min() and value.max() <= high):
            raise ValueError(f"{name} must be from {low} to {high}; it ranges from {value.min()} to {value.max()}.")
    words = np.empty((*bias.shape, 2), dtype="<u4")
    words[..., 0] = bias & 0xFFFFFFFF
    words[..., 1] = multiplier | (shift << MULTIPLIER_BITS)
    return words.tobytes()


def unpack_parameters(data: bytes | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inverse of `pack_parameters` for one row: bias, multiplier, shift, each int64 [cols]; bits 31:30 are ignored."""
    words = np.frombuffer(bytes(data), dtype="<u4").reshape(-1, 2).astype(np.int64)
    return wrap32(words[:, 0]), words[:, 1] & ((1 << MULTIPLIER_BITS) - 1), (words[:, 1] >> MULTIPLIER_BITS) & MAX_SHIFT


def quantize_multiplier(real_scale: float) -> tuple[int, int]:
    """The nearest ``multiplier / 2^shift`` to a real scale, with as many multiplier bits as there are.

    This is the one place where a real number enters: compilers call it, the machine never does.

    Parameters
    ----------
    real_scale : float
        0 or more, less than 2^24.

    Returns
    -------
    multiplier : int
        Below 2^24; at least 2^23 unless the scale is below 2^-40 (or 0).
    shift : int
        0 to 63.

    Raises
    ------
    ValueError
        If the scale is negative, not finite, or too large.
    """
    if not math.isfinite(real_scale) or real_scale < 0:
        raise ValueError(f"A scale must be finite and not negative; {real_scale} is not.")
    if real_scale == 0:
        return 0, 0
    exponent = math.frexp(real_scale)[1]
    shift = min(MULTIPLIER_BITS - exponent, MAX_SHIFT)
    multiplier = round(math.ldexp(real_scale, shift))
    if multiplier >> MULTIPLIER_BITS:
        multiplier, shift = multiplier >> 1, shift - 1
    if shift < 0:
        raise ValueError(f"A scale must be less than 2^{MULTIPLIER_BITS}; {real_scale} is not.")
    return multiplier, shift
