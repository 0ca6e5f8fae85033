# SPDX-License-Identifier: Apache-2.0
"""Measure what SCALE-Sim 3.0.0 reports of small layers: ``python -m tb.peers.like_table``.

The table is what `beatmatch.networks.like.scale_sim` has to equal, digit by digit; the tests read it and need no
SCALE-Sim. It takes about ten seconds of processor time after the installation.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.console import Console

from tb import toolchain
from tb.lockstep.streams import small, stream
from tb.peers.environments import PeerError
from tb.peers.limits import Limits
from tb.peers.scale_sim import Job, simulate

TABLE = toolchain.ROOT / "tests/networks/scale_sim_cycles.csv"
COLUMNS = ("dataflow", "rows", "cols", "kind", "sizes", "lines", "cycles", "utilization", "mapping")
LIMITS = Limits(1200, 4)
ARRAYS = ((4, 4), (8, 8), (16, 8), (8, 16), (32, 32), (3, 5), (1, 7), (7, 1), (64, 4))
GEMMS = ((1, 1, 1), (8, 8, 8), (9, 9, 9), (1, 16, 33), (33, 1, 16), (16, 33, 1), (64, 16, 8), (5, 17, 31))
CONVS = (  # height, width, filter height and width, channels, filters, stride
    (1, 1, 1, 1, 16, 8, 1), (6, 6, 1, 1, 9, 9, 1), (7, 9, 3, 3, 4, 8, 1), (9, 8, 3, 2, 3, 10, 2),
    (10, 10, 3, 3, 2, 5, 3), (5, 5, 5, 5, 1, 1, 1), (8, 8, 1, 1, 8, 4, 2), (6, 11, 2, 5, 3, 7, 4),
)  # fmt: skip
DEPTHWISE = ((6, 6, 3, 3, 4, 1, 1), (7, 5, 3, 3, 3, 1, 2), (4, 4, 1, 1, 5, 2, 1))
RANDOM = 2
"""Random products, and random convolutions, of each array and dataflow, besides the edge cases above."""


@dataclass(frozen=True)
class Case:
    """One layer on one machine; `kind` is ``gemm``, ``conv`` or ``depthwise``."""

    dataflow: str
    rows: int
    cols: int
    kind: str
    sizes: tuple[int, ...]


def cases(seed: int) -> list[Case]:
    """Every edge case on some array, in turn, and random ones on every array."""
    found = []
    for dataflow in ("ws", "os", "is"):
        for number, (rows, cols) in enumerate(ARRAYS):
            rng = stream(seed, "like", dataflow, rows, cols)
            layers = [("gemm", sizes) for sizes in GEMMS[number % 3 :: 3]]
            layers += [("conv", sizes) for sizes in CONVS[number % 3 :: 3]]
            layers += [("depthwise", DEPTHWISE[number % 3])]
            for _ in range(RANDOM):
                layers += [("gemm", _product(rng)), ("conv", _window(rng))]
            found += [Case(dataflow, rows, cols, *layer) for layer in layers]
    return found


def _product(rng: Random) -> tuple[int, ...]:
    return tuple(small(rng, 70) for _ in range(3))


def _window(rng: Random) -> tuple[int, ...]:
    kernel = rng.randint(1, 4), rng.randint(1, 4)
    return (
        *(size + small(rng, 8) - 1 for size in kernel), *kernel, small(rng, 12), small(rng, 40), rng.randint(1, 3),
    )  # fmt: skip


def topology(layers: Sequence[Case]) -> str:
    """The table of some layers of one kind of columns."""
    gemm = layers[0].kind == "gemm"
    header = "Layer,M,N,K," if gemm else "Layer,Height,Width,Filter height,Filter width,Channels,Filters,Stride,"
    lines = [f"{'DP' if item.kind == 'depthwise' else 'layer'}{k}" for k, item in enumerate(layers)]
    rows = [",".join([name, *map(str, item.sizes)]) + "," for name, item in zip(lines, layers, strict=True)]
    return "\n".join([header, *rows]) + "\n"


def measure(wanted: Sequence[Case]) -> Iterator[tuple]:
    """A row of the table per case.

    Raises
    ------
    PeerError
        If SCALE-Sim fails, stalls, or reports channels of a depthwise layer that differ.
    """
    groups: dict[tuple, list[Case]] = defaultdict(list)
    for case in wanted:
        groups[case.dataflow, case.rows, case.cols, case.kind == "gemm"].append(case)
    jobs = [
        Job(topology(layers), rows, cols, dataflow, gemm) for (dataflow, rows, cols, gemm), layers in groups.items()
    ]
    reports, _ = simulate(jobs, LIMITS)
    for layers, report in zip(groups.values(), reports, strict=True):
        left = iter(report)
        for case in layers:
            lines = [next(left) for _ in range(case.sizes[4] if case.kind == "depthwise" else 1)]
            if len({(line.cycles, line.utilization, line.mapping) for line in lines}) > 1 or lines[0].stalls:
                raise PeerError(f"SCALE-Sim stalls or its channels differ in {case}.")
            total = sum(line.cycles for line in lines)
            sizes = " ".join(map(str, case.sizes))
            yield (
                case.dataflow, case.rows, case.cols, case.kind, sizes, len(lines), total,
                lines[0].utilization, lines[0].mapping,
            )  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Write the table; 1 if SCALE-Sim could not be run."""
    parser = argparse.ArgumentParser(
        prog="python -m tb.peers.like_table", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  python -m tb.peers.like_table\n  python -m tb.peers.like_table --seed 2 --out other.csv",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, help="of the random layers (1)")
    parser.add_argument("--out", type=Path, default=TABLE, help="the table")
    options = parser.parse_args(argv)
    console = Console(stderr=True)
    try:
        with console.status("SCALE-Sim: installing if needed, then simulating"):
            rows = list(measure(cases(options.seed)))
    except PeerError as error:
        console.print(str(error), markup=False, highlight=False)
        return 1
    with open(options.out, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    console.print(f"{len(rows)} rows in {options.out.name}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
