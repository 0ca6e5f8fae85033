# SPDX-License-Identifier: Apache-2.0
"""What lowering a node needs from the machine: room, transfers, parameters, and a ledger of what they move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from beatmatch.compiler.builder import Builder, round_up
from beatmatch.compiler.schedule import MEMORY, Schedule, Touch
from beatmatch.config import Config
from beatmatch.isa.fields import Opcode, Space
from beatmatch.memory import MemoryTiming
from beatmatch.networks.lowering.layout import SLOTS, Buffer, Piece
from beatmatch.networks.lowering.scratchpad import DoesNotFit, Room

SP, ACC, PARAM = Space.SCRATCHPAD, Space.ACCUMULATOR, Space.PARAMETER
TRANSFER = 32768
"""Bytes of a long transfer: what waits for a part of a tensor does not wait for all of it."""
PARTS = 8
"""Most instructions of a transfer: dispatch is in order, and more of them would hold up the others in a full queue."""
ARENA = 1 << 31
"""Bytes that weights and parameters may have."""
COLUMNS, ROWS, PITCH = 4095, 511, 1023
"""Largest counts of positions, fast and slow, and pitch in operands, that the instructions hold."""


class Emitter:
    """Collects one program.

    Parameters
    ----------
    config : Config
    timing, weight_timing : MemoryTiming or None
    origin : str
    buffers : list of Buffer
        Those with a place in memory; they get it here.
    reserve : int
        Words of the scratchpad that tensors leave free for `transient` ones.
    data : bool
        Write weights and parameters into the program's memory.
    dry : bool
        Nodes only look whether they fit.

    Attributes
    ----------
    moved : Counter
        Bytes by (layer, tensor, kind, ``read`` or ``written``).
    spare : int
        Words at the end of the scratchpad that loads go to which nobody reads (`Schedule`).
    work : Counter
        Per layer: ``tile_rows`` that enter the array, and those times used columns, ``lanes``.
    """

    def __init__(
        self, config: Config, timing: MemoryTiming | None, origin: str, buffers: list[Buffer], reserve: int, data: bool,
        dry: bool = False, weight_timing: MemoryTiming | None = None,
    ) -> None:  # fmt: skip
        self.config, self.data, self.dry = config, data, dry
        self.build = Builder(config, timing, origin, weight_timing)
        self.spare = spare = round_up(config.lanes, config.mem_bytes) // config.lanes
        self.room = Room(config.sp_words - spare, max(0, reserve - spare))
        size = 0
        for index, buffer in enumerate(buffers):
            buffer.memory, buffer.slot, buffer.chip = size, index * SLOTS, None
            size += round_up(buffer.words * config.lanes, 64)
        self.activations = self.build.region(size)
        bridge = {
            "local": config.sp_words - spare, "region": self.activations, "offset": 0, "rows": 1,
            "row_bytes": spare * config.lanes, "stride": 0, "local_stride": 0,
        }  # fmt: skip
        self.schedule = Schedule(self.build, SLOTS * len(buffers), bridge)
        self.params, self.weights = self.build.region(ARENA), self.build.region(ARENA)
        self.moved: Counter = Counter()
        self.work: Counter = Counter()
        self._used = {self.params.base: 0, self.weights.base: 0}
        self._half = 0
        self._blocks = 0

    # ----- room -----

    @contextmanager
    def transient(self, *sizes: int) -> Iterator[list[int]]:
        """Rooms of these many words until the block ends; DoesNotFit if there are not."""
        taken: list[tuple[int, int]] = []
        try:
            for words in sizes:
                first = self.room.transient(words) if words else 0
                if first is None:
                    raise DoesNotFit(f"{sum(sizes):,} words for parts of tensors and weights")
                taken.append((first, words))
            yield [first for first, _ in taken]
        finally:
            for first, words in taken:
                if words:
                    self.room.release(first, words)

    def fits(self, *sizes: int) -> bool:
        """Whether `transient` would succeed."""
        try:
            with self.transient(*sizes):
                return True
        except DoesNotFit:
            return False

    def accumulators(self, rows: int = 0) -> int:
        """First row of the half of the accumulators that comes next, or of all if half has not so many rows."""
        self._blocks += 1
        if rows > self.half:
            self._blocks += self._blocks % 2
        return self.last_block

    @property
    def last_block(self) -> int:
        """What `accumulators` gave last."""
        return self._blocks % 2 * self.half

    @property
    def tile_cycles(self) -> int:
        """Cycles in which memory brings the weights of a tile."""
        config, memory = self.config, self.build.weight_timing or self.build.timing
        size, span = memory.read_bandwidth or (config.mem_bytes, 1)
        return config.rows * config.cols * span // min(size, config.mem_bytes * span)

    @property
    def half(self) -> int:
        """Rows of one half of the accumulators."""
        config = self.config
        return config.acc_rows // 2 if config.acc_banks == 1 else config.acc_banks // 2 * config.acc_bank_rows

    # ----- memory -----

    def arena(self, region: object, size: int, data: Callable[[], bytes] | None) -> int:
        """Take ``size`` bytes of weights or parameters; their offset. ``data`` makes them where they count."""
        offset = self._used[region.base]
        self._used[region.base] = offset + round_up(size, max(self.config.mem_bytes, 64))
        if self.data and data is not None:
            self.build.place(region, offset, data())
        return offset

    def move(
        self, opcode: Opcode, buffer: Buffer, word: int, chip: int, rows: int, words: int, pitch: int, chip_pitch: int
    ) -> None:
        """Load or store ``rows`` rows of ``words`` words: in memory from ``word`` of the buffer on, ``pitch`` apart."""
        if rows == 1 or pitch == chip_pitch == words:
            self._run(opcode, buffer, word, chip, rows * words)
        elif words * self.config.lanes > TRANSFER:
            for row in range(rows):
                self._run(opcode, buffer, word + row * pitch, chip + row * chip_pitch, words)
        else:
            most = max(1, min(COLUMNS, TRANSFER // (words * self.config.lanes)))
            for row in range(0, rows, most):
                count = min(most, rows - row)
                self._transfer(
                    opcode, buffer, word + row * pitch, chip + row * chip_pitch, count, words, pitch, chip_pitch
                )

    def _run(self, opcode: Opcode, buffer: Buffer, word: int, chip: int, words: int) -> None:
        most = max(1, TRANSFER // self.config.lanes)
        whole, rest = divmod(words, most)
        rows = max(1, -(-whole // PARTS))
        for row in range(0, whole, rows):
            count, start = min(rows, whole - row), row * most
            self._transfer(opcode, buffer, word + start, chip + start, count, most, most, most)
        if rest:
            start = whole * most
            self._transfer(opcode, buffer, word + start, chip + start, 1, rest, 0, 0)

    def _transfer(self, opcode, buffer, word, chip, rows, words, pitch, chip_pitch) -> None:
        config, size = self.config, words * self.config.lanes
        local = Touch(SP, chip, (rows - 1) * chip_pitch + words)
        first, last = word // buffer.grain, (word + (rows - 1) * pitch + words - 1) // buffer.grain
        far = Touch(MEMORY, buffer.slot + first, last - first + 1)
        load = opcode == Opcode.LOAD
        self.schedule.add(
            opcode, [far] if load else [local], [local] if load else [far], transfer=True, local=chip,
            region=self.activations, offset=buffer.memory + word * config.lanes, rows=rows, row_bytes=size,
            stride=pitch * config.lanes, local_stride=chip_pitch,
        )  # fmt: skip
        self.count(buffer.tensor, "activation", "read" if load else "written", rows * round_up(size, config.mem_bytes))

    def count(self, tensor: str, kind: str, way: str, size: int) -> None:
        """Write bytes into the ledger, for the layer of now."""
        self.moved[self.schedule.label, tensor, kind, way] += size

    def rows(self, piece: Piece, image: int, low: int, high: int, chip: int) -> None:
        """Load rows ``low`` to ``high - 1`` of an image of a piece with three axes, packed, to word ``chip``."""
        (_, _, width), (far, down, across) = piece.dims, piece.strides
        first = piece.offset + image * far + low * down
        if across == piece.words:
            packed = width * piece.words
            self.move(Opcode.LOAD, piece.buffer, first, chip, high - low, packed, down, packed)
            return
        for row in range(high - low):
            start = chip + row * width * piece.words
            words = piece.words
            self.move(Opcode.LOAD, piece.buffer, first + row * down, start, width, words, across, words)

    # ----- parameters -----

    def parameters(self, table: Callable[[], np.ndarray], rows: int, node: str) -> Parameters:
        """The parameter rows of a node: in memory now, on the chip when they are asked for."""
        pitch = round_up(8 * self.config.cols, self.config.mem_bytes)

        def data() -> bytes:
            padded = np.zeros((rows, pitch), np.uint8)
            padded[:, : 8 * self.config.cols] = table()
            return padded.tobytes()

        return Parameters(self, self.arena(self.params, rows * pitch, data), rows, pitch, node)

    def next_half(self) -> int:
        """First row of the half of the parameter memory that comes next."""
        self._half += 1
        return self._half % 2 * (self.config.param_rows // 2)


class Parameters:
    """Parameter rows of one node, loaded at once if half of the memory holds them, else run by run."""

    def __init__(self, emitter: Emitter, offset: int, rows: int, pitch: int, node: str) -> None:
        self.emitter, self.offset, self.pitch, self.node = emitter, offset, pitch, node
        self.most = emitter.config.param_rows // 2
        self.whole = rows <= self.most
        self._first = self._load(0, rows) if self.whole else 0

    def _load(self, source: int, rows: int) -> int:
        emitter, config = self.emitter, self.emitter.config
        row = emitter.next_half()
        emitter.schedule.add(
            Opcode.LOAD, writes=[Touch(PARAM, row, rows)], transfer=True, local=row * config.param_words,
            region=emitter.params, offset=self.offset + source * self.pitch, rows=rows, row_bytes=8 * config.cols,
            stride=self.pitch, local_stride=config.param_words, dst_space=PARAM,
        )  # fmt: skip
        emitter.count(self.node, "parameters", "read", rows * self.pitch)
        return row

    def at(self, first: int, count: int) -> tuple[int, Touch]:
        """The row that holds row ``first`` of the table, and what reading ``count`` of them touches."""
        row = self._first + first if self.whole else self._load(first, count)
        return row, Touch(PARAM, row, count)
