# SPDX-License-Identifier: Apache-2.0
"""All mutants of a design in one set of source files, of which a selector turns on one.

An expression ``e`` becomes ``(selected == 7 ? e1 : selected == 8 ? e2 : e)``, a statement ``s`` becomes
``begin if (selected != 9) s end``. Inside a mutant the original text stands, so nesting costs no more than its depth.
In the simulation the selector is a variable of a package; for proofs every module takes it from an instance of an empty
module, whose output becomes an input of the netlist, and hands it to the functions of packages as a further argument.
With 0 the design is the original one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyslang import syntax

from tb.mutation.points import Point

PACKAGE = "bm_mutant_pkg"
SELECTOR = "bm_selector"
WIDTH = 16
_VARIABLE = f"{PACKAGE}::selected"
_WIRE = "bm_selected"
_NO_INLINE = "/*verilator no_inline_task*/"  # such a function may not read the selector


@dataclass(frozen=True)
class Mutant:
    """One change of one place.

    Attributes
    ----------
    number : int
        What selects it in this set of files, from 1; means nothing elsewhere.
    file : Path
    start, end : int
        The place in the original file.
    operator, original, text : str
        What is done to the place; the text is empty for a statement that is left out.
    """

    number: int
    file: Path
    start: int
    end: int
    line: int
    column: int
    operator: str
    original: str
    text: str

    @property
    def module(self) -> str:
        """The module (or package) that the file holds."""
        return self.file.stem

    @property
    def key(self) -> str:
        """Names the mutant by its place and what is done there: the same in every configuration."""
        return f"{self.module}:{self.line}:{self.column}-{self.end - self.start}:{self.operator}"

    @property
    def chance(self) -> int:
        """A number that is as good as random, for samples that mix all kinds and places."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:4], "little")

    def describe(self) -> str:
        """In one line, what is changed into what."""
        change = self.text or "(left out)"
        return " ".join(f"{self.operator}: {self.original} -> {change}".split())


def number(points: Iterable[Point]) -> list[Mutant]:
    """The mutants of all points, numbered in the order of the sources."""
    found: list[Mutant] = []
    texts: dict[Path, str] = {}
    for point in points:
        text = texts.setdefault(point.file, point.file.read_text())
        line = text.count("\n", 0, point.start) + 1
        column = point.start - text.rfind("\n", 0, point.start)
        original = text[point.start : point.end]
        for item in point.alternatives.values():
            place = (point.file, point.start, point.end, line, column)
            found.append(Mutant(len(found) + 1, *place, item.operator, original, item.text))
    if len(found) >= 1 << WIDTH:
        raise ValueError(f"There are {len(found)} mutants; the selector counts to {(1 << WIDTH) - 1}.")
    return found


def write(folder: Path, sources: Sequence[Path], mutants: Sequence[Mutant], proof: bool = False) -> list[Path]:
    """Write the mutated copies of the sources and what declares the selector, for the simulation or for a proof.

    Returns
    -------
    list of Path
        The files in compile order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    by_file: dict[Path, list[Mutant]] = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    if proof:
        declared = folder / f"{SELECTOR}.sv"
        declared.write_text(f"(* blackbox *) module {SELECTOR} (output wire [{WIDTH - 1}:0] selected_o);\nendmodule\n")
    else:
        declared = folder / f"{PACKAGE}.sv"
        declared.write_text(f"package {PACKAGE};\n  logic [{WIDTH - 1}:0] selected;\nendpackage\n")
    written = [declared]
    packages = [file for file in by_file if _body(file) is None] if proof else []
    functions = {name for package in packages for name in _functions(package)}
    for source in sources:
        copy, here = folder / source.name, by_file.get(source.resolve(), [])
        text = source.read_text()
        if not proof:
            text = _rewrite(text, here, _VARIABLE).replace(_NO_INLINE, "")
        else:
            passed = _passed(source, functions, source.resolve() in packages)
            body = _body(source)
            if body is not None and (here or passed):
                wire = f"\n  wire [{WIDTH - 1}:0] {_WIRE};\n  {SELECTOR} u_{SELECTOR} (.selected_o({_WIRE}));\n"
                passed |= {body: wire}
            text = _rewrite(text, here, _WIRE, passed)
        copy.write_text(text)
        written.append(copy)
    return written


def _body(source: Path) -> int | None:
    """Where the body of the file's module begins; None if it holds a package."""
    root = syntax.SyntaxTree.fromFile(str(source)).root
    modules = [root] if root.kind == syntax.SyntaxKind.ModuleDeclaration else list(getattr(root, "members", ()))
    for item in modules:
        if item.kind == syntax.SyntaxKind.ModuleDeclaration:
            return item.header.semi.location.offset + 1
    return None


def _functions(package: Path) -> dict[str, int]:
    """The functions that a package declares, and where the list of their arguments ends."""
    found = {}

    def look(node):
        if node.kind == syntax.SyntaxKind.FunctionDeclaration:
            found[str(node.prototype.name).strip()] = node.prototype.portList.closeParen.location.offset

    syntax.SyntaxTree.fromFile(str(package)).root.visit(look)
    return found


def _passed(source: Path, functions: Collection[str], declares: bool) -> dict[int, str]:
    """What hands the selector to these functions, by its place: in their declarations, and in their calls.

    A call in the text of a mutant stays as it is, and gets the original function: only one mutant is on.
    """
    found = {}
    if declares:
        found = {end: f", input logic [{WIDTH - 1}:0] {_WIRE} = '0" for end in _functions(source).values()}

    def look(node):
        called = str(node.left).strip() if node.kind == syntax.SyntaxKind.InvocationExpression else ""
        if called.rpartition("::")[2] in functions:
            found[node.arguments.closeParen.location.offset] = f", {_WIRE}"

    if functions:
        syntax.SyntaxTree.fromFile(str(source)).root.visit(look)
    return found


def _rewrite(text: str, mutants: Sequence[Mutant], selected: str, inserted: Mapping[int, str] | None = None) -> str:
    """The text with its mutants; `inserted` holds further text by the place in front of which it goes."""
    inserted = dict(inserted or {})
    places: dict[tuple[int, int], list[Mutant]] = {}
    for mutant in mutants:
        places.setdefault((mutant.start, mutant.end), []).append(mutant)
    order = sorted(places, key=lambda place: (place[0], -place[1]))

    def plain(start: int, end: int) -> str:
        parts, at = [], start
        for place in sorted(place for place in inserted if start <= place < end):
            parts += [text[at:place], inserted[place]]
            at = place
        return "".join([*parts, text[at:end]])

    def emit(start: int, end: int) -> str:
        """The text from start to end, with every place that begins there replaced."""
        parts, at = [], start
        while order and order[0][0] < end:
            place = order.pop(0)
            parts.append(plain(at, place[0]))
            chosen = _choose(places[place], emit(*place), selected)
            implicit = text[place[0] - 1] == "."  # the port connection `.name` becomes `.name(...)`
            parts.append(f"{text[slice(*place)]}{chosen}" if implicit else chosen)
            at = place[1]
        return "".join([*parts, plain(at, end)])

    return emit(0, len(text))


def _choose(mutants: Sequence[Mutant], original: str, selected: str) -> str:
    if not mutants[0].text:
        return f"begin if ({selected} != {WIDTH}'d{mutants[0].number}) {original} end"
    choices = (f"{selected} == {WIDTH}'d{mutant.number} ? {mutant.text} : " for mutant in mutants)
    return f"({''.join(choices)}{original})"
