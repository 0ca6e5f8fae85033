# SPDX-License-Identifier: Apache-2.0
"""Machine code for the functions of this package, if numba is installed; the same functions in Python if it is not."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

SWITCH = "BEATMATCH_NUMBA"
"""Environment variable that leaves numba out if it is 0."""

try:
    if os.environ.get(SWITCH) == "0":
        raise ImportError
    import numba
except ImportError:
    numba = None

COMPILED = numba is not None
"""The functions are machine code."""
OPTIONS = {"_nrt": False, "error_model": "numpy"}
"""Nothing is allocated, so nobody counts references; nothing is divided by 0, so nobody looks."""


def compiled(function: Callable) -> Callable:
    """Decorate a function over registers (`registers.Layout`): it may use integers, loops and such functions only."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(function) if COMPILED else function


def entry(build: Callable[[str], Callable]) -> Callable:
    """Build and decorate a function that Python calls; its machine code is kept on disk.

    ``build`` gets a digest of all that goes into the machine code and returns a function that mentions it: numba
    looks only at the file of the function itself to see whether what it kept is still true.
    """
    if not COMPILED:
        return build("")
    function = build(_digest())
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # no folder that may be written to: every process makes its own
        return numba.njit(**OPTIONS)(function)


def _digest() -> str:
    """Over the sources of this package, and the numbers that its modules have taken from others."""
    package = __name__.rpartition(".")[0]
    state = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        state.update(path.read_bytes())
    for name, module in sorted(sys.modules.items()):
        if name.startswith(package):
            numbers = {key: value for key, value in vars(module).items() if isinstance(value, int)}
            state.update(repr((name, sorted(numbers.items()))).encode())
    return state.hexdigest()
