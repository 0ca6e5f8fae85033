# SPDX-License-Identifier: Apache-2.0
"""The cycles that SCALE-Sim 3.0.0 reports, by its rules and without running it.

Its machine is one systolic array whose memory never keeps it waiting (interface bandwidth `CALC`). A layer is a product
of M rows, N columns and length K. Two of the three lie on the array, cut into folds; the third streams. A fold begins
when the one before it has left the array completely: nothing of two folds overlaps.

================== ================== ================== ============ ==================================
dataflow           down the rows      across the columns streams      cycles of a fold
================== ================== ================== ============ ==================================
weight stationary  K                  N                  M            2 * rows + columns + M - 2
input stationary   K                  M                  N            2 * rows + columns + N - 2
output stationary  M                  N                  K            rows + columns + K - 2
================== ================== ================== ============ ==================================

One `rows` of the first two is the operand that stays, going in a row per cycle; `rows + columns - 2` is the skew of
operands and results. A fold costs the same whether it fills the array or not. The report numbers cycles from 0 and
gives the last one's number, which is one less than their count; so does `cycles`, to be equal to it.
"""

from __future__ import annotations

from dataclasses import dataclass

DATAFLOWS = ("ws", "os", "is")
"""Weight, output and input stationary."""


@dataclass(frozen=True)
class Report:
    """One line of SCALE-Sim's compute report.

    Attributes
    ----------
    cycles : int
        Its ``Total Cycles``.
    utilization : float
        Its ``Overall Util %``, in percent of all multiply-accumulates that the array could have done; 0 where it would
        divide by zero cycles.
    mapping : float
        Its ``Mapping Efficiency %``: the mean over folds of the used part of the array, in percent.
    folds : int
        How often the array is filled anew.
    streaming : int
        Cycles in which operands stream; the rest of `cycles` fills and drains the array.
    """

    cycles: int
    utilization: float
    mapping: float
    folds: int
    streaming: int


def report(m: int, n: int, k: int, rows: int, cols: int, dataflow: str = "ws") -> Report:
    """What SCALE-Sim reports of a product of ``[m, k]`` and ``[k, n]`` on an array of ``rows`` by ``cols``.

    Parameters
    ----------
    m, n, k : int
        For a convolution: output pixels, filters, and products per result; for a depthwise one those of one channel,
        which is a layer of its own.
    rows, cols : int
        Any sizes of at least 1.
    dataflow : str
        One of `DATAFLOWS`.

    Raises
    ------
    ValueError
        If a size is below 1 or the dataflow is unknown.
    """
    for name, value in (("m", m), ("n", n), ("k", k), ("rows", rows), ("cols", cols)):
        if value < 1:
            raise ValueError(f"{name} is {value}; it must be at least 1.")
    if dataflow not in DATAFLOWS:
        raise ValueError(f"The dataflow is {dataflow!r}; it must be one of {', '.join(DATAFLOWS)}.")
    down, across, stream = {"ws": (k, n, m), "os": (m, n, k), "is": (k, m, n)}[dataflow]
    folds = -(-down // rows) * -(-across // cols)
    fixed = (rows if dataflow == "os" else 2 * rows) + cols - 2
    cycles = folds * (fixed + stream) - 1
    utilization = m * n * k * 100 / (cycles * rows * cols) if cycles else 0.0
    return Report(cycles, utilization, _mapping(down, across, rows, cols), folds, folds * stream)


def _mapping(down: int, across: int, rows: int, cols: int) -> float:
    """Added fold by fold in its order, so that the last digit is its too."""
    total, folds = 0.0, 0
    for col in range(0, across, cols):
        for row in range(0, down, rows):
            total += min(rows, down - row) * min(cols, across - col) / (rows * cols)
            folds += 1
    return total / folds * 100
