# SPDX-License-Identifier: Apache-2.0
"""Where the simulators are, which versions they have, and the environment they run in."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIM_BUILD = ROOT / "sim_build"
SIMULATORS = ("verilator", "icarus")

_VENV_BIN = Path(sys.prefix) / "bin"
_COMMANDS = {"verilator": ["verilator", "--version"], "icarus": ["iverilog", "-V"]}

# The runner lets these override its arguments, or they come from an outer `make`.
_FOREIGN = ("WAVES", "GUI", "PYTEST_CURRENT_TEST", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")


class ToolError(RuntimeError):
    """A tool is missing or unusable; the message says what to do."""


def rtl_sources() -> list[Path]:
    """The files of `rtl/sources.f`, in its order; its lines are relative to `rtl/`."""
    listing = ROOT / "rtl" / "sources.f"
    lines = (line.split("//")[0].split("#")[0].strip() for line in listing.read_text().splitlines())
    return [listing.parent / line for line in lines if line]


def variable(name: str, default: str) -> str:
    """An environment variable; set but empty counts as not set."""
    return os.environ.get(name) or default


def base_seed() -> int:
    """COCOTB_RANDOM_SEED, else 1: the seed that all random streams derive from."""
    seed = variable("COCOTB_RANDOM_SEED", "1")
    if not seed.isdecimal():
        raise ToolError(f"COCOTB_RANDOM_SEED is {seed!r}; it must be a decimal number, 0 or more.")
    return int(seed)


def search_path() -> str:
    """PATH with the virtual environment first: `make setup` puts the pinned tools there."""
    return os.pathsep.join([str(_VENV_BIN), os.environ.get("PATH", os.defpath)])


def require(command: str) -> str:
    """Full path of `command`. Raises ToolError if it is not installed."""
    found = shutil.which(command, path=search_path())
    if found is None:
        raise ToolError(f"{command} was not found: run `make setup`, which installs or names it.")
    return found


@functools.cache
def version(sim: str) -> str:
    """First line that the simulator says about itself. Raises ToolError if it is missing."""
    if sim not in SIMULATORS:
        raise ToolError(f"The simulator {sim!r} is not known: choose one of {SIMULATORS}.")
    command, *arguments = _COMMANDS[sim]
    run = subprocess.run([require(command), *arguments], capture_output=True, text=True)
    return (run.stdout or run.stderr).splitlines()[0]


def has(sim: str) -> bool:
    """Whether the simulator is installed."""
    return shutil.which(_COMMANDS[sim][0], path=search_path()) is not None


@contextmanager
def environment(**extra: str) -> Iterator[None]:
    """The process environment that builds and runs see, restored afterwards.

    cocotb's runner reads os.environ itself, so there is no way to hand it a copy.
    """
    before = dict(os.environ)
    for name in _FOREIGN:
        os.environ.pop(name, None)
    os.environ["PATH"] = search_path()
    # Optimisation of the generated C++; on the command line of `make`, so that it also wins
    # over a system Verilator's makefile, which assigns it unconditionally.
    os.environ["MAKEFLAGS"] = " -- OPT_FAST=-O2 OPT_GLOBAL=-O2"
    if shutil.which("ccache", path=search_path()):
        os.environ["OBJCACHE"] = "ccache"
        # Paths below the repository count as relative: another clone hits the same cache.
        os.environ.setdefault("CCACHE_BASEDIR", str(ROOT))
        os.environ.setdefault("CCACHE_NOHASHDIR", "1")
    os.environ.update(extra)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
