# SPDX-License-Identifier: Apache-2.0
"""The plain cocotb benches by name: what each is built from, and how it is run.

    BENCHES["matmul"].run("icarus", preset("tiny"), 2000)

`tests/sim` and ``python -m tb.run_bench`` (``make sim``) both start them from here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from beatmatch.config import Config
from beatmatch.trace import layout
from tb import sim as simulation
from tb import toolchain


@dataclass(frozen=True)
class Bench:
    """One bench.

    Parameters
    ----------
    doc : str
        What it shows, one line.
    top : str
        The module that it drives.
    sources : tuple of Path
        In compile order.
    module : str
        The cocotb module; it gets the configuration as JSON in CONFIG and its length in ``unit``.
    parameters : tuple of str
        Those of the configuration's RTL parameters that ``top`` has.
    unit : str
        Name of the variable that says how long it runs.
    lengths : (int, int)
        How long under Verilator and under Icarus.
    trace : str
        The station whose words ``trace_o`` carries, for TRACE_W; empty for none.
    fixed : tuple of (str, int)
        Further parameters of ``top``.
    """

    doc: str
    top: str
    sources: tuple[Path, ...]
    module: str
    parameters: tuple[str, ...]
    unit: str = "CYCLES"
    lengths: tuple[int, int] = (20_000, 4_000)
    trace: str = ""
    fixed: tuple[tuple[str, int], ...] = ()

    def run(
        self,
        sim: str,
        config: Config,
        length: int | None = None,
        sources: Sequence[Path] | None = None,
        seed: int | None = None,
        directory: Path | None = None,
        **env: str,
    ) -> simulation.RunResult:
        """Build it, or find it built, and run it; raises SimulationError if a test fails."""
        table = config.rtl_parameters()
        parameters = {name: table[name] for name in self.parameters or table} | dict(self.fixed)
        if self.trace:
            parameters["TRACE_W"] = 32 * layout(config).stations[self.trace][1]
        built = simulation.build(self.top, sources or self.sources, sim, parameters)
        sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
        length = length or self.lengths[sim == "icarus"]
        env |= {"CONFIG": json.dumps(sizes), self.unit: str(length)}
        with toolchain.environment(**env):  # to the runner an outer CONFIG (from `make`) would outweigh its arguments
            return simulation.run(built, self.module, seed=seed, directory=directory)


def _rtl(*names: str) -> tuple[Path, ...]:
    return tuple(toolchain.ROOT / "rtl" / name for name in names)


BENCHES = {
    "core": Bench(
        "the whole core between an independent AXI memory and an independent host",
        "bm_core", tuple(toolchain.rtl_sources()), "tb.core.core_bench", (), "RUNS", (12, 4), fixed=(("TRACE", 0),),
    ),
    "tutorial": Bench(
        "one matrix product, to be read (docs/tutorial.md)",
        "bm_core", tuple(toolchain.rtl_sources()), "tb.tutorial.tutorial_bench", (), "RUNS", (1, 1), fixed=(("TRACE", 0),),
    ),
}  # fmt: skip
"""All of them by name."""
