# SPDX-License-Identifier: Apache-2.0
"""The stepped machine against cycles derived by hand from docs/timing.md, and what holds for the cycles of any run."""

from __future__ import annotations

import dataclasses

import pytest

from beatmatch import functional
from beatmatch.isa import Engine, Error, Format, Opcode
from beatmatch.machine import run_stepped
from beatmatch.memory import ErrorRange, MemoryTiming
from beatmatch.program import Base, Program
from beatmatch.trace import STATIONS, layout
from tests.model.micro_programs import PROGRAMS, Micro, all_programs

HAND = all_programs()
TIMED_ERRORS = {Error.CYCLE_LIMIT}  # the functional tier has no time
COMPLETE = [micro for micro in HAND if "host.error" not in micro.events and not micro.cycle_limit]
SLOWED = list({micro.name.rpartition("-")[0]: micro for micro in COMPLETE}.values())  # each program once
Event = tuple[int, str, str, dict[str, int]]


def as_program(micro: Micro) -> Program:
    """The micro-program as a program file would hold it."""
    errors = (ErrorRange(*micro.failing),) if micro.failing else ()
    return Program(
        micro.config,
        list(micro.instructions),
        semaphores=tuple(micro.counters.get(i, 0) for i in range(32)),
        bases=tuple(Base(*micro.bases.get(i, (0, 0))) for i in range(16)),
        address=micro.program_address,
        timing=MemoryTiming(read_latency=micro.latency, write_latency=micro.write_latency, errors=errors),
        weight_timing=MemoryTiming(read_latency=micro.weight_latency) if micro.config.weight_port else None,
        cycle_limit=micro.cycle_limit,
        origin=micro.name,
    )


def run(micro: Micro) -> tuple[list[Event], int]:
    """Events of a run on the stepped machine, (cycle from the start write, station, slot, fields), and busy cycles."""
    busy: list[bool] = []
    status = layout(micro.config).slot("host", "status").offset
    result = run_stepped(as_program(micro), limit=20000, watch=lambda _, records: busy.extend(records[:, status] & 1))
    start = busy.index(1) - 1  # busy is 1 from the cycle after the start write on
    return [(event.cycle - start, event.station, event.kind, event.fields) for event in result.events], sum(busy)


def expected_error(micro: Micro) -> Error:
    """The error that ends the run; NONE if it ends normally."""
    errors = micro.events.get("host.error")
    return Error(errors[0][1]["code"]) if errors else Error.NONE


def expected_events(micro: Micro) -> list[Event]:
    """The derived events in the form in which `run` gives them."""
    return [(cycle, *slot.split("."), dict(f)) for slot, events in micro.events.items() for cycle, f in events]


def differences(micro: Micro, events: list[Event], busy: int) -> list[str]:
    """What the run did otherwise than the page says, in words."""
    found = [] if busy == micro.busy else [f"busy cycles: {busy} in the run, {micro.busy} on the page"]
    for slot, wanted in micro.events.items():
        station, kind = slot.split(".")
        seen = [(cycle, fields) for cycle, s, k, fields in events if (s, k) == (station, kind)]
        for i in range(max(len(seen), len(wanted))):
            here = seen[i] if i < len(seen) else None
            there = wanted[i] if i < len(wanted) else None
            same = here and there and here[0] == there[0] and all(here[1][k] == v for k, v in there[1].items())
            if not same:
                found.append(f"{slot} number {i}: {here} in the run, {there} on the page")
                break
    return found


# ----- the derivations themselves -----


def test_there_are_many_and_their_sums_agree_with_the_paper():
    """`all_programs` compares each chain of terms with the number worked out on paper."""
    assert len(PROGRAMS) >= 20
    assert len({micro.name for micro in HAND}) == len(HAND)


def test_a_wrong_sum_is_found(monkeypatch):
    build, busy = PROGRAMS[0]
    monkeypatch.setitem(busy, 20, busy[20] + 1)
    with pytest.raises(AssertionError, match=build.__name__):
        all_programs()


@pytest.mark.parametrize("micro", HAND, ids=lambda m: m.name)
def test_derivation_is_sound(micro):
    """Slots and fields exist, events of a slot are in order of time, and each instruction goes forward."""
    slots = {f"{station}.{slot.name}": slot for station, group in STATIONS.items() for slot in group}
    times: dict[tuple[str, int], list[int]] = {}
    for name, events in micro.events.items():
        assert slots[name].kind == "event"
        cycles = [cycle for cycle, _ in events]
        assert cycles == sorted(set(cycles)), name
        for cycle, fields in events:
            assert set(fields) <= {field for field, _ in slots[name].fields}, name
            assert cycle <= micro.busy
            if "seq" in fields and name != "host.error":
                times.setdefault((name.split(".")[1], fields["seq"]), []).append(cycle)
    if micro in COMPLETE:
        used = {item.engine.name.lower() for item in micro.instructions}
        assert {f"{engine}.retire" for engine in used} <= set(micro.events), "an engine's retire events are not derived"
    for seq in range(len(micro.instructions)):
        order = [times[kind, seq][0] for kind in ("fetch", "dispatch", "issue", "retire") if (kind, seq) in times]
        assert order == sorted(set(order))


@pytest.mark.parametrize("micro", HAND, ids=lambda m: m.name)
def test_program_is_what_it_says(micro):
    """The functional tier runs it to its end, or to the error that the derivation names."""
    outcome = functional.run(as_program(micro))
    error = expected_error(micro)
    assert outcome.error == (Error.NONE if error in TIMED_ERRORS else error), outcome.text


@pytest.mark.parametrize(("build", "busy"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_derived_cycles_grow_with_latency(build, busy):
    cycles = [busy[latency] for latency in sorted(busy)]
    assert cycles == sorted(cycles)


# ----- what no machine can beat -----


def read_beats(micro: Micro) -> int:
    """Beats that the program and its transfers read on the memory port, whatever the timing."""
    config = micro.config
    beats = -(-32 * (1 + len(micro.instructions)) // config.mem_bytes)
    for item in micro.instructions:
        if item.opcode is Opcode.LOAD:
            beats += item.outer * item.rows * -(-item.row_bytes // config.mem_bytes)
        elif config.weight_port:
            continue
        elif item.opcode is Opcode.WEIGHTS_MEM and item.packed:
            beats += item.outer * item.inner * (config.rows * config.cols // config.mem_bytes)
        elif item.opcode is Opcode.WEIGHTS_MEM:
            rows = item.outer * ((item.inner - 1) * config.rows + item.k_rows)
            beats += rows * -(-item.n_lanes // config.mem_bytes)
    return beats


def rows_streamed(micro: Micro) -> dict[Engine, int]:
    """Cycles in which matmul, vector and store cannot but be active."""
    counts = dict.fromkeys(Engine, 0)
    for item in micro.instructions:
        if item.engine is Engine.MATMUL:
            counts[item.engine] += item.outer * item.ky * item.kx * item.kc * item.y * item.x
        elif item.engine is Engine.VECTOR:
            window = item.fields.get("kx", 1) * item.fields.get("ky", 1)
            chunks = 4 if item.dst_format == Format.INT32 else 1
            counts[item.engine] += item.outer * item.y * item.x * max(window, chunks)
        elif item.engine is Engine.STORE:
            counts[item.engine] += item.outer * item.rows * -(-item.row_bytes // micro.config.mem_bytes)
    return counts


def least_cycles(micro: Micro) -> int:
    """A bound from bandwidth alone: the first beat comes latency cycles after the first AR, then one beat a cycle."""
    return max(3 + micro.latency + read_beats(micro), *rows_streamed(micro).values())


@pytest.mark.parametrize("micro", COMPLETE, ids=lambda m: m.name)
def test_derived_cycles_respect_bandwidth(micro):
    assert micro.busy >= least_cycles(micro)


# ----- the comparison can fail -----


def test_every_kind_of_difference_is_found():
    micro = HAND[1]
    events = expected_events(micro)
    assert not differences(micro, events, micro.busy)
    assert differences(micro, events, micro.busy + 1)
    for index, (cycle, station, slot, fields) in enumerate(events):
        rest = events[:index] + events[index + 1 :]
        assert differences(micro, rest, micro.busy), "a missing event"
        late = sorted([*rest, (cycle + 1, station, slot, fields)], key=lambda event: event[0])
        assert differences(micro, late, micro.busy), "a late event"
        other = [*events[:index], (cycle, station, slot, {k: v + 1 for k, v in fields.items()}), *events[index + 1 :]]
        assert differences(micro, other, micro.busy), "another value"
        assert differences(micro, [*events, (9999, station, slot, fields)], micro.busy), "one too many"


# ----- the stepped machine -----


@pytest.mark.parametrize("micro", HAND, ids=lambda m: m.name)
def test_machine_keeps_the_page(micro):
    """Every listed slot shows exactly the derived events, and the run takes the derived cycles."""
    assert not differences(micro, *run(micro))


@pytest.mark.parametrize("micro", SLOWED, ids=lambda m: m.name)
def test_a_memory_one_cycle_late_is_seen(micro):
    """Every program fetches, so every derivation must notice."""
    events, busy = run(dataclasses.replace(micro, latency=micro.latency + 1))
    assert differences(micro, events, busy)


@pytest.mark.parametrize("micro", SLOWED, ids=lambda m: m.name)
def test_cycles_grow_with_read_latency(micro):
    """A slower memory never makes a run shorter, and delays it at most once for each burst that it reads."""
    bursts = sum(slot == "ar" for _, _, slot, _ in run(micro)[0])
    before = None
    for latency in (1, 2, 3, 7, 19, 40, 97):
        slower = dataclasses.replace(micro, latency=latency)
        _, busy = run(slower)
        assert busy >= least_cycles(slower)
        if before is not None:
            assert 0 <= busy - before[1] <= bursts * (latency - before[0])
        before = latency, busy


@pytest.mark.parametrize("micro", SLOWED, ids=lambda m: m.name)
def test_cycles_grow_with_write_latency(micro):
    """The answers to stores are on the path of the run's end at most once a burst."""
    bursts = sum(slot == "aw" for _, _, slot, _ in run(micro)[0])
    before = run(dataclasses.replace(micro, write_latency=1))[1]
    after = run(dataclasses.replace(micro, write_latency=31))[1]
    assert (0 < after - before <= 30 * bursts) if bursts else after == before
