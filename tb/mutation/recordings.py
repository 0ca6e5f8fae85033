# SPDX-License-Identifier: Apache-2.0
"""Programs recorded once by the model: what drives the RTL in every cycle, and what its record has to be.

A mutant is run against recordings, so the model steps through each program once and not once per mutant.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beatmatch import stimulus
from beatmatch.config import Config
from tb import toolchain
from tb.lockstep.model_side import LIMIT
from tb.lockstep.transport import RESET_ROWS
from tb.mutation import stimuli

FOLDER = toolchain.SIM_BUILD / "mutation"


@dataclass
class Recording:
    """One program, ready to be played.

    Attributes
    ----------
    name : str
        Says where the program comes from.
    rows : numpy.ndarray
        Stimulus, uint32 [RESET_ROWS + cycles, row words]; the first rows hold reset and clear the memories.
    records : numpy.ndarray
        The model's trace records, uint32 [cycles, record words].
    """

    name: str
    rows: np.ndarray
    records: np.ndarray


def record(source: stimuli.Source, config: Config) -> Recording:
    """Step the model through the program of a source."""
    rows, records = [_reset(config)], []
    for block_rows, block_records in stimuli.machine(source, config).blocks(LIMIT):
        rows.append(block_rows.copy())
        records.append(block_records.copy())
    return Recording(stimuli.name(source), np.concatenate(rows), np.concatenate(records))


def _reset(config: Config) -> np.ndarray:
    rows = np.zeros((RESET_ROWS, stimulus.words(config)), dtype=np.uint32)
    rows[0, 0] = 1 << stimulus.CLEAR_MEMORIES
    return rows


def prepare(config: Config, sources: Sequence[stimuli.Source], progress: Callable[[int, int], None]) -> Path:
    """The file with recordings of these programs; made anew when a Python source has changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(repr((config.to_dict(), sources)).encode())
    for folder in ("model", "tb"):
        for path in sorted((toolchain.ROOT / folder).rglob("*.py")):
            key.update(path.read_bytes())
    made = f"recordings-{key.hexdigest()[:16]}"
    for file in FOLDER.glob(f"{made}-*.npz"):
        return file
    arrays: dict[str, np.ndarray] = {"names": np.array([stimuli.name(source) for source in sources])}
    digest = hashlib.sha256()
    for index, source in enumerate(sources):
        recording = record(source, config)
        arrays[f"rows{index}"], arrays[f"records{index}"] = recording.rows, recording.records
        digest.update(recording.rows)
        digest.update(recording.records)
        progress(index + 1, len(sources))
    with tempfile.NamedTemporaryFile(dir=FOLDER, suffix=".npz", delete=False) as growing:
        np.savez(growing, **arrays)
    file = FOLDER / f"{made}-{digest.hexdigest()[:16]}.npz"
    Path(growing.name).rename(file)
    return file


def content(file: Path) -> str:
    """Names what a file of recordings holds: the same after an edit of the sources that changes no program."""
    return file.stem.rpartition("-")[2]


def load(path: Path) -> list[Recording]:
    """The recordings of a file, in their order."""
    with np.load(path) as data:
        return [
            Recording(str(name), np.ascontiguousarray(data[f"rows{i}"]), np.ascontiguousarray(data[f"records{i}"]))
            for i, name in enumerate(data["names"])
        ]
