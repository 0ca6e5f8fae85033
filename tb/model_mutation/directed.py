# SPDX-License-Identifier: Apache-2.0
"""Directed programs for the recordings: where random ones come rarely, and mutants lived for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beatmatch.compiler import compile_gemm
from beatmatch.config import Config
from beatmatch.isa.asm import assemble
from beatmatch.program import HostEvent, Program
from tb.lockstep.streams import derive
from tests.sim.error_cases import CASES

ERRORS = (
    *(name for name in CASES if "BUS" in name), "two signals", "store signals", "a circle", "full queue", "no slot",
    "no second tile", "cycle limit 20", "slow memory", "load second row", "store iteration", "program address + 16",
)  # fmt: skip
"""By their names in `error_cases`."""
LIMITS = range(32, 42, 2)
"""Cycles after which `stopped` stops."""
MEMORY = """
.timing read_latency=3 write_latency=60
.base 0 0x100000 8192
.base 1 0x200000 8192
.address 0x400000
.data 0x100000
.random 1 8192
"""
WEIGHTS = """
weights_mem k_rows=ROWS n_lanes=COLS row_stride={size} inner=2 inner_stride={size}*ROWS
matmul kc=2 x=1 src=0
"""
STORE = """
load row_bytes=6*{size} dst=0 signal=s0
store base=1 rows=2 row_stride=4096 offset=4096-2*{size} row_bytes=6*{size} src=0 src_row_stride=1 wait=s0:1
"""


def programs(seed: int, configs: Sequence[Config]) -> dict[str, Program]:
    """All of them by name; the errors are dealt over the configurations."""
    found = {}
    for config in configs:
        found[f"{config.name}-resets"] = resets(seed, config)
        found[f"{config.name}-weights-resets"] = weights_resets(config)
        for limit in LIMITS:
            found[f"{config.name}-stopped-{limit}"] = stopped(config, limit)
    for index, name in enumerate(ERRORS):
        config = configs[index % len(configs)]
        found[f"{config.name}-{name.replace(' ', '-')}"] = CASES[name].program(config)
    return found


def _restarts(gaps: Sequence[int]) -> tuple[HostEvent, ...]:
    """A reset so many cycles after each start, and the next start."""
    events, cycle = [], 0
    for index, gap in enumerate(gaps):
        cycle += gap
        length = 1 + index % 3
        events += [HostEvent(cycle, "reset", length), HostEvent(cycle + length + 1, "start")]
        cycle += length + 1
    return tuple(events)


def resets(seed: int, config: Config) -> Program:
    """A product that is started and reset again and again, each time some cycles later: what is in flight is cut."""
    rng = np.random.default_rng(derive(seed, "resets", config.name))
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((8, 16), (16, 8)))
    return compile_gemm(a, b, config, out="int8").replace(host=_restarts(range(90, 260, 13)))


def weights_resets(config: Config) -> Program:
    """Reset in every cycle in which weights arrive."""
    text = MEMORY + WEIGHTS.format(size=max(config.cols, config.mem_bytes))
    return assemble(text, config).replace(host=_restarts(range(46, 66)))


def stopped(config: Config, limit: int) -> Program:
    """The watchdog ends a store whose rows cross a page, some of its bursts given and some not."""
    text = MEMORY + STORE.format(size=max(config.lanes, config.mem_bytes))
    return assemble(text, config).replace(cycle_limit=limit)
