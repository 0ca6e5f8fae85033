# SPDX-License-Identifier: Apache-2.0
"""The counters that order the engines. The twin of `rtl/frontend/bm_semaphores.sv`."""

from __future__ import annotations

from beatmatch.isa.fields import SEMAPHORE_MAX, SEMAPHORES

MASK32 = 0xFFFFFFFF


class Semaphores:
    """32 counters of 8 bits.

    Attributes
    ----------
    count : list of int
        Values in this cycle.
    digest : int
        Their digest for the trace.
    """

    __slots__ = ("count", "digest")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """All counters 0."""
        self.count = [0] * SEMAPHORES
        self.digest = 0

    def load(self, header: bytes) -> None:
        """Take the first values from the 32 bytes in front of a program."""
        self.count = list(header)
        self.digest = sum((2 * index + 1) * value for index, value in enumerate(header)) & MASK32

    def allows(self, sync: int) -> bool:
        """Whether a wait {wait1_n, wait1_id, wait0_n, wait0_id} (18 bits) can be granted."""
        count = self.count
        return count[sync & 31] >= sync >> 5 & 15 and count[sync >> 9 & 31] >= sync >> 14 & 15

    def apply(self, signals: list[int], syncs: list[int]) -> bool:
        """End a cycle: add the signals, subtract the waits granted in it; True if a counter overflows.

        Parameters
        ----------
        signals : list of int
            Signal registers {sig1_id, sig1_en, sig0_id, sig0_en} (12 bits) of this cycle.
        syncs : list of int
            Granted waits, as for `allows`.
        """
        change: dict[int, int] = {}
        for signal in signals:
            if signal & 1:
                index = signal >> 1 & 31
                change[index] = change.get(index, 0) + 1
            if signal & 64:
                index = signal >> 7 & 31
                change[index] = change.get(index, 0) + 1
        for sync in syncs:
            index = sync & 31
            change[index] = change.get(index, 0) - (sync >> 5 & 15)
            index = sync >> 9 & 31
            change[index] = change.get(index, 0) - (sync >> 14 & 15)
        overflow = False
        count = self.count
        digest = self.digest
        for index, amount in change.items():
            if amount:
                value = count[index] + amount
                if value > SEMAPHORE_MAX:
                    value = SEMAPHORE_MAX
                    overflow = True
                elif value < 0:
                    value = 0
                digest += (2 * index + 1) * (value - count[index])
                count[index] = value
        self.digest = digest & MASK32
        return overflow
