# SPDX-License-Identifier: Apache-2.0
"""Random programs: all operations, rings, `each`, tails, padding, semaphores, resets, errors, memory timing.

A program begins by writing every word, row and parameter that it will ever touch, so that nothing it reads is
undefined; behind that accesses may overlap without order, because both sides must agree on races too. Waits only take
what earlier signals (or a partner of the same double buffer) give, so a program finishes at any depth and speed; the
untimed sequencer with one-entry queues checks this, and a draw that fails is drawn again.
"""

from __future__ import annotations

import dataclasses
import random

from beatmatch.config import Config
from beatmatch.isa import Engine, Opcode, Space
from beatmatch.memory import MemoryTiming
from beatmatch.program import Base, HostEvent, Program, Segment
from beatmatch.sequence import Halt, Hooks, Sequencer
from tb.lockstep import random_dram, random_errors
from tb.lockstep import random_instructions as draw
from tb.lockstep.dials import PLAIN, Dials
from tb.lockstep.random_instructions import Region, Regions, Window
from tb.lockstep.schedule import Schedule
from tb.lockstep.streams import derive, small, stream

ATTEMPTS = 100
BUFFERS = (
    (Opcode.LOAD, Opcode.MATMUL),
    (Opcode.LOAD, Opcode.REQUANT),
    (Opcode.LOAD, Opcode.STORE),
    (Opcode.MATMUL, Opcode.REQUANT),
    (Opcode.MATMUL, Opcode.MAXPOOL),
    (Opcode.REQUANT, Opcode.STORE),
    (Opcode.ADD, Opcode.MATMUL),
)
"""Producer and consumer of a double buffer."""


def generate(seed: int, config: Config, dials: Dials = PLAIN) -> Program:
    """The program of a seed for a configuration, legal up to the error that it may be made to run into."""
    for attempt in range(ATTEMPTS):
        program = _Writer(derive(seed, attempt), config, dials).program(seed)
        if finishes(program):
            return random_errors.disturb(
                stream(seed, "errors"), program, chance=dials.errors, kinds=dials.error_kinds or None
            )
    raise RuntimeError(f"No program that finishes was found for seed {seed}.")


def finishes(program: Program) -> bool:
    """Whether the untimed machine with one-entry queues comes to the end of the program."""
    try:
        Sequencer(program.decoded(), program.semaphores, 1, program.config.fifo_tiles, Hooks()).run()
    except Halt:
        return False
    return True


def memory_timing(rng: random.Random, config: Config, dials: Dials = PLAIN) -> MemoryTiming:
    """From an ideal memory to a slow one that hesitates on every channel."""
    beat = config.mem_bytes

    def rate() -> tuple[int, int] | None:
        return None if rng.random() < 0.5 else (rng.randint(beat // 2, 2 * beat), rng.randint(1, 2))

    shared = rng.random() < 0.2
    read = rate() or ((beat, 1) if shared else None)
    hesitant = rng.random() < dials.hesitant
    reads, writes = (rng.choice((1, 2, 4, 256)) for _ in range(2))

    def latency(held: int) -> int:  # a row of a tile is at least one burst: few bursts at a time must be short ones
        return small(rng, min(dials.most_latency, 25 * min(held, config.outstanding)))

    timing = MemoryTiming(
        read_latency=latency(reads),
        write_latency=latency(writes),
        read_bandwidth=read,
        write_bandwidth=None if shared else rate(),
        shared=shared,
        stalls=tuple(rng.choice((0, 0, rng.randint(0, dials.most_stall))) if hesitant else 0 for _ in range(5)),
        seed=rng.getrandbits(63),
        max_reads=reads,
        max_writes=writes,
    )
    if rng.random() >= dials.dram:
        return timing
    dram = random_dram.generate(rng, beat)
    return dataclasses.replace(timing, read_bandwidth=read or (beat, 1), write_bandwidth=None, shared=True, dram=dram)


def _weight_timing(rng: random.Random, config: Config, dials: Dials) -> MemoryTiming | None:
    """A memory for weights with a timing of its own, or one like the other."""
    return None if rng.random() < 0.2 else memory_timing(rng, config, dials)


class _Writer:
    """Draws one program; each part has its own stream of random numbers."""

    def __init__(self, seed: int, config: Config, dials: Dials) -> None:
        self.config = config
        self.dials = dials
        self.seed = seed
        self.rng = stream(seed, "body")
        self.schedule = Schedule(stream(seed, "semaphores"))
        self._memory(stream(seed, "memory"))

    # ----- memory and regions -----

    def _memory(self, rng: random.Random) -> None:
        config = self.config
        words = min(config.sp_words, rng.choice((16, 24, 40, 64)))
        rows = min(config.acc_rows, rng.choice((4, 8, 20, 32)))
        params = rng.randint(2, min(4, config.param_rows))
        origin = 4096 * rng.getrandbits(rng.choice((8, 20, 36, 50)))
        align = max(32, config.mem_bytes)
        cursor = origin + align * rng.randint(0, 4096 // align)
        numbers = rng.sample(range(16), 5)
        bases = [Base()] * 16
        segments = []

        def window(number: int, size: int, data: bytes) -> Window:
            nonlocal cursor
            size = -(-size // align) * align
            bases[number] = Base(cursor, size)
            segments.append(Segment(cursor, data[:size]))
            cursor += size + align * rng.randint(0, 64)
            return Window(number, size)

        need = max(words * config.lanes, config.rows * config.cols)
        sources = [window(number, need + rng.randint(0, 4096), rng.randbytes(need + 4096)) for number in numbers[:2]]
        parameters = window(numbers[2], params * config.cols * 8, self._parameters(rng, params))
        target = window(numbers[3], need + rng.randint(0, 4096), b"")
        bases[numbers[4]] = bases[rng.choice(numbers[:2])]  # stores into what others load
        self.bases = tuple(bases)
        self.segments = tuple(segments)
        self.address = cursor
        self.regions = Regions(
            Region(rng.randint(0, config.sp_words - words), words),
            Region(rng.randint(0, config.acc_rows - rows), rows),
            Region(rng.randint(0, config.param_rows - params), params),
            tuple(sources),
            parameters,
            (target, Window(numbers[4], bases[numbers[4]].size)),
        )

    def _parameters(self, rng: random.Random, rows: int) -> bytes:
        """Scales that bring sums into the int8 range, or halve int8 values (many ties), sometimes anything."""
        data = bytearray()
        for _ in range(rows * self.config.cols):
            if rng.random() < 0.2:
                data += rng.randbytes(8)
                continue
            if rng.random() < 0.4:
                data += (rng.randint(-8, 8) & 0xFFFFFFFF).to_bytes(4, "little")
                data += (rng.choice((1, 1, 3)) | rng.randint(1, 3) << 24).to_bytes(4, "little")
                continue
            shift = rng.randint(0, 40)
            multiplier = min((1 << 24) - 1, int(2.0 ** (shift - rng.randint(0, 12)) * rng.uniform(0.5, 1.5)))
            data += (rng.randint(-4096, 4096) & 0xFFFFFFFF).to_bytes(4, "little")
            data += (max(0, multiplier) | shift << 24 | rng.getrandbits(2) << 30).to_bytes(4, "little")
        return bytes(data)

    # ----- instructions -----

    def program(self, seed: int) -> Program:
        """The whole program."""
        dials = self.dials
        timing = memory_timing(stream(self.seed, "timing"), self.config, dials)
        weight_timing = None
        if self.config.weight_port:
            weight_timing = _weight_timing(stream(self.seed, "weight_timing"), self.config, dials)
        slow = timing.read_latency + timing.write_latency > 80 or (weight_timing or timing).read_latency > 60
        self._prologue()
        for _ in range(self.rng.randint(*(dials.slow_parts if slow else dials.parts))):
            choice = self.rng.random()
            if choice < dials.double_buffer:
                self._double_buffer()
            elif choice < dials.double_buffer + dials.short_matmuls:
                self._one_row_after_the_other()
            else:
                names, chances = zip(*dials.opcodes, strict=True)
                self._emit(self.rng.choices(names, chances)[0])
        return Program(
            config=self.config,
            instructions=self.schedule.instructions,
            semaphores=tuple(self.schedule.initial),
            bases=self.bases,
            address=self.address,
            segments=self.segments,
            timing=timing,
            weight_timing=weight_timing,
            host=_host_events(stream(self.seed, "host"), dials),
            origin=f"tb.lockstep.random_programs seed {seed}{dials.turned()}",
            seed=seed,
        )

    def _prologue(self) -> None:
        """Write all of the regions; the first instruction of every other engine waits for that."""
        config, regions, schedule = self.config, self.regions, self.schedule
        area, words = regions.scratchpad, config.param_words
        scratchpad = {"base": regions.sources[0].base, "row_bytes": area.size * config.lanes, "dst": area.start}
        schedule.first(Opcode.LOAD, scratchpad, [Engine.MATMUL, Engine.WEIGHTS])
        parameter = {
            "base": regions.parameters.base,
            "row_bytes": regions.parameter.size * words * config.lanes,
            "dst": regions.parameter.start * words,
            "dst_space": Space.PARAMETER,
        }
        schedule.first(Opcode.LOAD, parameter, [Engine.VECTOR, Engine.STORE])
        rows = regions.accumulator.size
        pitch = 1 if rows <= area.size * config.act_parts else 0
        accumulator = {"keep": 1, "x": rows, "width": rows, "src": area.start * config.act_parts, "src_pitch_x": pitch}
        accumulator |= {"acc": regions.accumulator.start, "k_lanes": config.rows, "n_lanes": config.cols}
        schedule.first(Opcode.MATMUL, accumulator, [Engine.VECTOR])

    def _fields(self, opcode: Opcode, outer: int | None = None) -> draw.Fields:
        if opcode in (Opcode.LOAD, Opcode.STORE):
            return draw.transfer(self.rng, self.config, self.regions, opcode, outer)
        if opcode is Opcode.MATMUL:
            return draw.matmul(self.rng, self.config, self.regions, outer)
        return draw.vector(self.rng, self.config, self.regions, opcode, outer)

    def _emit(self, opcode: Opcode) -> None:
        fields = self._fields(opcode)
        tiles = self._tiles(fields) if opcode is Opcode.MATMUL else []
        late = self.rng.random() < 0.2  # the tiles come behind the matmul that waits for them
        if not late:
            self._weights(tiles)
        self.schedule.add(opcode, fields)
        if late:
            self._weights(tiles)

    def _tiles(self, fields: draw.Fields) -> list[tuple[int, int]]:
        """Outer and inner counts of weight instructions that together bring what a matmul takes."""
        inner = fields["kx"] * fields["ky"] * fields["kc"]
        total = fields["outer"] * inner - fields["keep"]
        if not fields["keep"] and self.rng.random() < 0.6:
            return [(fields["outer"], inner)]
        parts = []
        while total:
            count = self.rng.randint(1, total)
            parts.append((1, count) if self.rng.random() < 0.5 else (count, 1))
            total -= count
        return parts

    def _weights(self, parts: list[tuple[int, int]]) -> None:
        for outer, inner in parts:
            opcode = self.rng.choice((Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP))
            fields = draw.weights(self.rng, self.config, self.regions, opcode, outer, inner)
            self.schedule.add(opcode, fields)

    def _one_row_after_the_other(self) -> None:
        """Matmuls of a few rows each that keep the weights: commits to the same rows in consecutive cycles."""
        fields = draw.matmul(self.rng, self.config, self.regions, 1)
        rows = self.rng.choice((1, 1, 2))
        rows = min(rows, self.regions.accumulator.start + self.regions.accumulator.size - fields["acc"])
        short = {"x": rows, "y": 1, "kx": 1, "ky": 1, "kc": 1, "keep": 1, "accumulate": 1}
        for _ in range(self.rng.randint(2, 4)):
            self.schedule.add(Opcode.MATMUL, fields | short, free=True)

    def _double_buffer(self) -> None:
        """A producer and a consumer that hand over every outer iteration, and buffers back."""
        producer, consumer = self.rng.choice(BUFFERS)
        outer = self.rng.randint(2, 5)
        first, second = self._fields(producer, outer), self._fields(consumer, outer)
        pairs = [(producer, first), (consumer, second)]
        for opcode, fields in pairs:
            if opcode is Opcode.MATMUL:
                self._weights(self._tiles(fields))
        self.schedule.hand_over(pairs)


def _host_events(rng: random.Random, dials: Dials) -> tuple[HostEvent, ...]:
    """Resets in mid-run with a new start, and starts at any time (ignored while the core is busy)."""
    choice = rng.random()
    if choice < dials.resets:
        cycle, length = small(rng, 1500), rng.randint(1, 5)
        return (HostEvent(cycle, "reset", length), HostEvent(cycle + length + rng.randint(0, 40), "start"))
    if choice < dials.resets + dials.starts:
        return (HostEvent(small(rng, 2500), "start"),)
    return ()
