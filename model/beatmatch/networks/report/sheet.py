# SPDX-License-Identifier: Apache-2.0
"""A result as a CSV table, a row per layer."""

from __future__ import annotations

import csv
from pathlib import Path

from beatmatch.networks.errors import ResultError
from beatmatch.networks.result import SHARES, NetworkResult

COLUMNS = (
    "name", "op", "where", "shape", "macs", "start", "end", "cycles", "utilization", *SHARES, "read_bytes",
    "written_bytes", "minimum_bytes", "fill_rows", "fill_cols", "window_macs", "groups", "fidelity", "note",
)  # fmt: skip
"""Every key of `NetworkResult.rows`, in the order of the columns."""


def write_csv(path: str | Path, result: NetworkResult) -> None:
    """Write the table; raises ResultError if the file cannot be written."""
    try:
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(result.rows())
    except OSError as error:
        raise ResultError(f"{path} cannot be written: {error.strerror}.") from None


def write_text(path: str | Path, text: str) -> None:
    """Write a file; raises ResultError."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{path} cannot be written: {error.strerror}.") from None
