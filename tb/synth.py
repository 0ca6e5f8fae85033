# SPDX-License-Identifier: Apache-2.0
"""Synthesize the core with Yosys: generic gates, flip-flops and memory bits by module.

Usage: python -m tb.synth [--config NAME] [--json]. Exits with 1 if Yosys infers a latch or finds conflicting
drivers, a wire without a driver, or a combinational loop.

Gates are Yosys' generic two-input gates and multiplexers after ABC. Memories stay memories and are counted in
bits; a register at a memory's read port belongs to the memory. The numbers compare configurations and
revisions; they are no area in any process.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from beatmatch.config import ConfigError, preset
from tb import netlist, toolchain

TOP = "bm_core"

# First check the whole design, while names still are those of the source.
ELABORATE = """\
read_slang --top {top} {parameters} --best-effort-hierarchy --ignore-assertions --ignore-initial {sources}
hierarchy -check -top {top}
proc
opt_clean
tee -q -o early.txt check
write_rtlil whole.il
"""
# Then map one copy of each distinct module to gates. By now a latch is a cell.
MAP = """\
read_rtlil shared.il
hierarchy -check -top {top}
tee -q -o memories.json stat -json
synth -run coarse:fine
tee -q -o late.txt check
tee -q -o coarse.json stat -json
opt -fast -full
opt -undriven -fine
techmap
opt -fast
abc
opt -fast
tee -q -o fine.json stat -json
"""

# Yosys is a Python module here; a process of its own, because Yosys ends the process on an error.
YOSYS = [sys.executable, "-c", "import sys; from pyosys import libyosys as y; y.run_pass('script ' + sys.argv[1])"]


FLIP_FLOP = re.compile(r"\$_(DFF|SDFF|ADFF|ALDFF|DFFE|DFFSR|FF)")


class SynthesisError(RuntimeError):
    """Yosys refused the design, or it has latches, conflicting drivers or loops."""


@dataclass
class ModuleCost:
    """All instances of one module together, without the modules inside it."""

    module: str
    instances: int = 0
    gates: int = 0
    flip_flops: int = 0  # bits
    memory_bits: int = 0


Known = dict[tuple[str, ...], ModuleCost]
"""Costs of single modules by content (`netlist.contents`)."""


def synthesize(
    top: str, sources: Sequence[Path], parameters: Mapping[str, int], known: Known | None = None
) -> list[ModuleCost]:
    """Cost of each module of `top`, in order of gates. Raises SynthesisError.

    Modules that `known` holds are not mapped again, and what is mapped goes into it: several configurations share most
    of their modules.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assigned = " ".join(f"-G {key}={value}" for key, value in parameters.items())
        files = " ".join(str(Path(path).resolve()) for path in sources)
        _yosys(folder, ELABORATE.format(top=top, parameters=assigned, sources=files), top)
        _refuse(top, _problems(folder / "early.txt"))
        shared, instances = netlist.share((folder / "whole.il").read_text(), top)
        contents = netlist.contents(shared) if known is not None else {}
        skipped = {name: known[found] for name, found in contents.items() if found in known and name != f"\\{top}"}
        (folder / "shared.il").write_text(netlist.without(shared, skipped))
        _yosys(folder, MAP.format(top=top), top)
        memories, coarse, fine = (
            json.loads((folder / f"{stage}.json").read_text())["modules"] for stage in ("memories", "coarse", "fine")
        )
        _refuse(top, _problems(folder / "late.txt") + _latches(coarse))
    single = {name: _cost(name, memories[name], module) for name, module in fine.items()} | skipped
    if known is not None:
        known |= {content: single[name] for name, content in contents.items()}
    return _costs(single, instances)


def _refuse(top: str, problems: list[str]) -> None:
    if problems:
        raise SynthesisError("\n".join([f"{top} has {len(problems)} problems:", *problems]))


def _yosys(folder: Path, script: str, top: str) -> None:
    (folder / "script.ys").write_text(script)
    run = subprocess.run([*YOSYS, "script.ys"], cwd=folder, capture_output=True, text=True)
    if run.returncode:
        tail = "\n".join((run.stdout + run.stderr).strip().splitlines()[-30:])
        raise SynthesisError(f"Yosys could not synthesize {top}; its last lines:\n{tail}")


def _problems(report: Path) -> list[str]:
    """The warnings of Yosys' `check`, each with the lines that explain it."""
    blocks = re.split(r"(?m)^(?=Warning: )", report.read_text())
    return [re.sub(r"\nFound and reported.*", "", block).strip() for block in blocks if block.startswith("Warning: ")]


def _latches(modules: dict) -> list[str]:
    found = [
        (name.lstrip("\\"), cell)
        for name, module in modules.items()
        for cell in module["num_cells_by_type"]
        if "latch" in cell or cell == "$sr"
    ]
    return [f"Latch in {module}: {cell}" for module, cell in found]


def _cost(name: str, memories: dict, module: dict) -> ModuleCost:
    """Of one module, as Yosys' statistics have it."""
    cost = ModuleCost(netlist.base_name(name), 1, memory_bits=memories["num_memory_bits"])
    for cell, count in module["num_cells_by_type"].items():
        if FLIP_FLOP.match(cell):
            cost.flip_flops += count
        elif cell.startswith("$_"):
            cost.gates += count
    return cost


def _costs(single: Mapping[str, ModuleCost], instances: Mapping[str, int]) -> list[ModuleCost]:
    """All instances of each module of the source together."""
    costs: dict[str, ModuleCost] = {}
    for name, one in single.items():
        cost = costs.setdefault(one.module, ModuleCost(one.module))
        times = instances[name]
        cost.instances += times
        cost.gates += one.gates * times
        cost.flip_flops += one.flip_flops * times
        cost.memory_bits += one.memory_bits * times
    return sorted(costs.values(), key=lambda cost: -cost.gates)


def total(costs: Sequence[ModuleCost]) -> ModuleCost:
    """Sum over all modules."""
    return ModuleCost(
        "total",
        sum(cost.instances for cost in costs),
        sum(cost.gates for cost in costs),
        sum(cost.flip_flops for cost in costs),
        sum(cost.memory_bits for cost in costs),
    )


def main(arguments: list[str] | None = None) -> int:
    """Synthesize one configuration, print its table or JSON, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tb.synth", description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="small", help="name of a preset (default: small)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    try:
        parameters = preset(options.config).rtl_parameters() | {"TRACE": 0}
        costs = synthesize(TOP, toolchain.rtl_sources(), parameters)
    except (SynthesisError, ConfigError) as error:
        print(error, file=sys.stderr)
        return 1
    seconds = round(time.monotonic() - started, 1)
    if options.json:
        result = {"config": options.config, "seconds": seconds, "latches": 0, "problems": 0}
        print(json.dumps(result | {"total": asdict(total(costs)), "modules": [asdict(cost) for cost in costs]}))
        return 0
    table = Table(title=f"{TOP}, {options.config}: no latches, no conflicting drivers ({seconds} s)")
    for column in ("module", "instances", "gates", "flip-flops", "memory bits"):
        table.add_column(column, justify="left" if column == "module" else "right")
    for cost in [*costs, total(costs)]:
        numbers = (cost.instances, cost.gates, cost.flip_flops, cost.memory_bits)
        table.add_row(cost.module, *(f"{number:,}" for number in numbers), end_section=cost is costs[-1])
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
