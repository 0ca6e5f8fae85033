# SPDX-License-Identifier: Apache-2.0
"""Measure and fit the area proxy of `beatmatch explore`.

measure   synthesize the plan's configurations with Yosys into docs/data/area.json (it goes on where it stopped)
fit       fit them by module into model/beatmatch/data/area.json, and say how far that is off (seconds)
check     fail if the fit in the package is not that of the record
show      the proxy of one configuration by module

Examples:
  python -m tb.area measure
  python -m tb.area fit --json
  python -m tb.area show --config mxu128
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from beatmatch.commands.common import parse_config
from beatmatch.config import ConfigError
from beatmatch.explore import area
from tb.area import fit, measure, plan
from tb.synth import SynthesisError

WORKS = ("measure", "fit", "check", "show")


def main(arguments: list[str] | None = None) -> int:
    """Do one of these; 1 if a check fails or Yosys refuses the design, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m tb.area", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", choices=WORKS)
    parser.add_argument("--config", default="base", help="of show: a preset or sizes (base)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    try:
        if options.work == "measure":
            return _measure()
        if options.work == "show":
            return _show(options.config, options.json)
        found = fit.result(measure.load())
    except KeyError as missing:
        print(f"Configuration {missing} has not been synthesized: python -m tb.area measure.", file=sys.stderr)
        return 1
    except (SynthesisError, ConfigError) as error:
        print(error, file=sys.stderr)
        return 1 if isinstance(error, SynthesisError) else 2
    if options.work == "check":
        stale = not fit.RESULT.exists() or fit.RESULT.read_text() != fit.text(found)
        print("The fit is stale: python -m tb.area fit." if stale else "The fit is that of the record.")
        return int(stale)
    fit.write(found)
    _report(found["error"], options.json)
    return 0


def _measure() -> int:
    configs = plan.fitted()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("synthesize", total=len(configs))
        measure.measure(configs, lambda config: bar.advance(task))
    return 0


def _report(errors: Mapping[str, Mapping], as_json: bool) -> None:
    if as_json:
        print(json.dumps(errors))
        return
    table = Table("configurations", title="largest error of the counts")
    for name in ("number", "up to", *area.COUNTS):
        table.add_column(name.replace("_", " "), justify="right")
    for name, error in errors.items():
        shares = (f"{error[count]:.2%}" for count in area.COUNTS)
        table.add_row(name, str(error["configurations"]), error["largest"], *shares)
    Console().print(table)


def _show(text: str, as_json: bool) -> int:
    config = parse_config(text)
    found, total = area.modules(config), area.of(config)
    if as_json:
        print(json.dumps({"config": config.to_dict(), **total.to_dict(), "modules": found, "note": area.note()}))
        return 0
    table = Table("module", caption=area.note())
    for name in area.COUNTS:
        table.add_column(name.replace("_", " "), justify="right")
    for module, counts in found.items():
        table.add_row(module, *(f"{counts[name]:,.0f}" for name in area.COUNTS))
    table.add_section()
    table.add_row("total", *(f"{getattr(total, name):,.0f}" for name in area.COUNTS))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
