# SPDX-License-Identifier: Apache-2.0
"""Lint the RTL with all warnings of Verilator and Icarus, in several configurations.

Usage: python -m tb.lint [--config NAME ...]. Exits with 1 if there is any warning. Waivers for Verilator
stand with their reasons in the RTL, or in `rtl/lint.vlt` if there is one; those for Icarus in WAIVED below.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from beatmatch.config import PRESETS, Config, ConfigError, preset
from tb import toolchain

TOP = "bm_core"
WAIVER_FILE = toolchain.ROOT / "rtl" / "lint.vlt"

# Shapes that no preset has: they reach widths of one bit, odd bank counts, both aspect ratios.
SHAPES = {
    "wide": Config(rows=4, cols=16, sp_words=48, sp_banks=3, acc_rows=4, acc_banks=1, mem_bits=32),
    "tall": Config(rows=16, cols=4, sp_words=16, sp_banks=1, acc_rows=56, acc_banks=7, mem_bits=256, outstanding=1),
    "least": Config(
        rows=4, cols=4, sp_words=16, sp_banks=1, acc_rows=4, acc_banks=1, fifo_tiles=2, queue_depth=1, mem_bits=32,
        outstanding=1, param_rows=4,
    ),
    "weights": Config(rows=8, cols=4, sp_words=64, sp_banks=1, acc_rows=64, mem_bits=64, weight_port=1),
}  # fmt: skip
DEFAULT = ("tiny", "small", "base", *SHAPES, "untraced")

# Icarus messages that are no defect, as (pattern, reason).
WAIVED = [
    (r"sorry: constant selects in always_\* processes are not currently supported",
     "Icarus is then sensitive to the whole vector, which simulates the same, only slower"),
]  # fmt: skip


def parameters(name: str) -> dict[str, int]:
    """Top-level parameters of a preset, a shape, or `untraced`: preset small without the trace bus."""
    if name == "untraced":
        return preset("small").rtl_parameters() | {"TRACE": 0}
    return (SHAPES[name] if name in SHAPES else preset(name)).rtl_parameters()


def verilator(top: str, sources: Sequence[Path], parameters: Mapping[str, int]) -> list[str]:
    """Warnings and errors of Verilator, one block of lines each."""
    command = [toolchain.require("verilator"), "--lint-only", "-Wall", "--timescale", "1ns/1ps", "--top-module", top]
    command += [f"-G{name}={value}" for name, value in parameters.items()]
    waivers = [str(WAIVER_FILE)] if WAIVER_FILE.exists() else []
    output, code = _run([*command, *waivers, *map(str, sources)])
    output = re.sub(r"(?m)^ +\.\.\. (?:For warning description|Use \"/\*).*\n?", "", output)
    blocks = re.split(r"(?m)^(?=%(?:Warning|Error))", output)
    findings = [block.strip() for block in blocks if block.startswith("%") and not block.startswith("%Error: Exiting")]
    return findings or ([output] if code else [])


def icarus(top: str, sources: Sequence[Path], parameters: Mapping[str, int]) -> list[str]:
    """Messages of Icarus Verilog, one line each."""
    command = [toolchain.require("iverilog"), "-g2012", "-Wall", "-Wno-timescale", "-tnull", "-s", top]
    command += [f"-P{top}.{name}={value}" for name, value in parameters.items()]
    output, code = _run([*command, *map(str, sources)])
    findings = [line for line in output.splitlines() if not any(re.search(pattern, line) for pattern, _ in WAIVED)]
    return findings or ([output] if code else [])


def _run(command: list[str]) -> tuple[str, int]:
    with tempfile.TemporaryDirectory() as folder:  # whatever a tool writes does not land in the tree
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    return run.stdout + run.stderr, run.returncode


LINTERS = {"verilator": verilator, "icarus": icarus}


def main(arguments: list[str] | None = None) -> int:
    """Lint, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tb.lint", description=__doc__.splitlines()[0])
    parser.add_argument("--config", nargs="+", default=DEFAULT, metavar="NAME", help=f"one of {', '.join(PRESETS)}, "
                        f"{', '.join(SHAPES)}; default: {' '.join(DEFAULT)}")  # fmt: skip
    options = parser.parse_args(arguments)

    try:
        sources = toolchain.rtl_sources()
        jobs = [(tool, name, parameters(name)) for name in options.config for tool in LINTERS]
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda job: LINTERS[job[0]](TOP, sources, job[2]), jobs))
    except (toolchain.ToolError, ConfigError) as error:
        raise SystemExit(str(error)) from None
    failed = 0
    for (tool, name, _), findings in zip(jobs, results, strict=True):
        print(f"{tool:10} {name:8} {f'{len(findings)} findings' if findings else 'clean'}")
        failed += len(findings)
    # The same finding shows in most configurations: print each once.
    for finding in dict.fromkeys(finding for findings in results for finding in findings):
        print(finding)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
