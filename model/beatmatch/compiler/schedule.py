# SPDX-License-Identifier: Apache-2.0
"""Semaphores from data flow: operations are given in a sequential order with what they read and write.

An operation waits for the latest conflicting operation of every other engine unless an earlier wait already covers it
(vector clocks). A pair of engines has one counter: the k-th wait of the consumer takes the k-th signal of the producer.
All waits point backwards in dispatch order, so one-entry queues suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from beatmatch.compiler.builder import Builder, CompileError
from beatmatch.isa.fields import ENGINE_OF, Engine, Opcode, Space

SYNC_SLOTS = 2
MEMORY = "memory"
"""The space of a `Touch` in memory, in pieces that the caller numbers."""
ENGINES = tuple(engine for engine in Engine if engine is not Engine.FRONTEND)


@dataclass(frozen=True)
class Touch:
    """An interval of a memory: words, accumulator rows, parameter rows or pieces ``first`` to ``first + count - 1``."""

    space: Space | str
    first: int
    count: int


@dataclass
class _Operation:
    index: int
    number: int
    engine: Engine
    opcode: Opcode
    fields: dict
    clock: list[int]
    waits: list[int] = field(default_factory=list)
    signals: list[int] = field(default_factory=list)
    providers: list[_Operation] = field(default_factory=list)
    transfer: bool = False


class Schedule:
    """Operations in dispatch order, turned into instructions by `emit`.

    Parameters
    ----------
    build : Builder
    memory : int
        Pieces of memory whose reads and writes are ordered, too (`MEMORY`).
    bridge : dict, optional
        Arguments of `Builder.transfer` for a load that nobody reads: it takes waits that an operation has no room for.

    Attributes
    ----------
    label : str
        What the operations that are added now belong to.
    labels : list of str
        The label of each operation.
    bridges : int
        Loads that nobody reads so far.
    """

    def __init__(self, build: Builder, memory: int = 0, bridge: dict | None = None) -> None:
        config = build.config
        self._bridge, self.bridges = bridge, 0
        self.label = ""
        self.labels: list[str] = []
        self._build = build
        self._operations: list[_Operation] = []
        self._semaphores: dict[tuple[Engine, Engine], int] = {}
        self._last_wait: dict[int, int] = {}
        self._last_signal: dict[int, int] = {}
        sizes = {
            Space.SCRATCHPAD: config.sp_words,
            Space.ACCUMULATOR: config.acc_rows,
            Space.PARAMETER: config.param_rows,
            MEMORY: memory,
        }
        # Latest operation (its number in its engine, from 1) that read or wrote each place, per engine.
        self._reads = {s: np.zeros((len(Engine), n), np.int32) for s, n in sizes.items()}
        self._writes = {s: np.zeros((len(Engine), n), np.int32) for s, n in sizes.items()}
        self._lanes: dict[Engine, list[_Operation]] = {engine: [] for engine in ENGINES}

    def add(
        self,
        opcode: Opcode,
        reads: Iterable[Touch] = (),
        writes: Iterable[Touch] = (),
        transfer: bool = False,
        **fields: object,
    ) -> None:
        """Append an operation.

        Parameters
        ----------
        opcode : Opcode
        reads, writes : iterable of Touch
        transfer : bool
            ``fields`` are the arguments of `Builder.transfer`; else those of `Builder.emit`.
        """
        engine = ENGINE_OF[opcode]
        reads, writes = tuple(reads), tuple(writes)
        needs = [0] * len(Engine)
        for touch, others in [(t, (self._writes,)) for t in reads] + [(t, (self._writes, self._reads)) for t in writes]:
            part = slice(touch.first, touch.first + touch.count)
            for table in others:
                for number, latest in enumerate(table[touch.space][:, part].max(axis=1).tolist()):
                    needs[number] = max(needs[number], latest)
        try:
            self._append(opcode, fields, transfer, needs)
        except CompileError:
            if self._bridge is None:
                raise
            self._cross(engine, needs)
            self._append(opcode, fields, transfer, needs)
        for table, touches in ((self._reads, reads), (self._writes, writes)):
            for touch in touches:
                table[touch.space][engine, touch.first : touch.first + touch.count] = len(self._lanes[engine])

    def _append(self, opcode: Opcode, fields: dict, transfer: bool, needs: list[int]) -> None:
        """Add an operation that comes after the ``needs``-th one of every other engine; all or nothing."""
        engine = ENGINE_OF[opcode]
        lane = self._lanes[engine]
        clock = list(lane[-1].clock) if lane else [0] * len(Engine)
        op = _Operation(len(self._operations), len(lane) + 1, engine, opcode, fields, clock, transfer=transfer)
        if engine is Engine.MATMUL and self._lanes[Engine.WEIGHTS]:  # tiles carry the order of the weights engine
            self._join(clock, self._lanes[Engine.WEIGHTS][-1])
        self._undo: list[Callable[[], object]] = []
        try:
            for other in ENGINES:
                if other is not engine and needs[other] > clock[other]:
                    self._wait(op, self._lanes[other][needs[other] - 1])
        except CompileError:
            for back in reversed(self._undo):
                back()
            raise
        lane.append(op)
        self._operations.append(op)
        self.labels.append(self.label)

    def _cross(self, engine: Engine, needs: list[int]) -> None:
        """A load that waits for others in an operation's place: that one waits for the load, or follows it."""
        most = 1 if engine is Engine.LOAD else SYNC_SLOTS
        others = sorted((e for e in ENGINES if e not in (engine, Engine.LOAD) and needs[e]), key=needs.__getitem__)
        taken = [0] * len(Engine)
        for other in others[-SYNC_SLOTS:] if most == 1 else others[:most]:
            taken[other] = needs[other]
        self._append(Opcode.LOAD, dict(self._bridge), True, taken)
        self.bridges += 1
        if engine is not Engine.LOAD:
            needs[Engine.LOAD] = len(self._lanes[Engine.LOAD])
        for other in ENGINES:
            if taken[other]:
                needs[other] = 0

    def _join(self, clock: list[int], op: _Operation) -> None:
        """What is known once ``op`` has ended."""
        for number, value in enumerate(op.clock):
            clock[number] = max(clock[number], value)
        clock[op.engine] = max(clock[op.engine], op.number)

    def _wait(self, op: _Operation, producer: _Operation) -> None:
        key = (producer.engine, op.engine)
        if key not in self._semaphores:
            name = f"{producer.engine.name}_{op.engine.name}".lower()
            self._semaphores[key] = self._build.semaphore(name)
        semaphore = self._semaphores[key]
        later = [o for o in self._lanes[producer.engine][producer.number - 1 :] if o.index < op.index]
        signaller = self._free_slot(later, "signals", self._last_signal.get(semaphore, -1))
        earlier = self._lanes[op.engine][: op.number - 1]
        waiters = [op, *(o for o in reversed(earlier) if signaller and o.index > signaller.index)]
        waiter = self._free_slot(waiters, "waits", self._last_wait.get(semaphore, -1))
        if signaller is None or waiter is None:
            self._relay(op, producer)
            return
        before = (self._last_signal.get(semaphore, -1), self._last_wait.get(semaphore, -1), list(op.clock))
        self._undo.append(partial(self._take_back, op, signaller, waiter, semaphore, *before))
        signaller.signals.append(semaphore)
        waiter.waits.append(semaphore)
        op.providers.append(signaller)
        self._last_signal[semaphore] = signaller.index
        self._last_wait[semaphore] = waiter.index
        self._join(op.clock, signaller)

    def _take_back(self, op, signaller, waiter, semaphore: int, signal: int, wait: int, clock: list[int]) -> None:
        signaller.signals.pop()
        waiter.waits.pop()
        op.providers.pop()
        self._last_signal[semaphore], self._last_wait[semaphore] = signal, wait
        op.clock[:] = clock

    def _relay(self, op: _Operation, producer: _Operation) -> None:
        """Let an operation that ``op`` waits for anyway wait for ``producer`` in its place."""
        for provider in reversed(op.providers):
            if provider.index > producer.index and provider.engine is not producer.engine:
                self._wait(provider, producer)
                self._undo.append(partial(op.clock.__setitem__, slice(None), list(op.clock)))
                self._join(op.clock, provider)
                return
        raise CompileError(f"An operation needs more than {SYNC_SLOTS} waits, or is waited for by too many.")

    @staticmethod
    def _free_slot(candidates: Iterable[_Operation], kind: str, after: int) -> _Operation | None:
        for op in candidates:
            if len(getattr(op, kind)) < SYNC_SLOTS and op.index > after:
                return op
        return None

    def emit(self) -> None:
        """Hand all operations to the builder."""
        for op in self._operations:
            waits = [(semaphore, 1) for semaphore in op.waits]
            if op.transfer:
                self._build.transfer(op.opcode, waits=waits, signals=op.signals, **op.fields)
            else:
                self._build.emit(op.opcode, waits, op.signals, **op.fields)
