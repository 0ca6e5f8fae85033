# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: resets, halts, deadlocks and errors, by what the machine was doing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from beatmatch.csr import CTRL
from beatmatch.isa import Engine, Error
from tb.coverage.group import MICROARCHITECTURAL, buckets, group, hit, in_buckets
from tb.coverage.window import ENGINES, READERS, Window, before

LENGTHS = (1, 2, 4)


@group(MICROARCHITECTURAL, "A reset came while an engine was idle or at work in a run, while something was on its way.",
       [f"{engine} {state}" for engine, state in product(ENGINES, ("idle", "at work", "queued"))]
       + [f"{who} waits for reads" for who in READERS] + [
           "beats owed", "writes unanswered", "read beat on the bus", "read beat held back", "array rows enter",
           "weights shift",
           "while idle", "while halted", "after done", "host write response waits", "host read response waits",
           "in the clear cycle",
           "with a start written"])  # fmt: skip
def reset_states(w: Window) -> Iterable[str]:
    reset = ~w.flag("rst_n") & before(w.flag("rst_n"))
    return hit({name: reset & mask for name, mask in machine_states(w).items()})


def machine_states(w: Window) -> dict[str, np.ndarray]:
    """What the machine is doing, by the names of the bins of `reset_states`."""
    busy, halt = w.flag("status.busy"), w.flag("status.halt")
    masks = {"while idle": ~busy, "while halted": busy & halt, "after done": w.flag("status.done")}
    for engine in ENGINES:
        flying = w.state[f"flying.{engine}"] > 0
        masks |= {f"{engine} idle": busy & ~flying, f"{engine} at work": busy & flying}
        masks |= {f"{engine} queued": busy & (w.state[f"queued.{engine}"] > 0)}
    masks |= {f"{who} waits for reads": busy & (w.state[f"reads.{who}"] > 0) for who in READERS}
    rvalid, held = w.flag("m_axi_rvalid"), w.field("port", "ready", "rready") == 0
    return masks | {
        "beats owed": busy & (w.state["beats_owed"] > 0), "writes unanswered": busy & (w.state["writes"] > 0),
        "read beat on the bus": busy & rvalid, "read beat held back": busy & rvalid & held,
        "array rows enter": busy & w.on("matmul", "row"), "weights shift": busy & w.on("matmul", "shift"),
        "host write response waits": w.field("host", "axil", "bvalid") == 1,
        "host read response waits": w.field("host", "axil", "rvalid") == 1, "in the clear cycle": busy & ~before(busy),
        "with a start written": ~busy & before(w.input("s_axil_wvalid") == 1, 2),
    }  # fmt: skip


@group(MICROARCHITECTURAL, "Cycles of a reset.", (f"length {size}" for size in buckets(LENGTHS)))
def reset_lengths(w: Window) -> Iterable[str]:
    low = ~w.flag("rst_n")
    edges = np.diff(np.concatenate([[False], low, [False]]).astype(np.int8))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    whole = (begins > 0) & (ends < w.cycles)
    return (f"length {size}" for size in in_buckets(LENGTHS, (ends - begins)[whole]))


@group(MICROARCHITECTURAL, "An engine raised an error while another one had an instruction in flight.",
       (f"{who.name} beside {engine}" for who, engine in product(Engine,
       ENGINES) if who.name.lower() != engine))  # fmt: skip
def halt_states(w: Window) -> Iterable[str]:
    for at, engine, _, _ in w.facts.errors:
        for other in ENGINES:
            if w.state[f"flying.{other}"][at - 1] > 0 and Engine(engine).name.lower() != other:
                yield f"{Engine(engine).name} beside {other}"


@group(MICROARCHITECTURAL, "What still moves after an error.",
       [f"read beats of {who}" for who in READERS] + [
           "AR accepted", "AW accepted", "W beats", "B", "commit", "vector result", "store read", "weight shift",
           "signal given", "nothing to wait for", "a hundred cycles"])  # fmt: skip
def halted_drain(w: Window) -> Iterable[str]:
    halt = w.flag("status.halt") & w.flag("status.busy")
    masks = {f"read beats of {who}": halt & w.state[f"beat.{who}"] for who in READERS}
    retire = np.zeros(w.cycles, bool)
    for engine in ENGINES:
        retire |= w.on(engine, "retire")
    new = w.on("host", "error")
    yield from hit(masks | {
        "AR accepted": halt & w.on("port", "ar"), "AW accepted": halt & w.on("port", "aw"),
        "W beats": halt & w.on("port", "w"),
        "B": halt & w.flag("m_axi_bvalid"), "commit": halt & w.on("accumulator", "write"),
        "weight shift": halt & w.on("matmul", "shift"),
        "vector result": halt & w.on("vector", "write"), "store read": halt & w.on("store", "sp_read"),
        "signal given": halt & retire, "nothing to wait for": new & ~_after(w.flag("status.busy")),
    })  # fmt: skip
    lengths = np.cumsum(halt) - np.maximum.accumulate(np.where(halt, 0, np.cumsum(halt)))
    if (lengths >= 100).any():
        yield "a hundred cycles"


def _after(values: np.ndarray) -> np.ndarray:
    """The values of the next cycle; True behind the window."""
    return np.concatenate([values[1:], [True]])


@group(MICROARCHITECTURAL,
       "An error response came in the cycle in which another error was raised: the order of errors decides.",
       [f"{who} loses to {winner}" for who, winner in (
           ("LOAD", "FRONTEND"), ("WEIGHTS", "FRONTEND"), ("WEIGHTS", "LOAD"), ("STORE", "FRONTEND"), ("STORE", "LOAD"),
           ("STORE", "WEIGHTS"), ("STORE", "MATMUL"), ("STORE", "VECTOR"))]
       + [f"{who} wins over an answer to STORE" for who in ("FRONTEND", "LOAD", "WEIGHTS")]
       + ["error response a cycle behind an error"])  # fmt: skip
def simultaneous_errors(w: Window) -> Iterable[str]:
    halt = w.flag("status.halt")
    refused = {
        name: w.state[f"beat.{reader}"] & (w.input(f"{w.port(reader)[1]}_rresp") != 0)
        for name, reader in zip(("FRONTEND", "LOAD", "WEIGHTS"), READERS, strict=True)
    }
    bad = np.any(list(refused.values()), axis=0)
    answer = w.flag("m_axi_bvalid") & (w.input("m_axi_bresp") != 0)
    for at, engine, code, _ in w.facts.errors:
        cycle = at - 1  # in which it was raised
        winner = Engine(engine)
        bus = code in (Error.BUS_SLVERR, Error.BUS_DECERR)
        for who in (name for name, mask in refused.items() if mask[cycle] and not halt[cycle]):
            if who != winner.name:
                yield f"{who} loses to {winner.name}"
            if answer[cycle] and bus and who == winner.name:
                yield f"{who} wins over an answer to STORE"
        if answer[cycle] and winner is not Engine.STORE:
            yield f"STORE loses to {winner.name}"
        if (bad | answer)[at]:
            yield "error response a cycle behind an error"


@group(MICROARCHITECTURAL, "A deadlock: who is named, and how many engines have work that cannot go on.",
       [f"{engine} named" for engine in ENGINES] + [f"{n} engines with work" for n in (1, 2, 3, 4)]
       + ["decode blocked by a full queue", "everything dispatched", "tiles in the weight FIFO"])  # fmt: skip
def deadlocks(w: Window) -> Iterable[str]:
    for at, engine, code, _ in w.facts.errors:
        if code != Error.DEADLOCK:
            continue
        yield f"{ENGINES[engine - 1]} named"
        queued = {name: int(w.state[f"queued.{name}"][at]) for name in ENGINES}
        work = sum(queued[name] > 0 or w.state[f"flying.{name}"][at] > 0 for name in ENGINES)
        if work < 5:
            yield f"{work} engines with work"
        full = max(queued.values()) == w.config.queue_depth and w.state["fetched"][at] > 0
        yield "decode blocked by a full queue" if full else "everything dispatched"
        if w.state["tiles"][at]:
            yield "tiles in the weight FIFO"


@group(MICROARCHITECTURAL,
       "The end of a run in the cycle of something else, and straight after the last thing it waited for.",
       ("done with the host reading", "done with the host writing", "start in the last cycle of a run",
        "start in the first cycle after a run", "done right after a retire",
        "two runs within a hundred cycles"))  # fmt: skip
def run_boundaries(w: Window) -> Iterable[str]:
    busy = w.flag("status.busy")
    done = w.flag("status.done") & ~before(w.flag("status.done")) & w.flag("rst_n")
    retire = np.zeros(w.cycles, bool)
    for engine in ENGINES:
        retire |= w.on(engine, "retire")
    ends, begins = np.flatnonzero(before(busy) & ~busy), np.flatnonzero(busy & ~before(busy))
    near = any(0 < begin - end < 100 for end in ends.tolist() for begin in begins.tolist())
    written = (w.field("host", "axil", "awready") == 0) | (w.field("host", "axil", "wready") == 0)
    started = np.zeros(w.cycles, bool)  # a start takes effect, or is ignored, in this cycle
    for access in w.facts.accesses:
        if access.write and access.address == CTRL.address and access.data & access.strobe & 1:
            started[access.at - 1] = True
    return hit({
        "done with the host reading": done & (w.field("host", "axil", "arready") == 0),
        "done with the host writing": done & written, "start in the last cycle of a run": before(started) & done,
        "start in the first cycle after a run": started & done,
        "done right after a retire": done & before(retire, 2), "two runs within a hundred cycles": np.array([near]),
    })  # fmt: skip
