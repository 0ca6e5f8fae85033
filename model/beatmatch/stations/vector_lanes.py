# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of the vector engine for all lanes, several rows at a time.

Rows are captured one by one, as their data arrive, and worked out together when the oldest of them is due in the write
register: up to four then stand in the pipeline, and numpy costs the same for one as for four. The formulas are
those of `beatmatch.numerics` with what depends on the parameters alone prepared once per iteration.
"""

from __future__ import annotations

import numpy as np

from beatmatch import numerics
from beatmatch.isa import Format, Instruction, Opcode

SLOTS = 8
"""Rows kept: more than the pipeline has stages, so that a slot is free again when its turn comes."""


class Lanes:
    """Captured rows and their results in a ring of `SLOTS` slots.

    Attributes
    ----------
    a : numpy.ndarray of int64, [SLOTS, cols]
        First operands, or finished windows.
    b : numpy.ndarray of int64, [SLOTS, cols]
        Second operands of ADD.
    fill : int
        The slot that the next captured row takes.
    chunks : int
        Writes per row: four on the raw path, else one.
    bytes, words : list of numpy.ndarray
        Results as uint8 [cols] and as uint32 [cols / 4]: chunk j of a slot's row is entry ``slot * chunks + j``.
    """

    def __init__(self, cols: int) -> None:
        self.a = np.zeros((SLOTS, cols), dtype=np.int64)
        self.b = np.zeros((SLOTS, cols), dtype=np.int64)
        self.fill = 0
        self._cols = cols
        self._ready = [False] * SLOTS
        self._exact = np.zeros((SLOTS, cols), dtype=np.int64)
        self._odd = np.zeros((SLOTS, cols), dtype=np.int64)
        self._narrow = np.zeros((SLOTS, cols), dtype=np.int8)
        self._wide = np.zeros((SLOTS, cols), dtype=np.int32)
        chunk_rows = self._wide.reshape(4 * SLOTS, cols // 4)  # little endian: channels in order, cols bytes
        self._views = {
            1: (list(self._narrow.view(np.uint8)), list(self._narrow.view(np.uint32))),
            4: (list(chunk_rows.view(np.uint8)), list(chunk_rows.view(np.uint32))),
        }
        self._a_rows, self._b_rows = list(self.a), list(self.b)
        self._window = np.zeros(cols, dtype=np.int32)
        self._unit = np.ones(cols, dtype=np.int64)
        self.add = self.maximum = self.raw = False
        self.chunks = 1
        self.bytes, self.words = self._views[1]
        self.set_parameters(None)

    def begin(self, instruction: Instruction) -> None:
        """Take operation, zero point and clip bounds; the pipeline must be empty."""
        f = instruction.fields
        self.add = instruction.opcode == Opcode.ADD
        self.maximum = instruction.opcode == Opcode.MAXPOOL
        self.raw = f["dst_format"] == Format.INT32
        self.chunks = 4 if self.raw else 1
        self.bytes, self.words = self._views[self.chunks]
        self._zero_point, self._low, self._high = f["zero_point"], f["clip_low"], f["clip_high"]
        self._neutral = numerics.MAX_NEUTRAL if self.maximum else numerics.SUM_NEUTRAL
        self._ready = [False] * SLOTS
        self.fill = 0

    def set_parameters(self, row: np.ndarray | None) -> None:
        """Take a parameter row, uint8 [8 * cols]; None stands for bias 0, multiplier 1, shift 0."""
        if row is None:
            self._bias, self._multiplier, shift = 0 * self._unit, self._unit, 0 * self._unit
        else:
            self._bias, self._multiplier, shift = numerics.unpack_parameters(row)
        self._multiplier_b = self._unit
        # round_half_even(v, s) = (v + 2^(s-1) - 1 + (v >> s) % 2) >> s for s > 0: the last term breaks ties to even.
        self._shift = shift
        self._parity = np.minimum(shift, 1)
        self._almost_half = (self._parity << np.maximum(shift - 1, 0)) - self._parity
        self._scaled_bias = self._bias * self._multiplier

    def set_second_parameters(self, row: np.ndarray) -> None:
        """Take the multiplier of ADD's second operand from the next parameter row."""
        self._multiplier_b = numerics.unpack_parameters(row)[1]

    def reduce(self, value: np.ndarray | None, first: bool, last: bool, second: np.ndarray | None) -> int:
        """Take an element (None: padding).

        Returns
        -------
        int
            The slot of the row that the element finishes, -1 if its window goes on.
        """
        if first and last:
            slot = self.fill
            self._a_rows[slot][:] = self._neutral if value is None else value
            if second is not None:
                self._b_rows[slot][:] = second
        else:
            window = self._window
            if first:
                window[:] = self._neutral if value is None else value
            elif value is not None:
                if self.maximum:
                    np.maximum(window, value, out=window)
                else:
                    np.add(window, value, out=window)  # modulo 2^32
            if not last:
                return -1
            slot = self.fill
            self._a_rows[slot][:] = window
        self._ready[slot] = False
        self.fill = (slot + 1) % SLOTS
        return slot

    def finish(self, slot: int) -> None:
        """Make sure that the results of a row stand in `bytes` and `words`."""
        if not self._ready[slot]:
            stop = self.fill if self.fill > slot else SLOTS
            self._work_out(slot, stop)
            for index in range(slot, stop):
                self._ready[index] = True

    def _work_out(self, start: int, stop: int) -> None:
        a, exact = self.a[start:stop], self._exact[start:stop]
        if self.add:
            np.multiply(a, self._multiplier, out=exact)
            exact += self.b[start:stop] * self._multiplier_b
            exact += self._bias
        elif self.raw:
            np.add(a, self._bias, out=exact)
        else:
            np.multiply(a, self._multiplier, out=exact)
            exact += self._scaled_bias
        if self.raw:
            self._wide[start:stop] = exact.astype(np.int32)  # low 32 bits
            return
        odd = self._odd[start:stop]
        np.right_shift(exact, self._shift, out=odd)
        odd &= self._parity
        exact += self._almost_half
        exact += odd
        exact >>= self._shift
        exact += self._zero_point
        np.maximum(exact, self._low, out=exact)
        np.minimum(exact, self._high, out=exact)
        self._narrow[start:stop] = exact
