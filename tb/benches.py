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
    parameters : tuple of str, or None
        Those of the configuration's RTL parameters that ``top`` has; None for all.
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
    parameters: tuple[str, ...] | None = None
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
        names = table if self.parameters is None else self.parameters
        parameters = {name: table[name] for name in names} | dict(self.fixed)
        if self.trace:
            parameters["TRACE_W"] = 32 * layout(config).stations[self.trace][1]
        built = simulation.build(self.top, sources or self.sources, sim, parameters)
        sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
        length = length or self.lengths[sim == "icarus"]
        env |= {"CONFIG": json.dumps(sizes), self.unit: str(length)}
        with toolchain.environment(**env):  # to the runner an outer CONFIG (from `make`) would outweigh its arguments
            return simulation.run(built, self.module, seed=seed, directory=directory)


def _rtl(*names: str) -> tuple[Path, ...]:
    """Files of the RTL by their names without ``bm_`` and ``.sv``."""
    paths = (Path(name) for name in names)
    return tuple(toolchain.ROOT / "rtl" / path.parent / f"bm_{path.name}.sv" for path in paths)


def _all(folder: str) -> tuple[Path, ...]:
    return tuple(sorted((toolchain.ROOT / "rtl" / folder).glob("*.sv")))


_HOST = tuple(name for name in Config().rtl_parameters() if name != "WEIGHT_PORT")
"""All sizes are registers to read, but for the port that came later."""
_FRONTEND = ("fetch", "legality", "decode", "queue", "dispatch", "semaphores", "monitor", "frontend")
_VECTOR = ("lane", "pipeline", "params", "write", "operands", "address", "sequencer", "context", "trace")
_MEMORY_SIDE = (
    *_rtl("pkg", "lib/fifo", "lib/gearbox", "lib/row_bursts", "lib/transfer_rows", "load/load", "store/store_reader"),
    *_rtl("store/store_beats", "store/store", "host/port"),
    toolchain.ROOT / "tb" / "memory" / "bm_memory_bench.sv",
)
_MEMORY_PARAMETERS = ("ROWS", "COLS", "SP_WORDS", "MEM_BITS", "OUTSTANDING", "PARAM_ROWS")

BENCHES = {
    "core": Bench(
        "the whole core between an independent AXI memory and an independent host",
        "bm_core", tuple(toolchain.rtl_sources()), "tb.core.core_bench",
        unit="RUNS", lengths=(12, 4), fixed=(("TRACE", 0),),
    ),
    "tutorial": Bench(
        "one matrix product, to be read (docs/tutorial.md)",
        "bm_core", tuple(toolchain.rtl_sources()), "tb.tutorial.tutorial_bench",
        unit="RUNS", lengths=(1, 1), fixed=(("TRACE", 0),),
    ),
    "host": Bench(
        "registers, bus and accounting beside their model",
        "bm_host", _rtl("pkg", "host/csr_pkg", "host/axil", "host/csr", "host/accounting", "host/host"),
        "tb.host.host_bench", _HOST, lengths=(12_000, 3_000), trace="host",
    ),
    "frontend": Bench(
        "fetch to queues, semaphores and monitor beside their model",
        "bm_frontend",
        _rtl("pkg", "lib/fifo", "lib/gearbox", *(f"frontend/{name}" for name in _FRONTEND)),
        "tb.frontend.frontend_bench", ("ROWS", "COLS", "QUEUE_DEPTH", "MEM_BITS"),
        lengths=(12_000, 3_000), trace="frontend",
    ),
    "legality": Bench(
        "the rules of legal instructions beside the model's",
        "bm_legality", _rtl("pkg", "frontend/legality"), "tb.frontend.legality_bench", ("ROWS", "COLS"),
        unit="WORDS", lengths=(6_000, 2_000),
    ),
    "memory": Bench(
        "load, store and the memory port beside their models",
        "bm_memory_bench", _MEMORY_SIDE, "tb.memory.bench", _MEMORY_PARAMETERS,
        unit="SCENARIOS", lengths=(15, 8),
    ),
    "axi_memory": Bench(
        "load, store and the memory port with an independent AXI memory",
        "bm_memory_bench", _MEMORY_SIDE, "tb.memory.axi_ram_bench", _MEMORY_PARAMETERS,
        unit="SCENARIOS", lengths=(5, 5),
    ),
    "weights": Bench(
        "the weights engine and its FIFO beside their models",
        "bm_weights_bench",
        (*_rtl("pkg", "lib/fifo", "lib/gearbox", "lib/ram", "lib/row_bursts"), *_all("weights"),
         toolchain.ROOT / "tb" / "weights" / "bm_weights_bench.sv"),
        "tb.weights.weights_bench", ("ROWS", "COLS", "SP_WORDS", "MEM_BITS", "OUTSTANDING", "FIFO_TILES"),
    ),
    "scratchpad": Bench(
        "banks and priorities of the scratchpad beside their model",
        "bm_scratchpad", _rtl("lib/ram", "scratchpad/scratchpad_bank", "scratchpad/scratchpad"),
        "tb.scratchpad.scratchpad_bench", ("ROWS", "COLS", "SP_WORDS", "SP_BANKS"), lengths=(20_000, 6_000),
    ),
    "matmul": Bench(
        "the matrix unit beside its model",
        "bm_matmul", (*_rtl("pkg"), *_all("matmul")), "tb.matmul.matmul_bench",
        ("ROWS", "COLS", "SP_WORDS", "ACC_ROWS", "FIFO_TILES"), lengths=(20_000, 3_000),
    ),
    "accumulator": Bench(
        "sums, forwarding and bank conflicts of the accumulators beside their model",
        "bm_accumulator", _rtl("lib/ram", "accumulator/accumulator_bank", "accumulator/accumulator"),
        "tb.accumulator.accumulator_bench", ("COLS", "ACC_ROWS", "ACC_BANKS"),
        lengths=(20_000, 6_000), trace="accumulator",
    ),
    "vector": Bench(
        "the vector engine beside its model",
        "bm_vector",
        _rtl("pkg", "lib/ram", "lib/round", *(f"vector/vector_{stage}" for stage in _VECTOR), "vector/vector"),
        "tb.vector.vector_bench", ("ROWS", "COLS", "SP_WORDS", "ACC_ROWS", "PARAM_ROWS"),
        lengths=(25_000, 6_000), trace="vector",
    ),
    "lanes": Bench(
        "the vector engine's arithmetic beside numerics",
        "bm_vector_pipeline", _rtl("lib/round", "vector/vector_lane", "vector/vector_pipeline"),
        "tb.vector.lanes_bench", (), unit="VECTORS", lengths=(400_000, 100_000), fixed=(("COLS", 16),),
    ),
}  # fmt: skip
"""All of them by name."""
