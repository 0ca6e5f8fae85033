# SPDX-License-Identifier: Apache-2.0
"""A single convolution as a program: images in, feature maps out, both position by position in memory."""

from __future__ import annotations

import numpy as np

from beatmatch.compiler.layers import Conv, Shape
from beatmatch.compiler.network import compile_network
from beatmatch.compiler.requant import Requant, fitting_requant
from beatmatch.config import Config
from beatmatch.memory import MemoryTiming
from beatmatch.program import Program


def output_size(size: int, kernel: int, stride: int, before: int, after: int, dilation: int) -> int:
    """Positions along one dimension."""
    return (size + before + after - dilation * (kernel - 1) - 1) // stride + 1


def compile_conv2d(
    x: np.ndarray,
    w: np.ndarray,
    config: Config,
    out: str = "int8",
    requant: Requant | None = None,
    bias: np.ndarray | None = None,
    stride: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    dilation: tuple[int, int] = (1, 1),
    pad_value: int = 0,
    timing: MemoryTiming | None = None,
) -> Program:
    """A program that convolves a batch of images.

    Parameters
    ----------
    x : ndarray of int8, [N, H, W, C]
    w : ndarray of int8, [KH, KW, C, F]
    config : Config
    out : str
        ``int8`` (requantised) or ``int32`` (the sum, plus ``bias`` if given).
    requant : Requant or None
        For int8; None takes a scale that cannot saturate.
    bias : array_like of int32, [F] or None
        For int32.
    stride, dilation : (int, int)
        Down, across.
    pads : (int, int, int, int)
        Top, left, bottom, right.
    pad_value : int
        What positions outside the image hold, -128 to 127.
    timing : MemoryTiming or None
        None takes the preset's.

    Returns
    -------
    Program
        Its result ``out`` is [N, OH, OW, F].

    Raises
    ------
    ValueError
        For operands that do not match; CompileError (a ValueError) if an image does not fit on the chip.
    """
    x, w = np.asarray(x), np.asarray(w)
    if x.ndim != 4 or w.ndim != 4 or x.shape[3] != w.shape[2] or 0 in x.shape + w.shape:
        raise ValueError(f"Operands must be [N, H, W, C] and [KH, KW, C, F], not empty; they are {x.shape}, {w.shape}.")
    if x.dtype != np.int8 or w.dtype != np.int8:
        raise ValueError(f"Operands must be int8; they are {x.dtype} and {w.dtype}.")
    if out not in ("int8", "int32"):
        raise ValueError(f"out is {out!r}; it must be int8 or int32.")
    height = output_size(x.shape[1], w.shape[0], stride[0], pads[0], pads[2], dilation[0])
    width = output_size(x.shape[2], w.shape[1], stride[1], pads[1], pads[3], dilation[1])
    if height < 1 or width < 1:
        raise ValueError(f"The kernel {w.shape[:2]} with its dilation is larger than the padded image.")
    if out == "int32":
        requant = Requant(bias=0 if bias is None else bias)
    elif requant is None:
        requant = fitting_requant(w.shape[0] * w.shape[1] * w.shape[2])
    layer = Conv(
        "out", ("x",), Shape(height, width, w.shape[3]), requant, weight=w, stride=stride, pads=(pads[0], pads[1]),
        dilation=dilation, pad_value=pad_value, raw=out == "int32",
    )  # fmt: skip
    return compile_network([layer], "x", x, config, timing, f"conv {x.shape} {w.shape} {out}")
