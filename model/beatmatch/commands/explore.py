# SPDX-License-Identifier: Apache-2.0
"""``explore``: what if the machine were different. Parsers, studies from options, and the run with its progress."""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from beatmatch.commands import explore_answers as answers
from beatmatch.commands.common import CONFIG_HELP, CommandError, add_json, parse_config
from beatmatch.explore import changes, pools, sweep
from beatmatch.explore.cache import Cache
from beatmatch.explore.changes import Machine
from beatmatch.explore.columns import Row
from beatmatch.explore.memories import STANDARD, memory_of
from beatmatch.explore.pareto import OBJECTIVES
from beatmatch.explore.sensitivity import PARAMETERS
from beatmatch.explore.study import GRANULARITIES, LAYERS, NETWORK, Study, parse_axis, read_study
from beatmatch.memory.presets import STANDARDS

BASE = "base"
STUDY = ("network", "base", "memory", "dims", "granularity", "sweep")
"""Options that a study file replaces."""
CHANGES = "name=value, where a value may be a multiple of the base's such as 2x or 0.5x"


def add_parsers(commands: argparse._SubParsersAction, make) -> None:
    """Declare the sub-commands."""
    text = "sweeps over configurations, memories and networks, and the answers from them; see docs/explore.md"
    parser = make(commands, "explore", text, None, """
  beatmatch explore run --network resnet50 --base mxu128 --sweep array=64x64,128x128 bandwidth=0.5x,1x --out r.parquet
  beatmatch explore pareto r.parquet --html front.html
  beatmatch explore compare --network bert_base --base mxu128,sp_banks=4 --memory bandwidth=64 --a sp_banks=2x \\
      --b bandwidth=2x
""")  # fmt: skip
    questions = parser.add_subparsers(dest="question", metavar="QUESTION", required=True)
    _add_run(questions, make)
    _add_pareto(questions, make)
    _add_sensitivity(questions, make)
    _add_roofline(questions, make)
    _add_compare(questions, make)


def _add_run(questions, make) -> None:
    parser = make(questions, "run", "time networks on all combinations of a sweep, into a Parquet file", _run, """
  beatmatch explore run --network resnet50 --base mxu128 --sweep array=64x64,128x128 --out r.parquet
  beatmatch explore run --study study.toml --out r.parquet --jobs 2
""")  # fmt: skip
    _study_options(parser, NETWORK)
    parser.add_argument("--study", metavar="FILE", help="a study file (TOML) instead of the options above")
    parser.add_argument("--sweep", nargs="+", metavar="NAME=VALUE,...", default=[], help=f"axes; {CHANGES}")
    parser.add_argument("--out", metavar="FILE", help="the table, as Parquet, or as CSV if FILE ends in .csv")
    _outputs(parser, html=False)


def _add_pareto(questions, make) -> None:
    parser = make(questions, "pareto", "the machines of a table that no other beats", answers.pareto, """
  beatmatch explore pareto r.parquet
  beatmatch explore pareto r.parquet --objectives cycles,area,bandwidth --json front.json --html front.html
""")  # fmt: skip
    parser.add_argument("table", metavar="TABLE", help="what `beatmatch explore run --out` wrote")
    known = ", ".join(OBJECTIVES)
    parser.add_argument("--objectives", default="cycles,area", help=f"what is minimized (cycles,area), of {known}")
    _outputs(parser)


def _add_sensitivity(questions, make) -> None:
    text = "how much each parameter matters, from a quarter to four times its value"
    parser = make(questions, "sensitivity", text, partial(answers.sensitivity, study=_base_of, run=_timed), """
  beatmatch explore sensitivity --network mobilenet_v2 --base mxu128 --html tornado.html
  beatmatch explore sensitivity --network bert_base --base base --parameters sp_banks bandwidth latency
""")  # fmt: skip
    _study_options(parser, NETWORK)
    parser.add_argument("--parameters", nargs="+", metavar="NAME", default=list(PARAMETERS), help="which (all)")
    _outputs(parser)


def _add_roofline(questions, make) -> None:
    text = "what array and memory port allow, and what each layer reaches"
    parser = make(questions, "roofline", text, partial(answers.roofline, study=_base_of, run=_timed), """
  beatmatch explore roofline --network bert_base --base mxu128 --html roofline.html
""")  # fmt: skip
    _study_options(parser, LAYERS)  # in a network, a layer's loads run below other layers
    _outputs(parser)


def _add_compare(questions, make) -> None:
    text = "A against B: what two changes bring, what they cost, and which layers feel them"
    parser = make(questions, "compare", text, partial(answers.compare, study=_base_of, run=_timed), """
  beatmatch explore compare --network bert_base --base mxu128,sp_banks=4 --memory bandwidth=64 --a sp_banks=2x \\
      --b bandwidth=2x
  beatmatch explore compare --network resnet50 --base mxu128 --a array=64x64
""")  # fmt: skip
    _study_options(parser, NETWORK)
    parser.add_argument("--a", nargs="+", metavar="CHANGE", required=True, help=f"changes of the base: {CHANGES}")
    parser.add_argument("--b", nargs="+", metavar="CHANGE", default=[], help="the changes that A is compared with")
    _outputs(parser)


def _study_options(parser: argparse.ArgumentParser, granularity: str) -> None:
    parser.add_argument("--network", nargs="+", metavar="NETWORK", default=[], help="names, .onnx or .csv files")
    parser.add_argument("--base", metavar="CONFIG", help=f"{CONFIG_HELP} ({BASE})")
    parser.add_argument(
        "--memory", nargs="+", metavar="NAME=VALUE", default=[],
        help=f"of the base: {', '.join((*changes.MEMORY_COUNTS, *changes.RATES))} (what the preset is measured with); "
        f"before them a DRAM if it is to be one: {', '.join(STANDARDS)}, with the core's clock as in hbm2@700",
    )  # fmt: skip
    parser.add_argument("--dims", nargs="+", metavar="NAME=SIZE", default=[], help="dynamic sizes of ONNX files")
    parser.add_argument(
        "--granularity", choices=GRANULARITIES,
        help=f"time each layer alone (quick: equal layers once), or the network with its overlap ({granularity})",
    )  # fmt: skip
    parser.set_defaults(usual=granularity)
    parser.add_argument("--jobs", type=int, default=_processors(), help="processes on this machine (one per processor)")
    parser.add_argument("--ray", metavar="ADDRESS", help="run on a Ray cluster: auto, local, or its address")


def _outputs(parser: argparse.ArgumentParser, html: bool = True) -> None:
    add_json(parser)
    parser.add_argument("--csv", metavar="FILE", help="the answer as a table of text")
    if html:
        parser.add_argument("--html", metavar="FILE", help="the answer as one page with charts")
        parser.add_argument("--svg", metavar="FILE", help="the first chart as a picture")


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _base_of(arguments: argparse.Namespace) -> dict:
    """What the options say about networks, base and granularity: the fields of a `Study`."""
    config = parse_config(arguments.base or BASE)
    standard = [text for text in arguments.memory[:1] if "=" not in text]
    table = dict(_pairs(arguments.memory[len(standard) :])) | ({STANDARD: standard[0]} if standard else {})
    memory = memory_of(table, config)
    dims = {}
    for name, size in _pairs(arguments.dims):
        if not size.isdigit():
            raise CommandError(f"--dims {name} must be a number, not {size!r}.")
        dims[name] = int(size)
    base, granularity = Machine(config, memory), arguments.granularity or arguments.usual
    return {"networks": tuple(arguments.network), "base": base, "granularity": granularity, "dims": dims}


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    found = [tuple(text.split("=", 1)) for text in texts]
    for text, pair in zip(texts, found, strict=True):
        if len(pair) != 2:
            raise CommandError(f"{text!r} should be name=value.")
    return found


def _run(arguments: argparse.Namespace) -> int:
    if arguments.study:
        given = [name for name in STUDY if getattr(arguments, name)]
        if given:
            raise CommandError(f"--study says it all: leave --{given[0]} out, or write it into {arguments.study}.")
        study = read_study(arguments.study, parse_config)
    else:
        study = Study(**_base_of(arguments), axes=tuple(map(parse_axis, arguments.sweep)))
    for path in (arguments.out, arguments.csv):
        if path and not Path(path).resolve().parent.is_dir():
            raise CommandError(f"{path} cannot be written: there is no such folder.")
    return answers.run(arguments, _timed(arguments, study))


def _timed(arguments: argparse.Namespace, study: Study) -> list[Row]:
    """The table of a study: from the cache, and what is missing by the pool."""
    if arguments.jobs < 1:
        raise CommandError(f"--jobs is {arguments.jobs}; it must be 1 or more.")
    started, before = time.monotonic(), _processor_seconds()
    plan = sweep.plan(study)
    with Cache() as cache, _progress() as progress:
        try:
            if arguments.ray:
                with pools.ray(arguments.ray) as (submit, workers):
                    run = sweep.execute(plan, cache, submit, workers, progress)
            else:
                with pools.local(min(arguments.jobs, max(1, len(plan.tasks)))) as submit:
                    run = sweep.execute(plan, cache, submit, arguments.jobs, progress)
        except KeyboardInterrupt:
            print("\nStopped. What was timed is kept: the same command goes on from there.", file=sys.stderr)
            raise
        rows = sweep.table(plan, cache)
    distinct, seconds = len(plan.tasks), time.monotonic() - started
    print(
        f"Points: {plan.points:,}, {distinct:,} of them distinct; {run:,} timed now, {distinct - run:,} known; "
        f"{seconds:.1f} s, {_processor_seconds() - before:.1f} s of processor time on this machine.",
        file=sys.stderr,
    )
    return rows


def _processor_seconds() -> float:
    """Of this process and of workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def _progress() -> Iterator[sweep.Progress]:
    """A bar on standard error, with the time that is left."""
    columns = (TextColumn("timing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("timing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
