# SPDX-License-Identifier: Apache-2.0
"""Convolutions and dense layers: tiles of weights, rows of activations, sums to int8."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from beatmatch.compiler.builder import round_up
from beatmatch.compiler.schedule import Touch
from beatmatch.isa.fields import Opcode
from beatmatch.networks.lowering.emitter import ACC, COLUMNS, PITCH, ROWS, SP, TRANSFER, Emitter
from beatmatch.networks.lowering.layout import Value
from beatmatch.networks.lowering.outputs import Output
from beatmatch.networks.lowering.placement import PAD
from beatmatch.networks.lowering.scratchpad import DoesNotFit
from beatmatch.networks.lowering.sources import Staging, images, slot_words
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
            held = most if self._alone(cut) else self._group_positions(cut)
            runs_ = self._runs(max(1, emitter.half // held))
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

    def _alone(self, cut: list[Band]) -> bool:
        """Whether there is one band, so that nothing is shared."""
        return len(cut) * self.count == 1

    def _group_positions(self, cut: list[Band]) -> int:
        """Positions of the largest group."""
        output = Output(self.emitter, self.target, self.stored)
        return max(sum(band.positions for _, band in group) for group in self._groups(cut, output))

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
        # weights on the chip are near: passes are shared only where a band has too few rows to hide a tile's way in
        alone = resident and max(band.positions for band in cut) >= self.config.rows
        for group in [[block] for block in self._blocks(cut)] if alone else self._groups(cut, output):
            seen = [_Seen(self, image, band, sources) for image, band in group]
            for run in runs_:
                self._products(run, seen, weights)
                for one in seen:
                    output.drain(one.image, one.band, run, one.acc, requant, parameters)
            for one in seen:
                output.finish(one.image, one.band)

    def _blocks(self, cut: list[Band]) -> list[tuple[int, Band]]:
        return [(image, band) for image in range(self.count) for band in cut]

    def _groups(self, cut: list[Band], output: Output) -> list[list[tuple[int, Band]]]:
        """Bands that one pass of the weights serves, about equally large: as many as half of the accumulators holds.

        If memory brings tiles more slowly than so many rows take, all of the accumulators: draining them idles the
        array, but less than waiting for every tile once more.
        """
        staged = any(piece.buffer.chip is None for piece in self.pieces)
        most = 1 if output.whole and not output.on_chip else 2 if staged else self.config.acc_rows
        blocks = self._blocks(cut)
        total, room = sum(band.positions for _, band in blocks), self.emitter.half
        if self.emitter.tile_cycles > -(-total // -(-total // room)):
            room = self.config.acc_rows
        share = -(-total // -(-total // room))
        found: list[list[tuple[int, Band]]] = []
        held = room
        for image, band in blocks:
            full = held + band.positions > room or held >= share or not found
            if full or len(found[-1]) == most:
                found.append([])
                held = 0
            found[-1].append((image, band))
            held += band.positions
        return found

    def _products(self, run: Run, seen: list[_Seen], weights: _Weights) -> None:
        """All tiles of a run over some bands: at once for one band, else tile by tile, each over every band."""
        row = self.emitter.accumulators(run.count * sum(one.band.positions for one in seen))
        for one in seen:
            one.acc, row = row, row + run.count * one.band.positions
        for number, part in enumerate(run.parts):
            weights.feed(run, part)
            if len(seen) == 1:
                seen[0].matmul(run, part, Taps.all(self.window, part), int(number > 0), 0)
                continue
            for tile in range(run.count):
                taps = Taps.each(self.window, part, tile)
                for index, tap in enumerate(taps):
                    for place, one in enumerate(seen):
                        one.matmul(run, part, tap, int(number + index > 0), int(place > 0))


@dataclass(frozen=True)
class Taps:
    """Some tiles of a part: kernel rows, columns, blocks from the first one on; ``tile`` is None for all of a run."""

    y: int
    x: int
    block: int
    height: int
    width: int
    blocks: int
    tile: int | None = None

    @classmethod
    def all(cls, window: Window, part: Part) -> Taps:
        """The whole part."""
        return cls(0, 0, 0, *window.kernel, part.blocks)

    @classmethod
    def each(cls, window: Window, part: Part, tile: int) -> list[Taps]:
        """The tiles of an output tile, one by one, in the order in which they come."""
        height, width = window.kernel
        return [cls(y, x, c, 1, 1, 1, tile) for y in range(height) for x in range(width) for c in range(part.blocks)]


class _Seen:
    """A band of one image with the input it sees, and its rows of the accumulators."""

    def __init__(self, emission: _Emission, image: int, band: Band, sources: list[Staging]) -> None:
        self.emission, self.image, self.band, self.acc = emission, image, band, 0
        window, (height, width) = emission.window, emission.pieces[0].dims[1:]
        low, high, self.top = window.sees(0, height, band.y, band.rows)
        self.left, right, self.lead = window.sees(1, width, band.x, band.columns)
        if low >= high or self.left >= right:
            raise DoesNotFit("outputs that see nothing but padding")
        self.size = (high - low, right - self.left)
        self.located = [source.locate(image, low, high) for source in sources]

    def _skip(self, axis: int, tap: int) -> tuple[int, int, int]:
        """Positions that a tap skips, padding that is left before them, and positions that are left."""
        lead = (self.top, self.lead)[axis] - tap * self.emission.window.dilation[axis]
        skip = max(0, -lead)
        return skip, max(lead, 0), self.size[axis] - skip

    def matmul(self, run: Run, part: Part, taps: Taps, accumulate: int, keep: int) -> None:
        """One instruction."""
        emission, band, at = self.emission, self.band, self.located[part.piece]
        config, window, emitter = emission.config, emission.window, emission.emitter
        unit, positions = config.act_parts, band.positions
        down, across = at.down * unit, at.across * unit
        (above, top, height), (before, lead, width) = self._skip(0, taps.y), self._skip(1, taps.x)
        if height <= 0 or width <= 0:  # nothing but padding: one position stays, and no step meets it
            above, before, height, width = 0, 0, 1, 1
            top, lead = band.rows * window.stride[0], band.columns * window.stride[1]
            top, lead = (top, 0) if top <= lead else (0, lead)  # one axis suffices
            if max(top, lead) > PAD:
                raise DoesNotFit("taps that see nothing but padding")
        first, count = (0, run.count) if taps.tile is None else (taps.tile, 1)
        src = at.first * unit + above * down + (self.left + before) * across
        x, y = band.columns, band.rows
        if emission.width == 1 and window.pointwise and down <= PITCH:  # a column of positions counts fast
            x, y, width, height, across, down = band.rows, 1, height, 1, down, 0
        inner = taps.height * taps.width * taps.blocks
        label = emitter.schedule.label
        emitter.work[label, "tile_rows"] += positions * inner * count
        emitter.work[label, "lanes"] += positions * inner * count * run.lanes
        acc = self.acc + first * positions
        last = taps.block + taps.blocks == part.blocks
        emitter.schedule.add(
            Opcode.MATMUL, [at.touch], [Touch(ACC, acc, count * positions)], accumulate=accumulate, keep=keep,
            outer=count, x=x, y=y, kx=taps.width, ky=taps.height, kc=taps.blocks, stride_x=window.stride[1],
            stride_y=window.stride[0], dilation_x=window.dilation[1], dilation_y=window.dilation[0], pad_left=lead,
            pad_top=top, width=width, height=height, src=src + part.block + taps.block + first * part.step,
            src_pitch_x=across if width > 1 else 0, src_pitch_y=down if height > 1 else 0, src_kc_stride=1,
            src_outer_stride=part.step, acc=acc, acc_outer_stride=positions if count > 1 else 0,
            pad_value=emission.product.pad_value, k_lanes=part.lanes if last else config.rows, n_lanes=run.lanes,
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
                for start in range(0, size, TRANSFER):
                    count = min(TRANSFER, size - start)
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
