# SPDX-License-Identifier: Apache-2.0
"""Runs the suite in lockstep: small configurations under Verilator with code coverage, the others under Icarus.

Every cycle that counts for coverage has been compared with the RTL's; a program that diverges ends the run.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from beatmatch import stimulus
from beatmatch.config import Config
from beatmatch.trace import layout
from tb import sim, toolchain
from tb.coverage import toggle_header
from tb.coverage.collector import Hits
from tb.coverage.points import Points, read
from tb.coverage.suite import CONFIGS, VERILATOR, Entry
from tb.lockstep import runner
from tb.lockstep.job import Item, Result

SIDE = "tb.coverage.side:make"
FLAGS = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", "8192")
"""Plain `--coverage` also asks for state machines, in which this Verilator crashes."""
RTL = toolchain.ROOT / "rtl"


class DivergenceError(RuntimeError):
    """Model and RTL differed while coverage was measured; the text names the program."""


@dataclass
class Ran:
    """What the programs of one configuration came to."""

    config: str
    simulator: str
    programs: int = 0
    cycles: int = 0
    seconds: float = 0.0
    build_seconds: float = 0.0
    hits: list[tuple[int, int, Hits]] = field(default_factory=list)  # seed, cycles, hits
    points: Points = field(default_factory=dict)


def build(config: Config) -> sim.Build:
    """The bench top of the lockstep run with line, branch and toggle coverage; from the cache if nothing changed."""
    parameters = config.rtl_parameters() | {
        "TRACE_WORDS": layout(config).words,
        "STIM_WORDS": stimulus.words(config),
    }
    return sim.build(
        runner.TOP,
        [*toolchain.rtl_sources(), runner.HERE / f"{runner.TOP}.sv"],
        "verilator",
        parameters,
        defines={"BM_DPI": 1},
        includes=[runner.HERE],
        c_sources=[runner.HERE / "dpi.cpp"],
        waves=False,
        extra_args=[*FLAGS, *toggle_header.flags(toolchain.SIM_BUILD / "coverage" / "include")],
    )


def run_config(name: str, entries: Sequence[Entry]) -> Ran:
    """All programs of one configuration, in one simulator process.

    Raises
    ------
    DivergenceError
        A program diverged: then nothing that was covered counts.
    """
    started = time.perf_counter()
    config, covered = CONFIGS[name], name in VERILATOR
    simulator = "verilator" if covered else "icarus"
    built = build(config) if covered else runner.build(config, simulator)
    items = [Item(index, entry.source()) for index, entry in enumerate(entries)]
    runs = toolchain.SIM_BUILD / "coverage"
    runs.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=runs))
    data = folder / "coverage.dat"
    plusargs = [f"+verilator+coverage+file+{data}"] if covered else []
    results = runner.run(built, config, items, side=SIDE, stop=True, plusargs=plusargs, folder=folder)
    _complain(entries, results)
    ran = Ran(name, simulator, len(results), sum(result.cycles for result in results))
    ran.hits = [(result.notes["seed"], result.cycles, result.notes["hits"]) for result in results]
    if covered:
        ran.points = read(data, RTL)
    shutil.rmtree(folder)  # kept if something raised
    ran.seconds, ran.build_seconds = time.perf_counter() - started, built.seconds
    return ran


def _complain(entries: Sequence[Entry], results: Sequence[Result]) -> None:
    for entry, result in zip(entries, results, strict=False):
        if result.divergence:
            raise DivergenceError(
                f"{entry} diverged in cycle {result.divergence['cycle']} ({result.divergence['kind']}): "
                f"run `python -m tb.coverage --replay {entry.config} {entry.kind} {entry.variant} {entry.seed}`."
            )
    if len(results) != len(entries):
        raise DivergenceError(f"{len(entries)} programs were to run and {len(results)} did.")


def run_all(entries: Sequence[Entry], workers: int, progress: Callable[[Ran], None] | None = None) -> list[Ran]:
    """The whole suite, a configuration at a time per worker; `progress` is called when one is done."""
    by_config = {name: [entry for entry in entries if entry.config == name] for name in CONFIGS}
    found: list[Ran] = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_config, name, some) for name, some in by_config.items() if some}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    found.append(future.result())
                    if progress is not None:
                        progress(found[-1])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return sorted(found, key=lambda ran: list(CONFIGS).index(ran.config))
