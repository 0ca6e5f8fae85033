# SPDX-License-Identifier: Apache-2.0
"""A study: networks, a base machine, and the axes along which it changes; from the command line or a TOML file."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from beatmatch.config import ConfigError
from beatmatch.explore import changes, values
from beatmatch.explore.changes import Change, Machine
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.memories import memory_of, named
from beatmatch.explore.values import Value
from beatmatch.memory import MemoryTiming

LAYERS, NETWORK = "layers", "network"
GRANULARITIES = (LAYERS, NETWORK)
"""Each layer alone as its own program, or the whole network as one program whose layers overlap."""

MOST_POINTS = 1_000_000
"""Machines of one study; more is a typing mistake."""

KEYS = ("network", "base", "granularity", "dims", "memory", "memories", "sweep")
"""Keys of a study file."""

Axis = tuple[str, tuple[Value, ...]]


@dataclass(frozen=True)
class Point:
    """One machine of a study.

    Attributes
    ----------
    label : str
        What differs from the base: ``array=64x64 bandwidth=2x``; ``base`` if nothing does.
    machine : Machine or None
        None if it cannot be built.
    reason : str
        Why not; empty if it can.
    """

    label: str
    machine: Machine | None
    reason: str = ""


@dataclass(frozen=True)
class Study:
    """What is explored.

    Parameters
    ----------
    networks : tuple of str
        Names of the library's networks, or files.
    base : Machine
    axes : tuple of (name, values)
        All combinations are points; the last axis runs fastest.
    granularity : str
        One of `GRANULARITIES`.
    dims : mapping of str to int
        Sizes of dynamic dimensions of the networks' files.
    memories : mapping of str to MemoryTiming
        Memories that the axis ``memory`` names, besides DRAM standards.
    """

    networks: tuple[str, ...]
    base: Machine
    axes: tuple[Axis, ...] = ()
    granularity: str = LAYERS
    dims: Mapping[str, int] = field(default_factory=dict)
    memories: Mapping[str, MemoryTiming] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.networks:
            raise ExploreError("A study needs a network: give --network, or network = [...] in its file.")
        if self.granularity not in GRANULARITIES:
            raise ExploreError(f"granularity cannot be {self.granularity!r}; it is {' or '.join(GRANULARITIES)}.")
        names = [name for name, _ in self.axes]
        for name in names:
            if names.count(name) > 1:
                raise ExploreError(f"{name} stands twice in the sweep; give all of its values together.")
            changes.check(name)
        self._check_combinations(names)

    def _check_combinations(self, names: Sequence[str]) -> None:
        """Refuse axes that set the same, and more machines than anybody waits for."""
        if "array" in names and {"rows", "cols"} & {*names}:
            raise ExploreError("array sets rows and cols; sweep either array, or rows and cols.")
        count = prod(len(found) for _, found in self.axes)
        if count > MOST_POINTS:
            raise ExploreError(f"The sweep has {count:,} machines; it may have {MOST_POINTS:,}.")

    def points(self) -> list[Point]:
        """All machines in the order of the axes; those that cannot be built carry the reason."""
        pairs = [[(name, value) for value in found] for name, found in self.axes]
        return [point(self.base, chosen, self.memories) for chosen in itertools.product(*pairs)]


def point(base: Machine, chosen: Sequence[Change], memories: Mapping[str, MemoryTiming] | None = None) -> Point:
    """The base with these changes, or why that cannot be built."""
    try:
        return Point(changes.label(chosen), changes.apply(base, chosen, lambda name: named(name, memories or {})))
    except ExploreError as error:
        return Point(changes.label(chosen), None, str(error))


def parse_axis(text: str) -> Axis:
    """``name=value,value,...``; raises ExploreError."""
    name, equals, rest = text.partition("=")
    if not equals or not name or not rest:
        raise ExploreError(f"{text!r} should be name=value,value,... such as rows=16,32 or bandwidth=0.5x,1x,2x.")
    return axis(name, rest.split(","))


def axis(name: str, given: Iterable[object]) -> Axis:
    """An axis of given values, each once; raises ExploreError."""
    found = tuple(values.parse(changes.check(name), value) for value in given)
    if not found or len(set(found)) < len(found):
        raise ExploreError(f"{name} has {'a value twice' if found else 'no value'} in the sweep.")
    return name, found


def read_study(path: str | Path, config_of) -> Study:
    """A study file.

    Parameters
    ----------
    path : str or Path
        TOML with the `KEYS`.
    config_of : callable
        From the text of ``base`` to a `Config`, as on the command line.

    Raises
    ------
    ExploreError
        Naming the file and what is wrong in it.
    """
    try:
        data = tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise ExploreError(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExploreError(f"{path} is no TOML file: {error}.") from None
    try:
        return _study(data, config_of)
    except (ExploreError, ConfigError) as error:
        raise ExploreError(f"{path}: {error}") from None


def _study(data: Mapping[str, object], config_of) -> Study:
    unknown = [key for key in data if key not in KEYS]
    if unknown:
        raise ExploreError(f"There is no key {unknown[0]!r}; the keys are {', '.join(KEYS)}.")
    for key in ("dims", "memory", "memories", "sweep"):
        if not isinstance(data.get(key, {}), dict):
            raise ExploreError(f"{key} must be a table: [{key}].")
    networks, base = data.get("network", []), data.get("base")
    networks = [networks] if isinstance(networks, str) else networks
    if not isinstance(networks, list) or not all(isinstance(name, str) for name in networks):
        raise ExploreError("network must be a name, or a list of names.")
    if not isinstance(base, str):
        raise ExploreError('A study needs a base: base = "mxu128", say.')
    config = config_of(base)
    sweep = [axis(name, found if isinstance(found, list) else [found]) for name, found in data.get("sweep", {}).items()]
    memories = {}
    for name, table in data.get("memories", {}).items():
        if not isinstance(table, dict):
            raise ExploreError(f"memories.{name} must be a table: [memories.{name}].")
        memories[name] = memory_of(table, config)
    return Study(
        tuple(networks), Machine(config, memory_of(data.get("memory", {}), config)), tuple(sweep),
        data.get("granularity", LAYERS), dict(data.get("dims", {})), memories,
    )  # fmt: skip
