# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: the memory port."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

import numpy as np

from tb.coverage.group import MICROARCHITECTURAL, buckets, group, hit, in_buckets
from tb.coverage.window import READERS, Window, before

REQUESTERS = (*READERS, "store")
LENGTHS = (1, 2, 16, 64, 256)
LATENCIES = (1, 2, 10, 50, 100)
CHANNELS = ("AR", "R", "AW", "W", "B")
STATES = ("idle", "begun", "waiting", "ending")


def _address(w: Window, station: str, slot: str) -> np.ndarray:
    data = w.data(station, slot, "address").astype(np.int64)
    return data[:, 0] | (data[:, 1] & 0x7FFFFFFF) << 32


def _bursts(w: Window, who: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cycles, addresses and beats of the bursts that a requester put on its port."""
    station, slot = ("port", "aw") if who == "store" else (w.port(who)[0], "ar")
    at = np.flatnonzero(w.on("port", "aw") if who == "store" else w.state[f"burst.{who}"])
    return at, _address(w, station, slot)[at], w.field(station, slot, "len")[at] + 1


@group(
    MICROARCHITECTURAL, "Beats of a burst.", (f"{who} {size}" for who, size in product(REQUESTERS, buckets(LENGTHS)))
)
def burst_lengths(w: Window) -> Iterable[str]:
    return (f"{who} {size}" for who in REQUESTERS for size in in_buckets(LENGTHS, _bursts(w, who)[2]))


@group(MICROARCHITECTURAL,
       "A row was cut at a 4 KiB boundary, or after 256 beats; a burst ends or begins at one, or holds a "
       "whole page.",
       (f"{who} {what}" for who, what in product(REQUESTERS, (
           "cut at 4 KiB", "cut at 256 beats", "ends at 4 KiB", "begins at 4 KiB"))))  # fmt: skip
def burst_splits(w: Window) -> Iterable[str]:
    for who in REQUESTERS:
        _, first, beats = _bursts(w, who)
        end = first + beats * w.config.mem_bytes
        follows = first[1:] == end[:-1] if len(first) else np.zeros(0, bool)
        yield from (f"{who} {name}" for name in hit({
            "cut at 4 KiB": follows & (end[:-1] % 4096 == 0), "cut at 256 beats": follows & (beats[:-1] == 256),
            "ends at 4 KiB": end % 4096 == 0, "begins at 4 KiB": first % 4096 == 0,
        }))  # fmt: skip


@group(MICROARCHITECTURAL, "Bursts of a requester without their last response, up to the limit.",
       (f"{who} {what}" for who, what in product(REQUESTERS, ("one", "two", "three or more", "limit reached",
       "limit held"))))  # fmt: skip
def outstanding(w: Window) -> Iterable[str]:
    for who in REQUESTERS:
        count = w.state["writes" if who == "store" else f"reads.{who}"]
        limit = count >= w.config.outstanding
        yield from (f"{who} {name}" for name in hit({
            "one": count == 1, "two": count == 2, "three or more": count > 2, "limit reached": limit,
            "limit held": limit & before(limit) & before(limit, 2) & before(limit, 3),
        }))  # fmt: skip


@group(MICROARCHITECTURAL,
       "Which requester's burst follows which on AR, and which one's beats on R; AR and R in one cycle.",
       [f"{channel} {a} then {b}" for channel in ("AR", "R") for a, b in product(READERS, repeat=2)]
       + [f"AR of {a} with R of {b}" for a, b in product(READERS, repeat=2)]
       + [f"AR of {a} right behind {b}" for a, b in product(READERS, repeat=2)])  # fmt: skip
def read_order(w: Window) -> Iterable[str]:
    ar, ident = w.on("port", "ar"), w.field("port", "ar", "id")
    beat, rid = w.state["beat"], w.input("m_axi_rid")
    ended = beat & w.flag("m_axi_rlast")
    for channel, on, number in (("AR", ar, ident), ("R", ended, rid)):
        order = number[on]
        for a, b in set(zip(order[:-1].tolist(), order[1:].tolist(), strict=True)):
            yield f"{channel} {READERS[a]} then {READERS[b]}"
    for a, b in product(range(3), repeat=2):
        if (ar & (ident == a) & beat & (rid == b)).any():
            yield f"AR of {READERS[a]} with R of {READERS[b]}"
        if (ar & (ident == a) & before(ar) & (before(ident) == b)).any():
            yield f"AR of {READERS[a]} right behind {READERS[b]}"


def _phase(w: Window, who: str) -> dict[str, np.ndarray]:
    """State of a requester: nothing to do, no burst out yet, bursts out, or the last response has come."""
    if who == "fetch":
        at_work, out = w.flag("status.busy"), w.state["reads.fetch"] > 0
        begun = w.state["fetched"] > 0
    else:
        at_work = w.state[f"flying.{who}"] > 0
        out = w.state["writes" if who == "store" else f"reads.{who}"] > 0
        begun = before(out)
    return {
        "idle": ~at_work & ~out, "begun": at_work & ~out & ~begun, "waiting": out, "ending": at_work & ~out & begun,
    }  # fmt: skip


@group(MICROARCHITECTURAL,
       "A channel does not move while a requester is idle, has begun, waits for answers, or has all of them.",
       [f"{channel} {who} {state}" for who in REQUESTERS for channel in (("AR", "R") if who != "store" else ("AW",
           "W", "B"))
        for state in STATES] + [f"{channel} while halted" for channel in CHANNELS])  # fmt: skip
def channel_stalls(w: Window) -> Iterable[str]:
    alive = w.flag("rst_n")
    held = {
        "AR": alive & ~w.flag("m_axi_arready"), "R": alive & ~w.flag("m_axi_rvalid"),
        "AW": alive & ~w.flag("m_axi_awready"),
        "W": alive & ~w.flag("m_axi_wready"), "B": alive & ~w.flag("m_axi_bvalid"),
    }  # fmt: skip
    for who in REQUESTERS:
        states = _phase(w, who)
        bus = w.port(who)[1]
        own = held | {"AR": alive & ~w.flag(f"{bus}_arready"), "R": alive & ~w.flag(f"{bus}_rvalid")}
        for channel in ("AR", "R") if who != "store" else ("AW", "W", "B"):
            yield from (f"{channel} {who} {state}" for state, mask in states.items() if (own[channel] & mask).any())
    halted = w.flag("status.halt") & w.flag("status.busy")
    yield from (f"{channel} while halted" for channel, mask in held.items() if (mask & halted).any())


@group(MICROARCHITECTURAL, "The core holds a read beat back, by whose it is, for one and for several cycles.",
       [f"{who} {size}" for who, size in product(READERS, ("once", "four cycles"))] + ["with AR granted",
           "with W moving"])  # fmt: skip
def read_back_pressure(w: Window) -> Iterable[str]:
    held = w.flag("m_axi_rvalid") & (w.field("port", "ready", "rready") == 0) & w.flag("rst_n")
    for index, who in enumerate(READERS):
        station, bus = w.port(who)
        waits = w.flag(f"{bus}_rvalid") & (w.field(station, "ready", "rready") == 0) & w.flag("rst_n")
        mine = waits & (w.input(f"{bus}_rid") == index)
        long = mine & before(mine) & before(mine, 2) & before(mine, 3)
        yield from (f"{who} {name}" for name in hit({"once": mine, "four cycles": long}))
    yield from hit({"with AR granted": held & w.on("port", "ar"), "with W moving": held & w.on("port", "w")})


@group(MICROARCHITECTURAL, "Cycles from a burst on AR to the requester's next beat, while it has no other burst out.",
       (f"{who} {size}" for who, size in product(READERS, buckets(LATENCIES))))  # fmt: skip
def read_latency(w: Window) -> Iterable[str]:
    for who in READERS:
        alone = w.state[f"burst.{who}"] & (w.state[f"reads.{who}"] == 0)
        beats = np.flatnonzero(w.state[f"beat.{who}"])
        for at in np.flatnonzero(alone).tolist():
            later = beats[beats > at]
            if len(later):
                yield from (f"{who} {size}" for size in in_buckets(LATENCIES, later[:1] - at))


@group(MICROARCHITECTURAL, "Writes: beats against their address, back to back, answers.",
       ("W in the cycle of an AW", "W the cycle after its AW", "several AW ahead of W",
       "W without a gap between bursts",
        "AW while W is owed", "B in the cycle of an AW", "B in the cycle of a W", "B behind B",
        "AW, W, B, AR and R in one cycle",
        "W waits for the memory", "last beat waits", "AW waits while beats are owed"))  # fmt: skip
def writes(w: Window) -> Iterable[str]:
    aw, beat, b = w.on("port", "aw"), w.on("port", "w"), w.flag("m_axi_bvalid")
    owed, last = w.state["beats_owed"], w.field("port", "w", "last").astype(bool)
    stalled = w.flag("rst_n") & ~w.flag("m_axi_wready") & (owed > 0)
    return hit({
        "W in the cycle of an AW": aw & beat, "W the cycle after its AW": beat & before(aw),
        "AW while W is owed": aw & (owed > 0),
        "several AW ahead of W": before(aw) & aw & ~beat & (owed > 0),
        "W without a gap between bursts": beat & before(last),
        "B in the cycle of an AW": b & aw, "B in the cycle of a W": b & beat, "B behind B": b & before(b),
        "AW, W, B, AR and R in one cycle": aw & beat & b & w.on("port", "ar") & w.state["beat"],
        "W waits for the memory": stalled & before(stalled), "last beat waits": stalled & (owed == 1),
        "AW waits while beats are owed": w.flag("rst_n") & ~w.flag("m_axi_awready") & (owed > 0),
    })  # fmt: skip


@group(MICROARCHITECTURAL, "Channels that move in the same cycle.", (f"{a} {b}" for a, b in combinations(CHANNELS, 2)))
def channels_together(w: Window) -> Iterable[str]:
    moves = {"AR": w.on("port", "ar"), "R": w.state["beat"], "AW": w.on("port", "aw"), "W": w.on("port", "w"),
             "B": w.flag("m_axi_bvalid")}  # fmt: skip
    return hit({f"{a} {b}": moves[a] & moves[b] for a, b in combinations(CHANNELS, 2)})
