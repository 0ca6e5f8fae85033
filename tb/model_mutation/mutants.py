# SPDX-License-Identifier: Apache-2.0
"""Which mutants there are, and which of them are run: a seeded sample that touches every function.

A mutant is named by what it changes, not by its line: edits elsewhere in a file neither rename nor reshuffle it.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tb.lockstep.streams import derive
from tb.model_mutation.operators import Change, changes
from tb.toolchain import ROOT

MODEL = ROOT / "model" / "beatmatch"
TARGETS = (
    "machine.py", "host_agent.py", "numerics.py", "functional.py", "sequence.py", "accounting.py", "trace.py",
    "stimulus.py", "isa/encode.py", "isa/legality.py", "memory/agent.py", "memory/image.py", "memory/timing.py",
    "stations/accumulator.py", "stations/array.py", "stations/control.py", "stations/fetch.py",
    "stations/frontend.py", "stations/gearbox.py", "stations/host.py", "stations/load.py", "stations/matmul.py",
    "stations/port.py", "stations/row_bursts.py", "stations/scratchpad.py", "stations/semaphores.py",
    "stations/store.py", "stations/transfer.py", "stations/vector.py", "stations/vector_elements.py",
    "stations/vector_lanes.py", "stations/weight_fifo.py", "stations/weight_port.py", "stations/weights.py",
    "stations/writer.py",
)  # fmt: skip
"""Files of the golden model: stepped machine, its memory and host, decoder, numerics, functional tier."""
ASIDE = {"__repr__", "__str__", "sv_include", "_place"}
"""Functions that make text, or that run once when their module is imported, before there is a mutant. The tables that
`sv_include` and `_place` make are compared with the generated files by a test."""


@dataclass(frozen=True)
class Mutant:
    """One change of one function, or of one constant of a module.

    Attributes
    ----------
    file : str
        Below ``model/beatmatch/``.
    function : str
        Qualified name in its module; empty for a constant of the module.
    number : int
        Of the change, as `operators.changes` counts; -1 for a constant.
    id : str
        Ten hex digits over all but the line.
    """

    file: str
    function: str
    number: int
    change: Change
    id: str = field(compare=False)

    @property
    def module(self) -> str:
        """Dotted name of the module."""
        return "beatmatch." + self.file.removesuffix(".py").replace("/", ".")

    @property
    def what(self) -> str:
        """The change in a line."""
        return f"{self.change.before} -> {self.change.after}"


@cache
def functions(file: str) -> dict[str, ast.FunctionDef]:
    """Functions and methods of a file by qualified name; those inside functions belong to them."""
    found: dict[str, ast.FunctionDef] = {}

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                collect(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef) and node.name not in ASIDE:
                found[prefix + node.name] = node

    collect(ast.parse((MODEL / file).read_text()).body, "")
    return found


@cache
def _used() -> set[str]:
    """Names that functions of the model use; constants that only make others are spent when a module is imported."""
    bodies = [part for file in TARGETS for node in functions(file).values() for part in node.body]
    nodes = [node for part in bodies for node in ast.walk(part)]
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def _constants(file: str) -> list[Change]:
    """Constants of a module with an integer written in their definition: each gets one more."""
    found = []
    for node in ast.parse((MODEL / file).read_text()).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        simple = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Name, ast.operator, ast.unaryop, ast.expr_context)
        parts = [part for part in ast.walk(node.value)]
        numbers = [part for part in parts if isinstance(part, ast.Constant) and type(part.value) is int]
        if numbers and node.targets[0].id in _used() and all(isinstance(part, simple) for part in parts):
            name = node.targets[0].id
            found.append(Change("constant", node.lineno, f"{name} = {ast.unparse(node.value)}", f"{name} + 1"))
    return found


@cache
def all_mutants() -> tuple[Mutant, ...]:
    """Every mutant of every target, in the order of the files."""
    found: list[Mutant] = []
    for file in TARGETS:
        seen: Counter = Counter()

        def add(function: str, number: int, change: Change, file=file, seen=seen) -> None:
            key = (file, function, change.operator, change.before, change.after)
            seen[key] += 1
            name = hashlib.sha256(repr((*key, seen[key])).encode()).hexdigest()[:10]
            found.append(Mutant(file, function, number, change, name))

        for change in _constants(file):
            add("", -1, change)
        for function, node in functions(file).items():
            for number, change in enumerate(changes(node)):
                add(function, number, change)
    return tuple(found)


def sample(count: int, seed: int) -> list[Mutant]:
    """Some mutants in the order of files: one of every function, then whatever the seed draws."""
    drawn = sorted(all_mutants(), key=lambda mutant: derive(seed, "mutant", mutant.id))
    first = {}
    for mutant in drawn:
        first.setdefault((mutant.file, mutant.function), mutant)
    chosen = {mutant.id for mutant in first.values()}
    for mutant in drawn:
        if len(chosen) >= count:
            break
        chosen.add(mutant.id)
    return [mutant for mutant in all_mutants() if mutant.id in chosen]


def path_of(mutant: Mutant) -> Path:
    """The file, relative to the repository."""
    return (MODEL / mutant.file).relative_to(ROOT)
