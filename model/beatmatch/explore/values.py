# SPDX-License-Identifier: Apache-2.0
"""Values on the command line and in study files: numbers, factors of the base such as ``2x``, array shapes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from beatmatch.explore.errors import ExploreError

LARGEST = 1 << 20
"""Largest numerator and denominator of a value, as the fast tier takes them."""

PORT = "port"
"""A bandwidth that is not limited: one beat of the memory port in every cycle."""


@dataclass(frozen=True)
class Factor:
    """A multiple of what the base has."""

    of: Fraction

    def __str__(self) -> str:
        return f"{plain(self.of)}x"


@dataclass(frozen=True)
class Shape:
    """Rows and columns of the array."""

    rows: int
    cols: int

    def __str__(self) -> str:
        return f"{self.rows}x{self.cols}"


Value = Fraction | Factor | Shape | str
"""What an assignment gives: a number, a multiple of the base's, an array shape, or a word such as `PORT`."""

_NUMBER = r"\d+(?:\.\d+)?(?:/\d+)?"


def parse(name: str, given: object) -> Value:
    """One value.

    Parameters
    ----------
    name : str
        Whose value it is, for the refusal.
    given : object
        ``16``, ``0x10``, ``12.5``, ``64/3``, ``2x``, ``1/4x``, ``64x128``, or a word (``port``, a memory's name);
        study files give numbers as numbers, too.

    Raises
    ------
    ExploreError
        It is none of these, or has too many digits.
    """
    text = str(given).strip()
    if isinstance(given, bool) or not isinstance(given, int | float | str) or not text:
        raise ExploreError(f"{name} cannot be {given!r}; give a number, a factor such as 2x, or a shape such as 64x64.")
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text) and text.lower() != "0x":
        return _limited(name, text, Fraction(int(text, 16)))
    if re.fullmatch(r"\d{1,6}x\d{1,6}", text):
        rows, cols = map(int, text.split("x"))
        return Shape(rows, cols)
    if re.fullmatch(f"{_NUMBER}[xX]", text):
        factor = _limited(name, text, _fraction(name, text[:-1]))
        if not factor:
            raise ExploreError(f"{name} cannot be {text!r}; a factor must be above 0.")
        return Factor(factor)
    if re.fullmatch(_NUMBER, text):
        return _limited(name, text, _fraction(name, text))
    if re.fullmatch(r"[A-Za-z_][\w.@-]*", text):
        return text
    raise ExploreError(f"{name} cannot be {text!r}; give a number, a factor such as 2x, or a shape such as 64x64.")


def _fraction(name: str, text: str) -> Fraction:
    top, _, bottom = text.partition("/")
    if bottom and not int(bottom):
        raise ExploreError(f"{name} cannot be {text!r}: the denominator is 0.")
    return Fraction(top) / int(bottom or 1)


def _limited(name: str, text: str, value: Fraction) -> Fraction:
    if max(value.numerator, value.denominator) > LARGEST:
        raise ExploreError(f"{name} cannot be {text!r}; round it to numbers up to {LARGEST}.")
    return value


def plain(value: Fraction) -> str:
    """A number as people write it: ``16``, ``0.25``, ``64/3``."""
    if value.denominator == 1:
        return str(value.numerator)
    shown = f"{float(value):g}"
    return shown if Fraction(shown) == value else f"{value.numerator}/{value.denominator}"
