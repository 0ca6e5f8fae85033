# SPDX-License-Identifier: Apache-2.0
"""One program on the board, and what every byte of memory and every register must be after it."""

from __future__ import annotations

import random

import numpy as np

from beatmatch.isa.fields import Engine, Error
from beatmatch.program import Program
from tb.board import Board, Outcome


class Case:
    """A program with its results; memory holds random bytes wherever the program has nothing to say.

    Parameters
    ----------
    expected : ndarray, [..., columns]
        The result; the program may name it in blocks of columns.
    macs : int
        Multiply-accumulates that count as useful.
    padded : bool
        Rows of results are written up to their pitch; what stands in the padding does not matter.
    """

    def __init__(
        self, board: Board, rng: random.Random, program: Program, expected: np.ndarray, macs: int, padded: bool = False
    ) -> None:
        self.board, self.program, self.macs = board, program, macs
        board.memory[:] = rng.randbytes(len(board.memory))
        board.load(program)
        self.initial = _bytes(board.memory)
        self.right = self.initial.copy()
        self.written = np.zeros(len(self.right), bool)
        self.ignored = np.zeros(len(self.right), bool)
        column = 0
        for _, result in sorted(program.results.items(), key=lambda item: int(item[0].partition(".")[2] or 0)):
            item = np.dtype(result.dtype).newbyteorder("<")
            data = expected[..., column : column + result.shape[-1]].astype(item, casting="unsafe")
            np.ndarray(result.shape, item, self.right.data, result.address, result.strides)[...] = data
            bytes_of = (*result.shape, item.itemsize), bool, self.written.data, result.address, (*result.strides, 1)
            np.ndarray(*bytes_of)[...] = True
            if padded:
                self.ignored[result.address : result.address + result.shape[0] * result.strides[0]] = True
            column += result.shape[-1]
        assert column == expected.shape[-1]
        self.ignored &= ~self.written

    async def succeeds(self) -> None:
        """Run it from the initial memory: every byte of memory and every register must be right."""
        self.board.memory[:] = self.initial.tobytes()
        outcome = await self.board.run(self.program)
        assert outcome.status == {"busy": 0, "done": 1, "error": 0, "overflow": 0}, outcome
        assert (outcome.error, outcome.engine, outcome.seq) == (Error.NONE, Engine.FRONTEND, 0), outcome
        _adds_up(outcome)
        assert outcome.counters["USEFUL_MACS"] == self.macs, outcome
        assert outcome.counters["ACTIVE"] * self.program.config.peak_macs >= self.macs, outcome
        self._memory_is(self.right)

    async def fails(self, program: Program, error: Error, engine: Engine, seq: int, limit: int | None = None) -> None:
        """Run a spoilt version: the registers say what and where; of the result, memory holds old bytes or right ones.

        From address ``limit`` on it holds old bytes only.
        """
        assert program.address == self.program.address
        self.board.memory[:] = self.initial.tobytes()
        self.board.load(program)
        before = _bytes(self.board.memory)
        outcome = await self.board.run(program)
        assert outcome.status == {"busy": 0, "done": 1, "error": 1, "overflow": 0}, outcome
        assert (outcome.error, outcome.engine, outcome.seq) == (error, engine, seq), outcome
        _adds_up(outcome)
        may_be_new = self.written & (_bytes(self.board.memory) == self.right)
        if limit is not None:
            may_be_new[limit:] = False
        self._memory_is(np.where(may_be_new, self.right, before))

    def _memory_is(self, expected: np.ndarray) -> None:
        wrong = np.flatnonzero((_bytes(self.board.memory) != expected) & ~self.ignored)
        assert not len(wrong), f"{len(wrong)} bytes of memory are wrong, the first at {wrong[0]:#x}"


def _bytes(memory: bytearray) -> np.ndarray:
    """A copy of memory, uint8 [bytes]."""
    return np.frombuffer(bytes(memory), np.uint8).copy()


def _adds_up(outcome: Outcome) -> None:
    """The categories of cycles cover them all, and there are no more cycles than passed."""
    c = outcome.counters
    assert c["ACTIVE"] + c["WEIGHT_SHIFT"] + c["WEIGHT_STALL"] + c["NON_MATRIX"] == c["CYCLES"], outcome
    assert c["RAW_STALL"] + c["INPUT_STALL"] <= c["NON_MATRIX"], outcome
    assert 0 < c["CYCLES"] <= outcome.waited, outcome
