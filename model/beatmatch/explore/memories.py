# SPDX-License-Identifier: Apache-2.0
"""Memories by name and from tables, as study files and ``--memory`` give them."""

from __future__ import annotations

from collections.abc import Mapping

from beatmatch.compiler.builder import default_timing
from beatmatch.config import Config
from beatmatch.explore import changes, values
from beatmatch.explore.errors import ExploreError
from beatmatch.memory import MemoryTiming, MemoryTimingError
from beatmatch.memory.presets import STANDARDS, dram_preset

STANDARD = "standard"
"""Key of a table whose value is the name of a DRAM that the others change."""


def named(name: str, known: Mapping[str, MemoryTiming]) -> MemoryTiming:
    """A memory of a study, or a DRAM standard with or without the core's clock: ``ddr4-2400``, ``hbm2@700``.

    Raises
    ------
    ExploreError
        There is none of that name, or the clock is no number of MHz.
    """
    if name in known:
        return known[name]
    standard, at, clock = name.partition("@")
    if standard not in STANDARDS:
        there = ", ".join([*sorted(known), *STANDARDS])
        raise ExploreError(f"No memory is called {name}; there are {there}; a study file adds more in [memories.NAME].")
    if at and not (clock.isascii() and clock.isdecimal() and len(clock) < 10):
        raise ExploreError(f"{clock!r} is no clock in MHz; give one as in {standard}@700.")
    try:
        return dram_preset(standard, *([int(clock)] if at else []))
    except MemoryTimingError as error:
        raise ExploreError(str(error)) from None


def memory_of(table: Mapping[str, object], config: Config) -> MemoryTiming:
    """A memory from a table: names of changes (``latency``, ``bandwidth``, ...) and fields of `MemoryTiming`.

    What is left out is as in the memory of its ``standard``, or else in the one that the configuration is usually
    measured with.

    Raises
    ------
    ExploreError
        The memory makes no sense; the text says why.
    """
    fields = dict(table)
    standard = fields.pop(STANDARD, None)
    start = default_timing(config) if standard is None else named(str(standard), {})
    wanted = {name: fields.pop(name) for name in (*changes.MEMORY_COUNTS, *changes.RATES) if name in fields}
    before = {**start.to_dict(), **fields}
    parsed = {name: values.parse(name, value) for name, value in wanted.items()}
    try:
        return MemoryTiming.from_dict({**before, **changes.memory_fields(before, parsed, config, config)})
    except (MemoryTimingError, TypeError) as error:
        raise ExploreError(f"The memory makes no sense: {error}") from None
