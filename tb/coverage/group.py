# SPDX-License-Identifier: Apache-2.0
"""A coverage group: named bins, and how to find out which of them a window of cycles hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from tb.coverage.window import Window

ARCHITECTURAL = "architectural"
"""What a programmer can see: instructions, registers, errors, values."""
MICROARCHITECTURAL = "microarchitectural"
"""How the machine does it: overlap, queues, conflicts, stalls."""

Sampler = Callable[[Window], Iterable[str]]


@dataclass(frozen=True)
class Group:
    """One coverage group.

    Attributes
    ----------
    name : str
    kind : str
        `ARCHITECTURAL` or `MICROARCHITECTURAL`.
    description : str
        One sentence: what a hit bin means.
    bins : tuple of str
    sample : callable
        Takes a window, gives the names of the bins that it hits (any name twice, in any order).
    """

    name: str
    kind: str
    description: str
    bins: tuple[str, ...]
    sample: Sampler


def group(kind: str, description: str, bins: Iterable[str]) -> Callable[[Sampler], Group]:
    """Turns a sampling function into the group of its name."""

    def build(sample: Sampler) -> Group:
        return Group(sample.__name__, kind, description, tuple(bins), sample)

    return build


def of_module(names: dict[str, object]) -> dict[str, Group]:
    """All groups among a module's names, by their own name."""
    return {item.name: item for item in names.values() if isinstance(item, Group)}


def hit(masks: dict[str, np.ndarray | bool]) -> Iterator[str]:
    """The names whose mask is true in some cycle."""
    return (name for name, mask in masks.items() if np.any(mask))


def bucket(limits: tuple[int, ...], value: int) -> str:
    """The name of the range that a value lies in: ``limits`` are the first values of each range, ascending."""
    index = max(place for place, low in enumerate(limits) if value >= low)
    return buckets(limits)[index]


def buckets(limits: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the ranges: ``(0, 1, 4)`` gives 0, 1-3, 4+."""
    names = []
    for low, following in zip(limits, (*limits[1:], None), strict=True):
        if following is None:
            names.append(f"{low}+")
        else:
            names.append(str(low) if following == low + 1 else f"{low}-{following - 1}")
    return tuple(names)


def in_buckets(limits: tuple[int, ...], values: np.ndarray) -> Iterator[str]:
    """Names of all ranges that hold one of the values (none below the first limit)."""
    names = buckets(limits)
    places = np.unique(np.searchsorted(limits, values, side="right")) - 1
    return (names[place] for place in places.tolist() if place >= 0)
