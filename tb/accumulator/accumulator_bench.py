# SPDX-License-Identifier: Apache-2.0
"""The accumulators in lockstep with their model: streams of committed rows, vector's reads held, resets.

Run by tests/sim/test_accumulator.py. Rows come from few addresses, often the same in consecutive cycles; values lie
near the ends of the range, so that sums leave it.
"""

import json
import os
import random

import cocotb
import numpy as np

from beatmatch.config import Config
from beatmatch.stations.accumulator import OVERFLOW_BIT, Accumulator
from beatmatch.stations.writer import TraceWriter
from tb.pins import Pins, trace_int

INPUTS = (
    "rst_ni", "acc_pre_valid_i", "acc_pre_addr_i", "acc_valid_i", "acc_addr_i", "acc_add_i", "acc_data_i",
    "acc_req_valid_i", "acc_req_addr_i",
)  # fmt: skip
OUTPUTS = ("acc_grant_o", "acc_rdata_o", "overflow_o", "trace_o")
CORNERS = (-(1 << 31), (1 << 31) - 1, -1, 0, 1)


def little(data: np.ndarray) -> int:
    return int.from_bytes(data.tobytes(), "little")


@cocotb.test()
async def lockstep(dut):
    """Every grant, row and trace word in every cycle."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    cycles, seed = int(os.environ["CYCLES"]), int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    writer = TraceWriter(config, 1)
    accumulator = Accumulator(config, writer)
    pins = Pins(dut, INPUTS, OUTPUTS)
    await pins.start()
    await pins.next()

    following: tuple[int, int, np.ndarray] | None = None  # the row that commits in the next cycle
    read = -1
    arrived: dict[str, int] = {}
    seen = dict.fromkeys(("vector waits", "forwarded", "overflow", "no overflow", "read while written", "resets"), 0)
    last_row = -1
    for cycle in range(cycles):
        if cycle % 200 == 0:
            rate, add_rate, read_rate = (rng.choice((0.0, 0.3, 0.7, 1.0)) for _ in range(3))
            wild = rng.choice((0.0, 0.01, 0.5))
            rows = [rng.randrange(config.acc_rows) for _ in range(rng.choice((1, 2, 3, 20)))]
        reset = rng.random() < 0.01
        row, add, data = following or (-1, 0, None)
        following = None
        if rng.random() < rate:
            values = np.array([rng.randint(-(1 << 22), 1 << 22) for _ in range(config.cols)], dtype=np.int32)
            if rng.random() < wild:
                values[rng.randrange(config.cols)] = rng.choice(CORNERS)
            following = (rng.choice(rows), int(rng.random() < add_rate), values)
        pre = following[0] if following and following[1] else -1
        if read < 0 and rng.random() < read_rate:
            read = rng.choice(rows)

        pins.drive(rst_ni=not reset, acc_pre_valid_i=pre >= 0, acc_valid_i=row >= 0, acc_req_valid_i=read >= 0)
        if pre >= 0:
            pins.drive(acc_pre_addr_i=pre)
        if row >= 0:
            pins.drive(acc_addr_i=row, acc_add_i=add, acc_data_i=little(data))
        if read >= 0:
            pins.drive(acc_req_addr_i=read)
        accumulator.arbitrate(read, pre)
        granted = accumulator.vector_granted
        expected = {"acc_grant_o": int(granted), "overflow_o": int(accumulator.overflow)} | arrived
        was = accumulator.overflow
        accumulator.step(row, add, data)
        header = int(writer.words[writer.base + writer.offset("accumulator", "write")])
        await pins.settle()
        pins.compare(f"seed {seed}", **expected, trace_o=trace_int(writer, "accumulator"))
        seen["vector waits"] += read >= 0 and not granted
        seen["forwarded"] += bool(add) and row == last_row
        seen["overflow"] += bool(header & OVERFLOW_BIT)
        seen["no overflow"] += bool(add) and not was and not header & OVERFLOW_BIT
        seen["read while written"] += granted and read == row
        seen["resets"] += reset
        last_row = row

        arrived = {}
        if granted:
            arrived["acc_rdata_o"] = little(accumulator.vector_data)
            read = -1
        if reset:
            accumulator.reset()
            following = None
            last_row = -1
        await pins.next()
    assert all(seen.values()), f"the bench shows too little: {seen}"
