# SPDX-License-Identifier: Apache-2.0
"""The accumulators: banked int32 rows that matmul writes or adds to, and vector reads."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

ADD_BIT = 1 << 12
OVERFLOW_BIT = 1 << 13


class Accumulator:
    """Memory, arbitration and commit of one cycle; see *Accumulator* in ``docs/timing.md``.

    A cycle is `arbitrate` (from registered requests), then `step` with the row that commits in this cycle.
    Forwarding between consecutive cycles needs nothing here: the memory always holds the newest value.

    Attributes
    ----------
    memory : numpy.ndarray of int32, [acc_rows, cols]
        Zero at the start.
    vector_granted : bool
        Vector's read of this cycle was granted.
    vector_data : numpy.ndarray of int32, [cols]
        The row granted one cycle ago; read only, until this cycle's `step`.
    overflow : bool
        Sticky: some sum has left the signed 32-bit range since the last reset.
    """

    __slots__ = (
        "_arrive",
        "_bank_shift",
        "_cols",
        "_read",
        "_read_slot",
        "_scratch",
        "_sum",
        "_write_slot",
        "memory",
        "overflow",
        "vector_data",
        "vector_granted",
        "writer",
    )

    def __init__(self, config: Config, writer: TraceWriter) -> None:
        self.memory = np.zeros((config.acc_rows, config.cols), dtype=np.int32)
        self.writer = writer
        self._cols = config.cols
        self._bank_shift = config.acc_bank_rows.bit_length() - 1
        self._write_slot = writer.offset("accumulator", "write")
        self._read_slot = writer.offset("accumulator", "read")
        self._sum = np.zeros(config.cols, dtype=np.int32)
        self._scratch = np.zeros((2, config.cols), dtype=np.int32)
        self.reset()

    def reset(self) -> None:
        """Clear the overflow flag and what is in flight; the memory keeps its contents."""
        self._read = -1
        self._arrive = -1
        self.vector_granted = False
        self.vector_data = self.memory[0]
        self.overflow = False

    def arbitrate(self, vector_read: int, pre: int) -> None:
        """Grant vector's read unless matmul reads the same bank for an add that commits in the next cycle.

        Parameters
        ----------
        vector_read, pre : int
            Row address, -1 without a request.
        """
        if vector_read < 0:
            self.vector_granted = False
            self._read = -1
        else:
            shift = self._bank_shift
            self.vector_granted = granted = vector_read >> shift != pre >> shift
            self._read = vector_read if granted else -1

    def step(self, row: int, add: int | bool, data: np.ndarray | None) -> None:
        """Commit matmul's row of this cycle and make vector's read arrive in the next.

        Parameters
        ----------
        row : int
            Address of the row that commits, -1 for none.
        add : bool
            Add to the row instead of overwriting it.
        data : numpy.ndarray of int32, [cols]
        """
        read = self._read
        if self._arrive >= 0:
            writer = self.writer
            at = writer.base + self._read_slot
            writer.words[at] = VALID | self._arrive
            writer.array[at + 1 : at + 1 + self._cols] = self.vector_data
        if read >= 0:
            self.vector_data = self.memory[read].copy() if read == row else self.memory[read]
        self._arrive = read
        if row < 0:
            return

        target = self.memory[row]
        header = VALID | row
        if add:
            header |= ADD_BIT
            total, scratch = self._sum, self._scratch
            np.add(target, data, out=total)
            np.bitwise_xor(target, total, out=scratch[0])
            np.bitwise_xor(data, total, out=scratch[1])
            np.bitwise_and(scratch[0], scratch[1], out=scratch[0])
            if scratch[0].min() < 0:  # both operands differ in sign from the sum
                header |= OVERFLOW_BIT
                self.overflow = True
            target[:] = total
        else:
            target[:] = data
        writer = self.writer
        at = writer.base + self._write_slot
        writer.words[at] = header
        writer.array[at + 1 : at + 1 + self._cols] = target
