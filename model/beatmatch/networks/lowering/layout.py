# SPDX-License-Identifier: Apache-2.0
"""How a tensor stands in memory and on the chip: position by position, each in whole scratchpad words.

A `Value` is a list of pieces of its channels. A piece is a view of a buffer: positions with a stride each, and for each
position some words whose bytes are channels in an order of their own. So joining, cutting, permuting and flattening
tensors moves no data as long as channels begin at whole words: it makes another view.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from beatmatch.compiler.builder import round_up
from beatmatch.config import Config

PADDING = -1
"""The channel of a byte that holds none."""


@dataclass(eq=False)
class Buffer:
    """Words that belong together.

    Attributes
    ----------
    words : int
    tensor : str
        Whose values it was made for.
    chip : int or None
        First scratchpad word while it stands there.
    memory : int or None
        Bytes from the start of the region of activations, where it has a place in memory.
    slot : int
        The first of its pieces of memory, as the schedule numbers them.
    """

    words: int
    tensor: str
    chip: int | None = None
    memory: int | None = None
    slot: int = 0

    @property
    def grain(self) -> int:
        """Words of one piece of memory whose order the schedule keeps."""
        return max(1, -(-self.words // SLOTS))


SLOTS = 128
"""Most pieces of memory of one buffer."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A view of a buffer.

    Attributes
    ----------
    buffer : Buffer
    offset : int
        First word.
    dims, strides : tuple of int
        Positions along each axis but the channels', and the words from one to the next.
    channels : numpy.ndarray of int
        Which channel of the tensor each byte of a position holds, `PADDING` for none; trailing ones are left out.
    words : int
        Words of one position.
    """

    buffer: Buffer
    offset: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    channels: np.ndarray
    words: int

    @property
    def positions(self) -> int:
        """Number of positions."""
        return prod(self.dims)


@dataclass(frozen=True, eq=False)
class Value:
    """Where a tensor's values are.

    Attributes
    ----------
    shape : tuple of int
        In the graph's order.
    axis : int
        The channels' axis.
    pieces : tuple of Piece
        Each channel stands in exactly one of them.
    """

    shape: tuple[int, ...]
    axis: int
    pieces: tuple[Piece, ...]

    @property
    def channels(self) -> int:
        """Size of the channels' axis."""
        return self.shape[self.axis]

    @property
    def size(self) -> int:
        """Elements, which are bytes here."""
        return prod(self.shape)

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers that its pieces look at, each once."""
        return list(dict.fromkeys(piece.buffer for piece in self.pieces))


def position_words(channels: int, config: Config) -> int:
    """Words of a position: whole words and whole beats, so that every position can begin a transfer."""
    return round_up(channels, max(config.lanes, config.mem_bytes)) // config.lanes


def fresh(shape: tuple[int, ...], axis: int, tensor: str, config: Config) -> Value:
    """A tensor in a buffer of its own, its positions in the graph's order.

    Parameters
    ----------
    shape : tuple of int
        Of at least one axis.
    axis : int
        The channels' axis.
    tensor : str
        Its name.
    config : Config
    """
    dims = shape[:axis] + shape[axis + 1 :]
    words = position_words(shape[axis], config)
    strides = [words] * len(dims)
    for index in range(len(dims) - 2, -1, -1):
        strides[index] = strides[index + 1] * dims[index + 1]
    buffer = Buffer(prod(dims) * words, tensor)
    piece = Piece(buffer, 0, dims, tuple(strides), np.arange(shape[axis]), words)
    return Value(shape, axis, (piece,))


def fresh_like(value: Value, shape: tuple[int, ...], tensor: str, config: Config) -> Value:
    """A tensor in a buffer of its own whose channels stand in the order of another's pieces, gaps included.

    Parameters
    ----------
    value : Value
    shape : tuple of int
        Sizes may differ from the value's along axes of positions.
    tensor : str
        Its name.
    config : Config
    """
    parts = []
    for piece in value.pieces:
        parts += [piece.channels, np.full(piece.words * config.lanes - len(piece.channels), PADDING)]
    channels = np.concatenate(parts)
    channels = channels[: np.flatnonzero(channels >= 0)[-1] + 1]
    whole = (*shape[: value.axis], len(channels), *shape[value.axis + 1 :])
    (piece,) = fresh(whole, value.axis, tensor, config).pieces
    return Value(shape, value.axis, (replace(piece, channels=channels),))


def collapse(piece: Piece, most: int) -> Piece | None:
    """The piece with at most ``most`` axes of positions: neighbours that follow each other without a gap are joined.

    None if there remain more. Axes of one position disappear; fewer than ``most`` are filled up in front.
    """
    dims: list[int] = []
    strides: list[int] = []
    for size, stride in zip(piece.dims, piece.strides, strict=True):
        if size == 1:
            continue
        if dims and strides[-1] == size * stride:
            dims[-1], strides[-1] = dims[-1] * size, stride
        else:
            dims.append(size)
            strides.append(stride)
    if len(dims) > most:
        return None
    fill = most - len(dims)
    first = (strides[0] * dims[0] if dims else piece.words,)
    return replace(piece, dims=(1,) * fill + tuple(dims), strides=first * fill + tuple(strides))


def last_word(piece: Piece) -> int:
    """The word behind the last one that the piece looks at."""
    reach = sum((size - 1) * stride for size, stride in zip(piece.dims, piece.strides, strict=True))
    return piece.offset + reach + piece.words
