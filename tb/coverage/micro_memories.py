# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: banks, conflicts and races of scratchpad, accumulators and weight FIFO."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

import numpy as np

from tb.coverage.group import MICROARCHITECTURAL, group, hit
from tb.coverage.window import Window, before

READERS = ("matmul", "weights", "vector", "store")
"""Readers of the scratchpad by priority."""
WRITERS = ("vector", "load")
BANKS = 8


def _reads(w: Window, reader: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether data arrive and of which word; they were granted a cycle earlier."""
    return w.on(reader, "sp_read"), w.field(reader, "sp_read", "address")


def _writes(w: Window, writer: str) -> tuple[np.ndarray, np.ndarray]:
    on, address = w.on(writer, "write"), w.field(writer, "write", "address")
    if writer == "vector":
        return on, address // w.config.col_parts
    return on & (w.field("load", "write", "space") == 0), address


@group(MICROARCHITECTURAL,
       "Each bank of the scratchpad read and written by each engine, each bank of the accumulators too.",
       [f"{reader} reads bank {bank}" for reader, bank in product(READERS, range(BANKS))]
       + [f"{writer} writes bank {bank}" for writer, bank in product(WRITERS, range(BANKS))]
       + [f"accumulator bank {bank} {how}" for bank, how in product(range(BANKS), ("read", "overwritten",
           "added to"))])  # fmt: skip
def banks(w: Window) -> Iterable[str]:
    size, rows = w.config.sp_bank_words, w.config.acc_bank_rows

    def numbers(on: np.ndarray, address: np.ndarray, span: int) -> list[int]:
        return np.unique(address[on] // span).tolist()

    for reader in READERS:
        yield from (f"{reader} reads bank {bank}" for bank in numbers(*_reads(w, reader), size) if bank < BANKS)
    for writer in WRITERS:
        yield from (f"{writer} writes bank {bank}" for bank in numbers(*_writes(w, writer), size) if bank < BANKS)
    write, address = w.on("accumulator", "write"), w.field("accumulator", "write", "address")
    add = w.field("accumulator", "write", "add").astype(bool)
    read = (w.on("accumulator", "read"), w.field("accumulator", "read", "address"))
    for how, on, where in (("read", *read), ("overwritten", write & ~add, address), ("added to", write & add, address)):
        yield from (f"accumulator bank {bank} {how}" for bank in numbers(on, where, rows))


@group(MICROARCHITECTURAL,
       "A read was granted to a bank right behind one of higher priority, and nothing to it in that cycle; "
       "after one and after three such cycles. Two readers at once in different banks.",
       [f"{a} before {b}" for a, b in combinations(READERS, 2)] + [f"{a} holds off {b}" for a,
           b in combinations(READERS, 2)]
       + [f"{a} beside {b}" for a, b in combinations(READERS, 2)])  # fmt: skip
def read_conflicts(w: Window) -> Iterable[str]:
    size = w.config.sp_bank_words
    reads = {name: (on, address // size) for name in READERS for on, address in (_reads(w, name),)}
    masks: dict[str, np.ndarray] = {}
    for a, b in combinations(READERS, 2):
        (first, first_bank), (second, second_bank) = reads[a], reads[b]
        behind = second & ~before(second) & before(first) & (before(first_bank) == second_bank)
        longer = behind.copy()
        for back in (2, 3):
            longer &= before(first, back) & (before(first_bank, back) == second_bank) & ~before(second, back)
        masks |= {f"{a} before {b}": behind, f"{a} holds off {b}": longer, f"{a} beside {b}": first & second}
    return hit(masks)


@group(MICROARCHITECTURAL,
       "Vector and load write the scratchpad: at once in two banks, or load right behind vector in one.",
       ("at once in two banks", "load behind vector", "load behind three of vector",
       "same word one after the other"))  # fmt: skip
def write_conflicts(w: Window) -> Iterable[str]:
    size = w.config.sp_bank_words
    (vector, vector_word), (load, load_word) = _writes(w, "vector"), _writes(w, "load")
    same = before(vector_word) // size == load_word // size
    behind = load & ~before(load) & before(vector) & same
    return hit({
        "at once in two banks": vector & load, "load behind vector": behind,
        "load behind three of vector": behind & before(vector, 2) & before(vector, 3),
        "same word one after the other": load & before(vector) & (before(vector_word) == load_word),
    })  # fmt: skip


@group(MICROARCHITECTURAL,
       "A word is read and written in the same cycle: the old data are read. And read right after its write.",
       [f"{reader} {when} {writer}" for reader, writer, when in product(READERS, WRITERS, ("with", "after"))]
       + [f"vector reads a row {when} the array {how}" for when, how in product(
           ("with", "after"), ("overwrites it", "adds to it"))])  # fmt: skip
def same_word(w: Window) -> Iterable[str]:
    masks: dict[str, np.ndarray] = {}
    for reader, writer in product(READERS, WRITERS):
        (read, word), (write, written) = _reads(w, reader), _writes(w, writer)
        masks[f"{reader} with {writer}"] = read & before(write) & (before(written) == word)
        masks[f"{reader} after {writer}"] = read & before(write, 2) & (before(written, 2) == word)
    read, row = w.on("accumulator", "read"), w.field("accumulator", "read", "address")
    write, target = w.on("accumulator", "write"), w.field("accumulator", "write", "address")
    add = w.field("accumulator", "write", "add").astype(bool)
    for when, back in (("with", 1), ("after", 2)):
        hits = read & before(write, back) & (before(target, back) == row)
        masks[f"vector reads a row {when} the array overwrites it"] = hits & ~before(add, back)
        masks[f"vector reads a row {when} the array adds to it"] = hits & before(add, back)
    return hit(masks)


@group(MICROARCHITECTURAL, "Commits to one accumulator row close to one another: forwarded, and just not.",
       ("add after add", "add after overwrite", "overwrite after add", "three adds", "add two cycles after add",
        "add after add in the same bank", "add after add in another bank"))  # fmt: skip
def forwarding(w: Window) -> Iterable[str]:
    write, row = w.on("accumulator", "write"), w.field("accumulator", "write", "address")
    add = w.field("accumulator", "write", "add").astype(bool)
    over = write & ~add
    same = before(write) & (before(row) == row)
    bank = row // w.config.acc_bank_rows
    twice = add & before(add) & (before(row) == row)
    other = add & before(add) & (before(row) != row)
    return hit({
        "add after add": twice, "add after overwrite": add & before(over) & same,
        "overwrite after add": over & before(add) & same,
        "three adds": twice & before(twice), "add after add in the same bank": other & (before(bank) == bank),
        "add two cycles after add": add & before(add, 2) & (before(row,
        2) == row) & ~(before(write) & (before(row) == row)),
        "add after add in another bank": other & (before(bank) != bank),
    })  # fmt: skip


@group(MICROARCHITECTURAL,
       "Vector's read of the accumulators right behind reads that adding rows have in its bank, and beside them.",
       ("behind an add", "behind three adds", "beside an add in another bank",
       "while rows overwrite its bank"))  # fmt: skip
def accumulator_conflicts(w: Window) -> Iterable[str]:
    rows = w.config.acc_bank_rows
    add = w.field("accumulator", "write", "add").astype(bool)
    write, bank = w.on("accumulator", "write"), w.field("accumulator", "write", "address") // rows
    read, read_bank = w.on("accumulator", "read"), w.field("accumulator", "read", "address") // rows
    # Data arrive a cycle after the grant; an adding row has its read the cycle before it commits. So a read that
    # arrives in t was granted in t-1, and the add that commits in t-1 took the bank in t-2.
    blocked = before(add) & (before(bank) == read_bank)
    behind = read & ~before(read) & blocked
    longer = behind & before(add, 2) & (before(bank, 2) == read_bank) & before(add, 3) & (before(bank, 3) == read_bank)
    return hit({
        "behind an add": behind, "behind three adds": longer,
        "beside an add in another bank": read & add & (bank != read_bank),
        "while rows overwrite its bank": read & write & ~add & (bank == read_bank),
    })  # fmt: skip


@group(MICROARCHITECTURAL, "The weight FIFO: tiles in it, written and shifted at once, each slot.",
       ["empty while a row waits", "one tile", "several tiles", "full", "written while shifted",
           "written for a while when empty",
        "completed and taken in one cycle", "slot 0", "last slot", "from memory", "from the scratchpad",
        "from the scratchpad behind memory", "from memory behind the scratchpad"])  # fmt: skip
def weight_fifo(w: Window) -> Iterable[str]:
    tiles = w.state["tiles"]
    write, shift = w.on("weights", "fifo_write"), w.on("matmul", "shift")
    slot = w.field("matmul", "shift", "tile")
    local = write & w.on("weights", "sp_read")
    remote = write & ~local
    done = write & (w.field("weights", "fifo_write", "row") == w.config.rows - 1)
    yield from hit({
        "empty while a row waits": (tiles == 0) & w.flag("status.weight_stall"), "one tile": tiles == 1,
        "several tiles": tiles > 1, "full": tiles == w.config.fifo_tiles, "written while shifted": write & shift,
        "written for a while when empty": write & before(write) & before(write, 2) & (tiles == 0),
        "completed and taken in one cycle": done & shift & (w.field("matmul", "shift", "row") == 0),
        "slot 0": shift & (slot == 0), "last slot": shift & (slot == w.config.fifo_tiles - 1),
        "from memory": remote, "from the scratchpad": local,
    })  # fmt: skip
    order = np.flatnonzero(write)
    kinds = local[order]
    if (kinds[1:] & ~kinds[:-1]).any():
        yield "from the scratchpad behind memory"
    if (~kinds[1:] & kinds[:-1]).any():
        yield "from memory behind the scratchpad"
