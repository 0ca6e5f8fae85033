# SPDX-License-Identifier: Apache-2.0
"""Tables of studies as Parquet files: columns with types, readable by pandas, Polars, DuckDB and Spark."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from beatmatch.explore.columns import COLUMNS, INTEGER, REAL, TEXT, Row
from beatmatch.explore.errors import ExploreError, need

ROWS_PER_GROUP = 65536


def write_parquet(rows: Sequence[Row], path: str | Path) -> None:
    """Write a table; equal rows give equal bytes. The file appears whole or not at all."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    types = {TEXT: arrow.string(), INTEGER: arrow.int64(), REAL: arrow.float64()}
    schema = arrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    table = arrow.table({name: [row[name] for row in rows] for name in COLUMNS}, schema)
    _replace(path, lambda part: parquet.write_table(table, part, compression="zstd", row_group_size=ROWS_PER_GROUP))


def read_parquet(path: str | Path) -> list[Row]:
    """The rows of a table that `write_parquet` wrote; raises ExploreError."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        raise ExploreError(f"{path} does not exist; `beatmatch explore run` writes it.") from None
    except (OSError, arrow.ArrowException) as error:
        raise ExploreError(f"{path} is no table of a study: {str(error).splitlines()[0]}") from None
    missing = [name for name in COLUMNS if name not in table.column_names]
    if missing:
        raise ExploreError(f"{path} is no table of a study: it has no column {missing[0]}.")
    return table.select(list(COLUMNS)).to_pylist()


def write_csv(rows: Sequence[Row], path: str | Path) -> None:
    """Write a table of any rows as text."""

    def write(part: Path) -> None:
        with part.open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, list(rows[0]) if rows else list(COLUMNS), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)

    _replace(path, write)


def _replace(path: str | Path, write) -> None:
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(part)
        os.replace(part, path)
    except OSError as error:
        raise ExploreError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)
