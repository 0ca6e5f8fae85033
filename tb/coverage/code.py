# SPDX-License-Identifier: Apache-2.0
"""Code coverage: percentages from merged points, without what is constant by contract and what is waived.

- *Line*: a source line that belongs to a point counts as covered if one of its points was hit.
- *Branch*: each arm of each `if`, `?:` and `case` is a point.
- *Toggle*: each bit of each port of each module, up and down, is a point; the union over instances and configurations.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from beatmatch.config import Config
from tb.coverage.constants import HELD, constant_everywhere
from tb.coverage.points import Point, Points

RISE = ":0->1"
WAIVERS = Path(__file__).resolve().with_name("waivers.toml")
MOST_WAIVERS = 10


class WaiverError(ValueError):
    """A waiver or an exclusion that is wrong: it matches nothing, or what it excludes was hit."""


@dataclass(frozen=True)
class Waiver:
    """Points that need not be hit, with the reason.

    Attributes
    ----------
    kind : str
        line, branch or toggle.
    file, what : str
        Regular expressions for the file and for what the point is (``signal[bit]``, or the source text of its line).
    first, every : int
        Toggles: bits from this one on; with `every`, of each group of so many bits.
    reason : str
    """

    kind: str
    file: str
    what: str
    reason: str
    first: int = 0
    every: int = 0

    def covers(self, point: Point, text: str) -> bool:
        """Whether the waiver speaks of a point; `text` is its source line."""
        if point.kind != self.kind or not re.fullmatch(self.file, point.file):
            return False
        if point.kind == "toggle":
            name, bit = point.signal()
            bit = bit % self.every if self.every else bit
            return bit >= self.first and re.fullmatch(self.what, name) is not None
        return re.search(self.what, text) is not None


def waivers(path: Path = WAIVERS) -> list[Waiver]:
    """The waivers of the file; WaiverError if there are too many or one lacks a reason."""
    found = [Waiver(**item) for item in tomllib.loads(path.read_text()).get("waiver", [])]
    if len(found) > MOST_WAIVERS:
        raise WaiverError(f"There are {len(found)} waivers; at most {MOST_WAIVERS} are allowed.")
    for item in found:
        if len(item.reason) < 20:
            raise WaiverError(f"The waiver of {item.what} in {item.file} needs a reason.")
    return found


@dataclass
class Tally:
    """Hit and all points of one kind; what is left out does not count."""

    hit: int = 0
    total: int = 0

    @property
    def percent(self) -> float:
        """Percentage, 100 if there is nothing to hit."""
        return 100.0 * self.hit / self.total if self.total else 100.0

    def add(self, hit: bool) -> None:
        """Count one more point."""
        self.total += 1
        self.hit += hit


@dataclass
class FileReport:
    """One source file: tallies, and per source line what was missed."""

    name: str
    line: Tally = field(default_factory=Tally)
    branch: Tally = field(default_factory=Tally)
    toggle: Tally = field(default_factory=Tally)
    counts: dict[int, int] = field(default_factory=dict)  # by source line: most hits of its points
    missed: dict[int, list[str]] = field(default_factory=dict)


@dataclass
class CodeReport:
    """Code coverage of the RTL.

    Attributes
    ----------
    files : list of FileReport
    waived : list of (Waiver, int)
        Each waiver with the number of points it leaves out.
    constant : int
        Points of ports that are constant by contract.
    """

    files: list[FileReport]
    waived: list[tuple[Waiver, int]]
    constant: int

    def total(self, kind: str) -> Tally:
        """Sum over all files of line, branch or toggle."""
        parts = [getattr(item, kind) for item in self.files]
        return Tally(sum(part.hit for part in parts), sum(part.total for part in parts))


def evaluate(points: Points, configs: Iterable[Config], root: Path, allowed: list[Waiver] | None = None) -> CodeReport:
    """Count merged points.

    Parameters
    ----------
    points : Points
        Of all configurations together.
    configs : iterable of Config
        The configurations they come from.
    root : Path
        Where the files are.
    allowed : list of Waiver
        By default those of `waivers.toml`.

    Raises
    ------
    WaiverError
        A waiver leaves out nothing, or only what was hit; a bit that is constant by contract toggled.
    """
    allowed = waivers() if allowed is None else allowed
    constant = constant_everywhere(configs)
    uses = dict.fromkeys(range(len(allowed)), 0)
    fixed = 0
    files: dict[str, FileReport] = {}
    text = {name: (root / name).read_text().splitlines() for name in {point.file for point in points}}
    lines: dict[tuple[str, int], int] = {}
    for point, hit in sorted(points.items()):
        report = files.setdefault(point.file, FileReport(point.file))
        source = text[point.file][point.line - 1]
        if point.kind == "toggle":
            name, bit = point.signal()
            held = (point.file, name) in HELD
            if held or bit in constant.get((point.file, name), ()):
                if hit.count and not (held and point.what.endswith(RISE)):
                    raise WaiverError(f"{point.file}: {point.what} toggled, but is constant by contract.")
                fixed += 1
                continue
        if not hit.count:
            waiver = next((n for n, item in enumerate(allowed) if item.covers(point, source)), None)
            if waiver is not None:
                uses[waiver] += 1
                continue
        if point.kind == "toggle":
            report.toggle.add(hit.count > 0)
        else:
            for line in hit.lines:
                key = (point.file, line)
                lines[key] = max(lines.get(key, 0), hit.count)
            if point.kind == "branch":
                report.branch.add(hit.count > 0)
        if not hit.count:
            report.missed.setdefault(point.line, []).append(point.what)
    for (name, line), count in lines.items():
        files[name].counts[line] = count
        files[name].line.add(count > 0)
    idle = [allowed[n] for n, count in uses.items() if not count]
    if idle:
        raise WaiverError(f"The waiver of {idle[0].what} in {idle[0].file} leaves out nothing: remove it.")
    return CodeReport(
        sorted(files.values(), key=lambda item: item.name), [(allowed[n], c) for n, c in uses.items()], fixed
    )
