# SPDX-License-Identifier: Apache-2.0
"""Refuses operands and options of products and convolutions that make no sense, before anything is computed."""

from __future__ import annotations

from operator import index

import numpy as np

from beatmatch.compiler.requant import Requant, fitting_requant
from beatmatch.config import Config
from beatmatch.memory import MemoryTiming

KERNEL, STRIDE, DILATION, PAD = 15, 7, 4, 15
"""Largest values that the instruction's fields hold; what is below and to the right of an image is not a field."""
FAR_PAD = 4095


def check_core(config: object, timing: object) -> None:
    """Raise ValueError unless these are a configuration, and the timing of a memory or None."""
    if not isinstance(config, Config):
        raise ValueError(f"config is {config!r}; it must be a Config, such as preset('small').")
    if timing is not None and not isinstance(timing, MemoryTiming):
        raise ValueError(f"timing is {timing!r}; it must be a MemoryTiming or None.")


def check_operands(left: np.ndarray, right: np.ndarray, shapes: str) -> None:
    """Raise ValueError unless both are int8 and not empty, and have the ranks and the common size of ``shapes``."""
    ranks = [part.count(",") + 1 for part in shapes.split(" and ")]
    common = left.shape[-1:] == right.shape[-2:-1]
    if [left.ndim, right.ndim] != ranks or not common or 0 in left.shape + right.shape:
        raise ValueError(f"Operands must be {shapes} and not empty; they are {left.shape} and {right.shape}.")
    if left.dtype != np.int8 or right.dtype != np.int8:
        raise ValueError(f"Operands must be int8; they are {left.dtype} and {right.dtype}.")


def scaling(out: str, requant: Requant | None, bias: object, depth: int, columns: int) -> Requant:
    """What becomes of the sums of ``depth`` products: the given scale, or one that fits, or a bias alone."""
    if out not in ("int8", "int32"):
        raise ValueError(f"out is {out!r}; it must be int8 or int32.")
    if requant is not None and not isinstance(requant, Requant):
        raise ValueError(f"requant is {requant!r}; it must be a Requant or None.")
    if out == "int8" and bias is not None:
        raise ValueError("bias goes with out='int32'; for int8 it is a part of requant.")
    if out == "int32" and requant is not None:
        raise ValueError("requant goes with out='int8'; an int32 result is the sum plus bias.")
    if out == "int32":
        requant = Requant(bias=0 if bias is None else bias)
    elif requant is None:
        requant = fitting_requant(depth)
    requant.check_columns(columns)
    return requant


def numbers(name: str, values: object, lows: tuple[int, ...], highs: tuple[int, ...]) -> tuple[int, ...]:
    """``values`` as integers, one for each pair of bounds; ValueError names the option and its range."""
    try:
        found = tuple(index(value) for value in values)
    except TypeError:
        found = ()
    if len(found) != len(lows) or any(not a <= v <= b for a, v, b in zip(lows, found, highs, strict=True)):
        ranges = {(low, high): None for low, high in zip(lows, highs, strict=True)}
        shown = ", then ".join(f"from {low} to {high}" for low, high in ranges)
        order = "down, across" if len(lows) == 2 else "top, left, then bottom, right"
        raise ValueError(f"{name} is {values!r}; it must be {len(lows)} integers ({order}) {shown}.")
    return found


def window(kernel: tuple[int, ...], stride: object, pads: object, dilation: object, pad_value: object) -> tuple:
    """Stride, pads, dilation and padding value of a convolution as plain integers."""
    if not all(1 <= size <= KERNEL for size in kernel):
        shown = "x".join(map(str, kernel))
        raise ValueError(f"The kernel is {shown}; its height and width must be from 1 to {KERNEL}.")
    stride = numbers("stride", stride, (1, 1), (STRIDE,) * 2)
    pads = numbers("pads", pads, (0,) * 4, (PAD, PAD, FAR_PAD, FAR_PAD))
    dilation = numbers("dilation", dilation, (1, 1), (DILATION,) * 2)
    try:
        pad_value = index(pad_value)
    except TypeError:
        raise ValueError(f"pad_value is {pad_value!r}; it must be an integer from -128 to 127.") from None
    if not -128 <= pad_value <= 127:
        raise ValueError(f"pad_value is {pad_value}; it must be from -128 to 127.")
    return stride, pads, dilation, pad_value
