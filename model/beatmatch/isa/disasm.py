# SPDX-License-Identifier: Apache-2.0
"""Programs as text; `beatmatch.isa.asm.assemble` is the exact inverse."""

from __future__ import annotations

import json
import re
from dataclasses import fields

from beatmatch.config import PRESETS, Config
from beatmatch.isa.encode import decode, make
from beatmatch.isa.fields import SEMAPHORES
from beatmatch.memory import Dram, MemoryTiming
from beatmatch.program import ACCESSES, Base, Program

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLAIN = re.compile(r"s\d+\Z")
HEX_BYTES = 32
"""Bytes per line of a segment."""


def disassemble(program: Program) -> str:
    """The text of a program; assembling it gives an equal program."""
    lines = [_config_line(program.config)]
    if program.origin:
        lines.append(f".origin {json.dumps(program.origin)}")
    for key in ("seed", "cycle_limit"):
        if getattr(program, key):
            lines.append(f".{key} {getattr(program, key)}")
    lines.append(f".address {program.address:#x}")
    lines += _timing_lines(program.timing, "")
    if program.weight_timing is not None:
        lines += _timing_lines(program.weight_timing, "weight_") or [".weight_timing"]
    names = _semaphore_names(program)
    for index in range(SEMAPHORES):
        if index in names:
            lines.append(f".semaphore {names[index]} {program.semaphores[index]} @{index}")
        elif program.semaphores[index]:
            lines.append(f".semaphore s{index} {program.semaphores[index]}")
        if index in program.names and index not in names:
            lines.append(f".name {index} {json.dumps(program.names[index])}")
    lines += [f".name {i} {json.dumps(n)}" for i, n in program.names.items() if not 0 <= i < SEMAPHORES]
    for index, base in enumerate(program.bases):
        if base != Base():
            lines.append(f".base {index} {base.address:#x} {base.size}")
    for event in program.host:
        access = event.action in ACCESSES
        numbers = f"{event.address:#x} {event.data:#x}" if access else f"{event.length}"
        lines.append(f".host {event.cycle} {event.action} {numbers}")
    for name, r in program.results.items():
        shape, strides = (",".join(map(str, v)) or "()" for v in (r.shape, r.strides))
        lines.append(f".result {json.dumps(name)} {r.dtype} {r.address:#x} {shape} {strides}")
    for segment in program.segments:
        lines.append(f".data {segment.address:#x}")
        lines += _data_lines(segment.data)
    lines += [instruction_text(word, names) for word in program.instructions]
    return "\n".join(lines) + "\n"


def _config_line(config: Config) -> str:
    if PRESETS.get(config.name) == config:
        return f".config {config.name}"
    values = config.record()
    if not _NAME.match(str(values["name"])):
        values["name"] = "custom"
    return ".config " + " ".join(f"{key}={value}" for key, value in values.items())


def _timing_lines(timing: MemoryTiming, which: str) -> list[str]:
    parts = []
    for item in fields(MemoryTiming):
        value = getattr(timing, item.name)
        if item.name in ("errors", "dram") or value == item.default:
            continue
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(int(value))
        parts.append(f"{item.name}={text}")
    lines = [f".{which}timing " + " ".join(parts)] if parts else []
    if timing.dram is not None:
        changed = (item for item in fields(Dram) if getattr(timing.dram, item.name) != item.default)
        values = (f" {item.name}={getattr(timing.dram, item.name)}" for item in changed)
        lines.append(f".{which}dram" + "".join(values))
    for e in timing.errors:
        lines.append(f".{which}error_range {e.first:#x} {e.last:#x} {e.response} {int(e.reads)} {int(e.writes)}")
    return lines


def _semaphore_names(program: Program) -> dict[int, str]:
    """Names that the text can use directly."""
    names: dict[int, str] = {}
    for index, name in sorted(program.names.items()):
        if 0 <= index < SEMAPHORES and _NAME.match(name) and not _PLAIN.match(name) and name not in names.values():
            names[index] = name
    return names


def _data_lines(data: bytes) -> list[str]:
    lines, start = [], 0
    while start < len(data):
        row = data[start : start + HEX_BYTES]
        if any(row):
            lines.append(f".hex {row.hex()}")
            start += len(row)
            continue
        end = start
        while end < len(data) and not any(data[end : end + HEX_BYTES]):
            end += HEX_BYTES
        end = min(end, len(data))
        lines.append(f".zeros {end - start}")
        start = end
    return lines


def instruction_text(word: int, names: dict[int, str] | None = None) -> str:
    """One instruction as text; ``.word`` if no text would give exactly these bits."""
    names = names or {}
    instruction = decode(word)
    if instruction is None:
        return f".word {word:#x}"
    values = dict(instruction.fields)
    parts = []
    if values["each"]:
        parts.append("each")
        values["each"] = 0
    waits, signals = [], []
    for index in range(2):
        if values[f"wait{index}_n"] and len(waits) == index:
            semaphore = values[f"wait{index}_id"]
            waits.append(f"{names.get(semaphore, f's{semaphore}')}:{values[f'wait{index}_n']}")
            values[f"wait{index}_n"] = values[f"wait{index}_id"] = 0
        if values[f"sig{index}_en"] and len(signals) == index:
            semaphore = values[f"sig{index}_id"]
            signals.append(names.get(semaphore, f"s{semaphore}"))
            values[f"sig{index}_en"] = values[f"sig{index}_id"] = 0
    parts += [f"wait={','.join(waits)}"] if waits else []
    parts += [f"signal={','.join(signals)}"] if signals else []
    default = make(instruction.opcode).fields
    parts += [f"{key}={value}" for key, value in values.items() if value != default[key]]
    if instruction.word() != word:
        return f".word {word:#x}"
    return " ".join([instruction.opcode.name.lower(), *parts])
