# SPDX-License-Identifier: Apache-2.0
"""What a program orders: vector clocks along the untimed walk of the sequencer, and shadows of all memories.

The rules of order are in `beatmatch.checker`, which is the entry.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from beatmatch.footprint import Access, Footprint, footprint
from beatmatch.isa.encode import Instruction
from beatmatch.isa.fields import INSTRUCTION_BYTES, SEMAPHORE_MAX, Engine, Space
from beatmatch.program import Program
from beatmatch.sequence import Hooks, Node, inner_tiles

ENGINES = len(Engine)
SPACE_NAMES = {Space.SCRATCHPAD: "scratchpad", Space.ACCUMULATOR: "accumulator", Space.PARAMETER: "parameter memory"}
PAGE = 4096


@dataclass(frozen=True)
class Finding:
    """Something wrong with a program.

    Attributes
    ----------
    kind : str
        ``program``, ``illegal``, ``range``, ``waiters``, ``overflow``, ``deadlock``, ``hazard`` or ``unwritten``.
    instructions : tuple of int
        The instructions it is about, in program order.
    text : str
        One sentence or two.
    """

    kind: str
    instructions: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class _Shadow:
    """For each unit of a memory, who touched it last: node numbers (from 1) per engine."""

    def __init__(self, units: int) -> None:
        self.reads = np.zeros((ENGINES, units), np.int32)
        self.writes = np.zeros((ENGINES, units), np.int32)
        self.readers: set[int] = set()
        self.writers: set[int] = set()
        self.written = np.zeros(units, bool)


class Walk(Hooks):
    """Vector clocks and shadows along the sequencer's order."""

    def __init__(self, program: Program, instructions: list[Instruction], single_waiters: bool) -> None:
        config = program.config
        self.program, self.config, self.instructions = program, config, instructions
        self.single_waiters = single_waiters
        self.findings: list[Finding] = []
        self.reported: Counter = Counter()
        self.unit = min(config.rows, config.cols)
        self.shadows = {
            Space.SCRATCHPAD: _Shadow(config.sp_words * config.lanes // self.unit),
            Space.ACCUMULATOR: _Shadow(config.acc_rows),
            Space.PARAMETER: _Shadow(config.param_rows),
        }
        self.bytes = np.zeros(config.sp_words * config.lanes, bool)  # scratchpad bytes that were written
        self.pages: dict[int, _Shadow] = {}
        self._fill_memory()
        self.start_clock = [np.zeros(ENGINES, np.int64) for _ in range(ENGINES)]
        self.end_clock = [np.zeros(ENGINES, np.int64) for _ in range(ENGINES)]
        self.nodes: list[list[Node]] = [[] for _ in range(ENGINES)]
        self.signals: dict[int, dict[Engine, list[np.ndarray]]] = {}
        self.totals = self._count_signals()
        self.taken: dict[int, list[tuple[int, int]]] = {}  # per semaphore: (node number of its waiter, sum taken)
        self.tiles: list[np.ndarray] = []  # clocks of tiles on their way to the array
        self.prints: dict[tuple[int, int], Footprint] = {}

    def _fill_memory(self) -> None:
        for address, size in (
            *((s.address, len(s.data)) for s in self.program.segments),
            (self.program.address, INSTRUCTION_BYTES * (1 + len(self.instructions))),
        ):
            for page, part in self._beats(address, size):
                page.written[part] = True

    def _count_signals(self) -> dict[int, Counter]:
        totals: dict[int, Counter] = {}
        for i in self.instructions:
            for enable, semaphore in ((i.sig0_en, i.sig0_id), (i.sig1_en, i.sig1_id)):
                if enable:
                    totals.setdefault(semaphore, Counter())[i.engine] += i.outer if i.each else 1
        return totals

    def _beats(self, address: int, size: int):
        """Parts of pages, in beats, that a range of memory covers."""
        beat = self.config.mem_bytes
        per_page = PAGE // beat
        first, last = address // beat, (address + size - 1) // beat
        while first <= last:
            number, start = divmod(first, per_page)
            end = min(per_page, start + last - first + 1)
            page = self.pages.get(number)
            if page is None:
                page = self.pages[number] = _Shadow(per_page)
            yield page, slice(start, end)
            first += end - start

    # ----- clocks -----

    def start(self, node: Node) -> None:
        """A node's waits: join what the signals prove."""
        engine = node.engine
        clock = self.start_clock[engine]
        i = node.instruction
        for semaphore, n in ((i.wait0_id, i.wait0_n), (i.wait1_id, i.wait1_n)):
            if n:
                history = self.taken.setdefault(semaphore, [])
                total = (history[-1][1] if history else 0) + n
                history.append((len(self.nodes[engine]) + 1, total))
                if self.single_waiters:
                    self._join_signals(clock, semaphore, total - self.program.semaphores[semaphore])
        self.nodes[engine].append(node)
        if engine is not Engine.MATMUL:
            self._accesses(node)

    def _join_signals(self, clock: np.ndarray, semaphore: int, needed: int) -> None:
        totals = self.totals.get(semaphore, Counter())
        everyone = sum(totals.values())
        for engine, given in self.signals.get(semaphore, {}).items():
            sure = needed - (everyone - totals[engine])
            if sure > 0:
                np.maximum(clock, given[min(sure, len(given)) - 1], out=clock)

    def tile(self, engine: Engine, node: Node, iteration: int, tile: int) -> None:
        """Tiles carry what the weights engine knows to the array."""
        if engine is Engine.WEIGHTS:
            clock = self.start_clock[engine].copy()
            last = iteration == node.first + node.count - 1 and tile == inner_tiles(node.instruction) - 1
            clock[engine] = len(self.nodes[engine]) - (not last)
            self.tiles.append(clock)
            return
        first = iteration == node.first and tile == 0
        if not (node.instruction.keep and iteration == 0 and tile == 0):
            clock = self.tiles.pop(0)
            np.maximum(self.start_clock[engine], clock, out=self.start_clock[engine])
        if first:
            self._accesses(node)

    def finish(self, node: Node) -> None:
        """The node's end, and its signals."""
        engine = node.engine
        clock = self.end_clock[engine]
        np.maximum(clock, self.start_clock[engine], out=clock)
        clock[engine] = len(self.nodes[engine])
        i = node.instruction
        for enable, semaphore in ((i.sig0_en, i.sig0_id), (i.sig1_en, i.sig1_id)):
            if enable:
                given = self.signals.setdefault(semaphore, {}).setdefault(engine, [])
                given.append(clock.copy())
                if len(self.totals[semaphore]) == 1:
                    self._check_count(node, semaphore, len(given), clock)

    def _check_count(self, node: Node, semaphore: int, given: int, clock: np.ndarray) -> None:
        """Could the counter pass 255 here, if its waiter is as late as it may be?"""
        history = self.taken.get(semaphore, [])
        taken = 0
        if history:
            waiter = next(e for e in range(ENGINES) if self._waits(e, semaphore))
            known = int(clock[waiter])
            index = np.searchsorted([number for number, _ in history[-300:]], known, side="right")
            index += max(0, len(history) - 300)
            taken = history[index - 1][1] if index else 0
        if self.program.semaphores[semaphore] + given - taken > SEMAPHORE_MAX:
            text = f"Semaphore {semaphore} can pass {SEMAPHORE_MAX} at a signal of instruction {node.index}."
            self._report("overflow", (node.index,), text)

    def _waits(self, engine: int, semaphore: int) -> bool:
        key = (engine, semaphore)
        cache = self.__dict__.setdefault("_waiters", {})
        if key not in cache:
            mine = [i for i in self.instructions if i.engine == engine]
            pairs = [pair for i in mine for pair in ((i.wait0_id, i.wait0_n), (i.wait1_id, i.wait1_n))]
            cache[key] = any(n and waited == semaphore for waited, n in pairs)
        return cache[key]

    # ----- accesses -----

    def _accesses(self, node: Node) -> None:
        """Compare all that a node touches with what other engines touched and are not known to have ended."""
        clock = self.start_clock[node.engine]
        for iteration in range(node.first, node.first + node.count):
            touched = self._footprint(node, iteration)
            if node.engine is Engine.VECTOR:
                self._inside_vector(node, touched)
            for access in touched.reads:
                self._local(node, clock, access, write=False)
            for access in touched.writes:
                self._local(node, clock, access, write=True)
            if len(touched.memory):
                self._memory(node, clock, touched)

    def _footprint(self, node: Node, iteration: int) -> Footprint:
        key = (self.program.instructions[node.index] >> 46, iteration)  # the header's sync fields do not matter
        if key not in self.prints:
            if len(self.prints) > 256:
                self.prints.clear()
            self.prints[key] = footprint(node.instruction, iteration, self.config, self.program.bases)
        return self.prints[key]

    def _units(self, access: Access) -> np.ndarray:
        if access.space is not Space.SCRATCHPAD:
            return access.first
        first, count = access.first // self.unit, -(-access.used // self.unit)
        return first if count == 1 else (first[:, None] + np.arange(count)).reshape(-1)

    def _local(self, node: Node, clock: np.ndarray, access: Access, write: bool) -> None:
        shadow = self.shadows[access.space]
        units = self._units(access)
        name = SPACE_NAMES[access.space]
        self._compare(node, clock, shadow, units, write, lambda unit: f"{name} {self._place(access.space, unit)}")
        if write:
            shadow.written[units] = True
        if access.space is Space.SCRATCHPAD:
            self._check_bytes(node, access, write)
        elif not write and not shadow.written[units].all():
            unit = int(units[np.argmin(shadow.written[units])])
            text = f"Instruction {node.index} reads {name} row {unit}, which nothing has written."
            self._report("unwritten", (node.index,), text)

    def _place(self, space: Space, unit: int) -> str:
        if space is Space.SCRATCHPAD:
            return f"word {unit * self.unit // self.config.lanes}"
        return f"row {unit}"

    def _check_bytes(self, node: Node, access: Access, write: bool) -> None:
        places = access.first[:, None] + np.arange(access.used)
        if write:
            self.bytes[places] = True
            return
        known = self.bytes[places]
        if not known.all():
            byte = int(places.reshape(-1)[np.argmin(known.reshape(-1))])
            word, lane = divmod(byte, self.config.lanes)
            text = f"Instruction {node.index} reads byte {lane} of scratchpad word {word}, which nothing has written."
            self._report("unwritten", (node.index,), text)

    def _compare(self, node, clock, shadow: _Shadow, units, write: bool, place) -> None:
        engine = int(node.engine)
        tables = [(shadow.writes, shadow.writers, "writes")]
        if write:
            tables.append((shadow.reads, shadow.readers, "reads"))
        for table, users, verb in tables:
            for other in users:
                if other == engine:
                    continue
                latest = table[other][units]
                if latest.size and int(latest.max()) > clock[other]:
                    at = int(np.argmax(latest))
                    unit = int(units[at]) if isinstance(units, np.ndarray) else at
                    self._hazard(node, write, other, int(latest[at]), verb, place(unit))
        number = len(self.nodes[engine])
        if write:
            shadow.writes[engine][units] = number
            shadow.writers.add(engine)
        else:
            shadow.reads[engine][units] = number
            shadow.readers.add(engine)

    def _memory(self, node: Node, clock: np.ndarray, touched: Footprint) -> None:
        write = node.engine is Engine.STORE
        for address in touched.memory.tolist():
            for page, part in self._beats(address, touched.memory_size):

                def place(unit: int, address=address) -> str:
                    return f"memory near {address:#x}"

                self._compare(node, clock, page, part, write, place)
                if write:
                    page.written[part] = True
                elif not page.written[part].all():
                    text = f"Instruction {node.index} reads memory near {address:#x}, which nothing has written."
                    self._report("unwritten", (node.index,), text)
        if write:
            self._check_code(node, touched)

    def _check_code(self, node: Node, touched: Footprint) -> None:
        low = self.program.address
        high = low + INSTRUCTION_BYTES * (1 + len(self.instructions))
        for address in touched.memory.tolist():
            if address < high and low < address + touched.memory_size:
                text = f"Instruction {node.index} (STORE) writes over the program at {max(address, low):#x}."
                self._report("hazard", (node.index,), text)
                return

    def _inside_vector(self, node: Node, touched: Footprint) -> None:
        """Reading what an earlier element of the same iteration writes: the pipeline may not have written it yet."""
        (write,) = touched.writes
        targets = self._units(write)
        first = np.full(self.shadows[Space.SCRATCHPAD].written.size, np.iinfo(np.int64).max)
        owners = np.repeat(write.element, len(targets) // len(write.element))
        np.minimum.at(first, targets, owners)
        for read in touched.reads:
            if read.space is not Space.SCRATCHPAD or read.element is None or not read.element.size:
                continue
            units = self._units(read)
            late = first[units] < np.repeat(read.element, len(units) // len(read.element))
            if late.any():
                place = self._place(Space.SCRATCHPAD, int(units[late.argmax()]))
                text = f"Instruction {node.index} reads {place}, which an earlier element of the same iteration writes."
                self._report("hazard", (node.index,), text)

    # ----- reports -----

    def _hazard(self, node: Node, write: bool, other: int, number: int, verb: str, place: str) -> None:
        before = self.nodes[other][number - 1]
        verbs = "writes" if write else "reads"
        text = f"{_describe(node)} {verbs} {place}, which {_describe(before)} {verb}, and no semaphore orders the two."
        self._report("hazard", tuple(sorted((before.index, node.index))), text)

    def _report(self, kind: str, instructions: tuple[int, ...], text: str) -> None:
        """Note a finding, once per kind and instructions."""
        if not self.reported[(kind, instructions)]:
            self.findings.append(Finding(kind, instructions, text))
        self.reported[(kind, instructions)] += 1


def _describe(node: Node) -> str:
    text = f"instruction {node.index} ({node.instruction.opcode.name})"
    return f"{text}, outer iteration {node.first}," if node.instruction.each and node.instruction.outer > 1 else text
