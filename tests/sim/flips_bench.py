# SPDX-License-Identifier: Apache-2.0
"""Runs inside the simulator: what fault injection has to notice about itself."""

import os
from pathlib import Path

import cocotb

from beatmatch.isa.asm import assemble
from tb.flips.access import StateAccess
from tb.flips.both import run_on_both
from tb.flips.job import JOB_VARIABLE, Job
from tb.flips.recording import record
from tb.flips.session import Bench
from tb.lockstep import random_programs, transport
from tb.lockstep.streams import stream

READS_WHAT_IT_NEVER_WROTE = """
.base 0 0x1000 64
.address 0x2000
.result out int8 0x1000 ROWS
store base=0 row_bytes=ROWS src=0
"""


@cocotb.test()
async def notices(dut):
    """Live storage, state left out, and a flip on one side only are all seen."""
    job = Job.load(Path(os.environ[JOB_VARIABLE]))
    config = job.configuration()
    link = transport.make(dut, config)
    bench = Bench(link, StateAccess(job.state))

    # A program that reads a word which nothing wrote: what a reset leaves is not dead.
    recording = record(assemble(READS_WHAT_IT_NEVER_WROTE, config))
    assert await bench.poisoned(recording, 1, 0) >= 0
    assert await bench.poisoned(recording, 1, 1) >= 0

    # The model flipped and the RTL not: out of step exactly where the flip had an effect.
    program = random_programs.generate(job.both[0][0], config)
    flip, bench.access.flip = bench.access.flip, lambda values, index, bit: values
    outcomes = await run_on_both(bench, program, stream(1, "one side"), 9)
    assert any(outcome["effect"] for outcome in outcomes)
    assert all(outcome["effect"] == (outcome["first"] >= 0) for outcome in outcomes), outcomes
    bench.access.flip = flip

    # State that is not read and written with the rest: the control run does not come out right.
    known = [element for element in job.state if not element.name.endswith("weight_q")]
    assert len(known) < len(job.state)
    bench = Bench(link, StateAccess(known))
    recording = record(program)
    try:
        await bench.golden(recording, {recording.length // 2}, 1)
    except AssertionError as error:
        assert "differs" in str(error) or "missing" in str(error)
    else:
        raise AssertionError("state was missing, and nobody noticed")

    try:
        StateAccess([*known, known[0].__class__("u_matmul", "bm_matmul", "nothing_q", 0, 1, 0)])
    except RuntimeError as error:
        assert "nothing_q" in str(error)
    else:
        raise AssertionError("a variable that does not exist was bound")
