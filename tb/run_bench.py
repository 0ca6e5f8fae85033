# SPDX-License-Identifier: Apache-2.0
"""Run one plain cocotb bench: ``python -m tb.run_bench core --config tiny --sim icarus`` (``make sim``).

WAVES=1 records waves and says where they are; COCOTB_RANDOM_SEED is the base seed. Without a name it lists the benches.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence

from beatmatch.config import ConfigError, preset
from tb import sim as simulation
from tb import toolchain
from tb.benches import BENCHES

LOG_STARTS = "Running tests"
"""What precedes this in a run's log is about cocotb itself."""


def listing() -> str:
    """The benches, a line each."""
    width = max(map(len, BENCHES))
    return "\n".join(f"  {name:<{width}}  {bench.doc}" for name, bench in BENCHES.items())


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    result = argparse.ArgumentParser(
        prog="python -m tb.run_bench", description=__doc__, epilog=f"benches:\n{listing()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    result.add_argument("bench", nargs="?", choices=tuple(BENCHES), metavar="BENCH", help="name of the bench")
    result.add_argument("--config", default="tiny", help="preset (tiny)")
    result.add_argument(
        "--sim", choices=toolchain.SIMULATORS, default=toolchain.variable("SIM", "verilator"), help="default: SIM"
    )
    result.add_argument("--seed", type=int, help="base seed; default is COCOTB_RANDOM_SEED, else 1")
    result.add_argument("--length", type=int, help="cycles, or whatever the bench counts; default is that of the tests")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; returns 1 if it fails."""
    arguments = parser().parse_args(argv)
    if arguments.bench is None:
        print(f"BENCH=<name>, one of\n{listing()}")
        return 0
    directory = toolchain.SIM_BUILD / "bench" / f"{arguments.bench}-{arguments.sim}-{arguments.config}"
    shutil.rmtree(directory, ignore_errors=True)
    try:
        config = preset(arguments.config)
        result = BENCHES[arguments.bench].run(
            arguments.sim, config, arguments.length, seed=arguments.seed, directory=directory
        )
    except (ConfigError, simulation.SimulationError, toolchain.ToolError) as error:
        print(error, file=sys.stderr)
        result = None
    else:
        print(result.log[max(result.log.find(LOG_STARTS), 0) :].partition("\n")[2].rstrip())
        tests = "1 test" if len(result.tests) == 1 else f"{len(result.tests)} tests"
        print(f"\n{tests} passed in {result.seconds:.1f} s, COCOTB_RANDOM_SEED={result.seed}")
    for path in sorted(directory.glob("dump.*")):
        print(f"Waves: {path.relative_to(toolchain.ROOT)}")
    return result is None


if __name__ == "__main__":
    sys.exit(main())
