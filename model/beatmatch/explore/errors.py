# SPDX-License-Identifier: Apache-2.0
"""What the exploration refuses, and the packages that only parts of it need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class ExploreError(ValueError):
    """A study that makes no sense, or a file that is none; the text is one sentence that says what to do."""


def need(name: str) -> ModuleType:
    """Import a module of the extra `explore`; raises ExploreError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        package = {"pyarrow.parquet": "pyarrow", "vl_convert": "vl-convert-python"}.get(name, name)
        raise ExploreError(f"This needs {package}; install it with: pip install 'beatmatch[explore]'.") from None
