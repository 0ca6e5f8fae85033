# SPDX-License-Identifier: Apache-2.0
"""What the sub-commands share about memories: ``--memory`` and ``--latency``, and what a DRAM did."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from beatmatch.memory import DramCounters, MemoryTiming, MemoryTimingError, dram_preset
from beatmatch.memory.presets import MHZ, STANDARDS

FIXED = "fixed"
NAMES = ", ".join(STANDARDS)


def add_memory(parser: argparse.ArgumentParser, default: str) -> None:
    """Add ``--memory`` and ``--latency``; ``default`` says whose memory it is otherwise."""
    text = f"'{FIXED}' (a latency), {NAMES}, with the core's clock as in 'hbm2@700' ({MHZ} MHz), or a JSON file"
    parser.add_argument("--memory", metavar="MEMORY", help=f"{text} ({default}); see docs/memory.md")
    parser.add_argument("--latency", type=int, help=f"read latency of the memory in cycles ({default})")


def parse_memory(text: str) -> MemoryTiming | None:
    """A memory from ``fixed`` (None: that of the configuration), a name with or without clock, or a JSON file."""
    if text == FIXED:
        return None
    if text.endswith(".json"):
        try:
            fields = json.loads(Path(text).read_text())
            if fields == {}:
                raise MemoryTimingError(f"{text} sets nothing; docs/memory.md says what a memory's file may hold.")
            return MemoryTiming.from_dict(fields)
        except OSError as error:
            raise MemoryTimingError(f"{text} cannot be read: {error.strerror}.") from None
        except MemoryTimingError:
            raise
        except (ValueError, RecursionError):
            raise MemoryTimingError(f"{text} is no JSON file.") from None
    name, at, clock = text.partition("@")
    if name not in STANDARDS:
        raise MemoryTimingError(f"There is no memory {name!r}; give {FIXED}, {NAMES}, or a JSON file.")
    if not at:
        return dram_preset(name)
    if not clock.isdecimal() or not clock.isascii() or len(clock) > 9:
        raise MemoryTimingError(f"{clock!r} is no clock in MHz; give one as in '{name}@700'.")
    return dram_preset(name, int(clock))


def timing_of(arguments: argparse.Namespace, own: MemoryTiming | None = None) -> MemoryTiming | None:
    """The memory of ``--memory`` (else one's own) and ``--latency``, or None for that of the configuration."""
    timing = own if arguments.memory is None else parse_memory(arguments.memory)
    if arguments.latency is None:
        return timing
    return dataclasses.replace(timing or MemoryTiming(), read_latency=arguments.latency)


def dram_records(counters: Sequence[DramCounters | None]) -> list[dict | None] | None:
    """For JSON: by memory port; None without a DRAM."""
    return [found and found.to_dict() for found in counters] if any(counters) else None


def dram_lines(counters: Sequence[DramCounters | None]) -> list[str]:
    """A sentence per DRAM."""
    lines = []
    for name, found in zip(("DRAM", "DRAM of the weights"), counters, strict=False):
        if found is not None:
            share = f" ({100 * found.hits / found.parts:.1f} %)" if found.parts else ""
            lines.append(
                f"{name}: row hits {found.hits:,}{share}, misses {found.misses:,}, conflicts {found.conflicts:,}, "
                f"turnarounds {found.turnarounds:,}, cycles of refresh {found.refresh_cycles:,}"
            )
    return lines
