# SPDX-License-Identifier: Apache-2.0
"""Packages that only reading and quantizing ONNX needs: imported when they are used, named when they are missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from beatmatch.networks.errors import GraphError


def need(name: str) -> ModuleType:
    """Import a module of the extra `networks`.

    Raises
    ------
    GraphError
        If it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.split(".")[0]
        raise GraphError(f"This needs {package}; install it with: pip install 'beatmatch[networks]'.") from None
