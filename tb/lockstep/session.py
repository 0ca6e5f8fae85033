# SPDX-License-Identifier: Apache-2.0
"""The cocotb test of the lockstep run: all programs of a job in one simulator process, one after the other."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter, process_time

import cocotb

from beatmatch.config import Config
from tb.lockstep import transport
from tb.lockstep.compare import Comparator
from tb.lockstep.integrity import check_block, check_program
from tb.lockstep.job import JOB_VARIABLE, Item, Job, Result, Side, locate


@cocotb.test()
async def lockstep(dut):
    """Run every program of the job; a divergence is a result, not an error of the test."""
    job = Job.load(Path(os.environ[JOB_VARIABLE]))
    for patch in job.patches:
        locate(patch)(setattr)
    await run_job(transport.make(dut, job.configuration()), job)


async def run_job(link: transport.Transport, job: Job) -> None:
    """Every program of a job in turn; a line per result as soon as it is there."""
    config, make_side = job.configuration(), locate(job.side)
    with Path(job.results).open("a") as results:
        for item in job.items:
            result = await run_program(link, config, item, make_side(item.source, config), job.until)
            results.write(result.line())
            results.flush()
            if result.divergence and (job.stop or _like(result) == job.stop_like):
                break


def _like(result: Result) -> list[str]:
    return [result.divergence[name] for name in ("kind", "station", "slot")]


async def run_program(
    link: transport.Transport, config: Config, item: Item, side: Side, until: int | None = None
) -> Result:
    """One program on both sides, from reset to its end, to the first divergence, or to cycle `until`."""
    comparator = Comparator(config)
    started, began = perf_counter(), process_time()
    model = simulator = 0.0
    driven = 0
    await link.reset()
    blocks = iter(side.blocks())
    while True:
        before = process_time()
        block = next(blocks, None)
        between = process_time()
        model += between - before
        if block is None:
            break
        rows, expected = block
        if until is not None:
            rows, expected = rows[: until - driven], expected[: until - driven]
        driven += len(rows)
        actual, unknown = await link.exchange(rows)
        simulator += process_time() - between
        check_block(len(rows), expected, actual)
        if comparator.push(expected, actual, unknown) or driven == until:
            break
    found = comparator.finish()
    check_program(driven, comparator, found is not None)
    return Result(
        index=item.index,
        cycles=comparator.cycles,
        events=comparator.events,
        digests=comparator.digests,
        sha256=comparator.digest(),
        seconds=perf_counter() - started,
        cpu_seconds=process_time() - began,
        model_seconds=model,
        transport_seconds=simulator,
        divergence=found.to_dict() if found else None,
        notes=side.notes() if hasattr(side, "notes") else {},
    )
