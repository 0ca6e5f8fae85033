# SPDX-License-Identifier: Apache-2.0
"""Running counts that resets clear, cut into blocks without a seam."""

from __future__ import annotations

import numpy as np


class Count:
    """How many events there were since the last reset, before each cycle."""

    def __init__(self) -> None:
        self._carry = 0

    def clear(self) -> None:
        """Forget everything: a new program begins."""
        self._carry = 0

    def add(self, events: np.ndarray, resets: np.ndarray) -> np.ndarray:
        """Events of these cycles that came before each of them.

        Parameters
        ----------
        events : numpy.ndarray of bool or int, [cycles]
        resets : numpy.ndarray of bool, [cycles]
            Everything up to and in such a cycle is forgotten after it.

        Returns
        -------
        numpy.ndarray of int64, [cycles]
        """
        events = events.astype(np.int64)
        total = self._carry + np.cumsum(events)
        anchor = np.maximum.accumulate(np.where(resets, total, 0))
        self._carry = int(total[-1] - anchor[-1]) if len(total) else self._carry
        return total - events - np.concatenate([[0], anchor[:-1]]).astype(np.int64) if len(total) else total


class Level:
    """What came in and has not gone out."""

    def __init__(self) -> None:
        self._into, self._out = Count(), Count()

    def clear(self) -> None:
        """A new program begins."""
        self._into.clear()
        self._out.clear()

    def add(self, into: np.ndarray, out: np.ndarray, resets: np.ndarray) -> np.ndarray:
        """Content before each cycle, int64 [cycles]; the three arrays as for `Count.add`."""
        return self._into.add(into, resets) - self._out.add(out, resets)
