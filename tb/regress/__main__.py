# SPDX-License-Identifier: Apache-2.0
"""``python -m tb.regress smoke|regress|nightly|networks|reruns|signoff|testplan|fidelity``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from beatmatch.commands.common import CONFIG_HELP, parse_config
from beatmatch.config import ConfigError
from tb.regress import fidelity, regression, reruns, screen, signoff, testplan
from tb.regress.plan import VOLUMES, parse_seeds
from tb.regress.pools import ClusterError
from tb.regress.regression import Options
from tb.regress.store import PARTS, write_part
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
    "networks": "whole networks, millions of cycles, on a large array under Verilator",
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
        sub.add_argument("--sim", choices=(*VOLUMES[kind], "both"), default="both", help="simulator (both)")
        sub.add_argument("--seeds", default="1", help="base seeds: 7, or 1,2,9, or 1..4 (1)")
        sub.add_argument("--configs", type=int, metavar="K", help="random configurations instead of the kind's own")
        sub.add_argument("--config", help=f"one configuration for all programs: {CONFIG_HELP}")
        sub.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
        sub.add_argument("--shrink", action="store_true", help="shrink the first failing program of each bucket")
        sub.add_argument("--cluster", metavar="ADDRESS", help="run on the workers of this Dask scheduler")
        sub.set_defaults(handler=_regress)

    text = "run one seed again and again and demand one trace"
    sub = commands.add_parser("reruns", help=text, description=text + ".", parents=[jobs, output])
    sub.add_argument("--count", type=int, default=200, help="reruns (200)")
    sub.add_argument("--seed", type=int, default=1, help="base seed (1)")
    sub.set_defaults(handler=_reruns)

    text = "hold the test plan against tests, coverage groups and the results of runs"
    sub = commands.add_parser("testplan", help=text, description=text + ".", parents=[output])
    sub.add_argument("--plan", type=Path, default=testplan.PLAN, help="the plan (docs/testplan.toml)")
    sub.set_defaults(handler=_testplan)

    text = "run all that the report needs, except nightly"
    sub = commands.add_parser("signoff", help=text, description=text + ".", parents=[jobs, output])
    sub.add_argument("--resume", action="store_true", help="leave out what passed before, on the same sources")
    sub.add_argument("--only", nargs="+", choices=signoff.names(), help="these steps only")
    sub.set_defaults(handler=_signoff)

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
        tuple(VOLUMES[arguments.command]) if arguments.sim == "both" else (arguments.sim,),
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
    _write(arguments.json, {part["sim"]: part for part in parts})
    return 1 if found else 0


def _reruns(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    if arguments.count < 2:
        raise ValueError(f"--count is {arguments.count}; it must be 2 or more.")
    out = screen.console()
    with screen.counting(f"reruns of seed {arguments.seed}", arguments.count - 1, out) as step:
        part = reruns.run(arguments.seed, arguments.count, arguments.jobs, progress=lambda _, same: step(same))
    part["command"] = regression.command_line(argv)
    write_part("reruns", part)
    _write(arguments.json, part)
    out.print(f"{part['reruns']} reruns, {part['flaky']} flaky, {part['seconds']:.0f} s; {part['trace_sha256']}")
    for row in part["different"][: screen.SEEDS_SHOWN]:
        out.print(f"  {row}", markup=False, soft_wrap=True)
    return 1 if part["flaky"] else 0


def _testplan(arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    from tb.coverage.groups import GROUPS  # no other command needs coverage

    began = time.monotonic()
    points = testplan.load(arguments.plan)
    found = testplan.problems(points, testplan.tests_of(), GROUPS)
    coverage = PARTS / "coverage.json"
    if coverage.exists():
        found += testplan.never_sampled(json.loads(coverage.read_text()))
    part = {**testplan.results(points, PARTS), "problems": found, "command": regression.command_line(argv)}
    part["seconds"] = round(time.monotonic() - began, 2)
    write_part("testplan", part)
    _write(arguments.json, part)
    out = screen.console()
    out.print(screen.stages(part))
    for sentence in found:
        out.print(f"[bold red]{sentence}[/]", highlight=False, soft_wrap=True)
    failed = [row["name"] for row in part["testpoints"] if row["result"] == "fail"]
    if failed:
        out.print(f"[bold red]These testpoints fail: {', '.join(failed)}.[/]", highlight=False)
    return 1 if found or failed else 0


def _signoff(arguments: argparse.Namespace, _: Sequence[str]) -> int:
    steps = [step for step in signoff.STEPS if not arguments.only or step.name in arguments.only]
    run = signoff.SignOff(steps, jobs=arguments.jobs, resume=arguments.resume)
    out = screen.console()
    good = run.run(out)
    out.print(run.table())
    _write(arguments.json, {"seconds": run.seconds(), "minutes": signoff.MINUTES, "steps": run.state})
    return 0 if good else 1


def _write(path: Path | None, data: object) -> None:
    if path is not None:
        path.write_text(json.dumps(data, indent=1) + "\n")


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
