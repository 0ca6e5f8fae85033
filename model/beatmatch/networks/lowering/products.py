# SPDX-License-Identifier: Apache-2.0
"""Convolutions, dense layers and products of activations: tiles of weights, rows of activations, sums to int8."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from beatmatch.compiler.builder import round_up
from beatmatch.compiler.schedule import Touch
from beatmatch.isa.fields import Opcode
from beatmatch.networks.lowering.emitter import ACC, COLUMNS, PITCH, ROWS, SP, Emitter, Parameters
from beatmatch.networks.lowering.layout import Value
from beatmatch.networks.lowering.outputs import Output
from beatmatch.networks.lowering.scratchpad import DoesNotFit
from beatmatch.networks.lowering.sources import Located, Staging, images, slot_words
from beatmatch.networks.lowering.tiles import Part, Run, runs, tile_data
from beatmatch.networks.lowering.windows import Band, Window, bands
from beatmatch.networks.scales import Requant

WEIGHT_STEP = 65535
"""Most operands from one output tile to the next that an instruction steps in the scratchpad."""
RUNS = 4
"""A node has at least so many runs of output tiles (or as many as it has tiles), and a band at most a quarter of the
accumulators: the next node waits for the last of them, and the shorter they are the less it waits."""


@dataclass(frozen=True)
class Product:
    """What a product is besides where its operands stand.

    Attributes
    ----------
    tensor : str
        The weights', for the ledger.
    weight : callable
        Gives int8 [out channels, in channels / groups, kernel height, kernel width].
    window : Window
    groups : int
    pad_value : int
    requant : Requant
    """

    tensor: str
    weight: Callable[[], np.ndarray]
    window: Window = field(default_factory=Window)
    groups: int = 1
    pad_value: int = 0
    requant: Requant = field(default_factory=Requant)


def emit_product(emitter: Emitter, product: Product, x: Value, y: Value, stored: bool) -> str:
    """Add the operations of a node.

    Parameters
    ----------
    emitter : Emitter
    product : Product
    x, y : Value
    stored : bool
        Whether the output goes to memory.

    Returns
    -------
    str
        How it was cut, for the report.

    Raises
    ------
    DoesNotFit
        If not even the smallest band has room.
    """
    return _Emission(emitter, product, x, y, stored).run()


class _Emission:
    def __init__(self, emitter: Emitter, product: Product, x: Value, y: Value, stored: bool) -> None:
        self.emitter, self.config, self.product = emitter, emitter.config, product
        self.window = product.window
        self.pieces = images(x, self.window.pointwise)
        (self.target,) = images(y, self.window.pointwise)
        if self.target.dims[0] != self.pieces[0].dims[0] or any(p.dims != self.pieces[0].dims for p in self.pieces):
            self.pieces = images(x, False) if self.window.pointwise else self.pieces
            (self.target,) = images(y, False)
        self.channels, self.stored = y.channels, stored
        self.count, self.height, self.width = self.target.dims

    def run(self) -> str:
        """Choose the largest bands that fit, and emit them."""
        emitter, rows = self.emitter, self._most_rows()
        while True:
            cut = list(bands(self.height, self.width, rows, self._most_positions()))
            most = max(band.positions for band in cut)
            runs_ = self._runs(max(1, emitter.half // most))
            sizes, resident, output = self._sizes(cut, runs_)
            if emitter.fits(*sizes):
                break
            if max(band.rows for band in cut) == 1:
                raise DoesNotFit(f"{sum(sizes):,} words for one row of the output, its inputs and weights")
            rows = max(band.rows for band in cut) // 2
        if emitter.dry:
            return ""
        with ExitStack() as stack:
            self._emit(cut, runs_, stack.enter_context(emitter.transient(*sizes)), resident, output)
        bands_ = f"{len(cut) * self.count} bands" if len(cut) * self.count > 1 else ""
        return ", ".join(filter(None, [bands_, "weights kept on the chip" if resident else ""]))

    def _most_rows(self) -> int:
        pitches = [piece.strides[1] * self.config.act_parts for piece in self.pieces]
        slow = self.width > 1 or max(pitches) > PITCH
        return min(self.emitter.half, ROWS if slow else COLUMNS)

    def _most_positions(self) -> int:
        return max(1, min(self.emitter.half // 2, COLUMNS))

    def _runs(self, most: int) -> list[Run]:
        half = self.config.param_rows // 2
        tiles = -(-self.channels // self.config.cols)
        most = min(most, -(-tiles // RUNS))
        per_channel = self.product.requant.per_channel
        return runs(
            self.pieces, self.channels, self.product.groups, self.config,
            min(most, half) if per_channel and tiles > half else most,
        )  # fmt: skip

    def _inner(self, part: Part) -> int:
        return self.window.kernel[0] * self.window.kernel[1] * part.blocks

    def _sizes(self, cut: list[Band], runs_: list[Run]) -> tuple[list[int], bool, Output]:
        """Words of: two slots per staged piece, the weights if they are read again, two slots of the output."""
        config = self.config
        rows = max(band.rows for band in cut)
        staged = slot_words(self.pieces, self.window, rows)
        steps = max(self._inner(part) for run in runs_ for part in run.parts) * config.rows
        # weights with a port of their own come through it every time
        again = len(cut) * self.count > 1 and steps <= WEIGHT_STEP and not config.weight_port
        tiles = sum(run.count * self._inner(part) for run in runs_ for part in run.parts)
        weights = tiles * config.rows * config.cols // config.lanes if again else 0
        positions, count = max(band.positions for band in cut), max(run.count for run in runs_)
        output = Output(self.emitter, self.target, self.stored)
        slot = output.slot_words(positions, count)
        sizes = [*staged, *staged, weights, slot, slot]
        if weights and not self.emitter.fits(*sizes):
            sizes[2 * len(staged)] = weights = 0
        return sizes, weights > 0, output

    def _emit(self, cut: list[Band], runs_: list[Run], rooms: list[int], resident: bool, output: Output) -> None:
        emitter, pieces = self.emitter, self.pieces
        number = len(pieces)
        sources = [
            Staging(emitter, piece, [] if piece.buffer.chip is not None else [rooms[i], rooms[number + i]])
            for i, piece in enumerate(pieces)
        ]
        output.slots = rooms[2 * number + 1 :]
        requant = self.product.requant
        tiles = -(-self.channels // self.config.cols) if requant.per_channel else 1
        parameters = emitter.parameters(
            lambda: requant.rows(self.channels, self.config.cols), tiles, emitter.schedule.label
        )
        weights = _Weights(self, rooms[2 * number] if resident else None)
        if resident:
            weights.load(runs_)
        for image in range(self.count):
            for band in cut:
                self._band(image, band, runs_, sources, weights, parameters, output)

    def _band(self, image, band, runs_, sources, weights, parameters: Parameters, output: Output) -> None:
        emitter, window = self.emitter, self.window
        height, width = self.pieces[0].dims[1:]
        low, high, top = window.sees(0, height, band.y, band.rows)
        left, right, lead = window.sees(1, width, band.x, band.columns)
        if low >= high or left >= right:
            raise DoesNotFit("outputs that see nothing but padding")
        located = [source.locate(image, low, high) for source in sources]
        for run in runs_:
            acc = emitter.accumulators()
            accumulate = 0
            for part in run.parts:
                weights.feed(run, part)
                shape = (band, (high - low, right - left), (top, lead), left)
                self._matmul(run, part, located[part.piece], shape, acc, accumulate)
                accumulate = 1
            output.drain(image, band, run, acc, self.product.requant, parameters)
        output.finish(image, band)

    def _matmul(self, run: Run, part: Part, at: Located, shape: tuple, acc: int, accumulate: int) -> None:
        config, window, emitter = self.config, self.window, self.emitter
        band, (height, width), (top, lead), left = shape
        unit = config.act_parts
        down, across = at.down * unit, at.across * unit
        x, y = band.columns, band.rows
        if self.width == 1 and window.pointwise and down <= PITCH:  # a column of positions counts fast
            x, y, width, height, across, down = band.rows, 1, height, 1, down, 0
        positions = band.positions
        inner = self._inner(part)
        label = emitter.schedule.label
        emitter.work[label, "tile_rows"] += positions * inner * run.count
        emitter.work[label, "lanes"] += positions * inner * run.count * run.lanes
        emitter.schedule.add(
            Opcode.MATMUL, [at.touch], [Touch(ACC, acc, run.count * positions)], accumulate=accumulate,
            outer=run.count, x=x, y=y, kx=window.kernel[1], ky=window.kernel[0], kc=part.blocks,
            stride_x=window.stride[1], stride_y=window.stride[0], dilation_x=window.dilation[1],
            dilation_y=window.dilation[0], pad_left=lead, pad_top=top, width=width, height=height,
            src=at.first * unit + left * across + part.block, src_pitch_x=across if width > 1 else 0,
            src_pitch_y=down if height > 1 else 0, src_kc_stride=1, src_outer_stride=part.step, acc=acc,
            acc_outer_stride=positions if run.count > 1 else 0, pad_value=self.product.pad_value,
            k_lanes=part.lanes, n_lanes=run.lanes,
        )  # fmt: skip


class _Weights:
    """The tiles of a node in memory, and on the chip if it holds them."""

    def __init__(self, emission: _Emission, room: int | None) -> None:
        self.emission, self.emitter, self.config = emission, emission.emitter, emission.config
        self.room = room
        size = self.config.rows * self.config.cols
        self.pitch = size if room is not None else round_up(size, self.config.mem_bytes)
        self.places: dict[tuple[int, int, int], int] = {}

    def _place(self, run: Run, part: Part) -> int:
        """Bytes from the start of the region to the part's tiles, or words from the room's start."""
        key = (run.first, part.piece, part.block)
        if key not in self.places:
            tiles = run.count * self.emission._inner(part)
            size = tiles * self.pitch
            self.places[key] = self.emitter.arena(self.emitter.weights, size, lambda: self._data(run, part))
        return self.places[key]

    def _data(self, run: Run, part: Part) -> bytes:
        product, piece = self.emission.product, self.emission.pieces[part.piece]
        table = tile_data(run, part, piece, product.weight, product.groups, self.config)
        size = self.config.rows * self.config.cols
        padded = np.zeros((table.size // size, self.pitch), np.int8)
        padded[:, :size] = table.reshape(-1, size)
        return padded.tobytes()

    def load(self, runs_: list[Run]) -> None:
        """Bring all tiles to the chip."""
        emitter, lanes, word = self.emitter, self.config.lanes, self.room
        for run in runs_:
            for part in run.parts:
                offset, size = self._place(run, part), run.count * self.emission._inner(part) * self.pitch
                self.places[run.first, part.piece, part.block] = word
                for start in range(0, size, 32768):
                    count = min(32768, size - start)
                    first = word + start // lanes
                    emitter.schedule.add(
                        Opcode.LOAD, writes=[Touch(SP, first, -(-count // lanes))], transfer=True, local=first,
                        region=emitter.weights, offset=offset + start, rows=1, row_bytes=count, stride=0,
                        local_stride=0,
                    )  # fmt: skip
                beats = round_up(size, self.config.mem_bytes)
                emitter.count(self.emission.product.tensor, "weights", "read", beats)
                word += size // lanes

    def feed(self, run: Run, part: Part) -> None:
        """Bring a part's tiles to the array."""
        config, emitter = self.config, self.emitter
        inner = self.emission._inner(part)
        common = {"outer": run.count, "inner": inner, "k_rows": config.rows, "n_lanes": config.cols}
        place = self._place(run, part)
        if self.room is not None:
            words = inner * run.count * config.rows // config.col_parts
            emitter.schedule.add(
                Opcode.WEIGHTS_SP, reads=[Touch(SP, place, words)], **common, row_stride=1,
                src=place * config.col_parts, inner_stride=config.rows if inner > 1 else 0,
                outer_stride=inner * config.rows if run.count > 1 else 0,
            )  # fmt: skip
            return
        emitter.schedule.add(
            Opcode.WEIGHTS_MEM, **common, packed=1, base=emitter.weights.base, offset=place,
            inner_stride=self.pitch if inner > 1 else 0, outer_stride=inner * self.pitch if run.count > 1 else 0,
        )  # fmt: skip
        emitter.count(self.emission.product.tensor, "weights", "read", inner * run.count * self.pitch)
