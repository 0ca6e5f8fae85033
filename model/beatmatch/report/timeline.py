# SPDX-License-Identifier: Apache-2.0
"""Who was busy when: intervals of the engines, and use of array and memory port per window of cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from beatmatch.config import Config
from beatmatch.isa.encode import Instruction, positions
from beatmatch.isa.fields import Field, Opcode
from beatmatch.program import Program
from beatmatch.report.recording import READERS, Recording

ENGINES = ("load", "weights", "matmul", "vector", "store")
CATEGORIES = ("active", "weight_shift", "weight_stall", "input_stall", "raw_stall")
PORT = (*READERS, "store")
"""Users of the memory port: the first three read, store writes."""

EDGE_AFTER_ISSUE = 4
"""Cycles from an issue to the instruction's first row at the array's edge (further iterations: one less)."""

DEFAULT_WINDOWS = 2400


@dataclass(frozen=True)
class Interval:
    """An engine at work on an instruction, or with `each` on one of its outer iterations.

    Attributes
    ----------
    engine : str
    index : int
        Number of the instruction in the program.
    iteration : int
        Outer iteration; 0 without `each`.
    dispatched, start, end : int
        Cycles of the run: it entered the queue (-1: not seen), its waits were granted, and the first one after it
        gave its signals.
    """

    engine: str
    index: int
    iteration: int
    dispatched: int
    start: int
    end: int


@dataclass(frozen=True)
class Windows:
    """Counts per window of cycles, all int64 arrays over the windows.

    Attributes
    ----------
    width : int
        Cycles per window; the last one may be shorter.
    length : ndarray
        Cycles of each window.
    categories : dict of str to ndarray
        Cycles by category, ``other`` included: they add up to ``length``.
    useful_macs : ndarray
        Multiply-accumulates of used rows and columns.
    rows, cols : ndarray, [rows or cols, windows]
        Cycles in which each row (column) of the array did useful work.
    port : dict of str to ndarray
        Beats on the memory port by user.
    """

    width: int
    length: np.ndarray
    categories: dict[str, np.ndarray]
    useful_macs: np.ndarray
    rows: np.ndarray
    cols: np.ndarray
    port: dict[str, np.ndarray]


class Timeline:
    """One run of a program, its cycles counted from 0.

    Parameters
    ----------
    recording : Recording
    program : Program
    run : int
        Which of the recorded runs; the last by default.
    groups : mapping of str to iterable of int, optional
        Names for sets of instructions, such as the layers of a network.

    Attributes
    ----------
    cycles : int
        From start to done.
    intervals : tuple of Interval
        In order of engine and start.
    """

    def __init__(
        self, recording: Recording, program: Program, run: int = -1, groups: Mapping[str, Iterable[int]] | None = None
    ) -> None:
        runs = recording.runs()
        if not runs:
            raise ValueError("The recording holds no run: the core was never started.")
        self.config: Config = program.config
        self.instructions = program.decoded()
        self.groups = dict(groups or {})
        self._recording = recording
        self._start, self._end = runs[run]
        self.cycles = self._end - self._start
        self.intervals = tuple(interval for engine in ENGINES for interval in self._intervals(engine))
        self._row_cycles, self._row_k, self._row_n = self._rows()

    # ----- engines -----

    def _events(self, station: str, kind: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Events of the run: cycles counted from its start, and fields as int64."""
        cycles, fields = self._recording.log.headers(station, kind)
        inside = (cycles >= self._start) & (cycles < self._end)
        return cycles[inside] - self._start, {name: values[inside].astype(np.int64) for name, values in fields.items()}

    def _intervals(self, engine: str) -> list[Interval]:
        issues, fields = self._events(engine, "issue")
        retires, _ = self._events(engine, "retire")
        # Engines finish in the order in which they issue; what an error or reset cut off ends with the run.
        ends = np.full(len(issues), self.cycles, np.int64)
        ends[: len(retires)] = retires[: len(issues)] + 1
        dispatched = self._dispatched()
        indices, iterations = _unwrapped(fields["seq"]).tolist(), fields["iteration"].tolist()
        return [
            Interval(engine, index, iteration, dispatched.get(index, -1), start, end)
            for index, iteration, start, end in zip(indices, iterations, issues.tolist(), ends.tolist(), strict=True)
        ]

    def _dispatched(self) -> dict[int, int]:
        if not hasattr(self, "_dispatches"):
            cycles, fields = self._events("frontend", "dispatch")
            self._dispatches = dict(zip(_unwrapped(fields["seq"]).tolist(), cycles.tolist(), strict=True))
        return self._dispatches

    def lanes(self, engine: str) -> tuple[list[Interval], list[int], int]:
        """Intervals of an engine, a lane for each so that none overlap in a lane, and the number of lanes."""
        chosen = [interval for interval in self.intervals if interval.engine == engine]
        places, ends = [], []
        for interval in chosen:
            lane = next((lane for lane, end in enumerate(ends) if end <= interval.start), len(ends))
            ends[lane : lane + 1] = [interval.end]
            places.append(lane)
        return chosen, places, max(len(ends), 1)

    def busy(self, engine: str) -> int:
        """Cycles in which the engine had work."""
        covered, reach = 0, 0
        for interval in self.intervals:
            if interval.engine == engine:
                covered += max(0, interval.end - max(reach, interval.start))
                reach = max(reach, interval.end)
        return covered

    def group_spans(self) -> dict[str, list[tuple[int, int]]]:
        """First cycle and cycle after the last of every stretch of a group's work on matmul and vector."""
        owner = {index: name for name, indices in self.groups.items() for index in indices}
        spans: dict[str, list[tuple[int, int]]] = {}
        last = None
        for interval in sorted(self.intervals, key=lambda i: (i.index, i.iteration)):
            name = owner.get(interval.index)
            if name is None or interval.engine not in ("matmul", "vector"):
                continue
            if name == last:  # still the same stretch
                start, end = spans[name][-1]
                spans[name][-1] = min(start, interval.start), max(end, interval.end)
            else:
                spans.setdefault(name, []).append((interval.start, interval.end))
            last = name
        return spans

    def text(self, index: int) -> str:
        """An instruction in words: its operation and the fields that are not at rest."""
        instruction = self.instructions[index] if index < len(self.instructions) else None
        return describe(instruction) if instruction is not None else "not an instruction"

    # ----- array -----

    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Activation rows that entered the array: cycle, array rows used, array columns used (int64 each)."""
        cycles, _ = self._events("matmul", "row")
        issues, fields = self._events("matmul", "issue")
        if not len(cycles) or not len(issues):
            return (np.zeros(0, np.int64),) * 3
        # A row belongs to the last issue that was early enough for it; within that they come tile by tile.
        reach = issues + EDGE_AFTER_ISSUE - (fields["iteration"] > 0)
        owner = np.searchsorted(reach, cycles, side="right") - 1
        first = np.searchsorted(owner, np.arange(len(issues)))
        place = np.arange(len(cycles)) - first[owner]
        table = np.array([_tile_shape(self.instructions[i], self.config) for i in _unwrapped(fields["seq"]).tolist()])
        rows, blocks, k_last, n = table[owner].T
        last_block = place // rows % blocks == blocks - 1
        return cycles, np.where(last_block, k_last, self.config.rows), n

    @property
    def useful_macs(self) -> int:
        """Multiply-accumulates of used rows and columns in the whole run."""
        return int((self._row_k * self._row_n).sum())

    def array_use(self) -> np.ndarray:
        """Cycles in which each PE did useful work, int64 [rows, cols]."""
        config = self.config
        shape = config.rows + 1, config.cols + 1
        counts = np.bincount(self._row_k * shape[1] + self._row_n, minlength=shape[0] * shape[1]).reshape(shape)
        return counts[::-1, ::-1].cumsum(0).cumsum(1)[::-1, ::-1][1:, 1:]  # PE (r, c) works if k > r and n > c

    # ----- windows -----

    def windows(self, most: int = DEFAULT_WINDOWS) -> Windows:
        """Counts in at most ``most`` windows of equal width."""
        width = max(1, -(-self.cycles // most))
        count = -(-self.cycles // width)
        length = np.full(count, width, np.int64)
        length[-1] = self.cycles - width * (count - 1)

        def total(cycles: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
            return np.bincount(cycles // width, weights, minlength=count).astype(np.int64)

        categories = {}
        for name in CATEGORIES:
            categories[name] = total(np.flatnonzero(self._recording.status(name)[self._start : self._end]))
        categories["other"] = length - sum(categories.values())
        port = {}
        for name in PORT:
            beats = self._recording.read_beats(name) if name in READERS else self._recording.log.headers("port", "w")[0]
            port[name] = total(beats[(beats >= self._start) & (beats < self._end)] - self._start)
        window = self._row_cycles // width
        return Windows(
            width=width,
            length=length,
            categories=categories,
            useful_macs=total(self._row_cycles, self._row_k * self._row_n),
            rows=_used(self._row_k, window, self.config.rows, count),
            cols=_used(self._row_n, window, self.config.cols, count),
            port=port,
        )


def _used(sizes: np.ndarray, window: np.ndarray, most: int, count: int) -> np.ndarray:
    """How often, per place 0..most-1 and window, ``sizes`` reached beyond the place."""
    table = np.bincount(sizes * count + window, minlength=(most + 1) * count).reshape(most + 1, count)
    return table[::-1].cumsum(0)[::-1][1:].astype(np.int64)


def _unwrapped(seq: np.ndarray) -> np.ndarray:
    """Sequence numbers of one engine, which count modulo 2^16, as instruction numbers."""
    wraps = np.cumsum(np.diff(seq, prepend=0) < 0)
    return seq + (wraps << 16)


def _tile_shape(instruction: Instruction, config: Config) -> tuple[int, int, int, int]:
    """Activation rows per tile, channel blocks, rows used in the last block, columns used."""
    if instruction is None or instruction.opcode != Opcode.MATMUL:
        return 1, 1, config.rows, config.cols
    return instruction.x * instruction.y, instruction.kc, instruction.k_lanes, instruction.n_lanes


_SYNC = ("each", "instance", "opcode")


def describe(instruction: Instruction) -> str:
    """An instruction as one line: operation, fields that are not at rest, waits, signals."""
    fields, parts = instruction.fields, [instruction.opcode.name]
    for name, (_, declared) in positions(instruction.opcode).items():
        if name in _SYNC or name.startswith(("wait", "sig")) or fields[name] == _at_rest(declared):
            continue
        parts.append(f"{name}={fields[name]}")
    parts += ["each"] * fields["each"]
    for slot in (0, 1):
        if fields[f"wait{slot}_n"]:
            parts.append(f"wait({fields[f'wait{slot}_id']}, {fields[f'wait{slot}_n']})")
    parts += [f"signal({fields[f'sig{slot}_id']})" for slot in (0, 1) if fields[f"sig{slot}_en"]]
    return " ".join(parts)


def _at_rest(declared: Field) -> int:
    return 1 if declared.minus_one or declared.nonzero else 0
