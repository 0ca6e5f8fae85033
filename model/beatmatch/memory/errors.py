# SPDX-License-Identifier: Apache-2.0
"""What a memory timing that makes no sense raises, and how its numbers are looked at."""

from __future__ import annotations

from collections.abc import Iterable


class MemoryTimingError(ValueError):
    """A memory timing that makes no sense; the text names the field and the legal range."""


def is_integer(value: object) -> bool:
    """An integer, and not a truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_fields(what: str, data: object, known: Iterable[str]) -> None:
    """Refuse what is no object with some of these fields."""
    names = sorted(known)
    if not isinstance(data, dict):
        raise MemoryTimingError(f"A {what} must be an object with its fields: {', '.join(names)}.")
    for name in data:
        if name not in names:
            raise MemoryTimingError(f"Unknown {what} field {name!r}; the fields are {', '.join(names)}.")
