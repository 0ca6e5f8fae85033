# SPDX-License-Identifier: Apache-2.0
"""Who may go next, without time: dispatch in order, queues of a given depth, semaphores, the weight FIFO.

The functional tier executes values in this order; the checker walks it with one-entry queues. Because each counter has
one waiting engine and tiles pass in order, whether a program finishes does not depend on the order in which the
engines are visited.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from beatmatch.isa.encode import Instruction
from beatmatch.isa.fields import SEMAPHORE_MAX, Engine, Error, Opcode

ENGINES = (Engine.LOAD, Engine.WEIGHTS, Engine.MATMUL, Engine.VECTOR, Engine.STORE)


class Halt(Exception):
    """The machine stops with an error, as its registers would show it."""

    def __init__(self, code: Error, engine: Engine, seq: int, text: str) -> None:
        super().__init__(text)
        self.code, self.engine, self.seq, self.text = code, engine, seq & 0xFFFF, text


@dataclass(frozen=True)
class Node:
    """One step of an engine: an outer iteration with `each`, else a whole instruction."""

    engine: Engine
    index: int
    instruction: Instruction
    first: int
    count: int


def inner_tiles(instruction: Instruction) -> int:
    """Weight tiles of one outer iteration."""
    if instruction.opcode == Opcode.MATMUL:
        return instruction.ky * instruction.kx * instruction.kc
    return instruction.inner


class Hooks:
    """What a user of `Sequencer` does at each step; every method may be left out."""

    def decode(self, index: int) -> None:
        """Instruction ``index`` is in the decode register; may raise Halt."""

    def start(self, node: Node) -> None:
        """The node's waits were granted."""

    def tile(self, engine: Engine, node: Node, iteration: int, tile: int) -> None:
        """Weights wrote (or matmul took) a tile; matmul gets the one that weights wrote first."""

    def work(self, node: Node, iteration: int) -> None:
        """All tiles of outer iteration ``iteration`` are there: execute it."""

    def finish(self, node: Node) -> None:
        """The node's last write is visible; its signals follow."""


class _Lane:
    """An engine: its queue and what it is doing."""

    __slots__ = ("iteration", "node", "queue", "tile")

    def __init__(self) -> None:
        self.queue: deque = deque()
        self.node: Node | None = None
        self.iteration = 0
        self.tile = 0


class Sequencer:
    """Untimed order of a program.

    Parameters
    ----------
    instructions : sequence of Instruction or None
        In program order; None (no such opcode) must be refused by ``hooks.decode``.
    semaphores : sequence of int
        Initial counts.
    queue_depth, fifo_tiles : int
    hooks : Hooks
    """

    def __init__(
        self,
        instructions: Sequence[Instruction | None],
        semaphores: Sequence[int],
        queue_depth: int,
        fifo_tiles: int,
        hooks: Hooks,
    ) -> None:
        self.instructions = instructions
        self.counts = list(semaphores)
        self.depth = queue_depth
        self.fifo_tiles = fifo_tiles
        self.hooks = hooks
        self.next = 0
        self.decoded = -1
        self.lanes = {engine: _Lane() for engine in ENGINES}
        self.fifo = 0
        self.shadow = False

    def run(self) -> None:
        """Go on to the end; raises Halt on a deadlock, a counter overflow, or what a hook raises."""
        lanes = tuple(self.lanes.items())
        progress = True
        while progress:
            progress = self._dispatch()
            for engine, lane in lanes:
                while self._advance(engine, lane):
                    progress = True
        blocked = self.blocked()
        if blocked:
            engine, index, _ = blocked[0]
            text = "; ".join(f"{e.name.lower()} instruction {i} {why}" for e, i, why in blocked)
            raise Halt(Error.DEADLOCK, engine, index, f"No engine can go on: {text}.")

    def blocked(self) -> list[tuple[Engine, int, str]]:
        """Engines that cannot go on, in order, as (engine, instruction, reason)."""
        found = []
        for engine, lane in self.lanes.items():
            node = lane.node
            if node is not None and node.count:  # inside: only a missing tile or slot can stop it
                what = "waits for a weight tile" if engine is Engine.MATMUL else "waits for a free weight FIFO slot"
                found.append((engine, node.index, what))
            elif node is not None or lane.queue:
                index = node.index if node is not None else lane.queue[0]
                found.append((engine, index, self._reason(self.instructions[index])))
        return found

    def _reason(self, instruction: Instruction) -> str:
        missing = [
            f"semaphore {wait} ({self.counts[wait]} of {n})"
            for wait, n in ((instruction.wait0_id, instruction.wait0_n), (instruction.wait1_id, instruction.wait1_n))
            if self.counts[wait] < n
        ]
        return "waits for " + " and ".join(missing)

    def _dispatch(self) -> bool:
        progress = False
        while self.next < len(self.instructions):
            if self.decoded != self.next:
                self.hooks.decode(self.next)
                self.decoded = self.next
            queue = self.lanes[self.instructions[self.next].engine].queue
            if len(queue) >= self.depth:
                break
            queue.append(self.next)
            self.next += 1
            progress = True
        return progress

    def _granted(self, instruction: Instruction) -> bool:
        counts = self.counts
        id0, n0, id1, n1 = instruction.wait0_id, instruction.wait0_n, instruction.wait1_id, instruction.wait1_n
        if counts[id0] < n0 or counts[id1] < n1:
            return False
        counts[id0] = max(counts[id0] - n0, 0)
        counts[id1] = max(counts[id1] - n1, 0)
        return True

    def _advance(self, engine: Engine, lane: _Lane) -> bool:
        """Do the next thing of an engine, if it can."""
        node = lane.node
        if node is None or not node.count:
            if node is None:
                if not lane.queue:
                    return False
                index, first = lane.queue[0], 0
            else:
                index, first = node.index, node.first
            instruction = self.instructions[index]
            if not self._granted(instruction):
                return False
            if node is None:
                lane.queue.popleft()
            lane.node = node = Node(engine, index, instruction, first, 1 if instruction.each else instruction.outer)
            lane.iteration, lane.tile = first, 0
            self.hooks.start(node)
        instruction = node.instruction
        if engine is Engine.WEIGHTS:
            before = lane.tile
            if not self._write_tiles(lane, node):
                return lane.tile > before
        elif engine is Engine.MATMUL:
            before = lane.tile
            if not self._take_tiles(lane, node):
                return lane.tile > before
        self.hooks.work(node, lane.iteration)
        lane.iteration += 1
        lane.tile = 0
        if lane.iteration < node.first + node.count:
            return True
        self.hooks.finish(node)
        self._signal(instruction)
        if lane.iteration < instruction.outer:
            lane.node = Node(engine, node.index, instruction, lane.iteration, 0)  # waits for its next iteration
        else:
            lane.node = None
        return True

    def _signal(self, instruction: Instruction) -> None:
        for enable, target in (
            (instruction.sig0_en, instruction.sig0_id),
            (instruction.sig1_en, instruction.sig1_id),
        ):
            if enable:
                self.counts[target] += 1
                if self.counts[target] > SEMAPHORE_MAX:
                    text = f"Semaphore {target} went above {SEMAPHORE_MAX}."
                    raise Halt(Error.SEMAPHORE_OVERFLOW, Engine.FRONTEND, 0, text)

    def shadow_moved(self) -> bool:
        """Let the loader move a tile from the FIFO into the shadow registers; True if that freed a slot."""
        if self.shadow or not self.fifo:
            return False
        self.fifo -= 1
        self.shadow = True
        return True

    def _write_tiles(self, lane: _Lane, node: Node) -> bool:
        total = inner_tiles(node.instruction)
        while lane.tile < total:
            if self.fifo >= self.fifo_tiles and not self.shadow_moved():
                return False
            self.hooks.tile(Engine.WEIGHTS, node, lane.iteration, lane.tile)
            self.fifo += 1
            lane.tile += 1
        return True

    def _take_tiles(self, lane: _Lane, node: Node) -> bool:
        total = inner_tiles(node.instruction)
        kept = node.instruction.keep and lane.iteration == 0
        while lane.tile < total:
            if not (kept and lane.tile == 0):
                self.shadow_moved()
                if not self.shadow:
                    return False
                self.shadow = False
            self.hooks.tile(Engine.MATMUL, node, lane.iteration, lane.tile)
            lane.tile += 1
        return True
