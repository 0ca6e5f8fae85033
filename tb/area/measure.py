# SPDX-License-Identifier: Apache-2.0
"""Synthesize the plan with Yosys, one configuration after the other; what is measured already is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from beatmatch.config import Config
from tb import synth, toolchain

RECORD = toolchain.ROOT / "docs/data/area.json"
"""Gates, flip-flops and memory bits of each module in each configuration, as Yosys counts them."""


def source_digest() -> str:
    """Twelve hex digits over the RTL's files, as in docs/data/presets.json."""
    state = hashlib.sha256()
    for path in toolchain.rtl_sources():
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


def load(path: Path = RECORD) -> dict[str, dict]:
    """What has been measured, by digest of the configuration."""
    return json.loads(path.read_text()) if path.exists() else {}


def measure(configs: Sequence[Config], done: Callable[[Config], None], path: Path = RECORD) -> dict[str, dict]:
    """Synthesize what the record lacks and write it after each, so that a stop loses one configuration at most.

    Parameters
    ----------
    configs : sequence of Config
    done : callable
        Called after each configuration, measured now or before.
    path : Path
        The record.
    """
    record, digest = load(path), source_digest()
    known: synth.Known = {}
    for config in configs:
        found = record.get(config.digest())
        if found is None or found["rtl"] != digest:
            parameters = config.rtl_parameters() | {"TRACE": 0}
            costs = synth.synthesize(synth.TOP, toolchain.rtl_sources(), parameters, known)
            modules = {
                cost.module: [cost.instances, cost.gates, cost.flip_flops, cost.memory_bits]
                for cost in sorted(costs, key=lambda cost: cost.module)
            }
            record[config.digest()] = {"config": config.to_dict(), "rtl": digest, "modules": modules}
            path.write_text(json.dumps(record, separators=(",", ":")).replace('},"', '},\n"') + "\n")
        done(config)
    return record
