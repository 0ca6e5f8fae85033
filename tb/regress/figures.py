# SPDX-License-Identifier: Apache-2.0
"""What a regression came to on one simulator, and whether the two simulators agree where they ran the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from tb.lockstep.campaign import Batch
from tb.lockstep.evidence import evidence, steady
from tb.regress.failures import Failure, buckets
from tb.regress.plan import VOLUMES
from tb.regress.store import Store

SLOWEST = 10
Hashes = dict[tuple[str, str], str]


def figures(
    kind: str, sim: str, seeds: Sequence[int], batches: Sequence[Batch], store: Store, failures: Sequence[Failure]
) -> dict[str, Any]:
    """The part of the report for one kind and simulator.

    Rates are in processor time of one core, model and simulator together, builds not counted; ``seconds`` is wall time.
    """
    configs = {item.index: batch.config for batch in batches for item in batch.items}
    sources = {item.index: item.source for batch in batches for item in batch.items}
    results = [store.results[index] for index in sorted(store.results)]
    total = {name: sum(getattr(result, name) for result in results) for name in ("cycles", "events", "digests")}
    spent = {name: sum(getattr(r, name) for r in results) for name in ("cpu_seconds", "model_seconds")}
    volume = VOLUMES[kind][sim]
    slowest = sorted(results, key=lambda result: -result.cpu_seconds)[:SLOWEST]
    return {
        "kind": kind,
        "sim": sim,
        "seed": seeds[0] if len(seeds) == 1 else list(seeds),
        "steady": steady(),
        "planned": len(configs),
        "programs": len(results),
        "configs": len({configs[result.index].digest() for result in results}),
        **total,
        "mismatches": len(failures),
        "crashes": len(store.crashes),
        "least": {"programs": volume.programs * len(seeds), "cycles": volume.cycles * len(seeds)},
        "seconds": round(store.seconds, 1),
        "build_seconds": round(store.build_seconds, 1),
        **{name: round(value, 1) for name, value in spent.items()},
        "cycles_per_second": round(total["cycles"] / spent["cpu_seconds"]) if spent["cpu_seconds"] else 0,
        "trace_sha256": trace_sha256(result.sha256 for result in results),
        "failures": list(failures),
        "buckets": buckets(failures),
        "slowest": [
            {
                "program": _name(sources[result.index]) + f" on {configs[result.index].name}",
                "seconds": round(result.cpu_seconds, 3),
                "cycles": result.cycles,
            }
            for result in slowest
        ],
        **evidence(results, configs),
    }


def trace_sha256(hashes) -> str:
    """Over the records of all programs, in the order of their numbers."""
    state = hashlib.sha256()
    for found in hashes:
        state.update(bytes.fromhex(found))
    return state.hexdigest()


def _name(source: dict[str, Any]) -> str:
    return " ".join(f"{key} {value}" for key, value in source.items())


def shortfall(part: dict[str, Any]) -> str:
    """A sentence if the run stayed below what its kind demands, else an empty text."""
    for name, least in part["least"].items():
        if part[name] < least:
            return f"{part['kind']} under {part['sim']} came to {part[name]:,} {name}; it must come to {least:,}."
    if part["programs"] + part["crashes"] < part["planned"]:
        left = part["planned"] - part["programs"] - part["crashes"]
        return f"{left} programs of {part['kind']} under {part['sim']} have not run: go on with --resume."
    return ""


def hashes(batches: Sequence[Batch], store: Store) -> Hashes:
    """The trace hash of every program that ran, by what it is: source and configuration."""
    return {
        (json.dumps(item.source, sort_keys=True), batch.config.digest()): store.results[item.index].sha256
        for batch in batches
        for item in batch.items
        if item.index in store.results
    }


def compare(first: Hashes, second: Hashes) -> dict[str, Any]:
    """The programs that two simulators ran both, and where their traces differ.

    Returns
    -------
    dict
        ``programs``: how many are shared; ``sha256``: over the hashes of each side; ``different``: the names of those
        that are unequal.
    """
    shared = sorted(first.keys() & second.keys())
    return {
        "programs": len(shared),
        "sha256": [trace_sha256(side[key] for key in shared) for side in (first, second)],
        "different": [f"{source} on configuration {digest}" for source, digest in shared
                      if first[source, digest] != second[source, digest]],
    }  # fmt: skip
