# SPDX-License-Identifier: Apache-2.0
"""The environment of each tool, Beatmatch included: what a user of it installs and no more.

They want other versions of the same packages, and a package that is merely there can cost a program time: numba imports
scipy where it finds it, which the developers' environment has for other reasons.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tb import toolchain

FOLDER = toolchain.SIM_BUILD / "peers"


class PeerError(Exception):
    """A tool that could not be installed or run; the text is one sentence for the user."""


@dataclass(frozen=True)
class Peer:
    """A tool.

    Parameters
    ----------
    name : str
        Of its environment's folder.
    title : str
        As its people write it, with the version.
    packages : tuple of str
        What pip installs, pinned.
    newest : tuple of int
        The newest Python that these packages have wheels for.
    inputs : tuple of Path
        Files that the environment depends on, besides `packages`.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    newest: tuple[int, int]
    inputs: tuple[Path, ...] = ()

    @property
    def folder(self) -> Path:
        """Of its virtual environment."""
        return FOLDER / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"


SCALE_SIM = Peer("scale_sim", "SCALE-Sim 3.0.0", ("numpy==1.26.4", "scalesim==3.0.0"), (3, 12))
ZIGZAG = Peer("zigzag", "ZigZag 3.9.1", ("zigzag-dse==3.9.1", "six==1.17.0"), (3, 13))  # it imports six unasked
_PINS = toolchain.ROOT / "constraints.txt"
BEATMATCH = Peer(
    "beatmatch", "Beatmatch", ("--constraint", str(_PINS), "--editable", f"{toolchain.ROOT}[fast,networks]"), (3, 14),
    (_PINS, toolchain.ROOT / "pyproject.toml"),
)  # fmt: skip
OLDEST = (3, 11)
"""All tools need at least this Python."""


def ensure(peer: Peer) -> Path:
    """The tool's interpreter; its environment is made if it is missing or was made of something else.

    Raises
    ------
    PeerError
        If no suitable Python is there, or pip fails.
    """
    base = suitable_python(peer)
    stamp, wanted = peer.folder / "installed.txt", _wanted(peer, base)
    if stamp.exists() and stamp.read_text() == wanted:
        return peer.python
    shutil.rmtree(peer.folder, ignore_errors=True)
    _call(peer, base, "-m", "venv", str(peer.folder))
    _call(peer, str(peer.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.packages)
    stamp.write_text(wanted)
    return peer.python


def _wanted(peer: Peer, base: str) -> str:
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in peer.inputs]
    return "\n".join((base, *peer.packages, *digests))


def suitable_python(peer: Peer) -> str:
    """A Python that the tool's packages have wheels for: this one, or an older one on PATH."""
    if OLDEST <= sys.version_info[:2] <= peer.newest:
        return sys.executable
    names = [f"python3.{minor}" for minor in range(peer.newest[1], OLDEST[1] - 1, -1)]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise PeerError(f"{peer.title} needs {' or '.join(names)}; put one on PATH.")
    return found


def _call(peer: Peer, *command: str) -> None:
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise PeerError(f"{peer.title} could not be installed: {last}")
