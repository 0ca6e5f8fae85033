# SPDX-License-Identifier: Apache-2.0
"""``python -m tb.regress smoke|regress|nightly|reruns|signoff|testplan|fidelity``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from beatmatch.commands.common import CONFIG_HELP, parse_config
from beatmatch.config import ConfigError
from tb.regress import fidelity, regression, screen
from tb.regress.plan import SIMS, VOLUMES, parse_seeds
from tb.regress.pools import ClusterError
from tb.regress.regression import Options
from tb.regress.store import PARTS
from tb.toolchain import ToolError

EXAMPLES = """examples:
  python -m tb.regress smoke                              a few programs on both simulators
  python -m tb.regress regress --sim icarus --seeds 7     with another base seed, on one simulator
  python -m tb.regress nightly --jobs 2 --resume          go on where a stopped nightly run was
  python -m tb.regress regress --config my.json --shrink  one configuration; shrink what fails
  python -m tb.regress reruns --count 200                 the same seed again and again
  python -m tb.regress testplan                           is every testpoint tested, every test planned?
  python -m tb.regress fidelity                           write the record of what is lockstep-proven anew
  python -m tb.regress signoff                            all that the report needs, except nightly
"""
HELP = {
    "smoke": "a few programs on both simulators",
    "regress": "at least 300 programs and 300,000 cycles on each simulator",
    "nightly": "5,000 programs and 10 million cycles over 60 configurations",
}
STOPPED = 130


def parser() -> argparse.ArgumentParser:
    """The command line."""
    raw = argparse.RawDescriptionHelpFormatter
    result = argparse.ArgumentParser("python -m tb.regress", description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    commands = result.add_subparsers(dest="command", metavar="COMMAND", required=True)
    jobs = argparse.ArgumentParser(add_help=False)
    jobs.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="simulator processes at a time (2)")
    output = argparse.ArgumentParser(add_help=False)
    output.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")

    for kind in VOLUMES:
        sub = commands.add_parser(kind, help=HELP[kind], parents=[jobs, output], epilog=EXAMPLES, formatter_class=raw)
        sub.add_argument("--sim", choices=(*SIMS, "both"), default="both", help="simulator (both)")
        sub.add_argument("--seeds", default="1", help="base seeds: 7, or 1,2,9, or 1..4 (1)")
        sub.add_argument("--configs", type=int, metavar="K", help="random configurations instead of the kind's own")
        sub.add_argument("--config", help=f"one configuration for all programs: {CONFIG_HELP}")
        sub.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
        sub.add_argument("--shrink", action="store_true", help="shrink the first failing program of each bucket")
        sub.add_argument("--cluster", metavar="ADDRESS", help="run on the workers of this Dask scheduler")
        sub.set_defaults(handler=_regress)

    text = "merge runs without a difference into the record of what is lockstep-proven"
    sub = commands.add_parser("fidelity", help=text, description=text + ".")
    sub.add_argument("files", nargs="*", type=Path, help="figures of lockstep runs (default: the regressions' parts)")
    sub.set_defaults(handler=_fidelity)
    return result


def _regress(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    out = screen.console()
    if arguments.configs is not None and arguments.configs < 1:
        raise ValueError(f"--configs is {arguments.configs}; it must be 1 or more.")
    options = Options(
        arguments.command,
        SIMS if arguments.sim == "both" else (arguments.sim,),
        parse_seeds(arguments.seeds),
        arguments.configs,
        parse_config(arguments.config) if arguments.config else None,
        arguments.jobs,
        arguments.resume,
        arguments.shrink,
        arguments.cluster,
        command=regression.command_line(argv),
    )
    parts = regression.run(options, out)
    for part in parts:
        out.print(screen.table(part))
        screen.show_buckets(part["buckets"], out)
    found = regression.problems(parts)
    for sentence in found:
        out.print(f"[bold red]{sentence}[/]")
    if arguments.json:
        arguments.json.write_text(json.dumps({part["sim"]: part for part in parts}, indent=1) + "\n")
    return 1 if found else 0


def _fidelity(arguments: argparse.Namespace, _: Sequence[str]) -> int:
    for sentence in fidelity.update(arguments.files, PARTS):
        print(sentence)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all is well, 1 if something failed, 2 if the command or the tools are unusable, 130 if stopped."""
    argv = list(sys.argv[1:] if argv is None else argv)
    arguments = parser().parse_args(argv)
    try:
        if getattr(arguments, "jobs", 1) < 1:
            raise ValueError(f"--jobs is {arguments.jobs}; it must be 1 or more.")
        return arguments.handler(arguments, argv)
    except (ConfigError, ToolError, ClusterError, ValueError, OSError) as error:
        print(f"tb.regress: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tb.regress: stopped; what has run is kept, --resume goes on from there.", file=sys.stderr)
        return STOPPED


if __name__ == "__main__":
    sys.exit(main())
