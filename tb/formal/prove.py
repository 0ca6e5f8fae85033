# SPDX-License-Identifier: Apache-2.0
"""Ask ABC whether an output of a graph can ever be 1: property-directed reachability, which needs no bound.

The answer is `never` (an inductive invariant excludes it, and ABC has checked that invariant by itself), `reached`
with a witness, or `unknown` after the time limit. The same question proves an assertion and finds its cover witness.
"""

import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tb.formal import aiger, netlist

MEMORY_KB = 1_900_000
"""Address space of one solver: two of them and Python stay below 4 GB."""

ENGINES = {
    "pdr": "read_aiger {graph}; scleanup; pdr -T {limit}",
    # registers that are equal in all reachable states are merged by induction first
    "scorr+pdr": "read_aiger {graph}; scleanup; scorr; write_aiger {reduced}; pdr -T {limit}",
}
STEPS = {
    "induction": "read_aiger {graph}; sat -C 0",
    "induction+bdd": "read_aiger {graph}; collapse -B 10000000; sat",  # decision diagrams: multipliers
}
"""Solvers of the step of an induction: every assertion of the harness held in the cycle before."""


BASE_FRAMES = 4
"""Cycles from the start in which the induction's base is looked at (one would do)."""


SEARCH_FRAMES = 100
"""Cycles in which a violation is looked for where the step of an induction fails, and for a witness to replay."""


@dataclass(frozen=True)
class Answer:
    """Whether an output can be 1, and in which cycle (counted from 0) it first was."""

    verdict: str  # never, reached, unknown
    frame: int
    seconds: float
    said: str = ""


def abc() -> Path:
    """The ABC that comes with Yosys' wheel."""
    import pyosys

    return Path(pyosys.__file__).parent / "yosys-abc"


def ask(folder: Path, position: int, stem: str, engine: str, limit: int) -> Answer:
    """Can output `position` of the graph in `folder` be 1? A witness goes to `<stem>.aiw`."""
    started = time.monotonic()
    graph, reduced = folder / f"{stem}.aig", folder / f"{stem}.reduced.aig"
    if not netlist.select(folder, position, graph):
        return Answer("never", -1, time.monotonic() - started, "constant")
    reduced.unlink(missing_ok=True)
    said = _run(folder, ENGINES[engine].format(graph=graph.name, reduced=reduced.name, limit=limit), limit)
    seconds = time.monotonic() - started
    if "Property proved" in said or _is_constant_false(reduced):
        return Answer("never", -1, seconds)
    asserted = re.search(r"asserted in frame\s+(\d+)", said)
    if asserted:
        return Answer("reached", int(asserted[1]), seconds)
    return Answer("unknown", -1, seconds, said.strip().splitlines()[-1] if said.strip() else "no answer")


def induct(folder: Path, position: int, assumed: list[int], stem: str, engine: str, limit: int) -> Answer:
    """Induction of one assertion: if the outputs `assumed` are 0 in a cycle, is this one in the next?

    `never` holds only together with the proofs of the assertions assumed; the caller sees to that.
    """
    started = time.monotonic()
    graph, step = folder / f"{stem}.aig", folder / f"{stem}.step.aig"
    if not netlist.select(folder, position, graph):
        return Answer("never", -1, time.monotonic() - started, "constant")
    base = _run(folder, f"read_aiger {graph.name}; bmc3 -F {BASE_FRAMES} -T {limit}", limit)
    if asserted := re.search(r"asserted in frame\s+(\d+)", base):
        return Answer("reached", int(asserted[1]), time.monotonic() - started)
    aiger.step(aiger.Graph.read(folder / "graph.aig"), 1, assumed, position).write(step)
    said = _run(folder, STEPS[engine].format(graph=step.name), limit)
    seconds = time.monotonic() - started
    proven = "No output" in base and "UNSATISFIABLE" in said
    if not proven:  # not inductive, or false: look for a run that violates it
        search = _run(folder, f"read_aiger {graph.name}; bmc3 -F {SEARCH_FRAMES} -T {limit}", limit)
        if asserted := re.search(r"asserted in frame\s+(\d+)", search):
            return Answer("reached", int(asserted[1]), time.monotonic() - started)
    return Answer("never" if proven else "unknown", -1, seconds, "" if proven else f"{base} {said}".strip()[-200:])


def witness(folder: Path, position: int, stem: str, limit: int) -> Path:
    """Inputs of each cycle that lead to a 1, for the replay of the whole graph."""
    graph = folder / f"{stem}.aig"
    netlist.select(folder, position, graph)
    _run(folder, f"read_aiger {graph.name}; bmc3 -F {SEARCH_FRAMES} -T {limit}; write_cex -a {stem}.aiw", limit)
    return folder / f"{stem}.aiw"


def _run(folder: Path, command: str, limit: int) -> str:
    limited = ["sh", "-c", f'ulimit -v {MEMORY_KB}; exec "$0" "$@"', str(abc()), "-q", command]
    try:
        run = subprocess.run(limited, cwd=folder, capture_output=True, text=True, timeout=limit + 60)
    except subprocess.TimeoutExpired:
        return "out of time"
    return run.stdout + run.stderr


def _is_constant_false(graph: Path) -> bool:
    """Whether merging registers alone has turned the output into 0."""
    if not graph.exists():
        return False
    header, rest = graph.read_bytes().split(b"\n", 1)
    latches = int(header.split()[3])
    return rest.split(b"\n")[latches] == b"0"
