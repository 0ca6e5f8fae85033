# SPDX-License-Identifier: Apache-2.0
"""Which instruction an event belongs to, found from the dispatch, issue and retire events of a run."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Instruction, decode
from beatmatch.isa.encode import field_range, positions
from beatmatch.trace import layout

ENGINES = ("load", "weights", "matmul", "vector", "store")
NEWEST = frozenset({"sp_read", "shift", "row", "param_read", "ar", "aw", "issue"})
"""Slots at an engine's front: they belong to the instruction issued last, the others to the oldest in flight."""


class InstructionTracker:
    """Keeps the dispatch, issue and retire events of a run; answers only when something went wrong."""

    def __init__(self, config: Config) -> None:
        record = layout(config)
        self._dispatch = record.slot("frontend", "dispatch")
        self._columns = np.array(
            [record.slot(engine, slot).offset for engine in ENGINES for slot in ("issue", "retire")], dtype=np.intp
        )
        self._sync: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._dispatched: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, start: int, records: np.ndarray) -> None:
        """Remember the events of these records, uint32 [cycles, words], of which the first is cycle `start`."""
        columns = records[:, self._columns]
        cycles, slots = np.nonzero(columns)
        if len(cycles):
            self._sync.append((cycles + start, slots, columns[cycles, slots]))
        at = self._dispatch.offset
        rows = np.flatnonzero(records[:, at])
        if len(rows):
            self._dispatched.append((rows + start, records[rows, at : at + self._dispatch.words].copy()))

    def instructions(self, cycle: int) -> dict[int, int]:
        """Encodings of everything dispatched up to a cycle (since the last start), by sequence number."""
        known: dict[int, int] = {}
        for cycles, rows in self._dispatched:
            for at, row in zip(cycles.tolist(), rows, strict=True):
                if at > cycle:
                    return known
                sequence = int(row[0]) & 0xFFFF
                if sequence == 0:
                    known.clear()
                known[sequence] = int.from_bytes(row[1:].astype("<u4").tobytes(), "little")
        return known

    def in_flight(self, engine: str, cycle: int) -> list[int]:
        """Sequence numbers that an engine has issued and not retired by the end of a cycle, oldest first."""
        started = [
            int(c) for cycles, rows in self._dispatched for c, r in zip(cycles, rows, strict=True) if not r[0] & 0xFFFF
        ]
        since = max((at for at in started if at <= cycle), default=0)
        wanted = 2 * ENGINES.index(engine)
        flying: list[int] = []
        for cycles, slots, headers in self._sync:
            for at, slot, header in zip(cycles.tolist(), slots.tolist(), headers.tolist(), strict=True):
                if at > cycle or at < since or slot not in (wanted, wanted + 1):
                    continue
                sequence, last = header & 0xFFFF, header >> 24 & 1
                if slot == wanted and sequence not in flying:
                    flying.append(sequence)
                elif slot == wanted + 1 and last and sequence in flying and at < cycle:
                    flying.remove(sequence)
        return flying

    def cause(self, engine: str | None, slot: str, cycle: int) -> int | None:
        """The sequence number that an event of this engine and slot most likely belongs to."""
        if engine not in ENGINES:
            return None
        flying = self.in_flight(engine, cycle)
        if not flying:
            return None
        return flying[-1] if slot in NEWEST else flying[0]


def describe(word: int) -> str:
    """An instruction in one line: the operation and the fields that are not at their least interesting value."""
    instruction = decode(word)
    if instruction is None:
        return f"illegal opcode {word & 31} (0x{word:064x})"
    return _text(instruction)


def _text(instruction: Instruction) -> str:
    parts = []
    for name, (_, field) in positions(instruction.opcode).items():
        if name == "opcode":
            continue
        plain = field_range(field)[0] if field.minus_one else 1 if field.nonzero else 0
        value = instruction.fields[name]
        if value != plain:
            parts.append(f"{name}={value}")
    return " ".join([instruction.opcode.name, *parts])
