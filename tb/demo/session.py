# SPDX-License-Identifier: Apache-2.0
"""The cocotb test of the demo: a lockstep run that also listens to what the RTL writes to memory."""

from __future__ import annotations

import os
from pathlib import Path

import cocotb
import numpy as np

from beatmatch.config import Config
from tb.demo.writes import WriteBeats
from tb.lockstep import transport
from tb.lockstep.job import JOB_VARIABLE, Job, locate
from tb.lockstep.model_side import program_of
from tb.lockstep.session import run_program

PROGRESS = "progress"
"""File beside the results that holds the number of cycles driven so far."""


class Listener:
    """A transport that passes everything on, and keeps the write beats of the RTL's records."""

    def __init__(self, link: transport.Transport, config: Config, progress: Path) -> None:
        self._link, self._progress = link, progress
        self._config = config
        self._cycles = 0
        self.writes = WriteBeats(config)

    async def reset(self) -> None:
        """Hold reset; a new program begins."""
        self.writes = WriteBeats(self._config)
        await self._link.reset()

    async def exchange(self, rows: np.ndarray):
        """As `Transport.exchange`."""
        actual, unknown = await self._link.exchange(rows)
        self.writes.add(actual)
        self._cycles += len(rows)
        self._progress.write_text(str(self._cycles))
        return actual, unknown


@cocotb.test()
async def demo(dut):
    """Run the programs of the job in lockstep and save the results that the RTL wrote, ``rtl-<index>.npz``."""
    job = Job.load(Path(os.environ[JOB_VARIABLE]))
    config, folder = job.configuration(), Path(job.results).parent
    link = Listener(transport.make(dut, config), config, folder / PROGRESS)
    with Path(job.results).open("a") as results:
        for item in job.items:
            result = await run_program(link, config, item, locate(job.side)(item.source, config))
            results.write(result.line())
            results.flush()
            if result.divergence:
                break
            program = program_of(item.source, config)
            image = program.memory()
            beats = link.writes.apply(image)
            np.savez(folder / f"rtl-{item.index}.npz", beats=beats, **program.read(image))
