# SPDX-License-Identifier: Apache-2.0
"""``network``: a network on a configuration: cycles, where they went, and the proof on the RTL."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from beatmatch.commands.common import CommandError, add_config, add_json, console, parse_config, write_json
from beatmatch.commands.memory import add_memory, timing_of
from beatmatch.commands.programs import lockstep
from beatmatch.compiler.builder import default_timing
from beatmatch.config import Config
from beatmatch.networks import library
from beatmatch.networks.estimates import Host
from beatmatch.networks.graph import Graph
from beatmatch.networks.like.compare import compare
from beatmatch.networks.proof import LARGEST, names, proofs, provable
from beatmatch.networks.read import read_network
from beatmatch.networks.report import compare as compare_results
from beatmatch.networks.report import comparison_view, view, write_csv, write_page, write_trace
from beatmatch.networks.result import NetworkResult
from beatmatch.networks.saved import load as load_result
from beatmatch.networks.timing import time_network

LIKE = ("scale-sim",)


def add_parsers(commands: argparse._SubParsersAction, make) -> None:
    """Declare the sub-command."""
    parser = make(commands, "network", "time a network: cycles, where they went, bytes, per layer", _network, """
  beatmatch network --list
  beatmatch network resnet50 --config mxu128
  beatmatch network model.onnx --config base --dims batch=1 --json result.json --csv layers.csv
  beatmatch network resnet50 --config mxu128,sp_words=32768 --compare result.json --html both.html
  beatmatch network layers.csv --config mxu128 --like scale-sim
  beatmatch network resnet18 --config mxu128 --prove
""")  # fmt: skip
    parser.add_argument("model", nargs="?", metavar="MODEL", help="an .onnx file, a SCALE-Sim .csv, or a packaged name")
    parser.add_argument("--list", action="store_true", help="the networks that come with the package")
    add_config(parser, "mxu128")
    add_memory(parser, "the preset's")
    parser.add_argument(
        "--dims", nargs="+", metavar="NAME=SIZE", default=[], help="sizes of dynamic dimensions, by name or input.axis"
    )
    parser.add_argument(
        "--host-elements", type=int, metavar="N", help="elements per cycle of the host that estimates are priced on"
    )
    parser.add_argument("--host-bytes", type=int, metavar="N", help="bytes per cycle of that host")
    add_json(parser)
    parser.add_argument("--all", action="store_true", help="show every layer of a long network")
    parser.add_argument("--csv", metavar="FILE", help="one row per layer")
    parser.add_argument("--html", metavar="FILE", help="a page: bars per layer, roofline, timeline, traffic, table")
    parser.add_argument("--perfetto", metavar="FILE", help="layers over time, for Perfetto")
    parser.add_argument("--compare", metavar="FILE", help="beside a result that --json wrote, which is A")
    parser.add_argument("--like", choices=LIKE, help="beside what that tool's weight-stationary array would take")
    parser.add_argument(
        "--prove", action="store_true", help="run every kind of layer, made small, on the RTL; needs the repository"
    )
    parser.add_argument(
        "--prove-config", metavar="CONFIG", help=f"whose RTL: --config, or small if it has over {LARGEST} elements"
    )
    parser.add_argument("--sim", default=None, choices=("verilator", "icarus"), help="simulator of --prove (verilator)")


def _network(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list()
    if arguments.model is None:
        raise CommandError("Name a network: an .onnx file, a .csv table, or one of `beatmatch network --list`.")
    config = parse_config(arguments.config)
    graph = read_network(arguments.model, _dims(arguments.dims) or None)
    if arguments.prove:
        return _prove(arguments, graph, config)
    timing = timing_of(arguments)
    with _progress(graph.name) as progress:
        result = time_network(graph, config, timing, _host(arguments, config, timing), progress)
    if arguments.like:
        return _like(arguments, graph, result)
    other = load_result(arguments.compare) if arguments.compare else None
    if arguments.csv:
        write_csv(arguments.csv, result)
    if arguments.html:
        write_page(arguments.html, *(result,) if other is None else (other, result))
    if arguments.perfetto:
        write_trace(arguments.perfetto, *(result,) if other is None else (other, result))
    if arguments.json:
        write_json(result.to_dict(), arguments.json)
    if arguments.json != "-":
        console().print(view(result, arguments.all))
        if other is not None:
            console().print(comparison_view(compare_results(other, result), arguments.all))
    return 0


def _dims(texts: list[str]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals or not value.isdecimal() or len(value) > 10 or not 1 <= int(value) < 2**31:
            raise CommandError(f"--dims {text!r} should be name=size with a size from 1 to {2**31 - 1}.")
        sizes[name] = int(value)
    return sizes


def _host(arguments: argparse.Namespace, config: Config, timing) -> Host:
    host = Host.beside(config, (timing or default_timing(config)).read_latency)
    elements = host.elements_per_cycle if arguments.host_elements is None else arguments.host_elements
    size = host.bytes_per_cycle if arguments.host_bytes is None else arguments.host_bytes
    return Host(elements, size, host.latency)


@contextmanager
def _progress(name: str) -> Iterator:
    """Nodes done, on standard error, where somebody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total, now: bar.update(task, completed=done, total=total, description=f"{name}: {now}")


def _list() -> int:
    table = Table("network", title="networks without weights", title_justify="left")
    table.add_column("MACs", justify="right")
    for name, macs in library.reference_macs().items():
        table.add_row(name, f"{macs:,}")
    console().print(table)
    return 0


def _like(arguments: argparse.Namespace, graph: Graph, result: NetworkResult) -> int:
    """Both tools' cycles, layer by layer."""
    rows = compare(graph, result)
    if arguments.json:
        write_json([row.to_dict() for row in rows], arguments.json)
        if arguments.json == "-":
            return 0
    table = Table("layer", "operator", title=f"{result.name} on {result.config.name}", title_justify="left")
    for column in ("SCALE-Sim", "Beatmatch", "ratio"):
        table.add_column(column, justify="right")
    table.add_column("why")
    for row in rows:
        theirs = "-" if row.scale_sim is None else f"{row.scale_sim:,}"
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.layer, row.op, theirs, f"{row.ours:,}", ratio, row.why)
    console().print(table)
    return 0


def _prove(arguments: argparse.Namespace, graph: Graph, config: Config) -> int:
    """Small programs of every kind of layer, model and RTL in lockstep."""
    if arguments.prove_config:
        config = parse_config(arguments.prove_config)
    elif not provable(config):
        config = parse_config("small")
    found = proofs(graph, config, timing_of(arguments))
    folder = Path("sim_build") / "prove" / graph.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder} cannot be made: {error.strerror}.") from None
    files = []
    for proof, name in zip(found, names(found), strict=True):
        proof.program.save(folder / name)
        files.append(str(folder / name))
    layers = sum(len(proof.layers) for proof in found)
    out = console()
    if arguments.json != "-":
        out.print(f"{layers} layers of {graph.name} are of {len(found)} kinds; their programs are in {folder}")
    options = ["--sim", arguments.sim] if arguments.sim else []
    if arguments.json:
        options += ["--json", "/dev/stdout" if arguments.json == "-" else arguments.json]
    return lockstep([*files, *options])
