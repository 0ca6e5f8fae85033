# SPDX-License-Identifier: Apache-2.0
"""What went wrong in a regression: a record per failing program with its replay line, and buckets of like ones."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from beatmatch.config import Config
from tb import toolchain
from tb.lockstep import failure, shrink
from tb.lockstep.campaign import Batch
from tb.lockstep.job import Item
from tb.lockstep.report import Divergence
from tb.regress import workloads
from tb.regress.store import Store

Failure = dict[str, Any]


def collect(batches: Sequence[Batch], sim: str, store: Store, patches: Sequence[str] = ()) -> list[Failure]:
    """Save every failing program in a folder of its own, and describe it."""
    placed = {item.index: (batch.config, item) for batch in batches for item in batch.items}
    found: list[Failure] = []
    for index, result in sorted(store.results.items()):
        if result.divergence is not None:
            found.append(_divergence(*placed[index], sim, result.divergence, patches))
    for index, crash in sorted(store.crashes.items()):
        found.append(_crash(*placed[index], sim, crash))
    return found


def _divergence(config: Config, item: Item, sim: str, divergence: dict[str, Any], patches: Sequence[str]) -> Failure:
    program = workloads.program_of(item.source, config)
    folder = failure.folder_of(f"{sim}-regress-{program.digest()}")
    saved = failure.Failure(folder, program, sim, Divergence.from_dict(divergence), patches=list(patches))
    saved.save()
    seen = saved.divergence
    return {
        "index": item.index,
        "kind": seen.kind,
        "station": seen.station,
        "slot": seen.slot,
        "field": seen.field,
        "cycle": seen.cycle,
        "seed": program.seed,
        "config": config.to_dict(),
        "headline": seen.headline(),
        "replay": seen.replay,
    }


def _crash(config: Config, item: Item, sim: str, crash: dict[str, str]) -> Failure:
    program = workloads.program_of(item.source, config)
    folder = failure.folder_of(f"{sim}-{crash['kind']}-{program.digest()}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / failure.PROGRAM
    program.save(path)
    (folder / "error.txt").write_text(crash["text"] + "\n")
    shown = path.relative_to(toolchain.ROOT) if path.is_relative_to(toolchain.ROOT) else path
    return {
        "index": item.index,
        "kind": crash["kind"],
        "station": "simulator",
        "slot": sim,
        "field": "",
        "cycle": None,
        "seed": program.seed,
        "config": config.to_dict(),
        "headline": normalise(crash["text"]),
        "replay": f"beatmatch lockstep {shown} --sim {sim}",
    }


def normalise(text: str) -> str:
    """The line of an error that says what it is, without numbers, addresses and paths that differ every time."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(?:\S+ )?\w*(?:Error|Exception|%Error)\b", line)]
    line = (telling or lines or ["no message"])[-1 if telling else 0]
    line = re.sub(r"0x[0-9a-fA-F]+", "HEX", line)
    line = re.sub(r"(?:/[\w.+-]+)+", "FILE", line)
    return re.sub(r"\d+(?:\.\d+)?", "#", line)[:160]


def buckets(failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """Failures by (kind, station, slot and field); those of a simulator by their normalised message."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for found in failures:
        crashed = found["station"] == "simulator"
        place = found["headline"] if crashed else ".".join(filter(None, (found["slot"], found["field"])))
        groups.setdefault((found["kind"], found["station"], place), []).append(found)
    rows = [
        {"kind": kind, "station": station, "place": place, "count": len(members), "failures": members}
        for (kind, station, place), members in groups.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["kind"], row["station"], row["place"]))


def shrink_first(rows: Sequence[dict[str, Any]]) -> None:
    """Shrink the first divergence of each bucket; its ``small`` is the replay line of the small program."""
    for row in rows:
        first = row["failures"][0]
        if first["station"] == "simulator":
            continue
        failed = failure.Failure.load(toolchain.ROOT / first["replay"].partition("RUN=")[2])
        small = dataclasses.replace(
            shrink.shrink(failed), folder=failed.folder.with_name(failed.folder.name + "-small")
        )
        small.save()
        first["small"] = small.divergence.replay
        first["small_instructions"] = len(small.program.instructions)
