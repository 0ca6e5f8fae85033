# SPDX-License-Identifier: Apache-2.0
"""Prove the RTL's contracts, without a bound, for units at small parameters.

Examples:
  python -m tb.formal                         everything, with the report's part
  python -m tb.formal bm_fifo bm_port         two units
  python -m tb.formal bm_fifo --only order    one property
  python -m tb.formal --list                  units, parameters and assumptions
  python -m tb.formal --planted               plant faults in the RTL and watch the proofs fail

Exits with 1 if a property is not proven, or its antecedent can't be reached, or a planted fault is not found.
"""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from tb import toolchain
from tb.formal import report
from tb.formal.netlist import FormalError
from tb.formal.units import UNITS

BUILD = toolchain.ROOT / "sim_build" / "formal"


def main(arguments: list[str] | None = None) -> int:
    """Prove, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tb.formal", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("units", nargs="*", metavar="UNIT", help="names of --list; default: all")
    parser.add_argument("--only", default="", metavar="TEXT", help="only properties whose name contains this")
    parser.add_argument("--jobs", type=int, default=2, help="solvers at a time (default: 2)")
    parser.add_argument("--limit", type=int, default=120, metavar="SECONDS", help="for one question (default: 120)")
    parser.add_argument("--json", action="store_true", help="print the report's part instead of a table")
    parser.add_argument("--list", action="store_true", help="say what there is to prove, and stop")
    parser.add_argument("--planted", action="store_true", help="plant faults instead")
    parser.add_argument("--build", type=Path, default=BUILD, help="folder for netlists, witnesses and waves")
    options = parser.parse_args(arguments)
    console = Console(stderr=options.json)
    known = {unit.name: unit for unit in UNITS}
    unknown = [name for name in options.units if name not in (*known, report.CORE, report.GOLDEN)]
    if unknown:
        print(f"There is no unit {unknown[0]}; `python -m tb.formal --list` names them.", file=sys.stderr)
        return 2
    if options.list:
        report.show_list(console)
        return 0
    try:
        if options.planted:
            part = report.plant_faults(options.build / "planted", options.limit, console)
        else:
            part = report.prove_units(options.units, options.build, options.jobs, options.limit, options.only, console)
    except FormalError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(part))
    return 0 if part["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
