# SPDX-License-Identifier: Apache-2.0
"""Runs planted faults, each in a process of its own, and puts what was found beside what was predicted."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

from tb import sim
from tb.lockstep import runner
from tb.planted import environment, golden, insim
from tb.planted.detectors import PASSED, cases, detect
from tb.planted.insim import TARGET
from tb.planted.links import CONFIG
from tb.planted.plant import Plant, planted

CHEAP: tuple[Plant, ...] = (*environment.ROWS, *golden.ROWS)
"""Need no simulator (those about builds compile a counter)."""
ALL: tuple[Plant, ...] = (*CHEAP, *insim.ROWS)
FORK = get_context("fork")


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    name: str
    what: str
    where: str
    expected: str
    found: str
    caught: bool


def row(plant: Plant, found: str) -> Row:
    """What was found beside what was predicted."""
    caught = found != PASSED and re.fullmatch(plant.expected, found, re.S) is not None
    return Row(plant.name, plant.what, plant.where, plant.expected, found, caught)


def finding(plant: Plant | None, detector: str = "") -> str:
    """What the detector of a plant says with the fault; without a plant, what a detector says of sound code."""
    cases()
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_child, args=(theirs, plant, detector))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return f"died with {process.exitcode}"
    finally:
        process.join()


def _child(pipe, plant: Plant | None, detector: str) -> None:
    if plant is None:
        pipe.send(detect(detector))
    elif plant.edit is None:
        pipe.send(detect(plant.detector, **dict(plant.options)))
    else:
        with planted(plant.edit):
            pipe.send(detect(plant.detector, **dict(plant.options)))


def unsound() -> dict[str, str]:
    """Detectors that find something although nothing is planted: their findings would prove nothing."""
    found = {name: finding(None, name) for name in dict.fromkeys(plant.detector for plant in CHEAP)}
    return {name: text for name, text in found.items() if text != PASSED}


def simulated() -> dict[str, str]:
    """Findings of the rows that need the RTL, under Icarus, which knows X; the empty name is the sound run."""
    built = runner.build(CONFIG, "icarus")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "found.json"
        sim.run(built, "tb.planted.insim", env={TARGET: str(target)}, seed=1, dump=False)
        return json.loads(target.read_text())


def uvm_rows(simulator: str = "icarus") -> list[Row]:
    """The mistakes of pyuvm tests and of their environment, which have a table of their own."""
    from tests.sim import uvm_faults

    reasons = uvm_faults.reasons(simulator)
    return [
        Row(fault.name, fault.what, "pyuvm environment", fault.expected, reasons[fault.name].splitlines()[0]
            if reasons[fault.name] else PASSED, uvm_faults.caught(fault, reasons[fault.name]))
        for fault in uvm_faults.FAULTS
    ]  # fmt: skip


def run(plants: Sequence[Plant], progress: Callable[[Row], None] = lambda row: None) -> list[Row]:
    """The table of some plants, those on the RTL last."""
    rows = []
    for plant in plants:
        if plant.detector != "rtl":
            rows.append(row(plant, finding(plant)))
            progress(rows[-1])
    wanted = [plant for plant in plants if plant.detector == "rtl"]
    if wanted:
        found = simulated()
        if found[""] != PASSED:
            raise RuntimeError(f"The RTL differs from the model although nothing is planted: {found['']}")
        for plant in wanted:
            rows.append(row(plant, found[plant.name]))
            progress(rows[-1])
    return rows


def part(rows: Sequence[Row], seconds: float, command: str) -> dict:
    """Figures for the report."""
    return {
        "total": len(rows),
        "caught": sum(item.caught for item in rows),
        "seconds": round(seconds, 1),
        "command": command,
        "rows": [asdict(item) for item in rows],
    }
