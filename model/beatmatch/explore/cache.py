# SPDX-License-Identifier: Apache-2.0
"""Results that have been computed, on disk by key: a study that was stopped goes on, and equal layers are run once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from beatmatch.explore.errors import ExploreError
from beatmatch.networks.quantize import cache_folder

FILE = "explore.sqlite"
AT_ONCE = 500
"""Keys of one query."""


class Cache:
    """Records by key, in one SQLite file; several processes may use it at a time.

    Parameters
    ----------
    path : Path or None
        None takes `FILE` in `$BEATMATCH_CACHE` or the user's cache.

    Raises
    ------
    ExploreError
        If the file cannot be used.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / FILE
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(self.path, timeout=60)
            self._base.execute("pragma journal_mode = wal")
            self._base.execute("pragma synchronous = normal")  # a power cut may take the last records, no crash can
            self._base.execute("create table if not exists records (key text primary key, record text) without rowid")
        except (OSError, sqlite3.Error) as error:
            raise ExploreError(
                f"The cache {self.path} cannot be used ({error}); delete it, or name another folder in BEATMATCH_CACHE."
            ) from None

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def get(self, keys: Iterable[str]) -> dict[str, dict]:
        """The records that there are, by key."""
        keys = list(keys)
        found: dict[str, dict] = {}
        for first in range(0, len(keys), AT_ONCE):
            part = keys[first : first + AT_ONCE]
            marks = ",".join("?" * len(part))
            rows = self._base.execute(f"select key, record from records where key in ({marks})", part)
            found |= {key: json.loads(text) for key, text in rows}
        return found

    def put(self, key: str, record: dict) -> None:
        """Keep a record; it is on disk when this returns."""
        with self._base:
            self._base.execute(
                "insert or replace into records values (?, ?)", (key, json.dumps(record, separators=(",", ":")))
            )
