# SPDX-License-Identifier: Apache-2.0
"""What the hand-derived micro-programs share: the record of one program and the terms of the start of every run.

Cycle 0 is the cycle `s` in which the start write is accepted; `busy` is 1 from cycle 1 on. Memory never stalls:
an AR handshake in `t` has its first beat in `t + latency`, then one beat per cycle in request order; a last W
handshake in `t` has its B in `t + WRITE_LATENCY`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

from beatmatch.config import Config, preset
from beatmatch.isa import Instruction, Opcode, make

TINY = preset("tiny")  # 4x4, words of 4 bytes, beats of 4 bytes, 4 outstanding
SPLIT = dataclasses.replace(TINY, weight_port=1, name="split")
SMALL = preset("small")  # 8x8, words of 8 bytes, beats of 8 bytes, 8 outstanding
NARROW = Config(4, 16, 192, 3, 48, 3, 3, 3, 32, 3, 8, "narrow")  # words of 16 bytes, beats of 4 bytes
WIDE = Config(16, 4, 128, 1, 64, 1, 2, 2, 512, 2, 4, "wide")  # words of 16 bytes, beats of 64 bytes

WRITE_LATENCY = 9
PROGRAM_ADDRESS = 0x2000
DATA = {0: (0x10000, 0x8000)}  # base register 0: address and window size
FETCH, LOAD, WEIGHTS = 0, 1, 2  # requesters on AR, by read id


@dataclass
class Micro:
    """One program with the cycles that follow from the page.

    Attributes
    ----------
    config : Config
        The core that runs it.
    latency : int
        Cycles from an AR handshake to its first beat.
    weight_latency : int
        The same behind the weight port, for a configuration that has one.
    instructions : list of Instruction or int
        The program; an int is a raw 256-bit word (for illegal ones).
    bases : dict of int to (int, int)
        Base registers: address and window size in bytes.
    counters : dict of int to int
        Semaphores that the header sets; the others start at 0.
    failing : (int, int) or None
        First and last address of memory that answers SLVERR.
    events : dict of str to list of (int, dict)
        For each listed ``station.slot`` *all* its events of the run, in order: the cycle, and the fields that matter.
    busy : int
        Cycles with `busy` = 1, as the counter `cycles` shows after the run.
    """

    config: Config
    latency: int
    instructions: list[Instruction | int]
    bases: dict[int, tuple[int, int]] = field(default_factory=lambda: dict(DATA))
    counters: dict[int, int] = field(default_factory=dict)
    program_address: int = PROGRAM_ADDRESS
    cycle_limit: int = 0
    write_latency: int = WRITE_LATENCY
    weight_latency: int = 7
    failing: tuple[int, int] | None = None
    name: str = ""
    busy: int = 0
    events: dict[str, list[tuple[int, dict[str, int]]]] = field(default_factory=dict)

    def sees(self, slot: str, cycle: int, **fields: int) -> None:
        """The slot has an event in this cycle, with these fields."""
        self.events.setdefault(slot, []).append((cycle, fields))

    def never(self, *slots: str) -> None:
        """These slots have no event at all in this run."""
        for slot in slots:
            self.events.setdefault(slot, [])

    def streams(self, slot: str, cycle: int, count: int, step: int = 1, **fields: int) -> None:
        """``count`` events, ``step`` cycles apart; a field given as a list has one value per event."""
        for i in range(count):
            self.sees(slot, cycle + i * step, **{k: v[i] if isinstance(v, list) else v for k, v in fields.items()})

    def starts(self) -> None:
        """The fetch and dispatch of a program of one chunk in which no queue is ever full."""
        entries = len(self.instructions) + 1
        beats = -(-32 * entries // self.config.mem_bytes)
        self.sees("port.ar", FIRST_AR, id=FETCH, len=beats - 1)
        for e in range(entries):
            self.sees("frontend.fetch", entry(self.config, self.latency, e), seq=(e - 1) % 65536)
        for i, instruction in enumerate(self.instructions):
            visible = head(self.config, self.latency, i)
            self.sees("frontend.dispatch", visible - 1, seq=i, engine=int(instruction.engine))

    def reads(self, requester: int, i: int, beats: int, count: int = 1, step: int = 1) -> None:
        """Bursts of instruction ``i`` if it issues as soon as it can be seen: ``count``, of ``beats`` beats each."""
        first = head(self.config, self.latency, i) + AR_AFTER_ISSUE
        self.streams("port.ar", first, count, step, id=requester, len=beats - 1)

    def ends(self, last_retire: int, slot: str = "", seq: int = 0) -> None:
        """Normal end: idle in the cycle after the last retire register was 1; in that cycle `done` is set.

        With a slot, that last retire event is added to it.
        """
        self.busy = last_retire + 1
        if slot:
            self.sees(slot, last_retire, seq=seq)


# ----- terms of every run (Reset, start, done; Frontend) -----

FIRST_AR = 3  # "the first is put in the register at the end of s+2 (visible s+3)"; arready is 1

# Chain of a read row (the sections *Load* and *Rows to bursts*): issue; +1 first row generated; +1 row register valid,
# burst put; +1 burst register valid = AR handshake.
AR_AFTER_ISSUE = 3


def entry(config: Config, latency: int, e: int) -> int:
    """Cycle of the `fetch` event of entry ``e`` (0 is the header) in a program of one chunk."""
    if config.mem_bytes <= 32:
        # its last beat is beat (e+1)*32/MB - 1 of the burst; the output register is valid the cycle after
        return FIRST_AR + latency + (e + 1) * (32 // config.mem_bytes)
    # first beat; +1 in the beat register, the first word moves; +1 the output register is valid; one word a cycle
    return FIRST_AR + latency + 2 + e


def head(config: Config, latency: int, i: int) -> int:
    """Cycle in which instruction ``i`` is first visible at the head of its (empty) queue."""
    # fetch event; +1 at the buffer's head; +1 in the decode register = dispatch; +1 at the queue's head
    return entry(config, latency, i + 1) + 3


def fetch_end(config: Config, latency: int, entries: int) -> int:
    """First cycle after the last beat of a fetch of one chunk, for a port not wider than an entry."""
    return FIRST_AR + latency + entries * (32 // config.mem_bytes)


# ----- the registry -----

PROGRAMS: list[tuple[Callable[[int], Micro], dict[int, int]]] = []


def micro(busy: dict[int, int]):
    """Register a program: ``busy`` maps each latency that it is run with to the busy cycles, worked out on paper."""

    def register(build: Callable[[int], Micro]) -> Callable[[int], Micro]:
        PROGRAMS.append((build, busy))
        return build

    return register


def all_programs() -> list[Micro]:
    """Every program at each of its latencies; the chain of terms must end at the number worked out on paper."""
    result = []
    for build, busy in PROGRAMS:
        for latency, cycles in busy.items():
            program = build(latency)
            program.name = f"{build.__name__}-{latency}"
            assert program.busy == cycles, f"{program.name}: the terms give {program.busy}, on paper it is {cycles}"
            result.append(program)
    return result


# ----- short names for instructions; everything not given is 0 or 1 as `make` has it -----


def load(row_bytes: int, **fields: int) -> Instruction:
    """A load from base register 0 into the scratchpad."""
    return make(Opcode.LOAD, row_bytes=row_bytes, **fields)


def store(row_bytes: int, **fields: int) -> Instruction:
    """A store to base register 0, by default 1 KiB behind what is loaded."""
    return make(Opcode.STORE, row_bytes=row_bytes, **{"offset": 0x400, **fields})


def weights(config: Config, **fields: int) -> Instruction:
    """Whole tiles, packed in memory, by default 2 KiB behind what is loaded."""
    tile = config.rows * config.cols
    defaults = {"k_rows": config.rows, "n_lanes": config.cols, "packed": 1, "offset": 0x800, "inner_stride": tile}
    return make(Opcode.WEIGHTS_MEM, **{**defaults, "outer_stride": tile, **fields})


def matmul(config: Config, rows: int, **fields: int) -> Instruction:
    """``rows`` activation rows from consecutive words."""
    lanes = {"k_lanes": config.rows, "n_lanes": config.cols}
    return make(Opcode.MATMUL, **{**lanes, "x": rows, "width": rows, "src_pitch_x": config.act_parts, **fields})


def padded(config: Config, rows: int, **fields: int) -> Instruction:
    """``rows`` activation rows, all of them padding: nothing is read from the scratchpad."""
    return matmul(config, rows, **{"width": 1, "pad_left": rows, "keep": 1, **fields})


def vector(opcode: Opcode, **fields: int) -> Instruction:
    """A vector operation from consecutive scratchpad words or accumulator rows, by default to operand 64."""
    defaults = {"clip_low": -128, "clip_high": 127, "src_pitch_x": 1, "dst": 64, "dst_pitch": 1}
    return make(opcode, **{**defaults, **fields})


def wait(first: int | None = None, second: int | None = None) -> dict[str, int]:
    """Fields that wait for one unit of one or two semaphores."""
    fields = {} if first is None else {"wait0_id": first, "wait0_n": 1}
    return fields if second is None else {**fields, "wait1_id": second, "wait1_n": 1}


def signal(first: int, second: int | None = None) -> dict[str, int]:
    """Fields that signal one or two semaphores."""
    fields = {"sig0_en": 1, "sig0_id": first}
    return fields if second is None else {**fields, "sig1_en": 1, "sig1_id": second}
