# SPDX-License-Identifier: Apache-2.0
"""Writes ``model/beatmatch/data/fidelity.json``: what has been in lockstep, merged from the figures of runs.

A run counts if nothing in it failed and if it is about the sources as they are now. Runs that the record already has
are not counted twice; if the RTL, the stepped model or the lockstep bench changed since, the record begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from beatmatch import fidelity
from tb.lockstep.evidence import fingerprint
from tb.toolchain import ROOT

RECORD = ROOT / "model" / "beatmatch" / "data" / "fidelity.json"
KINDS = ("regress", "nightly", "networks", "smoke")
RULE = (
    f"exact: the configuration's digest is among configurations with at least {fidelity.LEAST_PROGRAMS} programs and "
    f"{fidelity.LEAST_CYCLES} cycles on one simulator, or each of its values is among theirs and so is each pair of "
    "values of beatmatch.fidelity.PAIRS; and the program's features are among features, and its sizes have no more "
    "bits than the greatest in ranges. unproven: everything else."
)
Record = dict[str, Any]


class EvidenceError(ValueError):
    """A file that shows nothing; the text says why."""


def empty() -> Record:
    """A record of nothing, about the sources as they are now."""
    head = {"generated_by": "python -m tb.regress fidelity", "rule": RULE, "fingerprint": fingerprint()}
    return {**head, "runs": [], "configurations": [], "features": {}, "ranges": {}}


def load(path: Path = RECORD) -> tuple[Record, bool]:
    """The record if it is about the sources as they are now, else an empty one; and which of the two it is."""
    if path.exists():
        found = json.loads(path.read_text())
        if found["fingerprint"] == fingerprint():
            return {**found, "rule": RULE}, True
    return empty(), False


def check(part: dict[str, Any], name: str) -> None:
    """Raise EvidenceError if the figures of a run show nothing about the sources as they are now."""
    lacking = [key for key in ("configurations", "features", "ranges", "fingerprint", "sim") if key not in part]
    if lacking:
        raise EvidenceError(f"{name} is no file of figures of a lockstep run: it lacks {lacking[0]}.")
    if part["mismatches"]:
        raise EvidenceError(f"{name} has {part['mismatches']} failing programs: a run that fails proves nothing.")
    if part["fingerprint"] != fingerprint() or not part.get("steady", True):
        raise EvidenceError(f"{name} is about other sources than these: run it again.")


def merge(record: Record, part: dict[str, Any]) -> bool:
    """Add the figures of a run; False if the record has them already."""
    run = {
        "kind": part.get("kind", "lockstep"),
        **{key: part[key] for key in ("sim", "seed", "programs", "configs", "cycles", "trace_sha256")},
    }
    if run in record["runs"]:
        return False
    record["runs"].append(run)
    rows = {row["digest"]: row for row in record["configurations"]}
    for row in part["configurations"]:
        known = rows.setdefault(row["digest"], {"digest": row["digest"], "config": row["config"], "sims": {}})
        _count(known["sims"], part["sim"], row)
    for name, row in part["features"].items():
        _count(record["features"], name, row)
    for name, (low, high) in part["ranges"].items():
        known = record["ranges"].get(name, (low, high))
        record["ranges"][name] = [min(low, known[0]), max(high, known[1])]
    record["configurations"] = sorted(rows.values(), key=_order)
    record["features"] = dict(sorted(record["features"].items()))
    record["ranges"] = dict(sorted(record["ranges"].items()))
    return True


def _count(table: dict[str, dict[str, int]], name: str, row: dict[str, Any]) -> None:
    """Add programs and cycles to a row of a table."""
    known = table.setdefault(name, {"programs": 0, "cycles": 0})
    known["programs"] += row["programs"]
    known["cycles"] += row["cycles"]


def _order(row: dict[str, Any]) -> tuple:
    return row["config"]["rows"], row["config"]["cols"], row["digest"]


def text(record: Record) -> str:
    """The record as its file holds it: a line per run, configuration, feature and range."""
    parts = []
    for key, value in record.items():
        if isinstance(value, list):
            lines = [f"  {json.dumps(item)}" for item in value]
            parts.append(f' "{key}": [\n' + ",\n".join(lines) + "\n ]")
        elif isinstance(value, dict):
            lines = [f"  {json.dumps(name)}: {json.dumps(item)}" for name, item in value.items()]
            parts.append(f' "{key}": {{\n' + ",\n".join(lines) + "\n }")
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def update(files: Sequence[Path], folder: Path, path: Path = RECORD) -> Iterable[str]:
    """Merge the given files, or the parts of regressions in a folder, into the record; yields what was done.

    Raises EvidenceError for a given file that shows nothing; parts of the folder are left out with a sentence.
    """
    record, kept = load(path)
    yield "Merging into the record." if kept else "The sources have changed: the record begins anew."
    parts = [folder / f"{kind}-{sim}.json" for kind in KINDS for sim in ("verilator", "icarus")]
    taken = 0
    for name in files or [part for part in parts if part.exists()]:
        part = json.loads(name.read_text())
        try:
            check(part, name.name)
        except EvidenceError as error:
            if files:
                raise
            yield str(error)
            continue
        added = merge(record, part)
        taken += 1
        yield f"{name.name}: {part['cycles']:,} cycles" + ("" if added else ", which the record has already")
    if not taken:
        raise EvidenceError("There is nothing to record: run `python -m tb.regress regress` first.")
    path.write_text(text(record))
    counted = len(fidelity.Record(record).digests)
    yield f"{counted} configurations and {len(record['features'])} features stand in {path.name}."
