# SPDX-License-Identifier: Apache-2.0
"""Pooling, additions and rescaling on the vector unit: element by element, the column operands of every position."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from beatmatch import numerics
from beatmatch.compiler.schedule import Touch
from beatmatch.isa.fields import Format, Opcode
from beatmatch.networks.lowering.emitter import COLUMNS, PITCH, ROWS, SP, Emitter
from beatmatch.networks.lowering.layout import Value
from beatmatch.networks.lowering.outputs import Output, bounds, fits_pitch, scaling
from beatmatch.networks.lowering.scratchpad import DoesNotFit
from beatmatch.networks.lowering.sources import Located, Staging, images, slot_words
from beatmatch.networks.lowering.windows import Band, Window, bands
from beatmatch.networks.scales import Requant

MOST_OPERANDS = 255
"""Column operands of a position that one instruction goes through."""


@dataclass(frozen=True)
class Elementwise:
    """What a vector operator is besides where its operands stand.

    Attributes
    ----------
    opcode : Opcode
    window : Window
    requant : Requant or None
        None passes values through unscaled.
    multiplier_b : int
        Of the second operand of an addition.
    """

    opcode: Opcode
    window: Window = field(default_factory=Window)
    requant: Requant | None = None
    multiplier_b: int = 0


def emit_vector(emitter: Emitter, what: Elementwise, operands: list[Value], y: Value, stored: bool) -> str:
    """Add the operations of a node; see `products.emit_product`. The second operand stands like the output."""
    return _Emission(emitter, what, operands, y, stored).run()


class _Emission:
    def __init__(self, emitter: Emitter, what: Elementwise, operands: list[Value], y: Value, stored: bool) -> None:
        self.emitter, self.config, self.what, self.window = emitter, emitter.config, what, what.window
        flat = what.window.pointwise and what.opcode in (Opcode.ADD, Opcode.REQUANT)
        self.pieces = [piece for value in operands for piece in images(value, flat)]
        (self.target,) = images(y, flat)
        if any(piece.dims[::2] != self.target.dims[::2] for piece in self.pieces) and flat:
            self.pieces = [piece for value in operands for piece in images(value, False)]
            (self.target,) = images(y, False)
        self.second = len(operands) - 1
        self.y, self.stored = y, stored
        self.count, self.height, self.width = self.target.dims

    def run(self) -> str:
        if not fits_pitch(self.target, self.config.col_parts):
            raise DoesNotFit(f"a pitch of {self.target.words} words; the vector unit steps at most {PITCH} operands")
        emitter, rows = self.emitter, ROWS if self.width > 1 else min(COLUMNS, self._slow())
        output = Output(emitter, self.target, self.stored)
        while True:
            cut = list(bands(self.height, self.width, rows, COLUMNS * ROWS))
            rows = max(band.rows for band in cut)
            staged = slot_words(self.pieces, self.window, rows)
            slot = 0 if output.on_chip else rows * self.width * self.target.words
            sizes = [*staged, *staged, slot, slot]
            if emitter.fits(*sizes):
                break
            if rows == 1:
                raise DoesNotFit(f"{sum(sizes):,} words for one row of the output and its inputs")
            rows //= 2
        if emitter.dry:
            return ""
        with ExitStack() as stack:
            rooms = stack.enter_context(emitter.transient(*sizes))
            number = len(self.pieces)
            sources = [
                Staging(emitter, piece, [] if piece.buffer.chip is not None else [rooms[i], rooms[number + i]])
                for i, piece in enumerate(self.pieces)
            ]
            self._emit(cut, sources, rooms[2 * number :])
        return f"{len(cut) * self.count} bands" if len(cut) * self.count > 1 else ""

    def _slow(self) -> int:
        """Rows of a column of positions: many if all pitches fit the fast count's field."""
        pitches = [piece.strides[1] * self.config.col_parts for piece in self.pieces]
        return COLUMNS if max(pitches) <= PITCH else ROWS

    def _emit(self, cut: list[Band], sources: list[Staging], slots: list[int]) -> None:
        emitter, requant = self.emitter, self.what.requant
        parameters = None
        if requant is not None:
            rows = self._pairs() if self.what.opcode == Opcode.ADD else self._table()
            parameters = emitter.parameters(lambda: rows, len(rows), emitter.schedule.label)
        turn = 0
        for image in range(self.count):
            for band in cut:
                low, high, top = self.window.sees(0, self.pieces[0].dims[1], band.y, band.rows)
                located = [source.locate(image, low, high) for source in sources]
                number = (image * self.height + band.y) * self.width
                words = self.target.words
                chip = self.target.buffer.chip
                if chip is None:
                    turn ^= 1
                    place = slots[turn]
                else:
                    place = chip + number * words
                self._pieces(band, located, (high - low, top), place, parameters)
                if self.stored:
                    emitter.move(
                        Opcode.STORE, self.target.buffer, number * words, place, 1, band.positions * words, 0, 0
                    )

    def _table(self) -> np.ndarray:
        """Parameter rows, uint8 [rows, 8 * cols]: one, one per column operand, or the addition's pair."""
        requant, cols = self.what.requant, self.config.cols
        if requant.per_channel:
            spread = len(self.target.channels)
            held = np.maximum(self.target.channels, 0)
            requant = Requant(
                *(np.broadcast_to(v, self.y.channels)[held] for v in (requant.bias, requant.multiplier, requant.shift)),
                requant.zero_point, requant.low, requant.high,
            )  # fmt: skip
            return requant.rows(spread, cols)
        return requant.rows(self.y.channels, cols)

    def _pairs(self) -> np.ndarray:
        """Rows of an addition: each is followed by that of the second multiplier."""
        cols = self.config.cols
        second = numerics.pack_parameters(np.zeros(cols), np.full(cols, self.what.multiplier_b), np.zeros(cols))
        rows = self._table()
        return np.stack([rows, np.broadcast_to(np.frombuffer(second, np.uint8), rows.shape)], 1).reshape(-1, 8 * cols)

    def _pieces(self, band: Band, located: list[Located], seen: tuple[int, int], place: int, parameters) -> None:
        """Each piece of the first operand into its words of the output."""
        config, emitter, what = self.config, self.emitter, self.what
        unit, cols = config.col_parts, config.cols
        width = self.pieces[0].dims[2]
        firsts = len(self.pieces) - self.second
        word = 0
        for piece, at in zip(self.pieces[:firsts], located[:firsts], strict=True):
            operands = -(-len(piece.channels) // cols)
            most = MOST_OPERANDS
            if what.requant is not None and what.requant.per_channel:
                most = 1 if what.opcode == Opcode.ADD else max(1, min(MOST_OPERANDS, config.param_rows // 2))
            for start in range(0, operands, most):
                count = min(most, operands - start)
                down, across = at.down * unit, at.across * unit
                x, y = band.columns, band.rows
                high, wide = seen[0], width
                if self.width == 1 and down <= PITCH and self.window.pointwise:
                    x, y, wide, high, across, down = band.rows, 1, band.rows, 1, down, 0
                fields, reads = bounds(what.requant or Requant()), [at.touch]
                if what.opcode == Opcode.ADD:
                    row, touch = parameters.at(2 * (word * unit + start) if what.requant.per_channel else 0, 2)
                    second = (located[-1].first + word) * unit + start
                    fields |= {"param_mode": 1, "param": row, "src2": second}
                    reads += [located[-1].touch, touch]
                elif parameters is not None:
                    scale, rows = scaling(what.requant, parameters, word * unit + start, count)
                    fields, reads = fields | scale, reads + rows
                if what.opcode in (Opcode.MAXPOOL, Opcode.AVGPOOL):
                    window = self.window
                    fields |= {
                        "kx": window.kernel[1], "ky": window.kernel[0], "stride_x": window.stride[1],
                        "stride_y": window.stride[0], "pad_left": window.pads[1], "pad_top": seen[1], "width": wide,
                        "height": high,
                    }  # fmt: skip
                emitter.schedule.add(
                    what.opcode, reads, [Touch(SP, place, band.positions * self.target.words)], **fields, outer=count,
                    x=x, y=y, src=at.first * unit + start, src_pitch_x=across if wide > 1 or x > 1 else 0,
                    src_pitch_y=down if high > 1 else 0, src_outer_stride=1 if count > 1 else 0,
                    src_format=Format.INT8, dst_format=Format.INT8, dst=(place + word) * unit + start,
                    dst_pitch=self.target.words * unit, dst_outer_stride=1 if count > 1 else 0,
                )  # fmt: skip
            word += piece.words
