# SPDX-License-Identifier: Apache-2.0
"""Operators that only rename: reshape, transpose, concat, split and slice as views, or None where data has to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from beatmatch.config import Config
from beatmatch.networks.lowering.layout import PADDING, Piece, Value

MOST_PIECES = 64
"""More pieces than this cost more instructions than a copy."""


def transpose(value: Value, perm: Sequence[int]) -> Value:
    """Axes in another order."""
    axes = [axis for axis in perm if axis != value.axis]
    order = [axis - (axis > value.axis) for axis in axes]
    pieces = [
        replace(p, dims=tuple(p.dims[i] for i in order), strides=tuple(p.strides[i] for i in order))
        for p in value.pieces
    ]
    return Value(tuple(value.shape[axis] for axis in perm), list(perm).index(value.axis), tuple(pieces))


def reshape(value: Value, shape: tuple[int, ...], config: Config) -> Value | None:
    """The same elements in the graph's order under another shape."""
    for find in (_kept, _merged, _split):
        found = find(value, shape, config)
        if found is not None:
            return found
    return None


def _kept(value: Value, shape: tuple[int, ...], config: Config) -> Value | None:
    """Channels stay an axis of their own; positions before and behind them are regrouped."""
    before, channels = prod(value.shape[: value.axis]), value.channels
    behind = prod(value.shape[value.axis + 1 :])
    for axis, size in enumerate(shape):
        if size == channels and prod(shape[:axis]) == before and prod(shape[axis + 1 :]) == behind:
            pieces = [_regroup(p, value.axis, shape, axis) for p in value.pieces]
            return None if None in pieces else Value(shape, axis, tuple(pieces))
    return None


def _regroup(piece: Piece, old: int, shape: tuple[int, ...], axis: int) -> Piece | None:
    front = _restride(piece.dims[:old], piece.strides[:old], shape[:axis])
    back = _restride(piece.dims[old:], piece.strides[old:], shape[axis + 1 :])
    if front is None or back is None:
        return None
    return replace(piece, dims=shape[:axis] + shape[axis + 1 :], strides=front + back)


def _restride(dims: tuple[int, ...], strides: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides of the same positions under other sizes, if there are any."""
    groups: list[list[int]] = []
    for size, stride in zip(dims, strides, strict=True):
        if size > 1 and groups and groups[-1][1] == size * stride:
            groups[-1] = [groups[-1][0] * size, stride]
        elif size > 1:
            groups.append([size, stride])
    result: list[int] = []
    for size in reversed(new):
        if size == 1:
            result.append(1)
            continue
        if not groups or groups[-1][0] % size:
            return None
        result.append(groups[-1][1])
        groups[-1] = [groups[-1][0] // size, groups[-1][1] * size]
        if groups[-1][0] == 1:
            groups.pop()
    return tuple(reversed(result))


def _merged(value: Value, shape: tuple[int, ...], config: Config) -> Value | None:
    """Channels and axes around them become the last axis: every position of those is a piece; one if they touch."""
    keep = next((k for k in range(len(value.shape)) if value.shape[:k] == shape[:-1]), None)
    if keep is None or keep > value.axis:
        return None
    merged = value.shape[keep:]
    inner, size = value.axis - keep, prod(merged)
    places = [axis for axis in range(len(merged)) if axis != inner]
    index = np.moveaxis(np.arange(size).reshape(merged), inner, -1).reshape(-1, merged[inner])
    pieces = []
    for piece in value.pieces:
        offsets = np.zeros((1,), np.int64)
        for axis in places:
            at = keep + axis - (axis > inner)
            offsets = (offsets[:, None] + np.arange(piece.dims[at]) * piece.strides[at]).reshape(-1)
        held = piece.channels >= 0
        for offset, row in zip(offsets.tolist(), index, strict=True):
            channels = np.where(held, row[np.maximum(piece.channels, 0)], PADDING)
            dims, strides = piece.dims[:keep], piece.strides[:keep]
            pieces.append(Piece(piece.buffer, piece.offset + offset, dims, strides, channels, piece.words))
    pieces = joined(pieces, config)
    return Value(shape, len(shape) - 1, tuple(pieces)) if len(pieces) <= MOST_PIECES else None


def joined(pieces: Sequence[Piece], config: Config) -> list[Piece]:
    """Pieces that follow each other within every position, as one."""
    result: list[Piece] = []
    for piece in pieces:
        last = result[-1] if result else None
        touches = (
            last is not None
            and (last.buffer, last.dims, last.strides) == (piece.buffer, piece.dims, piece.strides)
            and last.offset + last.words == piece.offset
        )
        if not touches:
            result.append(piece)
            continue
        gap = np.full(last.words * config.lanes - len(last.channels), PADDING)
        channels = np.concatenate([last.channels, gap, piece.channels])
        result[-1] = replace(last, channels=channels, words=last.words + piece.words)
    return result


def _split(value: Value, shape: tuple[int, ...], config: Config) -> Value | None:
    """The last axis, which is the channels', becomes two: groups that are whole words are positions."""
    axis, old = value.axis, value.shape
    if axis != len(old) - 1 or shape[:-2] != old[:-1] or len(value.pieces) != 1 or len(shape) < 2:
        return None
    size, (piece,) = shape[-1], value.pieces
    plain = np.array_equal(piece.channels, np.arange(old[-1]))
    if size % max(config.lanes, config.mem_bytes) or not plain:
        return None
    words = size // config.lanes
    view = replace(
        piece, dims=(*piece.dims, shape[-2]), strides=(*piece.strides, words), words=words, channels=np.arange(size)
    )
    return Value(shape, len(shape) - 1, (view,))


def concat(values: Sequence[Value], axis: int, shape: tuple[int, ...], config: Config) -> Value | None:
    """Joined along the channels' axis; along another only if there is one part."""
    if any(value.axis != axis for value in values) and len(values) > 1:
        return None
    pieces, first = [], 0
    for value in values:
        for piece in value.pieces:
            channels = np.where(piece.channels >= 0, piece.channels + first, PADDING)
            pieces.append(replace(piece, channels=channels))
        first += value.channels
    pieces = joined(pieces, config)
    return Value(shape, values[0].axis, tuple(pieces)) if len(pieces) <= MOST_PIECES else None


def cut(value: Value, axis: int, start: int, step: int, shape: tuple[int, ...], config: Config) -> Value | None:
    """Every ``step``-th element along one axis from ``start`` on, as many as the shape says."""
    count = shape[axis]
    if axis != value.axis:
        at = axis - (axis > value.axis)
        pieces = [
            replace(
                p,
                offset=p.offset + start * p.strides[at],
                dims=(*p.dims[:at], count, *p.dims[at + 1 :]),
                strides=(*p.strides[:at], p.strides[at] * step, *p.strides[at + 1 :]),
            )
            for p in value.pieces
        ]
        return Value(shape, value.axis, tuple(pieces))
    if step != 1:
        return None
    unit = max(config.lanes, config.mem_bytes)
    pieces = []
    for piece in value.pieces:
        inside = (piece.channels >= start) & (piece.channels < start + count)
        if not inside.any():
            continue
        first, last = np.flatnonzero(inside)[[0, -1]]
        if first % unit or (piece.channels[first : last + 1][~inside[first : last + 1]] != PADDING).any():
            return None
        word = int(first) // config.lanes
        channels = np.where(inside, piece.channels - start, PADDING)[first : last + 1]
        words = -(-len(channels) // unit) * unit // config.lanes
        pieces.append(replace(piece, offset=piece.offset + word, channels=channels, words=words))
    return Value(shape, value.axis, tuple(pieces))
