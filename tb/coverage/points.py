# SPDX-License-Identifier: Apache-2.0
"""Verilator's coverage data: read, and merged over instances and configurations.

A coverage file is text, one point a line: ``C '<key><value>...' <count>`` with control characters 1 and 2 in front of
keys and values. Keys used here: ``f`` file, ``l`` line, ``n`` column, ``page`` (its first part is the kind),
    ``o`` what,
``S`` the source lines of the point, ``h`` the instance. A point of a module is covered if it was hit in any instance of
any configuration: parameters switch generate branches off, so no single configuration has all points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tb.coverage.ports import ports

KINDS = {"v_line": "line", "v_branch": "branch", "v_toggle": "toggle"}
TOGGLE = re.compile(r"^(?P<name>[^\[:]+)(?P<index>(?:\[\d+\])*)(?P<field>[^:]*):(?P<way>0->1|1->0)$")


class CoverageFileError(ValueError):
    """A file that is no coverage data of Verilator; the sentence says what is wrong."""


@dataclass(frozen=True, order=True)
class Point:
    """A place in the source that is hit or not.

    Attributes
    ----------
    kind : str
        line, branch or toggle.
    file : str
        Relative to `rtl/`.
    line, column : int
    what : str
        The arm of a branch, or the signal's bit and its direction.
    """

    kind: str
    file: str
    line: int
    column: int
    what: str

    def signal(self) -> tuple[str, int]:
        """Name (with the generate blocks around it) and bit of a toggle point; bit 0 of a scalar."""
        match = TOGGLE.match(self.what)
        if match is None:
            raise CoverageFileError(f"{self.what!r} names no bit and direction.")
        bits = [int(bit) for bit in re.findall(r"\d+", match["index"])]
        return match["name"] + match["field"], bits[-1] if bits else 0


@dataclass
class Hit:
    """How often a point was hit, and the source lines it stands for."""

    count: int
    lines: tuple[int, ...]


Points = dict[Point, Hit]


def _source_lines(text: str, line: int) -> tuple[int, ...]:
    """``101-104,107`` as numbers; the point's own line if nothing is said."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return tuple(found) or (line,)


def read(path: Path, root: Path) -> Points:
    """Points of the files below `root` with their counts, merged over instances; toggles of ports only.

    Raises
    ------
    CoverageFileError
        The file is missing, is not Verilator's, or holds no point below `root`.
    """
    if not path.exists():
        raise CoverageFileError(f"{path} is missing: the simulator was built without coverage, or it died.")
    with path.open(errors="replace") as text:
        if not text.readline().startswith("# SystemC::Coverage"):
            raise CoverageFileError(f"{path} does not begin like coverage data of Verilator.")
        points = merge([_parse(text, root)])
    if not points:
        raise CoverageFileError(f"{path} holds no point of a file below {root}.")
    return points


def _parse(lines: Iterable[str], root: Path) -> Iterator[tuple[Point, Hit]]:
    prefix = f"{root}/"
    files: dict[str, frozenset[str]] = {}  # ports by file
    for text in lines:
        if not text.startswith("C '"):
            continue
        body, _, count = text.rstrip().rpartition("' ")
        keys = dict(part.split("\x02", 1) for part in body[3:].split("\x01") if part)
        kind = KINDS.get(keys.get("page", "").partition("/")[0])
        if kind is None or not keys["f"].startswith(prefix):
            continue
        name, what, column = keys["f"].removeprefix(prefix), keys["o"], 0
        if name not in files:
            files[name] = ports(root / name)
        if kind != "toggle":
            column = int(keys.get("n", 0))
        elif what.partition(":")[0].partition("[")[0].partition(".")[0] not in files[name]:
            continue  # a signal inside a module
        line = int(keys["l"])
        yield Point(kind, name, line, column, what), Hit(int(count), _source_lines(keys.get("S", ""), line))


def merge(parts: Iterable[Iterable[tuple[Point, Hit]]]) -> Points:
    """One table of points: counts of the same point are added up."""
    total: Points = {}
    for part in parts:
        for point, hit in part:
            known = total.get(point)
            if known is None:
                total[point] = Hit(hit.count, hit.lines)
            else:
                known.count += hit.count
    return total
