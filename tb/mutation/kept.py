# SPDX-License-Identifier: Apache-2.0
"""Results by the content of what they depend on, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tb.mutation.recordings import FOLDER


def kept(kind: str, depends: object, make: Callable[[], Any]) -> tuple[Any, float]:
    """What `make` gives, as JSON keeps it, and the seconds that it took when it was made.

    Parameters
    ----------
    kind : str
        What it is, for the name of the file.
    depends : object
        All that the result depends on; its ``repr`` counts.
    """
    file = FOLDER / f"{kind}-{hashlib.sha256(repr(depends).encode()).hexdigest()[:16]}.json"
    if not file.exists():
        started = time.monotonic()
        result = make()
        text = json.dumps({"seconds": time.monotonic() - started, "result": result})
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=FOLDER, delete=False) as growing:
            growing.write(text)
        Path(growing.name).rename(file)
    found = json.loads(file.read_text())
    return found["result"], found["seconds"]
