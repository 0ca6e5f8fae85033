# SPDX-License-Identifier: Apache-2.0
"""Engines for the frontend's bench: they take instructions and give signals, but do no work."""

from __future__ import annotations

import random

from beatmatch.isa.fields import Error
from beatmatch.stations.control import ISSUE, signals_of, sync_of

CODES = [int(code) for code in Error if code]


class FakeEngine:
    """Takes an instruction, holds it for a random time per outer iteration, signals, and takes the next.

    It keeps to the rules of `docs/interfaces.md`: the methods are functions of registers, the queue head and the grant.
    A cycle is `choose`, then the methods, then `step`.

    Parameters
    ----------
    rng : random.Random
    work : int
        Most cycles that an iteration takes.
    laziness : float
        Probability that it does not present a wait in a cycle although it could.
    error_rate : float
        Probability per cycle of raising an error while busy.
    drain : int
        Most cycles for which it is still pending after a halt.
    """

    def __init__(self, rng: random.Random, work: int, laziness: float, error_rate: float, drain: int) -> None:
        self.rng, self.work, self.laziness, self.error_rate, self.drain = rng, work, laziness, error_rate, drain
        self.current = None  # (seq, instruction)
        self.iteration = self.left = self.signal = self.wait_drain = 0
        self.waiting = self.lazy = False
        self.error = 0
        self.planned_error = 0

    def choose(self, run: bool, halt: bool) -> None:
        """Random decisions of this cycle."""
        self.lazy = self.rng.random() < self.laziness
        self.planned_error = 0
        if run and self.current is not None and self.rng.random() < self.error_rate:
            self.planned_error = (self.rng.choice(CODES), self.current[0])

    def wait_request(self, head) -> int:
        if self.lazy:
            return -1
        if self.waiting:
            return sync_of(self.current[1])
        if self.current is None and head is not None:
            return sync_of(head[1]) | ISSUE
        return -1

    def busy(self) -> bool:
        return self.current is not None or self.signal != 0

    def pending(self) -> bool:
        return self.wait_drain > 0

    def stuck(self, head, granted: bool) -> int:
        if granted or self.lazy:
            return -1
        if self.waiting:
            return self.current[0]
        if self.current is None and head is not None:
            return head[0]
        return -1

    def step(self, head, granted: bool, halt: bool) -> None:
        self.signal = 0
        self.error = self.planned_error
        self.wait_drain = max(0, self.wait_drain - 1) if halt else self.rng.randrange(self.drain + 1)
        if halt:
            return
        if granted and not self.waiting:
            self.current, self.iteration = head, 0
            self.left = self.rng.randint(1, self.work)
        elif granted:
            self.waiting = False
            self.left = self.rng.randint(1, self.work)
        elif self.current is not None and not self.waiting:
            self.left -= 1
            if self.left == 0:
                instruction = self.current[1]
                self.iteration += 1
                last = self.iteration >= min(instruction.outer, 4)
                if instruction.each or last:
                    self.signal = signals_of(instruction)
                    if not self.signal & 65:
                        self.signal = 0
                if last:
                    self.current = None
                elif instruction.each:
                    self.waiting = True
                else:
                    self.left = self.rng.randint(1, self.work)


class WildEngine:
    """Everything at random in every cycle, except that it issues only what is in the queue."""

    def __init__(self, rng: random.Random, error_rate: float) -> None:
        self.rng = rng
        self.error = self.signal = 0
        self.request = self.stuck_seq = -1
        self.is_busy = self.is_pending = False
        self.error_rate = error_rate

    def choose(self, run: bool, halt: bool) -> None:
        rng = self.rng
        self.signal = rng.getrandbits(12) if run and rng.random() < 0.3 else 0
        if not self.signal & 65:
            self.signal = 0
        self.request = rng.getrandbits(18) if run and rng.random() < 0.5 else -1
        if rng.random() < 0.3:
            self.request &= ~(15 << 5 | 15 << 14)  # waits for nothing
        self.issue = rng.random() < 0.7
        self.is_busy, self.is_pending = rng.random() < 0.1, rng.random() < 0.5
        self.stuck_seq = rng.getrandbits(16) if rng.random() < 0.95 else -1
        self.planned = (rng.choice(CODES), rng.getrandbits(16)) if run and rng.random() < self.error_rate else 0

    def wait_request(self, head) -> int:
        if self.request < 0:
            return -1
        return self.request | (ISSUE if self.issue and head is not None else 0)

    def busy(self) -> bool:
        return self.is_busy

    def pending(self) -> bool:
        return self.is_pending

    def stuck(self, head, granted: bool) -> int:
        return self.stuck_seq

    def step(self, head, granted: bool, halt: bool) -> None:
        self.error = self.planned
