# SPDX-License-Identifier: Apache-2.0
"""What every compiler needs: memory regions, semaphores by name, instructions in dispatch order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from beatmatch.config import DEFAULT_BANDWIDTH, DEFAULT_LATENCY, DEFAULT_WEIGHT_MEMORY, Config
from beatmatch.isa.encode import Instruction, make
from beatmatch.isa.fields import BASE_REGISTERS, INSTRUCTION_BYTES, SEMAPHORES, Opcode
from beatmatch.memory import PAGE, MemoryTiming
from beatmatch.program import Base, Program, Result, Segment

LONGEST_ROW = 32768
"""Bytes that rows are merged up to when they are contiguous (the field holds 65,535)."""


class CompileError(ValueError):
    """Something that cannot be compiled for this configuration; the text says why."""


def default_timing(config: Config) -> MemoryTiming:
    """The memory that a preset is usually measured with."""
    bandwidth = DEFAULT_BANDWIDTH.get(config.name)
    latency = DEFAULT_LATENCY.get(config.name, 50)
    return MemoryTiming(read_latency=latency, read_bandwidth=bandwidth, write_bandwidth=bandwidth)


def default_weight_timing(config: Config) -> MemoryTiming | None:
    """The memory for weights of a preset that has one; None: like the memory."""
    if not config.weight_port or config.name not in DEFAULT_WEIGHT_MEMORY:
        return None
    latency, bandwidth = DEFAULT_WEIGHT_MEMORY[config.name]
    return MemoryTiming(read_latency=latency, read_bandwidth=bandwidth)


def round_up(value: int, unit: int) -> int:
    """The least multiple of ``unit`` that is not below ``value``."""
    return -(-value // unit) * unit


@dataclass(frozen=True)
class Region:
    """A piece of memory behind one base register."""

    base: int
    address: int
    size: int


@dataclass(frozen=True)
class Matrix:
    """Where a matrix stands: its columns in blocks of ``width`` bytes, each block with rows of ``pitch`` bytes.

    A dense row-major matrix is one block or blocks with ``step = width``.
    """

    region: Region
    width: int
    pitch: int
    step: int
    dense: bool

    def offset(self, row: int, block: int) -> int:
        """Bytes from the base register to a row of a block of columns."""
        return row * self.pitch + block * self.step


class Builder:
    """Collects a program.

    Parameters
    ----------
    config : Config
    timing : MemoryTiming or None
        None takes the preset's.
    origin : str
    weight_timing : MemoryTiming or None
        Of the memory behind a weight port; None takes the preset's.
    """

    def __init__(
        self, config: Config, timing: MemoryTiming | None, origin: str, weight_timing: MemoryTiming | None = None
    ) -> None:
        self.config = config
        self.timing = timing or default_timing(config)
        self.weight_timing = (weight_timing or default_weight_timing(config)) if config.weight_port else None
        self.origin = origin
        self.instructions: list[Instruction] = []
        self.results: dict[str, Result] = {}
        self._segments: list[Segment] = []
        self._bases: list[Base] = []
        self._initial: list[int] = []
        self._names: dict[int, str] = {}
        self._next = PAGE

    # ----- memory -----

    def region(self, size: int, data: bytes = b"") -> Region:
        """Memory of ``size`` bytes (rounded up to whole beats) behind a base register of its own."""
        if len(self._bases) == BASE_REGISTERS:
            raise CompileError(f"More than {BASE_REGISTERS} memory regions are needed.")
        size = round_up(max(size, len(data), 1), max(self.config.mem_bytes, 64))
        region = Region(len(self._bases), self._next, size)
        self._bases.append(Base(region.address, size))
        if data:
            self._segments.append(Segment(region.address, data.ljust(size, b"\0")))
        self._next = round_up(self._next + size, PAGE)
        return region

    def place(self, region: Region, offset: int, data: bytes) -> None:
        """Let ``data`` stand in a region from byte ``offset`` on before the run."""
        if data:
            self._segments.append(Segment(region.address + offset, data))

    def matrix(self, values: np.ndarray, width: int) -> Matrix:
        """Place a 2-D array whose columns are read in blocks of ``width`` bytes.

        It is dense and row-major (rows padded to whole beats) if the blocks start at whole beats; else every block
        is stored by itself. Reads may run over a row's end by less than a scratchpad word.
        """
        beat = self.config.mem_bytes
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
        rows, size = raw.shape
        slack = bytes(self.config.lanes)
        if size <= width or width % beat == 0:
            pitch = round_up(size, beat)
            padded = np.zeros((rows, pitch), np.uint8)
            padded[:, :size] = raw
            return Matrix(self.region(0, padded.tobytes() + slack), width, pitch, width, True)
        pitch = round_up(width, beat)
        blocks = -(-size // width)
        padded = np.zeros((blocks, rows, pitch), np.uint8)
        for block in range(blocks):
            part = raw[:, block * width : (block + 1) * width]
            padded[block, :, : part.shape[1]] = part
        return Matrix(self.region(0, padded.tobytes() + slack), width, pitch, rows * pitch, False)

    def output(self, name: str, rows: int, columns: int, dtype: str, width: int) -> Matrix:
        """Space for a result that is written in blocks of ``width`` bytes of its columns.

        Named ``name`` if it is dense, else ``name.0``, ``name.1`` ... for the blocks of columns.
        """
        beat, item = self.config.mem_bytes, np.dtype(dtype).itemsize
        size = columns * item
        if size <= width or width % beat == 0:
            pitch = round_up(size, beat)
            region = self.region(rows * pitch)
            self.results[name] = Result(region.address, dtype, (rows, columns), (pitch, item))
            return Matrix(region, width, pitch, width, True)
        pitch = round_up(width, beat)
        blocks = -(-size // width)
        region = self.region(blocks * rows * pitch)
        for block in range(blocks):
            count = min(width, size - block * width) // item
            address = region.address + block * rows * pitch
            self.results[f"{name}.{block}"] = Result(address, dtype, (rows, count), (pitch, item))
        return Matrix(region, width, pitch, rows * pitch, False)

    # ----- instructions -----

    def semaphore(self, name: str, initial: int = 0) -> int:
        """A counter with a name."""
        if len(self._initial) == SEMAPHORES:
            raise CompileError(f"More than {SEMAPHORES} semaphores are needed.")
        self._names[len(self._initial)] = name
        self._initial.append(initial)
        return len(self._initial) - 1

    def emit(
        self,
        opcode: Opcode,
        waits: Iterable[tuple[int, int]] = (),
        signals: Iterable[int] = (),
        **fields: int,
    ) -> None:
        """Append an instruction that waits for (semaphore, count) pairs and gives signals."""
        waits = [(sem, n) for sem, n in waits if n]
        signals = list(signals)
        if len(waits) > 2 or len(signals) > 2:
            raise CompileError(f"{opcode.name} would need {len(waits)} waits, {len(signals)} signals; it has two.")
        for index, (sem, n) in enumerate(waits):
            fields[f"wait{index}_id"], fields[f"wait{index}_n"] = sem, n
        for index, sem in enumerate(signals):
            fields[f"sig{index}_en"], fields[f"sig{index}_id"] = 1, sem
        self.instructions.append(make(opcode, **fields))

    def transfer(
        self,
        opcode: Opcode,
        local: int,
        region: Region,
        offset: int,
        rows: int,
        row_bytes: int,
        stride: int,
        local_stride: int,
        waits: Iterable = (),
        signals: Iterable = (),
        **fields: int,
    ) -> None:
        """A LOAD or STORE of rows, merged into long ones where both sides are contiguous."""  # fmt: skip
        side = "dst" if opcode == Opcode.LOAD else "src"
        lanes = self.config.lanes
        while rows % 2 == 0 and stride == row_bytes == local_stride * lanes and row_bytes * 2 <= LONGEST_ROW:
            rows, row_bytes, stride, local_stride = rows // 2, row_bytes * 2, stride * 2, local_stride * 2
        if rows == 1:
            stride = local_stride = 0
        fields |= {side: local, f"{side}_row_stride": local_stride, "row_stride": stride}
        self.emit(opcode, waits, signals, base=region.base, offset=offset, rows=rows, row_bytes=row_bytes, **fields)

    def finish(self, cycle_limit: int = 0) -> Program:
        """The program; its instructions stand behind all regions."""
        size = (1 + len(self.instructions)) * INSTRUCTION_BYTES
        address = round_up(self._next, PAGE)
        self._next = address + size
        return Program(
            config=self.config,
            instructions=self.instructions,
            semaphores=tuple(self._initial),
            bases=tuple(self._bases),
            address=address,
            segments=tuple(self._segments),
            timing=self.timing,
            weight_timing=self.weight_timing,
            cycle_limit=cycle_limit,
            results=self.results,
            names=self._names,
            origin=self.origin,
        )
