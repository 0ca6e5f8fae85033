# SPDX-License-Identifier: Apache-2.0
"""Random load and store programs, and what they mean in plain numpy."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Instruction, Opcode, Space, make
from beatmatch.memory import DECERR, SLVERR, ErrorRange, MemoryImage, MemoryTiming


@dataclass
class Scenario:
    """Instructions for both engines, base registers, memory and its timing.

    ``clean`` scenarios have no error; loads and stores use different scratchpad words and memory windows, so that
    the result does not depend on their order.
    """

    loads: list[Instruction]
    stores: list[Instruction]
    bases: list[int]
    sizes: list[int]
    timing: MemoryTiming
    image: MemoryImage
    scratchpad: np.ndarray  # uint8 [sp_words, lanes]
    parameters: np.ndarray  # uint8 [words, lanes]
    clean: bool
    grant: int  # probabilities in percent: semaphore grants, scratchpad grants, requests of the others
    access: int
    traffic: int
    notes: dict = field(default_factory=dict)


def rows_of(instruction: Instruction) -> list[tuple[int, int]]:
    """(memory offset, local word) of every row, in order."""
    f = instruction.fields
    local = "dst" if instruction.opcode == Opcode.LOAD else "src"
    ring = f[local + "_ring"]
    rows = []
    for outer in range(f["outer"]):
        turn = outer % (1 << ring) if ring else outer
        for row in range(f["rows"]):
            offset = f["offset"] + outer * f["outer_stride"] + row * f["row_stride"]
            word = f[local] + turn * f[local + "_outer_stride"] + row * f[local + "_row_stride"]
            rows.append((offset, word))
    return rows


def limit_of(config: Config, instruction: Instruction) -> int:
    """Local words in the space that an instruction addresses."""
    parameter = instruction.fields.get("dst_space", 0) == Space.PARAMETER
    return config.param_rows * config.param_words if parameter else config.sp_words


def legal(config: Config, instruction: Instruction, bases: list[int], sizes: list[int]) -> bool:
    """Whether no row of the instruction raises an error."""
    f = instruction.fields
    words = -(-f["row_bytes"] // config.lanes)
    base, size = bases[f["base"]], sizes[f["base"]]
    return all(
        (base + offset) % config.mem_bytes == 0
        and offset + f["row_bytes"] <= size
        and word + words <= limit_of(config, instruction)
        for offset, word in rows_of(instruction)
    )


def transfer(rng: random.Random, config: Config, opcode: Opcode, clean: bool) -> Instruction:
    """A random transfer; in a clean scenario loads use base registers 0 to 7 and the lower half of the scratchpad,
    stores the others."""
    beat, lanes = config.mem_bytes, config.lanes
    load = opcode == Opcode.LOAD
    name = "dst" if load else "src"
    values: dict[str, int] = {}
    first, words = 0, config.sp_words
    if load and rng.random() < 0.2:
        values["dst_space"] = int(Space.PARAMETER)
        words = config.param_rows * config.param_words
    elif clean:
        first, words = (0, words // 2) if load else (words // 2, words - words // 2)
    most = words * lanes
    row_bytes = rng.choice(
        [rng.randint(1, 2 * lanes), rng.randint(1, 4 * beat), lanes, beat, rng.randint(1, 300), rng.randint(1, 6000)]
    )
    row_bytes = min(row_bytes, most)
    row_words = -(-row_bytes // lanes)
    rows = rng.choice([1, 1, 2, 3, rng.randint(1, 9)])
    outer = rng.choice([1, 1, 2, 3, rng.randint(1, 7)])
    if row_bytes > 1000:
        rows, outer = rng.randint(1, 2), 1
    room = words - row_words
    row_stride = rng.randint(0, min(4095, room // max(1, rows)))
    outer_stride = rng.randint(0, max(0, room - row_stride * (rows - 1)) // outer)
    slack = room - row_stride * (rows - 1) - outer_stride * (outer - 1)
    values[name] = first + rng.randint(0, max(0, slack))
    values[name + "_row_stride"] = row_stride
    values[name + "_outer_stride"] = min(outer_stride, 65535)
    values[name + "_ring"] = rng.choice([0, 0, 1, 2, 3])
    step = rng.choice([0, beat, -(-row_bytes // beat) * beat, rng.randint(0, 40) * beat])
    values["row_stride"] = step
    values["outer_stride"] = rng.choice([0, step * rows, rng.randint(0, 100) * beat])
    values["offset"] = rng.choice([0, rng.randint(0, 100) * beat, rng.randint(0, 1000) * beat])
    values["base"] = rng.randint(0, 7) + (0 if load or not clean else 8)
    for wait in ("wait0", "wait1"):
        if rng.random() < 0.4:
            values[wait + "_id"], values[wait + "_n"] = rng.randint(0, 31), rng.randint(0, 15)
    for signal in ("sig0", "sig1"):
        if rng.random() < 0.6:
            values[signal + "_en"], values[signal + "_id"] = 1, rng.randint(0, 31)
    return make(opcode, each=rng.randint(0, 1), outer=outer, rows=rows, row_bytes=row_bytes, **values)


def damage(rng: random.Random, config: Config, instruction: Instruction) -> Instruction:
    """The instruction with one of its addresses made wrong, somewhere."""
    f = dict(instruction.fields)
    name = "dst" if instruction.opcode == Opcode.LOAD else "src"
    kind = rng.randrange(6)
    if kind == 5:  # one word too far, or just not
        limit = limit_of(config, instruction)
        reach = max(word for _, word in rows_of(instruction)) - f[name] - (-f["row_bytes"] // config.lanes)
        f[name] = min(max(0, limit - reach + rng.randint(0, 1)), (1 << 18) - 1)
    elif kind == 0:
        f["offset"] += rng.randint(1, config.mem_bytes - 1)
    elif kind == 1:
        f[rng.choice(["row_stride", "outer_stride"])] += rng.randint(1, config.mem_bytes - 1)
    elif kind == 2:
        f["offset"] = rng.choice([f["offset"] + 0x10000, 0xFFFFFFFF - 0xFFFFFFFF % config.mem_bytes])
    elif kind == 3:
        f[name] = min(limit_of(config, instruction) - rng.randint(0, 3), (1 << 18) - 1)
    else:
        f[name + "_row_stride"] = rng.randint(0, 4095)
        f["rows"] = rng.randint(1, 40)
    return Instruction(instruction.opcode, f)


def random_timing(rng: random.Random, errors: tuple[ErrorRange, ...] = ()) -> MemoryTiming:
    """A random memory: from one that never hesitates to one that mostly does."""
    stalls = rng.choice([(0,) * 5, tuple(rng.choice([0, 30, 128, 230]) for _ in range(5))])
    rate = rng.choice([None, (rng.randint(1, 12), rng.randint(1, 5))])
    shared = rate is not None and rng.random() < 0.4
    return MemoryTiming(
        read_latency=rng.choice([1, 2, 7, 30]),
        write_latency=rng.choice([1, 3, 20]),
        read_bandwidth=rate,
        write_bandwidth=None if shared else rng.choice([None, (rng.randint(1, 12), rng.randint(1, 5))]),
        shared=shared,
        stalls=stalls,
        seed=rng.getrandbits(64),
        max_reads=rng.choice([1, 2, 64]),
        max_writes=rng.choice([1, 2, 64]),
        errors=errors,
    )


def random_scenario(rng: random.Random, config: Config, clean: bool, instructions: int = 6) -> Scenario:
    """A random scenario, about half of its instructions for each engine."""
    beat = config.mem_bytes
    window = 1 << 16
    bases, sizes = [], []
    for index in range(16):
        region = rng.choice([0x0, 0x1_0000_0000, (1 << 64) - (1 << 24)]) + 0x8_0000 * index
        bases.append(region + rng.choice([0, 4096 - beat * rng.randint(0, 4), rng.randint(0, 64) * beat]))
        sizes.append(window if clean or rng.random() < 0.7 else rng.randint(0, 3000))
        if not clean and rng.random() < 0.05:
            bases[-1] += rng.randint(1, beat - 1)
    if not clean and rng.random() < 0.2:
        sizes[rng.randrange(16)] = (1 << 64) - 1
    programs = {Opcode.LOAD: [], Opcode.STORE: []}
    while sum(map(len, programs.values())) < instructions:
        opcode = rng.choice([Opcode.LOAD, Opcode.STORE])
        instruction = transfer(rng, config, opcode, clean)
        if not legal(config, instruction, bases, sizes) and (clean or rng.random() < 0.8):
            continue
        if not clean and rng.random() < 0.08:
            instruction = damage(rng, config, instruction)
        programs[opcode].append(instruction)
    everything = programs[Opcode.LOAD] + programs[Opcode.STORE]
    if not clean and rng.random() < 0.3:  # a window that ends with a row's last byte, or one byte before
        f = rng.choice(everything).fields
        reach = max(offset for offset, _ in rows_of(Instruction(Opcode.LOAD if "dst" in f else Opcode.STORE, f)))
        sizes[f["base"]] = reach + f["row_bytes"] - rng.randint(0, 1)
    errors = []
    if not clean:
        for _ in range(rng.choice([0, 0, 1, 3])):
            chosen = rng.choice(everything)
            offset, _ = rng.choice(rows_of(chosen))
            first = (bases[chosen.fields["base"]] + offset) % (1 << 64) // beat * beat
            last = min(first + rng.choice([0, beat * 20, beat * 200]), (1 << 64) - 1)
            both = rng.choice([(True, True), (True, False), (False, True)])
            errors.append(ErrorRange(first, last, rng.choice([SLVERR, DECERR]), *both))
    image = MemoryImage()
    numbers = np.random.default_rng(rng.getrandbits(64))
    for base, size in zip(bases, sizes, strict=True):
        count = min(window, size, (1 << 64) - base)
        image.write(base, numbers.integers(0, 256, count, dtype=np.uint8))
    return Scenario(
        loads=programs[Opcode.LOAD],
        stores=programs[Opcode.STORE],
        bases=bases,
        sizes=sizes,
        timing=random_timing(rng, tuple(errors)),
        image=image,
        scratchpad=numbers.integers(0, 256, (config.sp_words, config.lanes), dtype=np.uint8),
        parameters=numbers.integers(0, 256, (config.param_rows * config.param_words, config.lanes), dtype=np.uint8),
        clean=clean,
        grant=rng.choice([10, 60, 100]),
        access=rng.choice([15, 60, 100]),
        traffic=rng.choice([0, 0, 10, 60]),
    )


def expected(config: Config, scenario: Scenario) -> tuple[MemoryImage, np.ndarray, np.ndarray]:
    """Memory, scratchpad and parameter words after a clean scenario, from plain copies."""
    image = scenario.image.snapshot()
    scratchpad, parameters = scenario.scratchpad.copy(), scenario.parameters.copy()
    lanes = config.lanes
    for instruction in scenario.loads:
        f = instruction.fields
        target = parameters if f["dst_space"] == Space.PARAMETER else scratchpad
        for offset, word in rows_of(instruction):
            data = image.read(scenario.bases[f["base"]] + offset, f["row_bytes"])
            target.reshape(-1)[word * lanes : word * lanes + len(data)] = data
    for instruction in scenario.stores:
        f = instruction.fields
        for offset, word in rows_of(instruction):
            data = scratchpad.reshape(-1)[word * lanes : word * lanes + f["row_bytes"]]
            image.write(scenario.bases[f["base"]] + offset, data)
    return image, scratchpad, parameters
