# SPDX-License-Identifier: Apache-2.0
"""Host and frontend of the model with scripted engines, for tests of control alone."""

from __future__ import annotations

from types import SimpleNamespace

from beatmatch import csr
from beatmatch.config import Config
from beatmatch.isa import Opcode, make
from beatmatch.memory import MemoryAgent, MemoryImage, MemoryTiming
from beatmatch.stations.control import ISSUE, signals_of, sync_of
from beatmatch.stations.frontend import Frontend
from beatmatch.stations.host import Host
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

START = (1, csr.CTRL.address, 1, 1, 15, 1, 0, 0, 1)
"""A bus cycle that writes CTRL.start: it is executed in the next cycle."""


class Engine:
    """Issues its queue's head as soon as it is granted and works on it for ``work`` cycles (None: for ever)."""

    def __init__(self, work: int | None = 0) -> None:
        self.work = work
        self.left = 0
        self.signal = 0
        self.next_signal = 0
        self.error = 0
        self.current = None
        self.issued: list[int] = []
        self.hold = False  # presents no wait

    def wait_request(self, head) -> int:
        if self.current is not None or head is None or self.hold:
            return -1
        return sync_of(head[1]) | ISSUE

    def busy(self) -> bool:
        return self.current is not None or self.signal != 0

    def pending(self) -> bool:
        return False

    def stuck(self, head, granted) -> int:
        return head[0] if self.current is None and head is not None and not granted and not self.hold else -1

    def step(self, head, granted) -> None:
        self.signal, self.next_signal = self.next_signal, 0
        self.error = 0
        if granted:
            self.current, self.left = head, self.work
            self.issued.append(head[0])
        if self.current is not None and self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.signal = signals_of(self.current[1])
                self.current = None


class Control:
    """Runs a program; ``log`` has one namespace of facts per cycle."""

    def __init__(self, config: Config, timing: MemoryTiming | None = None, engines=None) -> None:
        self.config = config
        self.trace = TraceWriter(config, 1)
        self.host = Host(config, self.trace)
        self.frontend = Frontend(config, self.trace)
        self.engines = engines or [Engine() for _ in range(5)]
        self.frontend.connect(*self.engines)
        self.image = MemoryImage()
        self.memory = MemoryAgent(timing or MemoryTiming(read_latency=10), self.image, config.mem_bytes)
        self.log: list[SimpleNamespace] = []

    def load(self, words, header=bytes(32), address: int = 0) -> None:
        """Put a program into memory and set its address and length."""
        self.image.write(address, bytes(header) + b"".join(word.to_bytes(32, "little") for word in words))
        self.host.prog_addr, self.host.prog_len = address, len(words)

    def cycle(self, bus=None) -> SimpleNamespace:
        """One cycle; returns what was seen in it."""
        host, frontend, memory = self.host, self.frontend, self.memory
        fetch = frontend.fetch
        ready = fetch.read_ready(False, frontend.halt)
        port = SimpleNamespace(
            ar_id=0 if fetch.valid and memory.arready else -1, r_id=0 if memory.rvalid and ready else -1
        )
        frontend.arbitrate()
        frontend.observe(host)
        host.observe(frontend, False)
        heads, granted = list(frontend.heads), list(frontend.granted)
        ar = (0, fetch.address, fetch.length) if fetch.valid else None
        seen = SimpleNamespace(
            busy=host.busy, clear=host.clear, done=host.done, halt=frontend.halt, ar=ar, granted=granted, heads=heads,
            count=list(frontend.semaphores.count), fetch=self.event("fetch"), dispatch=self.event("dispatch"),
            error=(frontend.error_code, frontend.error_engine, frontend.error_seq) if frontend.error_new else None,
        )  # fmt: skip
        for engine, head, grant in zip(self.engines, heads, granted, strict=True):
            engine.step(head, grant)
        if host.clear:
            frontend.reset()
        else:
            frontend.commit(port, memory)
        host.commit(bus, frontend.done_set)
        memory.commit(ar, None, None, ready, True)
        self.trace.array[:] = 0
        self.log.append(seen)
        return seen

    def event(self, slot: str) -> int | None:
        """Sequence number of an event of this cycle."""
        word = self.trace.words[self.trace.base + self.trace.offset("frontend", slot)]
        return word & 0xFFFF if word & VALID else None

    def run(self, most: int = 2000) -> int:
        """Start, and go on until done; returns the cycle ``s`` in which the start is executed."""
        self.cycle(START)
        start = len(self.log)
        self.cycle()
        while self.cycle().busy:
            assert len(self.log) < most, "the run does not end"
        return start

    def when(self, fact, nth: int = 0) -> int:
        """The cycle in which ``fact(seen)`` holds for the nth time (counting from 0)."""
        return [index for index, seen in enumerate(self.log) if fact(seen)][nth]


def nop(opcode: Opcode = Opcode.LOAD, **fields: int) -> int:
    """A small legal instruction."""
    return make(opcode, **fields).word()
