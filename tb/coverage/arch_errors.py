# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: every error, by every way to it, and what follows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from beatmatch.isa import Engine, Error, Opcode
from beatmatch.isa.encode import decode, positions, reserved_bits
from beatmatch.isa.legality import check
from tb.coverage.group import ARCHITECTURAL, group
from tb.coverage.window import READERS, Window, before

RAISED: dict[Error, tuple[str, ...]] = {
    Error.ILLEGAL_OPCODE: ("FRONTEND",),
    Error.ILLEGAL_FIELD: ("FRONTEND",),
    Error.ZERO_SIZE: ("FRONTEND",),
    Error.LOCAL_RANGE: ("LOAD", "WEIGHTS", "MATMUL", "VECTOR", "STORE"),
    Error.UNALIGNED: ("LOAD", "WEIGHTS", "STORE"),
    Error.WINDOW: ("LOAD", "WEIGHTS", "STORE"),
    Error.BUS_SLVERR: ("FRONTEND", "LOAD", "WEIGHTS", "STORE"),
    Error.BUS_DECERR: ("FRONTEND", "LOAD", "WEIGHTS", "STORE"),
    Error.SEMAPHORE_OVERFLOW: ("FRONTEND",),
    Error.DEADLOCK: ("LOAD", "WEIGHTS", "MATMUL", "VECTOR", "STORE"),
    Error.CYCLE_LIMIT: ("FRONTEND",),
    Error.PROGRAM: ("FRONTEND",),
}
"""Who can raise which error (`docs/isa.md`)."""

VECTOR = ("REQUANT", "ADD", "MAXPOOL", "AVGPOOL")
FIELD_REASONS: dict[str, tuple[str, ...]] = {
    "reserved": ("LOAD", "WEIGHTS_MEM", "WEIGHTS_SP", "REQUANT", "ADD", "STORE"),
    "instance": tuple(opcode.name for opcode in Opcode),
    "wait1_id": tuple(opcode.name for opcode in Opcode),
    "dst_space": ("LOAD",),
    "k_rows": ("WEIGHTS_MEM", "WEIGHTS_SP"),
    "n_lanes": ("WEIGHTS_MEM", "WEIGHTS_SP", "MATMUL"),
    "weight_format": ("WEIGHTS_MEM", "WEIGHTS_SP", "MATMUL"),
    "transpose": ("WEIGHTS_SP",),
    "act_format": ("MATMUL",),
    "k_lanes": ("MATMUL",),
    "src_space": VECTOR,
    "src_format": VECTOR,
    "dst_format": VECTOR,
    "param_mode": VECTOR,
    "clip_low": VECTOR,
}
"""What can be illegal about which operation, by the field that the refusal names."""


def _zeros() -> Iterable[str]:
    for opcode in Opcode:
        yield from (f"{opcode.name}.{n}" for n, (_, field) in positions(opcode).items() if field.nonzero)


@group(ARCHITECTURAL, "An error was raised by an engine.",
       (f"{code.name} {engine}" for code, engines in RAISED.items() for engine in engines))  # fmt: skip
def errors(w: Window) -> Iterable[str]:
    return (f"{Error(code).name} {Engine(engine).name}" for _, engine, code, _ in w.facts.errors)


@group(ARCHITECTURAL,
       "The decoder refused an operation code: 0, the first unused one, those of a later control engine.",
       ("0", "10-15", "16-31"))  # fmt: skip
def illegal_opcodes(w: Window) -> Iterable[str]:
    for code, word in w.facts.refused:
        if code == Error.ILLEGAL_OPCODE:
            yield "0" if not word & 31 else "10-15" if word & 31 < 16 else "16-31"


@group(ARCHITECTURAL, "The decoder refused an instruction for this field.",
       [f"{name} {op}" for name, ops in FIELD_REASONS.items() for op in ops] + ["packed k_rows",
           "packed n_lanes"])  # fmt: skip
def illegal_fields(w: Window) -> Iterable[str]:
    for code, word in w.facts.refused:
        instruction = decode(word)
        if code != Error.ILLEGAL_FIELD or instruction is None:
            continue
        sentence = check(word, w.config)[1].split()
        name = "reserved" if word & reserved_bits(instruction.opcode) else sentence[1]
        yield f"{name} {instruction.opcode.name}"
        if instruction.fields.get("packed") and "packed" in sentence:
            yield f"packed {name}"


@group(ARCHITECTURAL, "The decoder refused a size of zero.", _zeros())
def zero_sizes(w: Window) -> Iterable[str]:
    for code, word in w.facts.refused:
        instruction = decode(word)
        if code == Error.ZERO_SIZE and instruction is not None:
            name = check(word, w.config)[1].split()[1]
            yield f"{instruction.opcode.name}.{name}"


@group(ARCHITECTURAL, "An error response on a beat of a burst or on B, while the run goes on and after it is halted.",
       [f"{who} {what}" for who in READERS for what in (
           "SLVERR", "DECERR", "on a first beat", "on a middle beat", "on a last beat", "while halted")]
       + [f"store {what}" for what in ("SLVERR", "DECERR", "while halted")])  # fmt: skip
def error_responses(w: Window) -> Iterable[str]:
    halt = w.flag("status.halt")
    for who in READERS:
        bus = w.port(who)[1]
        resp, last = w.input(f"{bus}_rresp"), w.flag(f"{bus}_rlast")
        mine = w.state[f"beat.{who}"]
        bad = mine & (resp != 0)
        if not bad.any():
            continue
        places = np.flatnonzero(mine)
        first = np.zeros(w.cycles, bool)
        first[places[1:]] = last[places[:-1]]
        masks = {"SLVERR": bad & (resp == 2), "DECERR": bad & (resp == 3), "on a last beat": bad & last}
        masks |= {"on a first beat": bad & first, "on a middle beat": bad & ~first & ~last & (before(mine) | ~first)}
        masks |= {"while halted": bad & halt}
        yield from (f"{who} {name}" for name, mask in masks.items() if mask.any())
    b, bresp = w.flag("m_axi_bvalid"), w.input("m_axi_bresp")
    masks = {"SLVERR": b & (bresp == 2), "DECERR": b & (bresp == 3), "while halted": b & (bresp != 0) & halt}
    yield from (f"store {name}" for name, mask in masks.items() if mask.any())


@group(ARCHITECTURAL, "How a run ended, and how the one after it.",
       [f"{first}" for first in ("done", "error", "reset")]
       + [f"{first} then {second}" for first in ("done", "error", "reset") for second in ("done", "error")]
       + ["done then reset", "error then reset", "reset then reset"])  # fmt: skip
def run_ends(w: Window) -> Iterable[str]:
    yield from w.facts.run_ends
    yield from (f"{first} then {second}" for first, second in w.facts.end_pairs)
