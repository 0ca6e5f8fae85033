# SPDX-License-Identifier: Apache-2.0
"""What the RTL did, recorded once: programs, the stimulus they were given, and the records of every cycle."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock

from beatmatch.config import Config, preset
from beatmatch.program import Program
from beatmatch.trace import layout
from tb import sim, toolchain
from tb.lockstep import random_errors, random_programs, runner
from tb.lockstep.streams import derive, stream
from tb.model_mutation import directed
from tb.model_mutation.record_bench import JOB_VARIABLE

FOLDER = toolchain.SIM_BUILD / "model_mutation"
CONFIGS = (
    preset("tiny"),
    Config(4, 8, 96, 3, 24, 3, 2, 2, 64, 3, 4, "flat"),
    Config(16, 4, 48, 3, 20, 5, 2, 1, 256, 1, 4, "tall", weight_port=1),
)
"""Rows over columns and columns over rows, memory narrower and wider than a word, least and odd depths, one
memory and two."""


@dataclass(frozen=True)
class Recording:
    """A program and what the RTL showed.

    Attributes
    ----------
    stimulus, records : numpy.ndarray
        uint32 [cycles, words]: what drove the RTL, and its trace.
    """

    name: str
    program: Program
    stimulus: np.ndarray
    records: np.ndarray

    def seen(self) -> set[tuple[str, str, str]]:
        """Events that the run shows, by configuration, station and slot."""
        slots = layout(self.program.config).slots
        return {
            (self.program.config.name, placed.station, placed.slot.name)
            for placed in slots
            if placed.slot.kind == "event" and self.records[:, placed.offset].any()
        }


def programs(seed: int, count: int, configs: Sequence[Config] = CONFIGS) -> dict[str, Program]:
    """Random programs of each configuration by name; then mistakes of each kind, and the directed ones."""
    found = {}
    for config in configs:
        for index in range(count):
            program = random_programs.generate(derive(seed, "model mutation", config.name, index), config)
            found[f"{config.name}-{index}"] = program
    for index, kind in enumerate(random_errors.KINDS):
        config = configs[index % len(configs)]
        plain = next(
            program
            for attempt in range(100)
            for program in [random_programs.generate(derive(seed, kind, attempt), config)]
            if "disturbed" not in program.origin
        )
        found[f"{config.name}-{kind}"] = random_errors.disturb(stream(seed, kind), plain, kind)
    return found | directed.programs(seed, configs)


def record(named: dict[str, Program], simulator: str = "icarus") -> list[Recording]:
    """The recordings of programs, from the cache if neither they nor anything they depend on has changed.

    Raises SimulationError if model and RTL differ: then there is nothing to compare mutants with.
    """
    found: list[Recording] = []
    for config in dict.fromkeys(program.config for program in named.values()):
        mine = {name: program for name, program in named.items() if program.config == config}
        folder = FOLDER / _key(mine, config, simulator)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not (folder / "done").exists():
                _record(mine, config, simulator, folder)
        for name, program in mine.items():
            with np.load(folder / f"{name}.npz") as kept:
                found.append(Recording(name, program, kept["stimulus"], kept["records"]))
    return _telling_first(found)


def _key(named: dict[str, Program], config: Config, simulator: str) -> str:
    """Of everything that the recorded arrays depend on; the model itself is not: the RTL was in step with it."""
    state = hashlib.sha256(f"{simulator} {toolchain.version(simulator)} {config.digest()}".encode())
    for path in [
        *toolchain.rtl_sources(),
        runner.HERE / f"{runner.TOP}.sv",
        Path(__file__).with_name("record_bench.py"),
    ]:
        state.update(path.read_bytes())
    for name, program in named.items():
        state.update(name.encode() + program.to_bytes())
    return f"{config.name}-{simulator}-{state.hexdigest()[:16]}"


def _record(named: dict[str, Program], config: Config, simulator: str, folder: Path) -> None:
    built = runner.build(config, simulator)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        pairs = []
        for name, program in named.items():
            path = Path(temporary) / f"{name}.bmp"
            program.save(path)
            pairs.append((str(path), str(folder / f"{name}.npz")))
        job = Path(temporary) / "job.json"
        job.write_text(json.dumps({"config": config.to_dict(), "programs": pairs}))
        sim.run(built, "tb.model_mutation.record_bench", env={JOB_VARIABLE: str(job)}, seed=1, dump=False)
    (folder / "done").touch()


def _telling_first(recordings: list[Recording]) -> list[Recording]:
    """In the order in which each adds the most kinds of events to those before it; of equals the shortest first."""
    left, ordered, known = list(recordings), [], set()
    while left:
        best = max(left, key=lambda item: (len(item.seen() - known), -len(item.records), item.name))
        known |= best.seen()
        left.remove(best)
        ordered.append(best)
    return ordered
