# SPDX-License-Identifier: Apache-2.0
"""A core of one's own: a second product register in every processing element, and the timing table that goes with it.

docs/own_core.md walks through this. `python -m tests.sim.own_core` prints what it shows.
"""

import argparse
import sys

from beatmatch import timing
from beatmatch.config import Config
from tb.lockstep import runner
from tb.lockstep.job import Result
from tb.lockstep.plant import Edit, edited_sources, random_items
from tb.lockstep.report import PLAIN_WIDTH, Divergence

ROW = "matmul/bm_matmul_row.sv"
EDITS = (
    Edit(ROW, "logic [16*COLS-1:0] product_q;", "logic [16*COLS-1:0] product_q, late_q;"),
    Edit(ROW, "      product_q    <= '0;\n", "      product_q    <= '0;\n      late_q       <= '0;\n"),
    Edit(
        ROW,
        "        sum_q[32*c+:32]     <= sum_i[32*c+:32] + 32'($signed(product_q[16*c+:16]));\n",
        "        late_q[16*c+:16]    <= product_q[16*c+:16];\n"
        "        sum_q[32*c+:32]     <= sum_i[32*c+:32] + 32'($signed(late_q[16*c+:16]));\n",
    ),
    Edit("matmul/bm_matmul_commit.sv", "DEPTH = ROWS + COLS + 1;", "DEPTH = ROWS + COLS + 2;"),
)
"""The changes of `rtl/`: the register, and the commit that comes a cycle later."""

PATCH = "tests.sim.own_core:two_product_stages"
CONFIG = Config(4, 8, 96, 3, 24, 3, 2, 2, 64, 3, 4, "own")


def two_product_stages(replace) -> None:
    """The change of the model: one row of the timing table."""
    row = timing.TABLE["product_stages"]
    replace(timing, "TABLE", {**timing.TABLE, "product_stages": timing.Latency("2", row.meaning)})


def run(sim: str, programs: int, *, table: bool, seed: int = 1) -> tuple[list[Result], Divergence | None]:
    """Random programs on the edited RTL and the model, with the table changed or not, up to the first divergence."""
    with edited_sources(*EDITS) as sources:
        built = runner.build(CONFIG, sim, sources=sources)
        patches = [PATCH] if table else []
        results = runner.run(built, CONFIG, random_items(seed, programs), patches=patches, stop=True)
    found = results[-1].divergence
    return results, Divergence.from_dict(found) if found else None


def main(argv=None) -> int:
    """The divergence before the table is changed, and the green run after."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.own_core", description=main.__doc__)
    parser.add_argument("--programs", type=int, default=100, help="random programs of the green run (100)")
    parser.add_argument("--sim", default="verilator", choices=("verilator", "icarus"))
    options = parser.parse_args(argv)
    _, found = run(options.sim, 1, table=False)
    print(found.text(PLAIN_WIDTH) if found else "The edited core is in step with the unedited model.")
    results, after = run(options.sim, options.programs, table=True)
    if after is not None:
        print(after.text(PLAIN_WIDTH))
    cycles = sum(result.cycles for result in results)
    print(f"with product_stages = 2: {len(results)} programs, {cycles:,} cycles, {int(after is not None)} mismatches")
    return int(found is None or after is not None)


if __name__ == "__main__":
    sys.exit(main())
