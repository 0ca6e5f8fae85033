# SPDX-License-Identifier: Apache-2.0
"""Model of the bench top: load, store and the port between stand-ins for everything else."""

from __future__ import annotations

import random
from collections import Counter, deque

from beatmatch.config import Config
from beatmatch.isa import Error
from beatmatch.memory import MemoryAgent
from beatmatch.stations.control import ISSUE, SYNC_MASK
from beatmatch.stations.load import LOAD, Load
from beatmatch.stations.port import Port
from beatmatch.stations.store import Store
from beatmatch.stations.writer import TraceWriter
from tb.memory.transfers import Scenario


class Requester:
    """Plays fetch or weights: random bursts, and ready when it likes."""

    def __init__(self, config: Config, seed: int) -> None:
        self.rng = random.Random(seed)
        self.config = config
        self.bursts = self  # it is its own AR register
        self.valid = False
        self.address = self.length = 0
        self.open = 0  # bursts without their last beat
        self.ready = False

    def read_ready(self, granted: bool, halt: bool) -> bool:
        """Ready for a beat in this cycle."""
        return self.ready

    def word(self) -> int:
        """{valid, len, addr} of the AR register."""
        return self.valid << 72 | self.length << 64 | self.address

    def choose(self) -> None:
        """Decide this cycle's ready."""
        self.ready = self.rng.random() < 0.7

    def commit(self, accepted: bool, last: bool, percent: int) -> None:
        """End a cycle."""
        if accepted:
            self.valid = False
            self.open += 1
        self.open -= last
        if not self.valid and self.open < 3 and self.rng.randrange(100) < percent:
            beat = self.config.mem_bytes
            self.valid = True
            self.length = self.rng.choice([0, 1, 3, 7])
            self.address = (self.rng.getrandbits(51) << 12) + self.rng.randrange(4096 // beat - 8) * beat


class Machine:
    """Steps the model one cycle at a time, and says what the RTL must show.

    `arbitrate` decides the inputs of this cycle, `step` steps the stations, `commit` ends the cycle.
    """

    def __init__(self, config: Config, seed: int) -> None:
        self.config = config
        self.rng = random.Random(seed)
        self.bases, self.sizes = [0] * 16, [0] * 16
        self.trace = TraceWriter(config, 64)
        self.load = Load(config, self.trace, self.bases, self.sizes)
        self.store = Store(config, self.trace, self.bases, self.sizes)
        self.fetch = Requester(config, seed + 1)
        self.weights = Requester(config, seed + 2)
        self.port = Port(config, self.trace, self.fetch, self.load, self.weights, self.store)
        self.seq = 0
        self.rdata = bytes(config.lanes)
        self.halt = False
        self.seen: Counter = Counter()

    def start(self, scenario: Scenario) -> None:
        """Load a scenario into idle engines."""
        self.scenario = scenario
        self.bases[:] = scenario.bases
        self.sizes[:] = scenario.sizes
        self.queues = (deque(), deque())
        for queue, instructions in zip(self.queues, (scenario.loads, scenario.stores), strict=True):
            for instruction in instructions:
                queue.append((self.seq & 0xFFFF, instruction))
                self.seq += 1
        self.image = scenario.image.snapshot()
        self.mem = MemoryAgent(scenario.timing, self.image, self.config.mem_bytes)
        self.scratchpad = [row.tobytes() for row in scenario.scratchpad]
        self.parameters = [row.tobytes() for row in scenario.parameters]
        self.error = 0

    def head(self, which: int):
        """Queue head of load (0) or store (1)."""
        queue = self.queues[which]
        return queue[0] if queue else None

    def idle(self) -> bool:
        """Nothing left to do for the engines."""
        return not (self.load.busy() or self.store.busy() or self.queues[0] or self.queues[1])

    def arbitrate(self) -> None:
        """Decide the inputs of this cycle."""
        scenario, rng, halt = self.scenario, self.rng, self.halt
        self.waits = (self.load.wait_request(self.head(0)), self.store.wait_request(self.head(1)))
        self.grants = [w >= 0 and not halt and rng.randrange(100) < scenario.grant for w in self.waits]
        self.sp_write = self.load.sp_write(halt)
        self.par_write = self.load.parameter_write(halt)
        self.wgrant = self.sp_write is not None and rng.randrange(100) < scenario.access
        self.sp_read = self.store.sp_request
        self.rgrant = self.sp_read >= 0 and rng.randrange(100) < scenario.access
        self.taken = self.load.taken(self.wgrant, halt)
        self.fetch.choose()
        self.weights.choose()
        self.port.select(self.mem, self.taken, halt)

    def control(self, which: int) -> int:
        """The control outputs of an engine without its error, packed as the bench top does."""
        engine = (self.load, self.store)[which]
        head, wait = self.head(which), self.waits[which]
        stuck = engine.stuck(head, self.grants[which])
        value = (wait >= 0) | (engine.signal << 20) | (engine.busy() << 57) | (engine.pending() << 58)
        if wait >= 0:
            value |= (wait >> 18 & 1) << 1 | (wait & SYNC_MASK) << 2
        return value | ((stuck >= 0) << 59 | stuck << 60 if stuck >= 0 else 0)

    def step(self) -> dict[str, int]:
        """Step the stations; returns the RTL's packed outputs of this cycle."""
        load, store, port, mem = self.load, self.store, self.port, self.mem
        controls = [self.control(0), self.control(1)]
        channels = 0
        write = 0
        for request, shift, flag in ((self.sp_write, 0, 74), (self.par_write, 24, 73)):
            if request is not None:
                word, count, data = request
                channels |= word << shift | 1 << flag
                write = (1 << count) - 1 << 8 * self.config.lanes | int.from_bytes(data.tobytes(), "little")
        if self.sp_read >= 0:
            channels |= self.sp_read << 48 | 1 << 72
        channels |= (mem.rvalid and mem.rid == 2) << 80 | (mem.rvalid and mem.rid == 0) << 81
        channels |= (port.ar_id == 2) << 82 | (port.ar_id == 1) << 83 | (port.ar_id == 0) << 84
        channels |= (port.w is not None) << 85 | (port.aw is not None) << 86 | (port.ar is not None) << 87
        store.step(self.head(1), self.grants[1], self.halt, self.rgrant, self.rdata, mem)
        load.step(
            self.head(0), self.grants[0], self.halt, self.taken, port.ar_id == LOAD, mem if port.r_id == LOAD else None
        )
        for index, engine in enumerate((load, store)):
            if engine.error:
                code, seq = engine.error
                controls[index] |= 1 << 32 | code << 33 | seq << 41
        base, array = self.trace.base, self.trace.array
        stations = self.trace.layout.stations
        parts = [
            array[base + start : base + start + count] for start, count in map(stations.get, ("load", "store", "port"))
        ]
        trace = int.from_bytes(b"".join(part.tobytes() for part in parts), "little")
        return {
            "trace_o": trace,
            "control_o": controls[1] << 80 | controls[0],
            "channels_o": channels,
            "write_o": write,
        }

    def commit(self, reset: bool = False, clear: bool = False) -> None:
        """End the cycle; ``reset``: the core's reset was low in it, ``clear``: the engines' reset was."""
        load, store, port, mem = self.load, self.store, self.port, self.mem
        if self.rgrant:
            self.rdata = self.scratchpad[self.sp_read]
        else:
            self.rdata = self.rng.randbytes(self.config.lanes)
        if self.wgrant:
            self.write(self.scratchpad, *self.sp_write)
        if self.par_write is not None:
            self.write(self.parameters, *self.par_write)
        for which in (0, 1):
            if self.waits[which] >= 0 and self.waits[which] & ISSUE and self.grants[which]:
                self.queues[which].popleft()
        percent = self.scenario.traffic
        self.fetch.commit(port.ar_id == 0, port.r_id == 0 and mem.rlast, percent)
        self.weights.commit(port.ar_id == 2, port.r_id == 2 and mem.rlast, percent)
        if not self.error:
            self.error = load.error or store.error
        if self.error:
            self.halt = True
        for name, engine in (("load", load), ("store", store)):
            if engine.error:
                self.seen[f"{name} {Error(engine.error[0]).name}"] += 1
            if engine.signal:
                self.seen[f"{name} signal"] += 1
            if self.halt and engine.pending():
                self.seen[f"{name} finishes while halted"] += 1
        if self.halt and self.port.w is not None:
            self.seen["W beat while halted"] += 1
        if self.halt and mem.rvalid and mem.rid == LOAD and mem.rresp:
            self.seen["load bus error while halted"] += 1
        if reset:
            mem.skip_reset_cycle()
            port.reset()
            for requester in (self.fetch, self.weights):
                requester.valid, requester.open = False, 0
        else:
            mem.commit(port.ar, port.aw, port.w, port.rready, True)
        if reset or clear:
            load.reset()
            store.reset()
            self.halt = False
            self.error = 0
        if self.trace.next():
            self.trace.rewind()

    @staticmethod
    def write(target: list[bytes], word: int, count: int, data) -> None:
        """Write the low bytes of a word."""
        target[word] = data[:count].tobytes() + target[word][count:]
