# SPDX-License-Identifier: Apache-2.0
"""The cocotb test that records: every program of a job on the RTL in lockstep, its stimulus and records kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

import cocotb
import numpy as np

from beatmatch.config import Config
from tb.lockstep import model_side, transport
from tb.lockstep.compare import Comparator

JOB_VARIABLE = "BEATMATCH_RECORD_JOB"


@cocotb.test()
async def record(dut):
    """Fails if model and RTL differ: nothing wrong is ever recorded."""
    job = json.loads(Path(os.environ[JOB_VARIABLE]).read_text())
    config = Config.from_dict(job["config"])
    link = transport.make(dut, config)
    for source, target in job["programs"]:
        comparator = Comparator(config)
        stimulus, records = [], []
        await link.reset()
        for rows, expected in model_side.make({"file": source}, config).blocks():
            actual, unknown = await link.exchange(rows)
            comparator.push(expected, actual, unknown)
            stimulus.append(rows.copy())
            records.append(actual.copy())
        found = comparator.finish()
        assert found is None, found.text()
        assert comparator.cycles == sum(map(len, records)) > 0
        np.savez_compressed(target, stimulus=np.concatenate(stimulus), records=np.concatenate(records))
