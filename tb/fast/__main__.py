# SPDX-License-Identifier: Apache-2.0
"""The fast tier against the stepped tier over random programs: every event, every cycle, the accounting.

Program i is the one that `beatmatch lockstep --random` draws with the same seed and number of configurations, so the
two campaigns together hold the fast tier against the RTL.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from beatmatch.fast import FastError
from beatmatch.fast.compare import compare
from beatmatch.fast.compiled import COMPILED
from tb.lockstep import random_config, random_programs
from tb.lockstep.streams import derive

EXAMPLES = """
examples:
  python -m tb.fast --programs 300
  python -m tb.fast --programs 5000 --configs 500 --seed 7 --json fast.json
  BEATMATCH_NUMBA=0 python -m tb.fast --programs 100     without numba
  python -m tb.fast --programs 300 --first 217 --only    program 217 of the 300 alone
"""


def run(programs: int, configs: int, seed: int, first: int = 0, last: int | None = None, show=iter) -> dict:
    """Compare programs ``first`` to ``last`` (all by default); the figures, ready for JSON."""
    began = time.process_time()
    figures = {"programs": 0, "cycles": 0, "events": 0, "mismatches": 0, "refused": 0, "failures": []}
    for index in show(range(first, programs if last is None else last)):
        config = random_config.generate(seed, index % configs)
        program = random_programs.generate(derive(seed, "program", index), config)
        try:
            found, cycles, events = compare(program)
        except FastError as error:
            figures["refused"] += 1
            figures["failures"].append({"index": index, "origin": program.origin, "refused": str(error)})
            continue
        figures["programs"] += 1
        figures["cycles"] += cycles
        figures["events"] += events
        if found:
            figures["mismatches"] += 1
            text = [str(item) for item in found[:4]]
            figures["failures"].append({"index": index, "origin": program.origin, "differences": text})
    return figures | {
        "configs": configs,
        "seed": seed,
        "compiled": COMPILED,
        "seconds": round(time.process_time() - began, 3),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was compared; 1 if anything differed."""
    parser = argparse.ArgumentParser(
        prog="python -m tb.fast",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--programs", type=int, default=100, help="number of random programs (100)")
    parser.add_argument("--configs", type=int, default=30, help="number of random configurations (30)")
    parser.add_argument("--seed", type=int, default=1, help="base seed (1)")
    parser.add_argument("--first", type=int, default=0, help="begin with this program (0)")
    parser.add_argument("--only", action="store_true", help="compare the first one and no more")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args(argv)
    if not 0 <= arguments.first < arguments.programs or arguments.configs < 1:
        parser.error("there must be a first program below --programs, and a configuration")
    console = Console(stderr=True)
    figures = run(
        arguments.programs, arguments.configs, arguments.seed, arguments.first,
        arguments.first + 1 if arguments.only else None,
        lambda items: track(items, "comparing", console=console, disable=not console.is_terminal, transient=True),
    )  # fmt: skip
    for failure in figures["failures"]:
        print(f"program {failure['index']} ({failure['origin']}):")
        print("\n".join(f"  {line}" for line in failure.get("differences", [failure.get("refused")])))
    print(
        f"{figures['programs']} programs, {figures['cycles']:,} cycles, {figures['events']:,} events: "
        f"{figures['mismatches']} programs differ, {figures['refused']} refused"
    )
    if arguments.json:
        command = " ".join(["python -m tb.fast", *(sys.argv[1:] if argv is None else argv)])
        arguments.json.write_text(json.dumps({"command": command, **figures}, indent=1) + "\n")
    return 1 if figures["mismatches"] or not figures["programs"] else 0


if __name__ == "__main__":
    sys.exit(main())
