# SPDX-License-Identifier: Apache-2.0
"""`python -m tb.uvm`: the tests of the pyuvm environment, on one simulator or on both."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from beatmatch.commands.common import CONFIG_HELP, parse_config
from beatmatch.config import Config, ConfigError
from tb import toolchain
from tb.lockstep import random_config
from tb.lockstep.report import console as report_console
from tb.lockstep.shrink import ROUNDS
from tb.sim import SimulationError
from tb.toolchain import ToolError
from tb.uvm import figures
from tb.uvm.run import MODULE, Outcome, run

SIMULATORS = {"verilator": ("verilator",), "icarus": ("icarus",), "both": ("verilator", "icarus")}
PART = toolchain.SIM_BUILD / "report" / "parts" / "uvm.json"

EXAMPLES = """examples:
  python -m tb.uvm                                     every test on both simulators, preset tiny
  python -m tb.uvm --list                              the tests and what they do
  python -m tb.uvm RandomTest --programs 200 --sim verilator --seed 7
  python -m tb.uvm ResetTest MixTest --config random:3:5   the 5th random configuration of seed 3
  python -m tb.uvm MyTest --module my_bench.tests      tests of your own
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="python -m tb.uvm",
        description="Run tests of the pyuvm environment: model and RTL in lockstep under agents and sequences.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("tests", nargs="*", metavar="TEST", help="names of tests (all)")
    result.add_argument("--list", action="store_true", help="list the tests, and run none")
    result.add_argument("--module", default=MODULE, help=f"where the tests are ({MODULE})")
    result.add_argument("--sim", choices=tuple(SIMULATORS), default="both", help="simulator (both)")
    result.add_argument("--config", default="tiny", help=f"{CONFIG_HELP}, or random:SEED:INDEX (tiny)")
    result.add_argument(
        "--seed", type=int, default=int(os.environ.get("COCOTB_RANDOM_SEED") or 1), help="base seed (1)"
    )
    result.add_argument("--programs", type=int, metavar="N", help="programs of tests that draw them (their own count)")
    result.add_argument("--no-shrink", action="store_true", help="do not shrink programs that fail")
    result.add_argument(
        "--json", type=Path, metavar="FILE", help=f"write the figures here, too (always in {PART.name})"
    )
    return result


def tests_of(module: str) -> dict[str, str]:
    """Names of the tests of a module, and the first line of what they say of themselves."""
    found = {}
    for value in vars(importlib.import_module(module)).values():
        if type(value).__module__.startswith("cocotb") and hasattr(value, "name"):
            found[value.name] = (value.doc or "").strip().splitlines()[0] if getattr(value, "doc", "") else ""
    return found


def configuration(text: str) -> Config:
    """The configuration that ``--config`` names. Raises ConfigError."""
    if not text.startswith("random:"):
        return parse_config(text)
    try:
        seed, index = map(int, text.split(":")[1:])
    except ValueError:
        raise ConfigError(f"{text} names no random configuration; write random:SEED:INDEX.") from None
    return random_config.generate(seed, index)


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all tests passed with equal traces, 1 if not, 2 if arguments or tools are unusable."""
    arguments = parser().parse_args(argv)
    console = report_console(stderr=True)
    began = time.perf_counter()
    try:
        known = tests_of(arguments.module)
        if arguments.list:
            for name, text in known.items():
                print(f"{name:24} {text}")
            return 0
        tests = arguments.tests or list(known)
        for name in tests:
            if name not in known:
                raise ValueError(f"{arguments.module} has no test {name}; it has {', '.join(known)}.")
        if arguments.programs is not None and arguments.programs < 1:
            raise ValueError(f"--programs is {arguments.programs}; it must be 1 or more.")
        config = configuration(arguments.config)
        outcomes = {sim: _run(arguments, sim, tests, config, console) for sim in SIMULATORS[arguments.sim]}
    except (ConfigError, ToolError, ValueError, ImportError) as error:
        print(f"uvm: {error}", file=sys.stderr)
        return 2
    except SimulationError as error:
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return 2
    found = figures.figures(outcomes, tests, config, arguments.seed)
    found |= {"command": "python -m tb.uvm " + " ".join(argv if argv is not None else sys.argv[1:])}
    found["seconds"] = round(time.perf_counter() - began, 3)
    _show(found, console)
    for path in filter(None, (PART, arguments.json)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if found["failed"] or found["mismatches"] or found["different_hashes"] else 0


def _run(arguments: argparse.Namespace, sim: str, tests: list[str], config: Config, console: Console) -> Outcome:
    with console.status(f"{len(tests)} tests under {sim}, configuration {config.name}"):
        outcome = run(
            config, sim, tests, arguments.seed, programs=arguments.programs, module=arguments.module
        )  # fmt: skip
    if outcome.failures:
        with console.status("running what failed again, with waves, and shrinking it"):
            figures.investigate(outcome, 0 if arguments.no_shrink else ROUNDS)
    return outcome


def _show(found: dict[str, Any], console: Console) -> None:
    table = Table(title=f"pyuvm, {found['config']['name']}, seed {found['seed']}", title_justify="left")
    for name in ("test", "simulator", "result"):
        table.add_column(name)
    for name in ("programs", "cycles", "events", "register accesses", "seconds"):
        table.add_column(name, justify="right")
    for row in found["tests"]:
        numbers = [row.get(name, "") for name in ("programs", "cycles", "events", "accesses", "seconds")]
        table.add_row(row["name"], row["sim"], row["result"], *(f"{n:,}" if n != "" else "" for n in numbers))
    console.print(table)
    for row in found["tests"]:
        if row["result"] != "pass":
            first = row["reason"].strip().splitlines()[0]
            console.print(f"{row['name']} under {row['sim']}: {first}", markup=False, highlight=False, soft_wrap=True)
    for failure in found["failures"]:
        console.print(failure["report"], markup=False, highlight=False, soft_wrap=True)
    for name in found["different_hashes"]:
        console.print(f"{name} gave different traces on the simulators.", style="bold red")
    bins = found["coverage"]
    console.print(f"functional coverage: {bins['hit']} of {bins['bins']} bins, {bins['hit3']} from 3 seeds or more")


if __name__ == "__main__":
    sys.exit(main())
