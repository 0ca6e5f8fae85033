# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: the numbers that went through the machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np

from beatmatch.numerics import round_half_even, unpack_parameters
from tb.coverage.group import ARCHITECTURAL, bucket, buckets, group, hit
from tb.coverage.window import Window, before

OPERATIONS = ("REQUANT", "ADD")
SHIFTS = (0, 1, 16, 32, 48)


def _scaled(w: Window) -> Iterator[tuple]:
    """(operation, instruction, exact sum, shift, rounded, result) of every int8 result that could be put together."""
    for instruction, exact, shift, result in w.facts.scaled:
        yield instruction.opcode.name, instruction, exact, shift, round_half_even(exact, shift), result


@group(ARCHITECTURAL, "Rounding of a scaled sum, by what is below the quotient's last bit, for both signs.",
       (f"{op} {sign} {what}" for op, sign, what in product(OPERATIONS, ("positive", "negative"), (
           "no shift", "exact", "below half", "above half", "tie to even down", "tie to even up"))))  # fmt: skip
def rounding(w: Window) -> Iterable[str]:
    for op, _, exact, shift, _, _ in _scaled(w):
        quotient = exact >> shift
        rest = exact - (quotient << shift)
        half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 1)
        odd = (quotient & 1) == 1
        kinds = {
            "no shift": shift == 0, "exact": (shift > 0) & (rest == 0),
            "below half": (rest > 0) & (rest < half), "above half": (shift > 0) & (rest > half),
            "tie to even down": (shift > 0) & (rest == half) & ~odd,
            "tie to even up": (shift > 0) & (rest == half) & odd,
        }  # fmt: skip
        for sign, mask in (("positive", exact > 0), ("negative", exact < 0)):
            yield from (f"{op} {sign} {name}" for name, kind in kinds.items() if (kind & mask).any())


@group(ARCHITECTURAL,
       "Saturation of a rounded sum: at a bound, past it, and far past what int8 and zero point can hold.",
       (f"{op} {what}" for op, what in product(OPERATIONS, (
           "inside", "at the low bound", "at the high bound", "clipped low", "clipped high", "far below", "far above",
           "clipped by the zero point low", "clipped by the zero point high"))))  # fmt: skip
def saturation(w: Window) -> Iterable[str]:
    for op, item, _, _, rounded, _ in _scaled(w):
        value = rounded + item.zero_point
        low, high = item.clip_low, item.clip_high
        masks = {
            "inside": (value > low) & (value < high), "at the low bound": value == low,
            "at the high bound": value == high,
            "clipped low": value < low, "clipped high": value > high, "far below": rounded < -511,
            "far above": rounded > 511, "clipped by the zero point low": (value < low) & (rounded >= low),
            "clipped by the zero point high": (value > high) & (rounded <= high),
        }  # fmt: skip
        yield from (f"{op} {name}" for name in hit(masks))


@group(ARCHITECTURAL, "A channel's parameters, as the vector engine read them.",
       [f"shift {size}" for size in buckets(SHIFTS)] + ["shift 63", "multiplier 0", "multiplier 1", "multiplier small",
        "multiplier large", "multiplier in the top bit", "bias 0", "bias positive", "bias negative", "bias beyond 2^30",
        "bias below -2^30"])  # fmt: skip
def parameters(w: Window) -> Iterable[str]:
    for row in w.facts.parameters:
        bias, multiplier, shift = unpack_parameters(row)
        yield from (f"shift {bucket(SHIFTS, value)}" for value in np.unique(shift).tolist())
        yield from hit({
            "shift 63": shift == 63, "multiplier 0": multiplier == 0, "multiplier 1": multiplier == 1,
            "multiplier small": (multiplier > 1) & (multiplier < 4096),
            "multiplier large": multiplier >= 4096, "multiplier in the top bit": multiplier >= 1 << 23,
            "bias 0": bias == 0, "bias positive": bias > 0, "bias negative": bias < 0,
            "bias beyond 2^30": bias > 1 << 30, "bias below -2^30": bias < -(1 << 30),
        })  # fmt: skip


@group(ARCHITECTURAL, "An int8 value of note, at each place where such values pass.",
       (f"{place} {value}" for place, value in product(
           ("activation", "weight", "vector source", "result", "stored"), (-128, -1, 0, 1, 127))))  # fmt: skip
def int8_values(w: Window) -> Iterable[str]:
    places = {
        "activation": ("matmul", "sp_read"), "weight": ("weights", "fifo_write"), "vector source": ("vector",
        "sp_read"),
        "result": ("vector", "write"), "stored": ("store", "sp_read"),
    }  # fmt: skip
    for place, (station, slot) in places.items():
        data = w.data(station, slot, "data")[w.on(station, slot)]
        if data.size:
            present = np.bincount(np.ascontiguousarray(data).view(np.uint8).reshape(-1), minlength=256)
            yield from (f"{place} {value}" for value in (-128, -1, 0, 1, 127) if present[value & 255])


SUMS = (0, 1, 128, 32768, 1 << 24, 1 << 30)


@group(ARCHITECTURAL,
       "Magnitude of sums in the accumulators, for both signs, as written by the array and read by the "
       "vector unit.",
       (f"{what} {sign} {size}" for what, sign, size in product(("write", "read"), ("+", "-"), buckets(SUMS))
        if (sign, size) != ("-", "0")))  # fmt: skip
def sums(w: Window) -> Iterable[str]:
    for what in ("write", "read"):
        data = w.data("accumulator", what, "data")[w.on("accumulator", what)]
        values = np.ascontiguousarray(data).view(np.int32).astype(np.int64).reshape(-1)
        for sign, some in (("+", values[values >= 0]), ("-", -values[values < 0])):
            names = buckets(SUMS)
            places = np.unique(np.searchsorted(SUMS, some, side="right")) - 1
            yield from (f"{what} {sign} {names[place]}" for place in places.tolist())


@group(ARCHITECTURAL, "Commits of the array: overwriting and adding, with and without overflow, and the sticky flag.",
       ("overwrite", "add", "add with overflow", "flag rises", "flag holds over an overwrite",
        "flag holds over an add without overflow", "overflow again with the flag set"))  # fmt: skip
def accumulator_writes(w: Window) -> Iterable[str]:
    write = w.on("accumulator", "write")
    add = w.field("accumulator", "write", "add").astype(bool)
    over = w.field("accumulator", "write", "overflow").astype(bool)
    flag = w.flag("status.overflow")
    return hit({
        "overwrite": write & ~add, "add": write & add, "add with overflow": over, "flag rises": flag & ~before(flag),
        "flag holds over an overwrite": write & ~add & flag, "overflow again with the flag set": over & flag,
        "flag holds over an add without overflow": write & add & ~over & flag,
    })  # fmt: skip


@group(ARCHITECTURAL, "Byte strobes on the memory port and byte enables of load.",
       ("all strobes", "some strobes", "one strobe", "all enables", "some enables", "one enable",
       "parameter enables"))  # fmt: skip
def byte_enables(w: Window) -> Iterable[str]:
    strobes = _ones(w.data("port", "w", "strobe"))
    enables = _ones(w.data("load", "write", "enable"))
    fires, writes = w.on("port", "w"), w.on("load", "write")
    return hit({
        "all strobes": fires & (strobes == w.config.mem_bytes), "one strobe": fires & (strobes == 1),
        "some strobes": fires & (strobes < w.config.mem_bytes), "all enables": writes & (enables == w.config.lanes),
        "some enables": writes & (enables < w.config.lanes), "one enable": writes & (enables == 1),
        "parameter enables": writes & (w.field("load", "write", "space") == 1) & (enables < w.config.lanes),
    })  # fmt: skip


def _ones(words: np.ndarray) -> np.ndarray:
    """Bits that are 1 in each row, int64 [cycles]."""
    data = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(data, axis=1).sum(axis=1, dtype=np.int64)
