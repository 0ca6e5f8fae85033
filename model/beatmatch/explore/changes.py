# SPDX-License-Identifier: Apache-2.0
"""A machine (configuration and memory), and what changes of it give.

A change is a name and a value. Names are the fields of `Config`, and

- ``array``: rows and columns together (``64x128``, or a factor for both),
- ``sp_kib``, ``acc_kib``: sizes in KiB, whatever the width of a word; set after the array,
- ``latency``, ``write_latency``, ``max_reads``, ``max_writes``: of the memory,
- ``bandwidth``, ``read_bandwidth``, ``write_bandwidth``: bytes per cycle; ``port`` is one beat in every cycle,
- ``memory``: the name of a memory, a DRAM standard or one that a study file describes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction

from beatmatch.config import Config, ConfigError
from beatmatch.explore import values
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.values import PORT, Factor, Shape, Value
from beatmatch.memory import MemoryTiming
from beatmatch.memory.timing import MemoryTimingError

CONFIG_FIELDS = tuple(item.name for item in fields(Config) if item.name != "name")
SIZES = ("sp_kib", "acc_kib")
MEMORY_COUNTS = {
    "latency": "read_latency",
    "write_latency": "write_latency",
    "max_reads": "max_reads",
    "max_writes": "max_writes",
}
"""Names of changes and the memory fields that they set."""
RATES = ("bandwidth", "read_bandwidth", "write_bandwidth")
NAMES = ("array", *CONFIG_FIELDS, *SIZES, *MEMORY_COUNTS, *RATES, "memory")
"""Everything that can be changed."""

Change = tuple[str, Value]


@dataclass(frozen=True)
class Machine:
    """A configuration and its memory."""

    config: Config
    memory: MemoryTiming


def parse_change(text: str) -> Change:
    """``name=value``; raises ExploreError."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ExploreError(f"{text!r} should be name=value, such as sp_banks=2x; names are {', '.join(NAMES)}.")
    return check(name), values.parse(name, value)


def check(name: str) -> str:
    """The name, if there is such a change; raises ExploreError."""
    if name not in NAMES:
        raise ExploreError(f"{name!r} cannot be changed; what can is {', '.join(NAMES)}.")
    return name


def label(chosen: Iterable[Change]) -> str:
    """Changes as they are written; ``base`` if there are none."""
    return " ".join(f"{name}={shown(value)}" for name, value in chosen) or "base"


def apply(
    base: Machine, changes: Iterable[Change], memory_named: Callable[[str], MemoryTiming] | None = None
) -> Machine:
    """The base with changes; factors are of the base, whatever the order.

    Parameters
    ----------
    base : Machine
    changes : iterable of Change
    memory_named : callable, optional
        From the value of ``memory`` to a memory; what else changes of the memory is of that one then.

    Raises
    ------
    ExploreError
        A value is of the wrong kind, or the machine cannot be built; the text says why.
    """
    wanted = dict(changes)
    memory = base.memory
    if "memory" in wanted:
        name = wanted.pop("memory")
        if memory_named is None or not isinstance(name, str):
            raise ExploreError(f"memory cannot be {shown(name)}; give a memory's name.")
        memory = memory_named(name)
    try:
        config = _configure(base.config, wanted)
        return Machine(config, _remember(base, config, memory, wanted))
    except (ConfigError, MemoryTimingError) as error:
        raise ExploreError(str(error)) from None


def _configure(base: Config, wanted: Mapping[str, Value]) -> Config:
    sizes = base.to_dict()
    array = wanted.get("array")
    if array is not None:
        if isinstance(array, Factor):
            sizes |= {name: _whole(name, array, getattr(base, name)) for name in ("rows", "cols")}
        elif isinstance(array, Shape):
            sizes |= {"rows": array.rows, "cols": array.cols}
        else:
            raise ExploreError(f"array cannot be {shown(array)}; give rows x columns, such as 64x128, or a factor.")
    for name in CONFIG_FIELDS:
        if name in wanted:
            sizes[name] = _whole(name, wanted[name], getattr(base, name))
    lanes = max(sizes["rows"], sizes["cols"])
    if "sp_kib" in wanted:
        kib = _scaled("sp_kib", wanted["sp_kib"], Fraction(base.sp_words * base.lanes, 1024))
        sizes["sp_words"] = _entries("sp_kib", kib, lanes)
    if "acc_kib" in wanted:
        kib = _scaled("acc_kib", wanted["acc_kib"], Fraction(4 * base.acc_rows * base.cols, 1024))
        sizes["acc_rows"] = _entries("acc_kib", kib, 4 * sizes["cols"])
    sizes["name"] = base.name if all(sizes[name] == getattr(base, name) for name in CONFIG_FIELDS) else "custom"
    return Config.from_dict(sizes)


def _remember(base: Machine, config: Config, memory: MemoryTiming, wanted: Mapping[str, Value]) -> MemoryTiming:
    before = {item.name: getattr(memory, item.name) for item in fields(memory)}
    found = memory_fields(before, wanted, base.config, config)
    return dataclasses.replace(memory, **found) if found else memory


def memory_fields(
    before: Mapping[str, object], wanted: Mapping[str, Value], base: Config, config: Config
) -> dict[str, object]:
    """Fields of `MemoryTiming` that changes set.

    Parameters
    ----------
    before : mapping
        The fields that factors are of.
    wanted : mapping of str to Value
    base, config : Config
        Whose port an unlimited bandwidth fills before, and which one it has to pass now.
    """
    found: dict[str, object] = {}
    for name, field in MEMORY_COUNTS.items():
        if name in wanted:
            found[field] = _whole(name, wanted[name], before[field])
    for name in RATES:
        if name not in wanted:
            continue
        if name == "write_bandwidth" and before["shared"]:
            raise ExploreError("write_bandwidth cannot be changed: reads and writes share read_bandwidth.")
        both = name == "bandwidth" and not before["shared"]
        one = "write_bandwidth" if name == "write_bandwidth" else "read_bandwidth"
        for field in ("read_bandwidth", "write_bandwidth") if both else (one,):
            found[field] = _rate(name, wanted[name], before[field], base, config, 1 + before["shared"])
    return found


def _rate(
    name: str, value: Value, before: tuple[int, int] | None, base: Config, config: Config, ways: int
) -> tuple[int, int] | None:
    """A bandwidth; more than the port takes, in one way or both, is refused, because it would change nothing."""
    if value == PORT:
        return None
    if isinstance(value, Factor) and value.of == 1:
        return before
    rate = _scaled(name, value, Fraction(base.mem_bytes) if before is None else Fraction(*before))
    if rate > ways * config.mem_bytes:
        raise ExploreError(
            f"{name} = {shown(value)} is {values.plain(rate)} bytes per cycle, more than the "
            f"{ways * config.mem_bytes} of the memory port: widen mem_bits with it, or start from a slower memory."
        )
    return rate.numerator, rate.denominator


def _scaled(name: str, value: Value, before: Fraction) -> Fraction:
    if isinstance(value, Factor):
        if not before:
            raise ExploreError(f"{name} is 0 in the base, and so is every multiple of it; give a number.")
        return value.of * before
    if isinstance(value, Fraction):
        return value
    raise ExploreError(f"{name} cannot be {shown(value)}; give a number, or a factor of the base such as 2x.")


def _whole(name: str, value: Value, before: int) -> int:
    number = _scaled(name, value, Fraction(before))
    if number.denominator != 1:
        of = f", {value} of {before}," if isinstance(value, Factor) else ""
        raise ExploreError(f"{name} = {values.plain(number)}{of} is no whole number.")
    return int(number)


def _entries(name: str, kib: Fraction, size: int) -> int:
    count = kib * 1024 / size
    if count.denominator != 1:
        raise ExploreError(f"{name} = {values.plain(kib)} KiB is no whole number of entries of {size} bytes.")
    return int(count)


def shown(value: Value) -> str:
    """A value as it is written on the command line."""
    return values.plain(value) if isinstance(value, Fraction) else str(value)
