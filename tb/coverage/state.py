# SPDX-License-Identifier: Apache-2.0
"""What the records of a program say about the state of the machine: queues, instructions in flight, bursts, semaphores.

Everything here is derived from trace records and stimulus rows alone, so that coverage can be sampled wherever those
exist: beside either simulator or from the model without one.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Engine, Error, Instruction, decode
from beatmatch.isa.fields import BASE_REGISTERS, INSTRUCTION_BYTES, SEMAPHORE_MAX, SEMAPHORES
from beatmatch.stations.host import PLACES
from beatmatch.stimulus import RDATA_WORD
from tb.coverage.counts import Level
from tb.coverage.vector_values import VectorValues
from tb.coverage.window import ENGINES, READERS, Access, Facts, Sync, Window, before

TAIL = 40
"""Cycles of the block before that a window repeats."""
RUN = ("PROG_LEN", "PROG_ADDR", "CYCLE_LIMIT")
"""Registers that say which program a start begins."""
DECODER = (Error.ILLEGAL_OPCODE, Error.ILLEGAL_FIELD, Error.ZERO_SIZE)


class Tracker:
    """Follows one program, block by block; `window` gives each block with all that is derived from it."""

    def __init__(self, config: Config) -> None:
        self.config = config
        names = [f"flying.{e}" for e in ENGINES] + [f"queued.{e}" for e in ENGINES]
        names += [f"reads.{r}" for r in READERS] + ["writes", "beats_owed", "tiles", "fetched"]
        self._levels = {name: Level() for name in names}
        self._records = self._rows = None
        self._state: dict[str, np.ndarray] = {}
        self._vector = VectorValues(config)
        self._aw: deque[int] = deque()
        self._w: deque[tuple[int, int]] = deque()
        self._ar: deque[int] = deque()
        self._before: str | None = None  # how the last run ended
        self.registers: dict[tuple[str, int], int] = {}
        self._fresh()

    def _fresh(self) -> None:
        """A run begins, or a reset was: nothing is known of instructions and counters."""
        self._table: dict[int, Instruction] = {}
        self._image: dict[int, int] = {}  # byte address to value, of the fetched program
        self._program: int | None = None
        self._fetching: deque[list[int]] = deque()
        self._counters: list[int] | None = None
        self._vector.fresh()

    def window(self, records: np.ndarray, rows: np.ndarray) -> Window:
        """The next block of the program: records and stimulus rows, uint32 [cycles, words]."""
        if self._records is None:
            joined, driven, new = records.copy(), rows.copy(), 0
        else:
            joined = np.concatenate([self._records, records])
            driven, new = np.concatenate([self._rows, rows]), len(self._records)
        facts = Facts()
        window = Window(self.config, joined, driven, new, {}, facts)
        resets = ~window.flag("rst_n")
        clear = window.flag("status.busy") & ~before(window.flag("status.busy"))
        fresh = {name: values[new:] for name, values in self._derive(window, resets, clear).items()}
        for name, values in fresh.items():
            old = self._state.get(name)
            window.state[name] = values if old is None else np.concatenate([old, values])
        self._walk(window, resets | clear, facts)
        facts.windows |= {i: self.registers.get(("SIZE", i), 0) for i in range(BASE_REGISTERS)}
        kept = slice(max(0, len(joined) - TAIL), None)
        self._records, self._rows = joined[kept].copy(), driven[kept].copy()
        self._state = {name: values[kept].copy() for name, values in window.state.items()}
        return window

    # ----- counts per cycle -----

    def _derive(self, w: Window, resets: np.ndarray, clear: np.ndarray) -> dict[str, np.ndarray]:
        new = slice(w.new, None)
        anew = resets | clear
        pad = np.zeros(w.new, np.int64)
        found: dict[str, np.ndarray] = {"reset": resets, "clear": clear}

        def level(name: str, into: np.ndarray, out: np.ndarray, forget: np.ndarray) -> None:
            found[name] = np.concatenate([pad, self._levels[name].add(into[new], out[new], forget[new])])

        engine_of = w.field("frontend", "dispatch", "engine")
        for index, engine in enumerate(ENGINES, 1):
            starts = w.on(engine, "issue") & (w.field(engine, "issue", "iteration") == 0)
            ends = w.on(engine, "retire") & (w.field(engine, "retire", "last") == 1)
            level(f"flying.{engine}", starts, ends, anew)
            level(f"queued.{engine}", w.on("frontend", "dispatch") & (engine_of == index), starts, anew)
            found[f"starts.{engine}"] = starts
        beat = w.flag("m_axi_rvalid") & (w.field("port", "ready", "rready") == 1)
        found["beat"] = beat
        for index, reader in enumerate(READERS):
            station, bus = w.port(reader)
            if station == "port":
                mine = w.on("port", "ar") & (w.field("port", "ar", "id") == index)
                read = beat & (w.input("m_axi_rid") == index)
            else:
                mine = w.on(station, "ar")
                read = w.flag(f"{bus}_rvalid") & (w.field(station, "ready", "rready") == 1)
            found[f"burst.{reader}"], found[f"beat.{reader}"] = mine, read
            level(f"reads.{reader}", mine, read & w.flag(f"{bus}_rlast"), resets)
        level("writes", w.on("port", "aw"), w.flag("m_axi_bvalid"), resets)
        bursts = np.where(w.on("port", "aw"), w.field("port", "aw", "len") + 1, 0)
        level("beats_owed", bursts, w.on("port", "w"), resets)
        done = w.on("weights", "fifo_write") & (w.field("weights", "fifo_write", "row") == self.config.rows - 1)
        taken = w.on("matmul", "shift") & (w.field("matmul", "shift", "row") == 0)
        level("tiles", done, taken, anew)
        entries = w.on("frontend", "fetch") & (w.field("frontend", "fetch", "seq") != 0xFFFF)
        level("fetched", entries, w.on("frontend", "dispatch"), anew)
        return found

    # ----- one event after the other -----

    def _walk(self, w: Window, anew: np.ndarray, facts: Facts) -> None:
        """Events of the new cycles in order of time, each with what the records before it explain."""
        words = _event_columns(w)
        interesting = anew.copy()
        for mask in words.values():
            interesting |= mask
        interesting[: w.new] = False
        for at in np.flatnonzero(interesting).tolist():
            if words["fetch_ar"][at]:
                self._fetch_ar(w, at)
            if words["fetch_beat"][at]:
                self._fetch_beat(w, at)
            if words["dispatch"][at]:
                self._dispatch(w, at, facts)
            if words["sync"][at]:
                self._sync(w, at, facts)
            self._bus(w, at, words, facts)
            self._vector.cycle(w, at, words, facts)
            if words["error"][at]:
                self._error(w, at, facts)
            if words["ended"][at]:
                self._end("error" if w.flag("status.error")[at] else "done", facts)
            if anew[at]:
                if not w.flag("rst_n")[at]:
                    self._aw.clear()
                    self._w.clear()
                    self._ar.clear()
                    self.registers.clear()
                    if w.flag("status.busy")[at]:
                        self._end("reset", facts)
                else:
                    facts.started.append(tuple(self.registers.get((name, 0), 0) for name in RUN))
                self._fresh()

    def _end(self, how: str, facts: Facts) -> None:
        facts.run_ends.append(how)
        if self._before is not None:
            facts.end_pairs.append((self._before, how))
        self._before = how

    def _fetch_ar(self, w: Window, at: int) -> None:
        address = int(w.data("port", "ar", "address")[at, 0]) | int(w.data("port", "ar", "address")[at, 1]) << 32
        if self._program is None:
            self._program = address
        self._fetching.append([address, int(w.field("port", "ar", "len")[at]) + 1])

    def _fetch_beat(self, w: Window, at: int) -> None:
        if not self._fetching:
            return
        burst = self._fetching[0]
        words = w.rows[at, RDATA_WORD : RDATA_WORD + self.config.mem_bytes // 4]
        for offset, value in enumerate(words.astype("<u4").tobytes()):
            self._image[burst[0] + offset] = value
        burst[0] += self.config.mem_bytes
        burst[1] -= 1
        if not burst[1]:
            self._fetching.popleft()
        if self._counters is None and self._program is not None:
            header = [self._image.get(self._program + index) for index in range(SEMAPHORES)]
            if None not in header:
                self._counters = header

    def word(self, seq: int) -> int | None:
        """The instruction word of a sequence number, from the fetched bytes; None if it has not come completely."""
        if self._program is None:
            return None
        first = self._program + INSTRUCTION_BYTES * (seq + 1)
        data = [self._image.get(first + index) for index in range(INSTRUCTION_BYTES)]
        return None if None in data else int.from_bytes(bytes(data), "little")

    def _dispatch(self, w: Window, at: int, facts: Facts) -> None:
        seq = int(w.field("frontend", "dispatch", "seq")[at])
        word = int.from_bytes(w.data("frontend", "dispatch", "instruction")[at].astype("<u4").tobytes(), "little")
        instruction = _decoded(word)
        if instruction is not None:
            self._table[seq] = instruction
            facts.dispatched.append((at, seq, instruction))

    def _sync(self, w: Window, at: int, facts: Facts) -> None:
        """Issue and retire events of a cycle, and what they do to the counters."""
        taken, given = [0] * SEMAPHORES, [0] * SEMAPHORES
        for engine in ENGINES:
            for slot, into in (("issue", facts.issued), ("retire", facts.retired)):
                if not w.on(engine, slot)[at]:
                    continue
                seq = int(w.field(engine, slot, "seq")[at])
                iteration = int(w.field(engine, slot, "iteration")[at])
                last = bool(w.field(engine, slot, "last")[at])
                event = Sync(at, engine, seq, iteration, last, self._table.get(seq))
                into.append(event)
                if slot == "issue":
                    if engine == "vector" and event.instruction is not None:
                        self._vector.issue(event)
                    for counter, amount in event.waits:
                        taken[counter] += amount
                else:
                    for counter in event.signals:
                        given[counter] += 1
        if self._counters is None:
            return
        for counter in range(SEMAPHORES):
            if taken[counter] or given[counter]:
                old = self._counters[counter]
                facts.counters.append((at, counter, old, taken[counter], given[counter]))
                self._counters[counter] = min(SEMAPHORE_MAX, max(0, old + given[counter] - taken[counter]))

    def _bus(self, w: Window, at: int, words: dict[str, np.ndarray], facts: Facts) -> None:
        # A response becomes valid in the cycle after the access.
        for write, name in ((True, "written"), (False, "read")):
            if not words[name][at]:
                continue
            busy = bool(w.flag("status.busy")[at - 1]) if at else False
            if write and self._aw and self._w:
                address, (data, strobe) = self._aw.popleft() & ~3, self._w.popleft()
            elif not write and self._ar:
                address, data, strobe = self._ar.popleft() & ~3, 0, 0
            else:
                continue
            refused = address not in PLACES
            facts.accesses.append(Access(at, write, address, data, strobe, busy, refused))
            if write and not refused and not busy:
                self._register(address, data, strobe)
        if words["aw"][at]:
            self._aw.append(int(w.input("s_axil_awaddr")[at]))
        if words["w"][at]:
            self._w.append((int(w.rows[at, 2]), int(w.input("s_axil_wstrb")[at])))
        if words["ar"][at]:
            self._ar.append(int(w.input("s_axil_araddr")[at]))

    def _register(self, address: int, data: int, strobe: int) -> None:
        name, index, half = PLACES[address]
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1) << 32 * half
        old = self.registers.get((name, index), 0)
        self.registers[name, index] = old & ~mask | (data << 32 * half) & mask

    def _error(self, w: Window, at: int, facts: Facts) -> None:
        engine, code = (int(w.field("host", "error", name)[at]) for name in ("engine", "code"))
        seq = int(w.field("host", "error", "seq")[at])
        facts.errors.append((at, engine, code, seq))
        if code in DECODER and engine == Engine.FRONTEND:
            word = self.word(seq)
            if word is not None:
                facts.refused.append((code, word))


@lru_cache(maxsize=256)
def _decoded(word: int) -> Instruction | None:
    """One object per encoding: long programs repeat theirs."""
    return decode(word)


def _event_columns(w: Window) -> dict[str, np.ndarray]:
    """Cycles in which `Tracker` has something to do, by what."""
    sync = np.zeros(w.cycles, bool)
    for engine in ENGINES:
        sync |= w.on(engine, "issue") | w.on(engine, "retire")
    axil = {name: w.field("host", "axil", name).astype(bool) for name in ("awready", "wready", "arready")}
    bvalid, rvalid = (w.field("host", "axil", name).astype(bool) for name in ("bvalid", "rvalid"))
    alive = w.flag("rst_n")
    busy = w.flag("status.busy")
    return {
        "fetch_ar": w.state["burst.fetch"],
        "fetch_beat": w.state["beat.fetch"],
        "dispatch": w.on("frontend", "dispatch"),
        "sync": sync,
        "error": w.on("host", "error"),
        "ended": before(busy) & ~busy & alive & before(alive),
        "written": bvalid & ~before(bvalid),
        "read": rvalid & ~before(rvalid),
        "aw": w.flag("s_axil_awvalid") & axil["awready"] & alive,
        "w": w.flag("s_axil_wvalid") & axil["wready"] & alive,
        "ar": w.flag("s_axil_arvalid") & axil["arready"] & alive,
        "parameter_write": w.on("load", "write") & (w.field("load", "write", "space") == 1),
        "param_read": w.on("vector", "param_read"),
        "vector_write": w.on("vector", "write"),
    }
