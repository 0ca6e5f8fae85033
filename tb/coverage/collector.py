# SPDX-License-Identifier: Apache-2.0
"""The collector: samples all groups from blocks of records and remembers which seeds hit which bin."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from beatmatch.config import Config
from tb.coverage.group import Group
from tb.coverage.groups import GROUPS
from tb.coverage.state import Tracker

Hits = dict[str, list[str]]
"""Names of bins by group: what one program hit."""

KEPT_SEEDS = 8
"""Distinct seeds remembered per bin; more say nothing new."""


class UnknownBinError(RuntimeError):
    """A group's sampler named a bin that the group does not have: a mistake in the group."""


class Coverage:
    """Collects functional coverage over programs.

    Usage: `begin` a program, `sample` its blocks in order, `end` it. What an unfinished program hit counts nothing
    (`drop` forgets it): only cycles that were compared and found equal should be covered.

    Parameters
    ----------
    groups : mapping of str to Group
        All groups by default.

    Attributes
    ----------
    seeds : dict of (group, bin) to set of int
        Up to `KEPT_SEEDS` different seeds whose programs hit the bin; no entry if none did.
    programs, cycles : int
        What was sampled and ended.
    """

    def __init__(self, groups: Mapping[str, Group] = GROUPS) -> None:
        self.groups = dict(groups)
        self.seeds: dict[tuple[str, str], set[int]] = {}
        self.programs = self.cycles = 0
        self._tracker: Tracker | None = None
        self._open = False
        self._bins = {name: frozenset(item.bins) for name, item in self.groups.items()}

    def begin(self, program: object, seed: int) -> None:
        """A program begins, from reset; `seed` is what it was drawn from (`program` is only a label for errors)."""
        self._label, self._seed = program, seed
        self._tracker = None
        self._hits: dict[str, set[str]] = {name: set() for name in self.groups}
        self._count = 0
        self._open = True

    def sample(self, config: Config, records: np.ndarray, rows: np.ndarray) -> None:
        """The next block of the program.

        Parameters
        ----------
        config : Config
        records : numpy.ndarray of uint32, [cycles, record words]
            Trace records (`beatmatch.trace`).
        rows : numpy.ndarray of uint32, [cycles, row words]
            What drove the core in these cycles (`beatmatch.stimulus`).

        Raises
        ------
        RuntimeError
            `begin` was not called.
        UnknownBinError
            A group named a bin that it does not declare.
        """
        if not self._open:
            raise RuntimeError("Coverage.sample needs a program: call begin(program, seed) first.")
        if not len(records):
            return
        if self._tracker is None:
            self._tracker = Tracker(config)
        window = self._tracker.window(records, rows)
        self._count += len(records)
        for name, item in self.groups.items():
            found = set(item.sample(window))
            unknown = found - self._bins[name]
            if unknown:
                raise UnknownBinError(f"Group {name} has no bin {min(unknown)!r} (program {self._label}).")
            self._hits[name] |= found

    def drop(self) -> None:
        """Forget the program that is open: it diverged or was broken off."""
        self._open = False

    def end(self) -> Hits:
        """The program has ended: its hits count from now on, and are returned."""
        if not self._open:
            raise RuntimeError("Coverage.end needs a program: call begin(program, seed) first.")
        self._open = False
        hits = {name: sorted(found) for name, found in self._hits.items() if found}
        self.add(hits, self._seed, self._count)
        return hits

    def add(self, hits: Hits, seed: int, cycles: int) -> None:
        """Count what one program hit elsewhere, in another process."""
        self.programs += 1
        self.cycles += cycles
        for name, found in hits.items():
            for label in found:
                kept = self.seeds.setdefault((name, label), set())
                if len(kept) < KEPT_SEEDS:
                    kept.add(seed)

    def count(self, name: str, label: str) -> int:
        """Different seeds that hit a bin, `KEPT_SEEDS` at most."""
        return len(self.seeds.get((name, label), ()))

    def holes(self, least: int = 1) -> list[tuple[str, str]]:
        """(group, bin) of all that fewer than `least` seeds have hit."""
        return [(n, label) for n, item in self.groups.items() for label in item.bins if self.count(n, label) < least]
