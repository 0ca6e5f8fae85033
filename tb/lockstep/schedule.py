# SPDX-License-Identifier: Apache-2.0
"""Random semaphore schedules that always finish.

Every counter has one consuming engine. An instruction waits only for tokens that earlier instructions give (or that
the program starts with); so executing the program in its own order never blocks, and neither does any other order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from beatmatch.isa import ENGINE_OF, Engine, Instruction, Opcode, make
from beatmatch.isa.fields import SEMAPHORE_MAX, SEMAPHORES

ENGINES = (Engine.LOAD, Engine.WEIGHTS, Engine.MATMUL, Engine.VECTOR, Engine.STORE)
PER_ENGINE = 2
MOST = SEMAPHORE_MAX - 5
"""Tokens that one counter may ever be given."""


class Schedule:
    """Instructions in program order, with waits and signals drawn as they are added.

    Attributes
    ----------
    instructions : list of Instruction
    initial : list of 32 int
        Counters at the start.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._free = rng.sample(range(SEMAPHORES), SEMAPHORES)
        self.instructions: list[Instruction] = []
        self.initial = [0] * SEMAPHORES
        self._counters = {engine: [self._free.pop() for _ in range(PER_ENGINE)] for engine in ENGINES}
        self._owed: dict[Engine, list[int]] = {engine: [] for engine in ENGINES}
        self._left = [0] * SEMAPHORES
        self._given = [0] * SEMAPHORES
        for counters in self._counters.values():
            for counter in counters:
                if rng.random() < 0.3:
                    self.initial[counter] = self._left[counter] = self._given[counter] = rng.randint(1, 3)

    def first(self, opcode: Opcode, fields: dict[str, int], followers: Sequence[Engine]) -> None:
        """Add an instruction of the prologue; the next instruction of each of (at most two) followers waits for it."""
        sync = self._due(ENGINE_OF[opcode])
        for index, engine in enumerate(followers):
            counter = self._free.pop()
            self._owed[engine].append(counter)
            sync |= {f"sig{index}_en": 1, f"sig{index}_id": counter}
        self.instructions.append(make(opcode, **fields, **sync))

    def _due(self, engine: Engine) -> dict[str, int]:
        """The waits for the prologue, once per engine."""
        sync: dict[str, int] = {}
        for index, counter in enumerate(self._owed[engine]):
            sync |= {f"wait{index}_id": counter, f"wait{index}_n": 1}
        self._owed[engine] = []
        return sync

    def add(self, opcode: Opcode, fields: dict[str, int], free: bool = False) -> None:
        """Add an instruction with random waits and signals, or without (`free`)."""
        engine, rng = ENGINE_OF[opcode], self._rng
        sync = self._due(engine)
        times = 1
        if not sync and not free:
            if rng.random() < 0.5:
                sync["each"], times = 1, fields["outer"]
            sync |= self._waits(engine, times)
        sync |= self._signals(times)
        self.instructions.append(make(opcode, **fields, **sync))

    def _waits(self, engine: Engine, times: int) -> dict[str, int]:
        sync: dict[str, int] = {}
        ready = [counter for counter in self._counters[engine] if self._left[counter] >= times]
        self._rng.shuffle(ready)
        for index, counter in enumerate(ready):
            if self._rng.random() < 0.6:
                most = min(15, self._left[counter] // times)
                amount = self._rng.choice((1, 1, self._rng.randint(1, most)))
                self._left[counter] -= amount * times
                sync |= {f"wait{index}_id": counter, f"wait{index}_n": amount}
        return sync

    def _signals(self, times: int) -> dict[str, int]:
        sync: dict[str, int] = {}
        for index in range(2):
            counter = self._rng.choice(self._counters[self._rng.choice(ENGINES)])
            if self._rng.random() < 0.5 and self._given[counter] + times <= MOST:
                self._given[counter] += times
                self._left[counter] += times
                sync |= {f"sig{index}_en": 1, f"sig{index}_id": counter}
        return sync

    def hand_over(self, pairs: Sequence[tuple[Opcode, dict[str, int]]]) -> None:
        """Add a producer and a consumer of equal outer counts, ordered both ways in every iteration."""
        if len(self._free) < 2 or any(self._owed[ENGINE_OF[opcode]] for opcode, _ in pairs):
            for opcode, fields in pairs:
                self.add(opcode, fields)
            return
        full, free = self._free.pop(), self._free.pop()
        self.initial[free] = self._rng.randint(1, 3)
        for (opcode, fields), wait, signal in zip(pairs, (free, full), (full, free), strict=True):
            sync = {"each": 1, "wait0_id": wait, "wait0_n": 1, "sig0_en": 1, "sig0_id": signal}
            self.instructions.append(make(opcode, **fields, **sync))
