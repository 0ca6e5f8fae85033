# SPDX-License-Identifier: Apache-2.0
"""Registers of a station: declared once, as a record in an array for machine code, or as an object for Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from beatmatch.fast.compiled import COMPILED


@dataclass(frozen=True)
class Layout:
    """Named registers, all of them 64-bit integers.

    Parameters
    ----------
    name : str
    fields : tuple of (str, int or Layout)
        Each with its size: 1 is a single register, more are an array of them, a layout is a part of its own.
    """

    name: str
    fields: tuple[tuple[str, int | Layout], ...]

    def dtype(self) -> np.dtype:
        """The record."""
        return _dtype(self)

    def build(self) -> object:
        """The registers, all 0: attributes by name, arrays by index."""
        if COMPILED:
            return np.zeros(1, self.dtype()).view(np.recarray)[0]
        return self._object()

    def array(self, rows: list[tuple[int, ...]]) -> object:
        """A sequence of such registers with these values, for layouts without arrays and parts."""
        if COMPILED:
            return np.array(rows, self.dtype())
        names = [name for name, _ in self.fields]
        result = []
        for row in rows:
            entry = self._object()
            for name, value in zip(names, row, strict=True):
                setattr(entry, name, value)
            result.append(entry)
        return result

    def _object(self) -> object:
        result = type(self.name, (), {"__slots__": tuple(name for name, _ in self.fields)})()
        for name, size in self.fields:
            value = size._object() if isinstance(size, Layout) else 0 if size == 1 else [0] * size
            setattr(result, name, value)
        return result


@cache
def _dtype(layout: Layout) -> np.dtype:
    return np.dtype([(name, *_element(size)) for name, size in layout.fields])


def _element(size: int | Layout) -> tuple:
    if isinstance(size, Layout):
        return (size.dtype(),)
    return (np.int64,) if size == 1 else (np.int64, (size,))


def layout(name: str, scalars: str, arrays: dict[str, int] | None = None, **parts: Layout) -> Layout:
    """A layout from words in a string, arrays with their sizes, and parts."""
    fields = [(word, 1) for word in scalars.split()]
    return Layout(name, (*fields, *(arrays or {}).items(), *parts.items()))
