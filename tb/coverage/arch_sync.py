# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: waits, signals and semaphores."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from beatmatch.isa import Opcode
from tb.coverage.group import ARCHITECTURAL, bucket, buckets, group
from tb.coverage.window import ENGINES, Window

NAMES = tuple(opcode.name for opcode in Opcode)
AMOUNTS = (1, 2, 8, 15)
VALUES = (0, 1, 2, 16, 128, 255)


def _waits(item) -> int:
    return (item.wait0_n > 0) + (item.wait1_n > 0)


@group(ARCHITECTURAL, "An operation with a number of waits, once or in each iteration.",
       (f"{name} waits={count} each={each}" for name, count, each in product(NAMES, range(3), (0, 1))))  # fmt: skip
def wait_patterns(w: Window) -> Iterable[str]:
    return (f"{item.opcode.name} waits={_waits(item)} each={item.each}" for item in w.facts.instructions())


@group(ARCHITECTURAL, "An operation with a number of signals, once or in each iteration.",
       (f"{name} signals={count} each={each}" for name, count, each in product(NAMES, range(3), (0, 1))))  # fmt: skip
def signal_patterns(w: Window) -> Iterable[str]:
    return (f"{i.opcode.name} signals={i.sig0_en + i.sig1_en} each={i.each}" for i in w.facts.instructions())


@group(ARCHITECTURAL, "Both signals of an instruction go to one counter, or to two.",
       (f"{name} {how}" for name, how in product(NAMES, ("same", "different"))))  # fmt: skip
def two_signals(w: Window) -> Iterable[str]:
    for item in w.facts.instructions():
        if item.sig0_en and item.sig1_en:
            yield f"{item.opcode.name} {'same' if item.sig0_id == item.sig1_id else 'different'}"


@group(ARCHITECTURAL, "An engine was granted a wait for an amount.",
       (f"{engine} n={size}" for engine, size in product(ENGINES, buckets(AMOUNTS))))  # fmt: skip
def wait_amounts(w: Window) -> Iterable[str]:
    return (f"{event.engine} n={bucket(AMOUNTS, n)}" for event in w.facts.issued for _, n in event.waits)


@group(ARCHITECTURAL, "Each counter was waited for, and was signalled.",
       (f"{what} {index}" for what, index in product(("waited", "signalled"), range(32))))  # fmt: skip
def counters_used(w: Window) -> Iterable[str]:
    for event in w.facts.issued:
        yield from (f"waited {counter}" for counter, _ in event.waits)
    for event in w.facts.retired:
        yield from (f"signalled {counter}" for counter in event.signals)


@group(ARCHITECTURAL, "A counter's value before and after a change, and what changed it in one cycle.",
       [f"{when} {size}" for when in ("before", "after") for size in buckets(VALUES)]
       + ["taken to zero", "one signal", "two signals", "three or more signals", "taken and given in one cycle",
          "overflow from 255", "two counters change in one cycle",
          "counter waited for with more than enough"])  # fmt: skip
def counter_values(w: Window) -> Iterable[str]:
    changes: dict[int, int] = {}
    for at, _, old, taken, given in w.facts.counters:
        exact = old + given - taken
        changes[at] = changes.get(at, 0) + 1
        yield f"before {bucket(VALUES, old)}"
        if exact > 255:
            yield "overflow from 255"
        yield f"after {bucket(VALUES, min(255, max(0, exact)))}"
        if taken and not given and exact == 0:
            yield "taken to zero"
        if given:
            yield ("one signal", "two signals", "three or more signals")[min(given, 3) - 1]
        if taken and given:
            yield "taken and given in one cycle"
        if taken and old > taken:
            yield "counter waited for with more than enough"
    if any(count > 1 for count in changes.values()):
        yield "two counters change in one cycle"
