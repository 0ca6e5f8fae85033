# SPDX-License-Identifier: Apache-2.0
"""Runs a failing program again with waves around the divergence, and finds the first wrong register in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pywellen

from beatmatch.config import Config
from beatmatch.machine import SteppedMachine
from beatmatch.program import Program
from tb.lockstep import runner
from tb.lockstep.failure import PROGRAM, Failure
from tb.lockstep.job import Item, locate
from tb.lockstep.registers import Register, registers
from tb.lockstep.report import Divergence

CORE = "bm_lockstep_top.i_core"
CYCLE = "bm_lockstep_top.cycle_q"
MARGIN = 4
"""Cycles that a rerun goes on behind the last one that has to be in the waves."""


def rerun(failed: Failure, first: int, last: int, name: str) -> tuple[Divergence | None, Path]:
    """Run the program up to cycle `last` with waves from cycle `first` on; the divergence seen, and the wave file."""
    built = runner.build(failed.config, failed.sim, sources=failed.source_paths(), waves=True)
    waves = failed.folder / (f"{name}.vcd" if failed.sim == "verilator" else f"{name}.fst")
    waves.unlink(missing_ok=True)
    (result,) = runner.run(
        built,
        failed.config,
        [Item(0, {"file": str(failed.folder / PROGRAM)})],
        patches=failed.patches,
        until=last + MARGIN,
        plusargs=[f"+wave_file={waves}", f"+wave_from={first}", f"+wave_to={last + 1}"],
    )
    found = Divergence.from_dict(result.divergence) if result.divergence else None
    return found, waves


def drill_down(failed: Failure) -> None:
    """Name the first wrong register behind a digest that differs; fills `divergence.register`, `row` and `col`."""
    found = failed.divergence
    slots = [name.split(".") for name in (f"{found.station}.{found.slot}", *found.also)]
    expected = _model_registers(failed, found.cycle, slots)
    if not expected:
        return
    _, waves = rerun(failed, max(0, found.cycle - 2), found.cycle, "drill")
    wrong = first_wrong(waves, found.cycle, expected)
    if wrong is None:
        return
    found.register = wrong
    if len(wrong["index"]) == 2 and wrong["kind"] == "array":
        found.row, found.col = wrong["index"]


def _model_registers(failed: Failure, cycle: int, slots: list[list[str]]) -> list[tuple[str, Register]]:
    """Registers behind the differing digests, as the model has them in a cycle."""
    with _patched(failed.patches):
        machine = machine_at(failed.program, failed.config, cycle)
    return [(slot, register) for station, slot in slots for register in registers(machine, station, slot)]


@contextmanager
def _patched(patches: list[str]) -> Iterator[None]:
    """Planted faults of the model, taken back afterwards."""
    undo: list[tuple[Any, str, Any]] = []

    def replace(target: Any, name: str, value: Any) -> None:
        undo.append((target, name, getattr(target, name)))
        setattr(target, name, value)

    for patch in patches:
        locate(patch)(replace)
    try:
        yield
    finally:
        for target, name, value in reversed(undo):
            setattr(target, name, value)


def machine_at(program: Program, config: Config, cycle: int) -> SteppedMachine:
    """The model in the state of a cycle."""
    machine = SteppedMachine(program.replace(config=config), digest=True, block=1)
    while machine.cycle_count < cycle and not machine.finished:
        machine.run_block()
    return machine


def first_wrong(waves: Path, cycle: int, expected: list[tuple[str, Register]]) -> dict[str, Any] | None:
    """The first register whose value in the waves is not the model's; None if all agree."""
    wave = pywellen.Waveform(str(waves))
    variables = {_plain(var.full_name): var for var in wave.all_vars()}
    at = _end_of(variables[CYCLE].signal, cycle)
    if at is None:
        return None
    signals: dict[str, int | None] = {}
    for slot, register in expected:
        path = f"{CORE}.{register.path}"
        if path not in signals:
            signals[path] = _value(variables[path].signal, at) if path in variables else -1
        value = signals[path]
        if value == -1:
            continue  # not in this configuration's hierarchy
        part = None if value is None else (value >> register.low) & ((1 << register.width) - 1)
        if part != register.value:
            return {
                "name": register.name,
                "index": list(register.index),
                "path": path,
                "expected": register.value,
                "actual": "unknown" if part is None else part,
                "cycle": cycle,
                "kind": slot,
            }
    return None


def _plain(name: str) -> str:
    """Names without the range that some writers append, and without Verilator's outer scope."""
    return name.split(" [")[0].removeprefix("TOP.")


def _value(signal, time: int) -> int | None:
    """A value as an unsigned number; None if it has unknown bits."""
    value = signal.value_at(time)
    if value is None:
        return None
    if isinstance(value, int):
        return value
    return int(value, 2) if set(value) <= {"0", "1"} else None


def _end_of(signal: pywellen.Signal, cycle: int) -> int | None:
    """The last time at which the cycle counter shows this cycle; None if the waves do not reach so far."""
    return next((time - 1 for time, value in signal if value == cycle + 1), None)
