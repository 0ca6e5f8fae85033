# SPDX-License-Identifier: Apache-2.0
"""What only the distribution has: a compiler, a shared libpython, Icarus Verilog.

As root, or with passwordless sudo, missing things are installed by apt-get; otherwise one
sentence names the command. Only what is required stops the set-up.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Need:
    """Something that the distribution has to supply."""

    what: str
    present: Callable[[], bool]
    packages: tuple[str, ...]  # as Debian and Ubuntu name them
    without: str | None = None  # what still works without it; None if it is required


def _on_path(*commands: str) -> bool:
    return all(shutil.which(command) for command in commands)


def _libpython(python: Path) -> bool:
    """Whether cocotb, installed beside `python`, finds a shared libpython to load."""
    if os.environ.get("LIBPYTHON_LOC"):
        return True
    code = "import find_libpython, sys; sys.exit(find_libpython.find_libpython() is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def before_venv() -> list[Need]:
    """What has to be there before the virtual environment can be made."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return [
        Need(
            "Python's venv module",
            lambda: importlib.util.find_spec("ensurepip") is not None,
            (f"{name}-venv",),
        ),
        Need(
            "a C++ compiler and make",
            lambda: _on_path("make") and (_on_path("g++") or _on_path("clang++")),
            ("g++", "make"),
        ),
        Need(
            "Icarus Verilog, the second simulator",
            lambda: _on_path("iverilog", "vvp"),
            ("iverilog",),
            without="tests that need it are skipped",
        ),
    ]


def after_venv(python: Path) -> list[Need]:
    """What can be looked for only with the packages installed beside `python`."""
    package = f"libpython{sys.version_info.major}.{sys.version_info.minor}"
    return [Need("a shared libpython", lambda: _libpython(python), (package,))]


def supply(needs: list[Need]) -> list[str]:
    """Install what is missing, where that is possible.

    Returns a sentence for each thing that is still missing and that one can do without.
    Raises SystemExit with a sentence if something required is missing.
    """
    missing = [need for need in needs if not need.present()]
    if not missing:
        return []
    packages = [package for need in missing for package in need.packages]
    prefix = _apt_prefix()
    if prefix is not None:
        print("Installing", " ".join(packages), flush=True)
        environment = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        # A stale package list fails in confusing ways, but an old one is better than none.
        subprocess.run([*environment, "update"], check=False)
        subprocess.run(
            [*environment, "install", "-y", "--no-install-recommends", *packages],
            check=False,
            stdout=subprocess.DEVNULL,
        )
        missing = [need for need in missing if not need.present()]
    sentences = []
    for need in missing:
        command = f"sudo apt-get install {' '.join(need.packages)}"
        if need.without is None:
            raise SystemExit(f"Missing: {need.what}. Install it with `{command}` or the like.")
        sentences.append(f"Missing: {need.what} ({need.without}). Install it with `{command}`.")
    return sentences


def _apt_prefix() -> list[str] | None:
    """How to call apt-get with the rights to install: [], ["sudo", "-n"], or None."""
    if not _on_path("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    sudo = ["sudo", "-n"]  # never asks for a password
    if _on_path("sudo") and subprocess.run([*sudo, "true"], capture_output=True).returncode == 0:
        return sudo
    return None
