# SPDX-License-Identifier: Apache-2.0
"""A single convolution as a program: images in, feature maps out, both position by position in memory."""

from __future__ import annotations

import numpy as np

from beatmatch.compiler.layers import Conv, Shape
from beatmatch.compiler.network import compile_network
from beatmatch.compiler.options import check_core, check_operands, scaling, window
from beatmatch.compiler.requant import Requant
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
        KH and KW from 1 to 15.
    config : Config
    out : str
        ``int8`` (requantised) or ``int32`` (the sum, plus ``bias`` if given).
    requant : Requant or None
        For int8; None takes a scale that cannot saturate.
    bias : array_like of int32, [F] or None
        For int32.
    stride, dilation : (int, int)
        Down, across; strides from 1 to 7, dilations from 1 to 4.
    pads : (int, int, int, int)
        Top, left (0 to 15), bottom, right (0 to 4,095).
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
    check_core(config, timing)
    check_operands(x, w, "[N, H, W, C] and [KH, KW, C, F]")
    stride, pads, dilation, pad_value = window(w.shape[:2], stride, pads, dilation, pad_value)
    requant = scaling(out, requant, bias, w.shape[0] * w.shape[1] * w.shape[2], w.shape[3])
    height = output_size(x.shape[1], w.shape[0], stride[0], pads[0], pads[2], dilation[0])
    width = output_size(x.shape[2], w.shape[1], stride[1], pads[1], pads[3], dilation[1])
    if height < 1 or width < 1:
        raise ValueError(f"The kernel {w.shape[:2]} with its dilation is larger than the padded image.")
    layer = Conv(
        "out", ("x",), Shape(height, width, w.shape[3]), requant, weight=w, stride=stride, pads=(pads[0], pads[1]),
        dilation=dilation, pad_value=pad_value, raw=out == "int32",
    )  # fmt: skip
    return compile_network([layer], "x", x, config, timing, f"conv {x.shape} {w.shape} {out}")
