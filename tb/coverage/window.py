# SPDX-License-Identifier: Apache-2.0
"""A window of consecutive cycles as named arrays: events, levels, inputs, and state that is derived from them.

It is all that a coverage group sees. A block of records is preceded by the last cycles of the block before, so that a
pattern over a few cycles is found wherever the blocks are cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from beatmatch import stimulus
from beatmatch.config import Config
from beatmatch.isa import Instruction
from beatmatch.trace import TraceLayout, layout

ENGINES = ("load", "weights", "matmul", "vector", "store")
READERS = ("fetch", "load", "weights")
"""Requesters of the AR channel by their id."""


@dataclass(frozen=True)
class Sync:
    """An issue or retire event with the instruction it belongs to."""

    at: int
    engine: str
    seq: int
    iteration: int
    last: bool
    instruction: Instruction | None

    @property
    def waits(self) -> list[tuple[int, int]]:
        """(counter, amount) that this issue takes; of a retire event they mean nothing."""
        item = self.instruction
        if item is None or (self.iteration and not item.each):
            return []
        return [(i, n) for i, n in ((item.wait0_id, item.wait0_n), (item.wait1_id, item.wait1_n)) if n]

    @property
    def signals(self) -> list[int]:
        """Counters that this retire adds one to."""
        item = self.instruction
        if item is None:
            return []
        return [i for on, i in ((item.sig0_en, item.sig0_id), (item.sig1_en, item.sig1_id)) if on]


@dataclass(frozen=True)
class Access:
    """A register access on the host's bus: when it took effect, which word, and what the core was doing."""

    at: int
    write: bool
    address: int
    data: int
    strobe: int
    busy: bool
    refused: bool


@dataclass
class Facts:
    """What happened once in a while: Python objects instead of arrays, for the new cycles of a window only."""

    dispatched: list[tuple[int, int, Instruction]] = field(default_factory=list)
    issued: list[Sync] = field(default_factory=list)
    retired: list[Sync] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    errors: list[tuple[int, int, int, int]] = field(default_factory=list)  # at, engine, code, seq
    refused: list[tuple[int, int]] = field(default_factory=list)  # code, word that the decoder refused
    counters: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # at, counter, before, taken, given
    scaled: list[tuple[Instruction, np.ndarray, np.ndarray, np.ndarray]] = field(
        default_factory=list
    )  # see VectorValues
    parameters: list[np.ndarray] = field(default_factory=list)  # rows that the vector engine read, uint8 [8 * cols]
    run_ends: list[str] = field(default_factory=list)  # done, error or reset
    end_pairs: list[tuple[str, str]] = field(default_factory=list)  # of a run and the one after it
    started: list[tuple[int, int, int]] = field(default_factory=list)  # program length, address, cycle limit
    windows: dict[int, int] = field(default_factory=dict)  # bytes, by base register

    def instructions(self) -> list[Instruction]:
        """The instructions dispatched, each of equal ones once."""
        return list({id(item): item for _, _, item in self.dispatched}.values())


@cache
def _inputs() -> dict[str, stimulus.Input]:
    return {item.name: item for item in stimulus.INPUTS}


class Window:
    """Cycles of one program on one configuration.

    Parameters
    ----------
    config : Config
    records, rows : numpy.ndarray of uint32, [cycles, words]
        Trace records and stimulus rows; the first `new` cycles were seen before.
    new : int
        Index of the first cycle that was not seen before.
    state : dict of str to numpy.ndarray
        Derived values per cycle, by name (`tb.coverage.state`).
    facts : Facts
        Events of the new cycles as objects.
    """

    def __init__(
        self,
        config: Config,
        records: np.ndarray,
        rows: np.ndarray,
        new: int,
        state: dict[str, np.ndarray],
        facts: Facts,
    ) -> None:
        self.config = config
        self.records = records
        self.rows = rows
        self.new = new
        self.state = state
        self.facts = facts
        self.cycles = len(records)
        self._layout: TraceLayout = layout(config)
        self._known: dict[tuple, np.ndarray] = {}

    def on(self, station: str, slot: str) -> np.ndarray:
        """Whether the event of a slot happens, bool [cycles]."""
        key = (station, slot)
        if key not in self._known:
            self._known[key] = (self.records[:, _place(self.config, station, slot).offset] >> 31).astype(bool)
        return self._known[key]

    def field(self, station: str, slot: str, name: str) -> np.ndarray:
        """A header field of a slot, int64 [cycles]; 0 in a cycle without the event."""
        key = (station, slot, name)
        if key not in self._known:
            placed = _place(self.config, station, slot)
            shift = 0
            for label, width in placed.slot.fields:
                if label == name:
                    break
                shift += width
            else:
                raise KeyError(f"{station}.{slot} has no field {name!r}.")
            header = self.records[:, placed.offset].astype(np.int64)
            self._known[key] = (header >> shift) & ((1 << width) - 1)
        return self._known[key]

    def data(self, station: str, slot: str, name: str) -> np.ndarray:
        """Data words of a slot, uint32 [cycles, words]."""
        start, words = _place(self.config, station, slot).data[name]
        return self.records[:, start : start + words]

    def input(self, name: str) -> np.ndarray:
        """An input of the core by its name without suffix (``m_axi_rvalid``), int64 [cycles]."""
        key = ("input", name)
        if key not in self._known:
            item = _inputs()[name]
            self._known[key] = (self.rows[:, item.word].astype(np.int64) >> item.shift) & ((1 << item.width) - 1)
        return self._known[key]

    def flag(self, name: str) -> np.ndarray:
        """A one-bit input or host level as bool [cycles]: ``m_axi_rvalid``, ``status.halt``."""
        if name.startswith("status."):
            return self.field("host", "status", name.removeprefix("status.")).astype(bool)
        return self.input(name).astype(bool)

    def port(self, reader: str) -> tuple[str, str]:
        """Where a requester's reads go: the station of its port, and the prefix of that port's inputs."""
        own = reader == "weights" and self.config.weight_port
        return ("weight_port", "m_axi_weights") if own else ("port", "m_axi")

    def event(self, name: str) -> np.ndarray:
        """`on` of a slot that is named in one word: ``load.write``."""
        return self.on(*name.split("."))


def before(values: np.ndarray, cycles: int = 1) -> np.ndarray:
    """The values of some cycles earlier; 0 or False where the window does not reach."""
    shifted = np.zeros_like(values)
    if cycles < len(values):
        shifted[cycles:] = values[:-cycles]
    return shifted


@cache
def _place(config: Config, station: str, slot: str):
    return layout(config).slot(station, slot)
