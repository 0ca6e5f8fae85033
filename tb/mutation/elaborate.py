# SPDX-License-Identifier: Apache-2.0
"""Gate-level netlist of one station with some of its mutants, made by Yosys."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyslang import ast

from tb import synth
from tb.mutation import graph, schemata
from tb.mutation.graph import Netlist
from tb.mutation.schemata import Mutant

SCRIPT = """\
read_slang --top {top} {parameters} -D SYNTHESIS --ignore-assertions --ignore-initial {sources}
hierarchy -top {top}
proc
flatten
opt_clean
expose -evert t:{selector}
memory_map
opt -fast
techmap
opt -fast
setundef -anyseq
dffunmap
simplemap
aigmap
opt_clean
write_aiger -ascii -zinit -symbols netlist.aag
"""


class ElaborationError(RuntimeError):
    """Yosys could not make the netlist; the message ends with its last lines."""


def netlist(top: str, parameters: Mapping[str, int], sources: Sequence[Path], mutants: Sequence[Mutant]) -> Netlist:
    """The flat netlist of a module, with the mutants selected by its inputs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = schemata.write(folder / "rtl", sources, mutants, proof=True)
        script = SCRIPT.format(
            top=top,
            parameters=" ".join(f"-G {key}={value}" for key, value in parameters.items()),
            selector=schemata.SELECTOR,
            sources=" ".join(map(str, files)),
        )
        (folder / "script.ys").write_text(script)
        run = subprocess.run([*synth.YOSYS, "script.ys"], cwd=folder, capture_output=True, text=True)
        if run.returncode or not (folder / "netlist.aag").exists():
            tail = "\n".join((run.stdout + run.stderr).strip().splitlines()[-10:])
            raise ElaborationError(f"Yosys could not make the netlist of {top}; its last lines:\n{tail}")
        return graph.read(folder / "netlist.aag")


def stations(root: ast.RootSymbol, top: str) -> list[tuple[str, dict[str, int], set[str]]]:
    """Modules directly below the top: name, parameters, and the modules inside (itself included)."""
    found: dict[tuple, set[str]] = {}
    for instance in _instances(root.lookupName(top).body):
        parameters = tuple(
            (item.name, int(item.value.convertToInt().value)) for item in instance.body.parameters if item.isPortParam
        )
        found[instance.definition.name, parameters] = _modules(instance)
    return [(name, dict(parameters), inside) for (name, parameters), inside in found.items()]


def _instances(body) -> list[ast.InstanceSymbol]:
    found = []

    def look(node):
        if isinstance(node, ast.InstanceSymbol):
            found.append(node)
            return ast.VisitAction.Skip
        return ast.VisitAction.Skip if getattr(node, "isUninstantiated", False) is True else ast.VisitAction.Advance

    for member in body:
        member.visit(look)
    return found


def _modules(instance) -> set[str]:
    found = {instance.definition.name}

    def look(node):
        if isinstance(node, ast.InstanceSymbol):
            found.add(node.definition.name)
        return ast.VisitAction.Advance

    instance.body.visit(look)
    return found
