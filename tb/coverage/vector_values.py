# SPDX-License-Identifier: Apache-2.0
"""Which source values and parameters belong to each int8 result of the vector engine, found in the records alone.

A result is written four cycles after the data of its last operand arrived (`docs/timing.md`, Vector), and results come
in the order of the instructions; so operands, parameter row and result can be put together again.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Format, Instruction, Opcode, Space
from beatmatch.numerics import unpack_parameters
from tb.coverage.window import Facts, Sync, Window

FROM_DATA_TO_WRITE = 4


class VectorValues:
    """Keeps the parameter memory and the iterations whose results are still to come."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._memory = np.zeros((config.param_rows * config.param_words, config.lanes), np.uint8)
        self.fresh()

    def fresh(self) -> None:
        """A run begins; the parameter memory outlives it."""
        self._waiting: deque[tuple[Instruction, int]] = deque()
        self._left = 0

    def issue(self, event: Sync) -> None:
        """An instruction, or one iteration of it, has been issued."""
        instruction = event.instruction
        iterations = (event.iteration,) if instruction.each else range(instruction.outer)
        self._waiting.extend((instruction, iteration) for iteration in iterations)

    def _row(self, index: int) -> np.ndarray:
        words = self.config.param_words
        return self._memory[index * words : (index + 1) * words].reshape(-1)

    def cycle(self, w: Window, at: int, events: dict[str, np.ndarray], facts: Facts) -> None:
        """Look at one cycle's parameter writes, parameter reads and results."""
        if events["param_read"][at]:
            facts.parameters.append(self._row(int(w.field("vector", "param_read", "address")[at])).copy())
        if events["vector_write"][at]:
            self._result(w, at, facts)
        if events["parameter_write"][at]:  # a read of this cycle still sees the old bytes
            address = int(w.field("load", "write", "address")[at])
            enable = np.unpackbits(
                w.data("load", "write", "enable")[at].astype("<u4").view(np.uint8), bitorder="little"
            )
            data = w.data("load", "write", "data")[at].astype("<u4").view(np.uint8)
            enabled = enable[: self.config.lanes].astype(bool)
            self._memory[address % len(self._memory), enabled] = data[enabled]

    def _result(self, w: Window, at: int, facts: Facts) -> None:
        if not self._waiting:
            return
        instruction, iteration = self._waiting[0]
        chunks = 4 if instruction.dst_format == Format.INT32 else 1
        if not self._left:
            self._left = instruction.x * instruction.y * chunks
        self._left -= 1
        if not self._left:
            self._waiting.popleft()
        if chunks == 4 or instruction.opcode not in (Opcode.REQUANT, Opcode.ADD) or at < FROM_DATA_TO_WRITE:
            return
        exact, shift = self._exact(w, at - FROM_DATA_TO_WRITE, instruction, iteration)
        if exact is not None:
            result = w.data("vector", "write", "data")[at].astype("<u4").view(np.int8)
            facts.scaled.append((instruction, exact, shift, result))

    def _exact(self, w: Window, at: int, instruction: Instruction, iteration: int):
        """The scaled sum before rounding and the shift, int64 [cols] each; None if an operand is out of sight."""
        cols = self.config.cols
        row = instruction.param + (iteration if instruction.param_mode == 2 else 0)
        if instruction.param_mode:
            bias, multiplier, shift = unpack_parameters(self._row(row % self.config.param_rows))
        else:
            bias, multiplier, shift = np.zeros(cols, np.int64), np.ones(cols, np.int64), np.zeros(cols, np.int64)
        if instruction.src_space == Space.ACCUMULATOR:
            first = _latest(w.on("accumulator", "read"), at, 0)
            a = None if first is None else w.data("accumulator", "read", "data")[first].view(np.int32).astype(np.int64)
        else:
            a = self._bytes(w, at, int(instruction.opcode is Opcode.ADD), instruction.src % self.config.col_parts)
        if instruction.opcode is Opcode.REQUANT:
            known = a is not None and (self.config.col_parts == 1 or instruction.src_space == Space.ACCUMULATOR)
            return ((a + bias) * multiplier, shift) if known else (None, None)
        b = self._bytes(w, at, 0, 0)
        if a is None or b is None or self.config.col_parts != 1:
            return None, None
        second = np.ones(cols, np.int64)
        if instruction.param_mode:
            second = unpack_parameters(self._row((row + 1) % self.config.param_rows))[1]
        return a * multiplier + b * second + bias, shift

    def _bytes(self, w: Window, at: int, back: int, part: int) -> np.ndarray | None:
        found = _latest(w.on("vector", "sp_read"), at, back)
        if found is None:
            return None
        data = w.data("vector", "sp_read", "data")[found].astype("<u4").view(np.int8).astype(np.int64)
        return data[part * self.config.cols : (part + 1) * self.config.cols]


def _latest(events: np.ndarray, at: int, back: int) -> int | None:
    """Cycle of the last event up to `at`, or of the one `back` events before it."""
    found = np.flatnonzero(events[: at + 1])
    return int(found[-1 - back]) if len(found) > back else None
