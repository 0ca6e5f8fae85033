# SPDX-License-Identifier: Apache-2.0
"""From a harness and the RTL to an and-inverter graph with one output per question (AIGER), by Yosys."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tb.formal.instrument import Check, instrument

READ = """\
read_slang --top {top} {parameters} --ignore-initial {sources}
hierarchy -check -top {top}
proc
flatten
opt_clean
write_rtlil flat.il
"""
# Memories become registers and undefined values free inputs; the registers' first values are free, too.
LOWER = """\
read_rtlil checked.il
opt -fast
memory_map
opt -fast
setundef -undriven -anyseq
write_rtlil word.il
techmap
simplemap
opt -fast
dffunmap
simplemap
opt_expr
opt_merge
opt_clean
setundef -undriven -anyseq
aigmap
write_aiger -zinit -map graph.map graph.aig
"""
REPLAY = "read_rtlil word.il\nsim -clock clk_i -r {witness} -map graph.map -vcd {wave} {top}\n"

YOSYS = [sys.executable, "-c", "import sys; from pyosys import libyosys as y; y.run_pass('script ' + sys.argv[1])"]


class FormalError(RuntimeError):
    """A tool refused its input; the message has its last lines."""


def yosys(folder: Path, script: str) -> str:
    """Run a script in `folder` and return what Yosys said."""
    (folder / "script.ys").write_text(script)
    run = subprocess.run([*YOSYS, "script.ys"], cwd=folder, capture_output=True, text=True)
    if run.returncode:
        tail = "\n".join((run.stdout + run.stderr).strip().splitlines()[-12:])
        raise FormalError(f"Yosys could not read the harness in {folder}; its last lines:\n{tail}")
    return run.stdout


def flatten(folder: Path, top: str, sources: Sequence[Path], parameters: Mapping[str, int]) -> str:
    """The flat netlist of `top` as RTLIL text, with its checks."""
    folder.mkdir(parents=True, exist_ok=True)
    assigned = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    files = " ".join(str(path) for path in sources)
    yosys(folder, READ.format(top=top, parameters=assigned, sources=files))
    return (folder / "flat.il").read_text()


def build(folder: Path, top: str, sources: Sequence[Path], parameters: Mapping[str, int]) -> list[Check]:
    """Write `graph.aig` and `graph.map` of a harness into `folder`; return its checks."""
    text, found = instrument(flatten(folder, top, sources, parameters), top.removesuffix("_formal"))
    (folder / "checked.il").write_text(text)
    yosys(folder, LOWER.format(top=top))
    return found


def outputs(folder: Path) -> dict[str, int]:
    """Position of each question among the outputs of `graph.aig`; one that is missing is constantly false."""
    found = re.findall(r"(?m)^output (\d+) 0 (\S+)$", (folder / "graph.map").read_text())
    return {name: int(position) for position, name in found}


def select(folder: Path, position: int, target: Path) -> bool:
    """Write the graph with only one of its outputs; false if that output is constantly false."""
    header, rest = (folder / "graph.aig").read_bytes().split(b"\n", 1)
    _, most, inputs, latches, all_outputs, ands = header.split()[:6]
    lines = []
    for _ in range(int(latches) + int(all_outputs)):
        line, rest = rest.split(b"\n", 1)
        lines.append(line)
    literal = lines[int(latches) + position]
    head = b" ".join([b"aig", most, inputs, latches, b"1", ands])
    target.write_bytes(b"\n".join([head, *lines[: int(latches)], literal]) + b"\n" + rest)
    return literal != b"0"
