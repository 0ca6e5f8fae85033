# SPDX-License-Identifier: Apache-2.0
"""Operands of a node: pieces as images, whole on the chip or staged band by band."""

from __future__ import annotations

from dataclasses import dataclass, replace

from beatmatch.compiler.schedule import Touch
from beatmatch.networks.lowering.emitter import SP, Emitter
from beatmatch.networks.lowering.layout import Piece, Value, collapse
from beatmatch.networks.lowering.windows import Window


@dataclass(frozen=True)
class Located:
    """Rows of an image of a piece on the chip.

    Attributes
    ----------
    first : int
        Word of the first position.
    down, across : int
        Words from one row, and from one column, to the next.
    touch : Touch
    """

    first: int
    down: int
    across: int
    touch: Touch


def images(value: Value, pointwise: bool) -> list[Piece]:
    """Pieces with three axes: image, row, column.

    Pointwise operators take all positions as one column of rows if they follow each other evenly.
    """
    if pointwise:
        columns = [collapse(piece, 1) for piece in value.pieces]
        if None not in columns:
            return [
                replace(p, dims=(1, *p.dims, 1), strides=(p.dims[0] * p.strides[0], p.strides[0], p.words))
                for p in columns
            ]
        return [collapse(piece, 3) for piece in value.pieces]
    return [_square(piece) for piece in value.pieces]


def _square(piece: Piece) -> Piece:
    """Image, height, width; one-dimensional images are one row high."""
    if len(piece.dims) == 3:
        return piece
    (count, width), (far, across) = piece.dims, piece.strides
    return replace(piece, dims=(count, 1, width), strides=(far, width * across, across))


class Staging:
    """Where the bands of one operand stand: at their place in the scratchpad, or in one of two slots.

    Parameters
    ----------
    emitter : Emitter
    piece : Piece
        With three axes.
    slots : list of int
        First words of the slots; empty if the piece is on the chip.
    """

    def __init__(self, emitter: Emitter, piece: Piece, slots: list[int]) -> None:
        self.emitter, self.piece, self.slots = emitter, piece, slots
        self._held: list[tuple[int, int, int] | None] = [None] * len(slots)
        self._turn = 0

    def locate(self, image: int, low: int, high: int) -> Located:
        """Rows ``low`` to ``high - 1`` of an image, loaded if they are not there."""
        piece = self.piece
        if not self.slots:
            far, down, across = piece.strides
            first = piece.buffer.chip + piece.offset + image * far + low * down
            reach = (high - low - 1) * down + (piece.dims[2] - 1) * across + piece.words
            return Located(first, down, across, Touch(SP, first, reach))
        down = piece.dims[2] * piece.words
        if (image, low, high) not in self._held:
            self._turn = (self._turn + 1) % len(self.slots)
            self._held[self._turn] = (image, low, high)
            self.emitter.rows(piece, image, low, high, self.slots[self._turn])
        first = self.slots[self._held.index((image, low, high))]
        return Located(first, down, piece.words, Touch(SP, first, (high - low) * down))


def slot_words(pieces: list[Piece], window: Window, rows: int) -> list[int]:
    """Words of one slot of each piece for bands of this many output rows; 0 for those on the chip."""
    reach = (rows - 1) * window.stride[0] + (window.kernel[0] - 1) * window.dilation[0] + 1
    return [
        0 if piece.buffer.chip is not None else min(reach, piece.dims[1]) * piece.dims[2] * piece.words
        for piece in pieces
    ]
