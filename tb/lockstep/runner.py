# SPDX-License-Identifier: Apache-2.0
"""Builds the bench top for a configuration and runs jobs on it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from beatmatch import stimulus
from beatmatch.config import Config
from beatmatch.trace import layout
from tb import sim, toolchain
from tb.lockstep.integrity import IntegrityError, check_results
from tb.lockstep.job import JOB_VARIABLE, Item, Job, Result, read_results

HERE = Path(__file__).resolve().parent
TOP = "bm_lockstep_top"
SESSION = "tb.lockstep.session"
RUNS = toolchain.SIM_BUILD / "lockstep"
RESULTS = "results.jsonl"


def build(
    config: Config,
    simulator: str,
    *,
    sources: Sequence[Path] | None = None,
    waves: bool = False,
    random_state: bool = False,
) -> sim.Build:
    """The bench top with the core of a configuration; from the cache if nothing changed.

    `sources` are the files of the core, by default those of `rtl/sources.f`; copies with planted faults go here.
    """
    verilator = simulator == "verilator"
    defines: dict[str, int] = {}
    arguments: list[str] = []
    if verilator:
        defines["BM_DPI"] = 1
    if waves:
        defines["BM_WAVES"] = 1
        if verilator:
            arguments += ["--trace-max-width", "0", "--trace-max-array", "0"]
    parameters = config.rtl_parameters() | {
        "TRACE_WORDS": layout(config).words,
        "STIM_WORDS": stimulus.words(config),
    }
    return sim.build(
        TOP,
        [*(toolchain.rtl_sources() if sources is None else sources), HERE / f"{TOP}.sv"],
        simulator,
        parameters,
        defines=defines,
        includes=[HERE],
        c_sources=[HERE / "dpi.cpp"] if verilator else [],
        waves=waves,
        random_state=random_state,
        extra_args=arguments,
    )


def run(
    built: sim.Build,
    config: Config,
    items: Sequence[Item],
    *,
    side: str | None = None,
    patches: Sequence[str] = (),
    stop: bool = False,
    stop_like: Sequence[str] = (),
    until: int | None = None,
    plusargs: Sequence[str] = (),
    seed: int = 1,
    folder: Path | None = None,
) -> list[Result]:
    """Run programs in one simulator process; the results in the order of the items.

    `folder` is an existing one that the caller keeps: whoever looks into it finds `RESULTS` growing.

    Raises SimulationError if the simulator or the session fails, or the results are not those of the items; a
    divergence is a result.
    """
    RUNS.mkdir(parents=True, exist_ok=True)
    temporary = folder is None
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="job-", dir=RUNS))
    job = Job(config.to_dict(), list(items), str(folder / RESULTS))
    job.patches, job.stop, job.stop_like, job.until = list(patches), stop, list(stop_like), until
    if side is not None:
        job.side = side
    job.save(folder / "job.json")
    sim.run(
        built,
        SESSION,
        env={JOB_VARIABLE: str(folder / "job.json")},
        seed=seed,
        plusargs=plusargs,
        directory=folder / "sim",
        dump=False,
    )
    results = read_results(Path(job.results))
    try:
        check_results(items, results, stop or bool(stop_like))
    except IntegrityError as error:
        raise sim.SimulationError(f"{error} The job is {folder}.") from None
    if temporary:
        shutil.rmtree(folder)  # kept only if something raised
    return results
