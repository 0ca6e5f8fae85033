# SPDX-License-Identifier: Apache-2.0
"""The scratchpad in lockstep with its model: random requests of all six ports, held until granted.

Run by tests/sim/test_scratchpad.py. Addresses come from few words, so that banks, and words, meet often.
"""

import json
import os
import random

import cocotb
import numpy as np

from beatmatch.config import Config
from beatmatch.stations.scratchpad import Scratchpad
from tb.pins import Pins

READERS = ("matmul", "weights", "vector", "store")
GRANTS = ("weights_grant_o", "vector_grant_o", "store_grant_o", "load_wgrant_o")
INPUTS = (
    *(f"{name}_req_{part}_i" for name in READERS for part in ("valid", "addr")),
    *(f"{name}_w{part}_i" for name in ("vector", "load") for part in ("valid", "addr", "enable", "data")),
)
OUTPUTS = (*GRANTS, *(f"{name}_rdata_o" for name in READERS))


def little(data: np.ndarray) -> int:
    return int.from_bytes(data.tobytes(), "little")


@cocotb.test()
async def lockstep(dut):
    """Every grant, and every word that was granted."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    cycles, seed = int(os.environ["CYCLES"]), int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    scratchpad = Scratchpad(config)
    pins = Pins(dut, INPUTS, OUTPUTS)
    await pins.start()

    reads = [-1] * 4
    vector_write = load_write = None
    arrived: dict[str, int] = {}
    seen = dict.fromkeys(("vector waits", "store waits", "load waits", "old value", "partial"), 0)
    for cycle in range(cycles):
        if cycle % 200 == 0:
            rates = [rng.choice((0.0, 0.2, 0.6, 1.0)) for _ in range(6)]
            words = rng.choice((None, [rng.randrange(config.sp_words) for _ in range(6)]))

        def address(words=words):
            return rng.choice(words) if words else rng.randrange(config.sp_words)

        for k in range(4):
            if reads[k] < 0 and rng.random() < rates[k]:
                reads[k] = address()
        if rng.random() < rates[4]:
            part = rng.randrange(config.col_parts) * config.cols
            data = np.frombuffer(rng.randbytes(config.cols), dtype=np.uint8)
            vector_write = (address(), slice(part, part + config.cols), data)
        if load_write is None and rng.random() < rates[5]:
            count = rng.choice((config.lanes, rng.randint(1, config.lanes)))
            load_write = (address(), count, np.frombuffer(rng.randbytes(config.lanes), dtype=np.uint8))
            seen["partial"] += count < config.lanes

        for name, read in zip(READERS, reads, strict=True):
            pins.drive(**{f"{name}_req_valid_i": read >= 0})
            if read >= 0:
                pins.drive(**{f"{name}_req_addr_i": read})
        pins.drive(vector_wvalid_i=vector_write is not None, load_wvalid_i=load_write is not None)
        if vector_write is not None:
            word, part, data = vector_write
            pins.drive(
                vector_waddr_i=word, vector_wenable_i=((1 << config.cols) - 1) << part.start,
                vector_wdata_i=little(data) << 8 * part.start | rng.getrandbits(8) << 8 * (config.lanes - 1)
                if part.stop < config.lanes else little(data) << 8 * part.start,
            )  # fmt: skip
        if load_write is not None:
            word, count, data = load_write
            pins.drive(load_waddr_i=word, load_wenable_i=(1 << count) - 1, load_wdata_i=little(data))

        scratchpad.arbitrate(*reads, vector_write, load_write)
        granted = (
            scratchpad.weights_granted,
            scratchpad.vector_granted,
            scratchpad.store_granted,
            scratchpad.load_write_granted,
        )
        await pins.settle()
        pins.compare(f"seed {seed}", **dict(zip(GRANTS, map(int, granted), strict=True)), **arrived)
        written = {write[0] for write in (vector_write, load_write) if write is not None}
        scratchpad.commit()
        seen["vector waits"] += reads[2] >= 0 and not granted[1]
        seen["store waits"] += reads[3] >= 0 and not granted[2]
        seen["load waits"] += load_write is not None and not granted[3]

        arrived = {}
        for k, (name, grant) in enumerate(zip(READERS, (True, *granted[:3]), strict=True)):
            if reads[k] >= 0 and grant:
                arrived[f"{name}_rdata_o"] = little(getattr(scratchpad, f"{name}_data"))
                seen["old value"] += reads[k] in written
                reads[k] = -1
        vector_write = None
        if granted[3]:
            load_write = None
        await pins.next()
    assert all(seen.values()), f"the bench shows too little: {seen}"
