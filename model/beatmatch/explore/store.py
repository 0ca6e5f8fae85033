# SPDX-License-Identifier: Apache-2.0
"""Tables of studies as files: Parquet, with types, for pandas, Polars, DuckDB and Spark; CSV for everything else."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Sequence
from pathlib import Path

from beatmatch.explore.columns import ALWAYS, COLUMNS, INTEGER, REAL, TEXT, Row
from beatmatch.explore.errors import ExploreError, need

ROWS_PER_GROUP = 65536


def write_parquet(rows: Sequence[Row], path: str | Path) -> None:
    """Write a table; equal rows give equal bytes. The file appears whole or not at all."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    types = {TEXT: arrow.string(), INTEGER: arrow.int64(), REAL: arrow.float64()}
    schema = arrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    table = arrow.table({name: [row[name] for row in rows] for name in COLUMNS}, schema)
    _replace(path, lambda part: parquet.write_table(table, part, compression="zstd", row_group_size=ROWS_PER_GROUP))


def read_table(path: str | Path) -> list[Row]:
    """The rows of a table, in CSV if its name ends so, else in Parquet; raises ExploreError."""
    return read_csv(path) if str(path).endswith(".csv") else read_parquet(path)


def read_parquet(path: str | Path) -> list[Row]:
    """The rows of a table that `write_parquet` wrote; raises ExploreError."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        raise ExploreError(_absent(path)) from None
    except (OSError, arrow.ArrowException) as error:
        raise ExploreError(f"{path} is no table of a study: {str(error).splitlines()[0]}") from None
    _check(path, table.column_names)
    return table.select(list(COLUMNS)).to_pylist()


def read_csv(path: str | Path) -> list[Row]:
    """The rows of a table of a study that `write_csv` wrote; raises ExploreError."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            found = csv.DictReader(file)
            _check(path, found.fieldnames or ())
            return [{name: _value(name, row[name]) for name in COLUMNS} for row in found]
    except FileNotFoundError:
        raise ExploreError(_absent(path)) from None
    except OSError as error:
        raise ExploreError(f"{path} cannot be read: {error.strerror}.") from None
    except (csv.Error, TypeError, ValueError) as error:  # ValueError also: no UTF-8
        raise ExploreError(f"{path} is no table of a study: {error}.") from None


def _value(name: str, text: str) -> object:
    if text == "":
        return "" if name in ALWAYS else None
    return {TEXT: str, INTEGER: int, REAL: float}[COLUMNS[name]](text)


def _absent(path: str | Path) -> str:
    return f"{path} does not exist; `beatmatch explore run` writes it."


def _check(path: str | Path, names: Collection[str]) -> None:
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise ExploreError(
            f"{path} is no table of a study: it has no column {missing[0]}; `beatmatch explore run --out` writes one."
        )


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
