# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: the host's registers and its bus, the start, the configuration."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from beatmatch import csr
from beatmatch.stations.host import PLACES
from tb.coverage.group import ARCHITECTURAL, bucket, buckets, group, hit
from tb.coverage.window import Window, before


def _words() -> Iterable[str]:
    for register in csr.REGISTERS:
        for index in range(register.count):
            name = f"{register.name}{index}" if register.count > 1 else register.name
            yield from ([name] if register.bits == 32 else [f"{name}.low", f"{name}.high"])


def _word(address: int) -> str:
    name, index, half = PLACES[address]
    register = next(item for item in csr.REGISTERS if item.name == name)
    label = f"{name}{index}" if register.count > 1 else name
    return label if register.bits == 32 else f"{label}.{'high' if half else 'low'}"


@group(ARCHITECTURAL, "A register word was accessed, while idle and while a program runs.",
       (f"{word} {how}" for word, how in product(_words(), ("read", "written", "read busy",
       "written busy"))))  # fmt: skip
def register_access(w: Window) -> Iterable[str]:
    for access in w.facts.accesses:
        if not access.refused:
            what = "written" if access.write else "read"
            yield f"{_word(access.address)} {what}{' busy' if access.busy else ''}"


@group(ARCHITECTURAL, "An address without a register was accessed.",
       ("read", "written", "read busy", "written busy", "in a gap", "past the last"))  # fmt: skip
def unmapped_access(w: Window) -> Iterable[str]:
    for access in w.facts.accesses:
        if access.refused:
            yield f"{'written' if access.write else 'read'}{' busy' if access.busy else ''}"
            yield "past the last" if access.address > max(PLACES) else "in a gap"


@group(ARCHITECTURAL, "A register was written with these byte strobes.", (f"strobe {index:04b}" for index in range(16)))
def write_strobes(w: Window) -> Iterable[str]:
    return (f"strobe {access.strobe:04b}" for access in w.facts.accesses if access.write and not access.refused)


@group(ARCHITECTURAL, "Order and stalls of the host's bus.",
       ("address and data together", "address first", "data first", "write response waits", "read response waits",
        "read and write in one cycle", "read response while a write waits", "address waits", "data waits",
        "read address waits"))  # fmt: skip
def host_bus(w: Window) -> Iterable[str]:
    level = {name: w.field("host", "axil", name).astype(bool) for name in (
        "awready", "wready", "arready", "bvalid", "rvalid")}  # fmt: skip
    aw = w.flag("s_axil_awvalid") & level["awready"]
    data = w.flag("s_axil_wvalid") & level["wready"]
    return hit({
        "address and data together": aw & data & level["wready"] & level["awready"],
        "address first": data & ~level["awready"],
        "data first": aw & ~level["wready"],
        "write response waits": level["bvalid"] & ~w.flag("s_axil_bready"),
        "read response waits": level["rvalid"] & ~w.flag("s_axil_rready"),
        "read and write in one cycle": aw & w.flag("s_axil_arvalid") & level["arready"],
        "read response while a write waits": level["rvalid"] & ~level["awready"],
        "address waits": w.flag("s_axil_awvalid") & ~level["awready"],
        "data waits": w.flag("s_axil_wvalid") & ~level["wready"],
        "read address waits": w.flag("s_axil_arvalid") & ~level["arready"],
    })  # fmt: skip


@group(ARCHITECTURAL, "A start, by what was before it.",
       ("after reset", "after done", "after an error", "while busy", "with strobe 0", "with data 0"))  # fmt: skip
def starts(w: Window) -> Iterable[str]:
    for access in w.facts.accesses:
        if not access.write or access.refused or access.address != csr.CTRL.address:
            continue
        if not access.strobe & 1:
            yield "with strobe 0"
        elif not access.data & 1:
            yield "with data 0"
        elif access.busy:
            yield "while busy"
        else:
            done = bool(w.flag("status.done")[access.at - 1])
            halted = bool(w.flag("status.error")[access.at - 1])
            yield "after an error" if halted else "after done" if done else "after reset"


@group(ARCHITECTURAL, "The status as a whole: flags that are 1 together.",
       ("idle", "busy", "done", "done with error", "busy halted", "done with overflow", "busy with overflow",
        "overflow cleared by a start", "error cleared by a start"))  # fmt: skip
def status(w: Window) -> Iterable[str]:
    busy, done, error, overflow = (w.flag(f"status.{n}") for n in ("busy", "done", "error", "overflow"))
    return hit({
        "idle": ~busy & ~done, "busy": busy & ~error, "done": done & ~error & ~overflow,
        "done with error": done & error,
        "busy halted": busy & error, "done with overflow": done & overflow, "busy with overflow": busy & overflow,
        "overflow cleared by a start": before(overflow) & ~overflow & busy,
        "error cleared by a start": before(error) & ~error & busy,
    })  # fmt: skip


LENGTHS = (1, 2, 17, 33)


@group(ARCHITECTURAL, "A program of a length, from an address, with a cycle limit or without.",
       [f"length {size}" for size in ("0", *buckets(LENGTHS))]
       + ["address at a chunk", "address inside a chunk", "address above 4 GiB", "no cycle limit",
           "cycle limit"])  # fmt: skip
def programs(w: Window) -> Iterable[str]:
    for length, address, limit in w.facts.started:
        yield f"length {bucket(LENGTHS, length) if length else 0}"
        yield f"address {'inside' if address % 256 else 'at'} a chunk"
        if address >> 32:
            yield "address above 4 GiB"
        yield "cycle limit" if limit else "no cycle limit"


SIZES = {
    "sp_banks": (1, 2, 3, 5, 8), "acc_banks": (1, 2, 3, 5, 8), "fifo_tiles": (2, 3, 5, 16), "queue_depth": (1, 2, 4),
    "outstanding": (1, 2, 4, 8), "mem_bits": (32, 64, 128, 256, 512, 1024),
}  # fmt: skip


@group(ARCHITECTURAL, "A configuration of a size or shape ran.",
       [f"{name} {size}" for name, limits in SIZES.items() for size in buckets(limits)]
       + ["rows<cols", "rows=cols", "rows>cols", "beat<word", "beat=word", "beat>word", "beat<=entry",
           "beat>entry"])  # fmt: skip
def configurations(w: Window) -> Iterable[str]:
    config = w.config
    for name, limits in SIZES.items():
        yield f"{name} {bucket(limits, getattr(config, name))}"
    yield f"rows{'<' if config.rows < config.cols else '=' if config.rows == config.cols else '>'}cols"
    yield f"beat{'<' if config.mem_bytes < config.lanes else '=' if config.mem_bytes == config.lanes else '>'}word"
    yield f"beat{'>' if config.mem_bytes > 32 else '<='}entry"


@group(ARCHITECTURAL, "Where a cycle of a run went (categories of the accounting), and into which the next one.",
       [f"{a}" for a in ("active", "weight shift", "weight stall", "raw stall", "input stall", "other")]
       + [f"{a} then {b}" for a, b in product(
           ("active", "weight shift", "weight stall", "raw stall", "input stall", "other"),
           repeat=2) if a != b])  # fmt: skip
def accounting(w: Window) -> Iterable[str]:
    names = ("other", "active", "weight shift", "weight stall", "raw stall", "input stall")
    number = np.zeros(w.cycles, np.int64)
    for index, name in enumerate(names[1:], 1):
        number[w.flag(f"status.{name.replace(' ', '_')}")] = index
    run = w.flag("status.busy") & ~w.state["clear"]
    yield from (names[index] for index in np.unique(number[run]).tolist())
    both = run & before(run)
    pairs = np.unique(before(number)[both] * 8 + number[both])
    yield from (f"{names[p >> 3]} then {names[p & 7]}" for p in pairs.tolist() if p >> 3 != p & 7)
