# SPDX-License-Identifier: Apache-2.0
"""Room on the chip: tensors from the bottom, what only one node needs from the top."""

from __future__ import annotations


class DoesNotFit(Exception):
    """There is no room for what a node needs at a time; the text says what."""


class Room:
    """Words of the scratchpad that are free, first fit.

    Parameters
    ----------
    words : int
        All of them.
    reserve : int
        Words at the top that tensors leave to `transient` ones.
    """

    def __init__(self, words: int, reserve: int) -> None:
        self.words, self._limit = words, words - reserve
        self._free = [(0, words)]

    def tensor(self, words: int) -> int | None:
        """Room for a tensor below the reserve, or None."""
        for first, end in self._free:
            if first + words <= min(end, self._limit):
                self._take(first, words)
                return first
        return None

    def transient(self, words: int) -> int | None:
        """Room anywhere, as high as possible, or None."""
        for first, end in reversed(self._free):
            if first + words <= end:
                self._take(end - words, words)
                return end - words
        return None

    def _take(self, first: int, words: int) -> None:
        for index, (low, high) in enumerate(self._free):
            if low <= first and first + words <= high:
                rest = [(low, first), (first + words, high)]
                self._free[index : index + 1] = [part for part in rest if part[0] < part[1]]
                return

    def release(self, first: int, words: int) -> None:
        """Give words back."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted([*self._free, (first, first + words)]):
            if merged and merged[-1][1] == low:
                merged[-1] = (merged[-1][0], high)
            else:
                merged.append((low, high))
        self._free = merged
