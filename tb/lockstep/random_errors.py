# SPDX-License-Identifier: Apache-2.0
"""Makes some programs run into an error: each error code by several ways, then a restart."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence

from beatmatch.isa import Engine, Opcode
from beatmatch.isa.encode import positions
from beatmatch.isa.fields import SEMAPHORE_MAX
from beatmatch.memory import DECERR, SLVERR, ErrorRange
from beatmatch.program import HostEvent, Program
from tb.lockstep.dials import PLAIN

RESTART = 0.3


def disturb(
    rng: random.Random,
    program: Program,
    kind: str | None = None,
    chance: float = PLAIN.errors,
    kinds: Sequence[str] | None = None,
) -> Program:
    """The program unchanged, or with one thing wrong: `kind` by name, or with a chance one of `kinds` (of all)."""
    if kind is None:
        if rng.random() >= chance:
            return program
        kind = rng.choice(tuple(kinds or KINDS))
    changed = KINDS[kind](rng, program)
    if rng.random() < RESTART and not changed.host:
        changed = changed.replace(host=(HostEvent(rng.randint(400, 1500), "start"),))
    return changed.replace(origin=f"{program.origin}, disturbed: {kind}")


def _poke(program: Program, index: int, field: str, raw: int) -> Program:
    """Overwrite a field of an encoding, legal or not."""
    word = program.instructions[index]
    shift, declared = positions(program.decoded()[index].opcode)[field]
    mask = (1 << declared.width) - 1
    words = list(program.instructions)
    words[index] = word & ~(mask << shift) | (raw & mask) << shift
    return program.replace(instructions=words)


def _pick(rng: random.Random, program: Program, *opcodes: Opcode) -> int:
    """An instruction with one of these operations, the last ones of the prologue included."""
    places = [index for index, item in enumerate(program.decoded()) if not opcodes or item.opcode in opcodes]
    return rng.choice(places) if places else 0


def _opcode(rng: random.Random, program: Program) -> Program:
    return _poke(program, _pick(rng, program), "opcode", rng.choice((0, *range(10, 32))))


def _instance(rng: random.Random, program: Program) -> Program:
    return _poke(program, _pick(rng, program), "instance", rng.randint(1, 3))


def _reserved(rng: random.Random, program: Program) -> Program:
    index = _pick(rng, program, Opcode.LOAD, Opcode.STORE, Opcode.WEIGHTS_SP, Opcode.WEIGHTS_MEM, Opcode.REQUANT)
    used = sum(field.width for _, field in positions(program.decoded()[index].opcode).values())
    words = list(program.instructions)
    words[index] |= 1 << rng.randint(used, 255)
    return program.replace(instructions=words)


def _field(rng: random.Random, program: Program) -> Program:
    """A format, space or mode that does not exist."""
    index = _pick(rng, program)
    names = {
        Opcode.LOAD: ("dst_space",),
        Opcode.WEIGHTS_MEM: ("weight_format",),
        Opcode.WEIGHTS_SP: ("weight_format", "transpose"),
        Opcode.MATMUL: ("act_format", "weight_format"),
        Opcode.STORE: ("wait0_n",),
    }.get(program.decoded()[index].opcode, ("src_format", "dst_format", "param_mode"))
    name = rng.choice(names)
    if name == "wait0_n":  # both waits on one counter
        for field, value in (("wait0_id", 3), ("wait1_id", 3), ("wait0_n", 1)):
            program = _poke(program, index, field, value)
        return _poke(program, index, "wait1_n", 1)
    return _poke(program, index, name, 1 if name == "transpose" else 3)


def _zero(rng: random.Random, program: Program) -> Program:
    index = _pick(rng, program)
    names = [name for name, (_, field) in positions(program.decoded()[index].opcode).items() if field.nonzero]
    return _poke(program, index, rng.choice(names), 0)


def _local(rng: random.Random, program: Program) -> Program:
    """A local address past the end of its memory."""
    index = _pick(rng, program)
    names = [name for name in ("src", "dst", "src2", "acc") if name in positions(program.decoded()[index].opcode)]
    if not names:
        return _poke(program, index, "base", rng.randint(0, 15))
    return _poke(program, index, rng.choice(names), (1 << 18) - 1 - rng.randint(0, 3))


def _stride(rng: random.Random, program: Program) -> Program:
    """A stride that leads out of the memory or the window after some rows."""
    index = _pick(rng, program)
    names = [name for name in positions(program.decoded()[index].opcode) if "stride" in name or "pitch" in name]
    name = rng.choice(names)
    width = positions(program.decoded()[index].opcode)[name][1].width
    beat = program.config.mem_bytes
    raw = rng.getrandbits(width)
    return _poke(program, index, name, raw // beat * beat if rng.random() < 0.5 else max(1, raw))


def _unaligned(rng: random.Random, program: Program) -> Program:
    index = _pick(rng, program, Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE)
    offset = program.decoded()[index].offset
    return _poke(program, index, "offset", offset + rng.randint(1, program.config.mem_bytes - 1))


def _window(rng: random.Random, program: Program) -> Program:
    """A transfer outside its window, or through a base register that has none."""
    index = _pick(rng, program, Opcode.LOAD, Opcode.WEIGHTS_MEM, Opcode.STORE)
    if rng.random() < 0.5:
        return _poke(program, index, "base", rng.randint(0, 15))
    size = program.bases[program.decoded()[index].base].size
    beat = program.config.mem_bytes
    return _poke(program, index, "offset", size - rng.randint(0, 2) * beat)


def _bus(rng: random.Random, program: Program) -> Program:
    """A range of addresses that answers errors; the program itself may be in it."""
    areas = [(base.address, base.size) for base in program.bases if base.size]
    areas.append((program.address, 32 * len(program.instructions) + 32))
    start, size = rng.choice(areas)
    first = start + rng.randrange(size)
    last = min(start + size - 1, first + rng.choice((0, 3, 64, 1024)))
    both = rng.choice(((True, True), (True, False), (False, True)))
    errors = (ErrorRange(first, last, rng.choice((SLVERR, DECERR)), *both),)
    names = ["timing"]
    if program.weight_timing is not None:  # in the one memory, in the other, or in both
        names = rng.choice((["timing"], ["weight_timing"], ["timing", "weight_timing"]))
    changes = {name: dataclasses.replace(getattr(program, name), errors=errors) for name in names}
    return program.replace(**changes)


def _deadlock(rng: random.Random, program: Program) -> Program:
    """A signal that never comes, or a counter that needs one more than it gets."""
    index = _pick(rng, program)
    signals = [name for name in ("sig0_en", "sig1_en") if getattr(program.decoded()[index], name)]
    if signals and rng.random() < 0.5:
        return _poke(program, index, rng.choice(signals), 0)
    return _poke(_poke(program, index, "wait0_n", 15), index, "wait1_n", 0)


def _tiles(rng: random.Random, program: Program) -> Program:
    """Weights that no matmul takes, or a matmul without weights."""
    words = list(program.instructions)
    places = [i for i, item in enumerate(program.decoded()) if item.engine in (Engine.WEIGHTS, Engine.MATMUL)]
    del words[rng.choice(places)]
    return program.replace(instructions=words)


def _overflow(rng: random.Random, program: Program) -> Program:
    used = [getattr(i, f"{s}_id") for i in program.decoded() for s in ("sig0", "sig1") if getattr(i, f"{s}_en")]
    counts = list(program.semaphores)
    counts[rng.choice(used)] = SEMAPHORE_MAX - rng.randint(0, 1)
    return program.replace(semaphores=tuple(counts))


def _limit(rng: random.Random, program: Program) -> Program:
    return program.replace(cycle_limit=rng.randint(1, 800))


def _address(rng: random.Random, program: Program) -> Program:
    return program.replace(address=program.address + rng.randint(1, max(32, program.config.mem_bytes) - 1))


def _empty(rng: random.Random, program: Program) -> Program:
    return program.replace(instructions=[])


KINDS: dict[str, Callable[[random.Random, Program], Program]] = {
    "opcode": _opcode,
    "instance": _instance,
    "reserved": _reserved,
    "field": _field,
    "zero": _zero,
    "local": _local,
    "stride": _stride,
    "unaligned": _unaligned,
    "window": _window,
    "bus": _bus,
    "deadlock": _deadlock,
    "tiles": _tiles,
    "overflow": _overflow,
    "limit": _limit,
    "address": _address,
    "empty": _empty,
}
"""Ways to go wrong, by name."""
