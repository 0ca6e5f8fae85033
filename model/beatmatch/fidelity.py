# SPDX-License-Identifier: Apache-2.0
"""What a result is worth: ``exact`` inside what has been in lockstep with the RTL, ``unproven`` outside.

The record (``data/fidelity.json``) is generated from regressions by ``python -m tb.regress fidelity``: which
configurations ran on which simulator without a difference, and which features their programs had. A configuration is
inside if exactly it has been in lockstep, or if each of its values, and each pair of values that meet in one unit, has
been (`VALUES`, `PAIRS`). A program is inside if its features and sizes are (`beatmatch.features`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from beatmatch.config import PRESETS, Config
from beatmatch.features import Features, features
from beatmatch.isa.fields import Error
from beatmatch.program import Program

EXACT, UNPROVEN, UNTIMED = "exact", "unproven", "values"

VALUES = (
    "rows", "cols", "sp_bank_words", "sp_banks", "acc_bank_rows", "acc_banks", "fifo_tiles", "queue_depth", "mem_bits",
    "outstanding", "param_rows", "weight_port",
)  # fmt: skip
"""What has to have been in lockstep value by value; memories count by the size of a bank."""

PAIRS = (
    ("rows", "cols"),
    ("lanes", "mem_bits"),
    ("cols", "mem_bits"),
    ("rows", "fifo_tiles"),
    ("mem_bits", "outstanding"),
    ("mem_bits", "weight_port"),
    ("sp_banks", "sp_bank_words"),
    ("acc_banks", "acc_bank_rows"),
)
"""Values that meet in one unit: the array, the packing of beats into words, tiles in the FIFO, bursts, banks."""

LEAST_PROGRAMS, LEAST_CYCLES = 8, 4000
"""What a configuration has to have passed on one simulator before it counts."""


@dataclass(frozen=True)
class Fidelity:
    """What a result is worth.

    Attributes
    ----------
    label : str
        ``exact``: the RTL has been found equal here, in every cycle; ``unproven``: the model says so, and nobody has
        looked whether the RTL agrees.
    reason : str
        Why, in a sentence.
    """

    label: str
    reason: str

    @property
    def exact(self) -> bool:
        """Whether it is inside the record."""
        return self.label == EXACT


class Record:
    """The record of what has been in lockstep.

    Parameters
    ----------
    data : dict
        As ``data/fidelity.json`` holds it.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.digests: dict[str, dict[str, Any]] = {
            row["digest"]: row for row in data["configurations"] if counts(row["sims"])
        }
        configs = [Config.from_dict(row["config"]) for row in self.digests.values()]
        self.values = values(configs)
        self.pairs = pairs(configs)

    def config(self, config: Config) -> Fidelity:
        """Where a configuration stands."""
        row = self.digests.get(config.digest())
        if row is not None:
            sims = " and ".join(f"{sim} ({found['cycles']:,} cycles)" for sim, found in sorted(row["sims"].items()))
            return Fidelity(EXACT, f"This configuration has been in lockstep on {sims}.")
        for name in VALUES:
            value = getattr(config, name)
            if value not in self.values[name]:
                proven = ", ".join(map(str, self.values[name])) or "none"
                return Fidelity(UNPROVEN, f"{name} = {value} has not been in lockstep; these have: {proven}.")
        for first, second in PAIRS:
            pair = getattr(config, first), getattr(config, second)
            if pair not in self.pairs[first, second]:
                text = f"{first} = {pair[0]} with {second} = {pair[1]}"
                return Fidelity(UNPROVEN, f"{text} has not been in lockstep, though each alone has.")
        return Fidelity(EXACT, "All of its values, and the pairs that meet in one unit, have been in lockstep.")

    def program(self, found: Features) -> Fidelity:
        """Where the features and sizes of a program stand, whatever its configuration."""
        for name in sorted(found.flags):
            if name not in self.data["features"]:
                return Fidelity(UNPROVEN, f"The feature {name} has not been in lockstep.")
        for name, value in found.sizes.items():
            low, high = self.data["ranges"].get(name, (1, 0))
            if not low <= value < 1 << high.bit_length():
                return Fidelity(UNPROVEN, f"{name} = {value} has not been in lockstep: {low} to {high} has.")
        return Fidelity(EXACT, "All features and sizes of the program have been in lockstep.")


def counts(sims: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether a configuration ran long enough on one simulator to count."""
    return any(row["programs"] >= LEAST_PROGRAMS and row["cycles"] >= LEAST_CYCLES for row in sims.values())


def values(configs: Iterable[Config]) -> dict[str, list[int]]:
    """The values of each name of `VALUES`, ascending."""
    return {name: sorted({getattr(config, name) for config in configs}) for name in VALUES}


def pairs(configs: Iterable[Config]) -> dict[tuple[str, str], set[tuple[int, int]]]:
    """The value pairs of each pair of `PAIRS`."""
    return {(a, b): {(getattr(config, a), getattr(config, b)) for config in configs} for a, b in PAIRS}


@cache
def record() -> Record:
    """The record that the package carries."""
    return Record(json.loads((resources.files("beatmatch.data") / "fidelity.json").read_text()))


def of(config: Config, program: Program | None = None, error: Error = Error.NONE) -> Fidelity:
    """What cycles and values of the stepped model are worth.

    Parameters
    ----------
    config : Config
    program : Program or None
        None asks for the configuration alone.
    error : Error
        What the program ended in.
    """
    standing = record().config(config)
    if not standing.exact or program is None:
        return standing
    found = record().program(features(program, error))
    return standing if found.exact else found


def proof(config: Config, text: str | None = None) -> str:
    """The command that runs a configuration in lockstep and adds it to the record; `text` is how the user named it."""
    if text is None:
        sizes = {key: value for key, value in config.to_dict().items() if key != "name"}
        is_preset = PRESETS.get(config.name) == config
        text = config.name if is_preset else ",".join(f"{key}={value}" for key, value in sizes.items())
    run = f"beatmatch lockstep --random 100 --config {text} --json proof.json"
    return f"{run} && python -m tb.regress fidelity proof.json"
