# SPDX-License-Identifier: Apache-2.0
"""The output of a product: from the accumulators to its place on the chip, or through slots to memory."""

from __future__ import annotations

from beatmatch.compiler.schedule import Touch
from beatmatch.isa.fields import Format, Opcode
from beatmatch.networks.lowering.emitter import ACC, PITCH, SP, Emitter, Parameters
from beatmatch.networks.lowering.layout import Piece
from beatmatch.networks.lowering.tiles import Run
from beatmatch.networks.lowering.windows import Band
from beatmatch.networks.scales import Requant


class Output:
    """Where bands of an output go.

    Parameters
    ----------
    emitter : Emitter
    piece : Piece
        Three axes, without gaps.
    stored : bool
        Whether memory gets it, too.

    Attributes
    ----------
    slots : list of int
        First words of two slots, for an output without a place on the chip.
    """

    def __init__(self, emitter: Emitter, piece: Piece, stored: bool) -> None:
        self.emitter, self.config, self.piece, self.stored = emitter, emitter.config, piece, stored
        self.slots: list[int] = []
        self._turn = 0

    @property
    def on_chip(self) -> bool:
        """Whether it has a place on the chip."""
        return self.piece.buffer.chip is not None

    @property
    def whole(self) -> bool:
        """Whether a slot takes whole positions, as it must where an output tile is no whole word or no whole beat."""
        return self.config.cols < max(self.config.lanes, self.config.mem_bytes)

    def slot_words(self, positions: int, tiles: int) -> int:
        """Words of a slot for this many positions and output tiles; 0 if none is needed."""
        return 0 if self.on_chip else positions * (self.piece.words if self.whole else min(tiles, self.piece.words))

    def position(self, image: int, band: Band) -> int:
        """Number of the first position of a band in the output."""
        _, height, width = self.piece.dims
        return (image * height + band.y) * width + band.x

    def drain(self, image: int, band: Band, run: Run, acc: int, requant: Requant, parameters: Parameters) -> None:
        """Scale the sums of a run and write them."""
        config, emitter = self.config, self.emitter
        positions = band.positions
        fields, reads = scaling(requant, parameters, run.first, run.count)
        if self.on_chip or self.whole:
            words, operand, first = self.piece.words, run.first, self._place(image, band)
        else:
            words, operand = min(run.count, self.piece.words), 0
            self._turn ^= 1
            first = self.slots[self._turn]
        emitter.schedule.add(
            Opcode.REQUANT, [Touch(ACC, acc, positions * run.count), *reads], [Touch(SP, first, positions * words)],
            **fields, outer=run.count, x=positions, src_space=ACC, src_format=Format.INT32, src=acc, src_pitch_x=1,
            src_outer_stride=positions if run.count > 1 else 0, dst=first * config.col_parts + operand,
            dst_pitch=words * config.col_parts, dst_outer_stride=1 if run.count > 1 else 0,
        )  # fmt: skip
        if not self.on_chip and not self.whole:
            word = self.position(image, band) * self.piece.words + run.first
            emitter.move(Opcode.STORE, self.piece.buffer, word, first, positions, words, self.piece.words, words)

    def finish(self, image: int, band: Band) -> None:
        """Store a band whose positions are whole now."""
        if self.stored and (self.on_chip or self.whole):
            word, size = self.position(image, band) * self.piece.words, band.positions * self.piece.words
            place = self._place(image, band)
            self.emitter.move(Opcode.STORE, self.piece.buffer, word, place, 1, size, 0, 0)
            self._turn ^= 1

    def _place(self, image: int, band: Band) -> int:
        """The first word of a band of whole positions."""
        if self.on_chip:
            return self.piece.buffer.chip + self.position(image, band) * self.piece.words
        return self.slots[self._turn]


def fits_pitch(piece: Piece, col_parts: int) -> bool:
    """Whether the vector unit can step from one position to the next."""
    return piece.words * col_parts <= PITCH


def bounds(requant: Requant) -> dict[str, int]:
    """Fields of a vector instruction that hold no parameter row."""
    return {"zero_point": requant.zero_point, "clip_low": requant.low, "clip_high": requant.high}


def scaling(requant: Requant, parameters: Parameters, first: int, count: int) -> tuple[dict, list[Touch]]:
    """Fields of a scaling instruction for output tiles from ``first`` on, and the parameter rows it reads."""
    fields = bounds(requant)
    if requant.per_channel:
        row, touch = parameters.at(first, count)
        return {**fields, "param_mode": 2, "param": row}, [touch]
    row, touch = parameters.at(0, 1)
    return {**fields, "param_mode": 1, "param": row}, [touch]
