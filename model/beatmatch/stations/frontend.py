# SPDX-License-Identifier: Apache-2.0
"""Fetch, decode, dispatch, queues, semaphores and the monitor of a run. The twin of `rtl/frontend/bm_frontend.sv`."""

from __future__ import annotations

from collections import deque

import numpy as np

from beatmatch.config import Config
from beatmatch.isa.encode import decode
from beatmatch.isa.fields import Error
from beatmatch.isa.legality import check
from beatmatch.stations.control import ISSUE, SIGNALLED, SYNC_MASK
from beatmatch.stations.fetch import Fetch
from beatmatch.stations.semaphores import Semaphores
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

ENGINES = 5
MASK32 = 0xFFFFFFFF
SEQ_MASK = 0xFFFF
PATIENCE = 15
"""Cycles of deadlock before the one that raises it."""
KNOWN_WORDS = 4096
"""Decoded words that are kept."""

_NONE = (False,) * ENGINES


class _Decoded:
    """What decode knows about a word: its engine (0 is load), and its share of the queue digest as a head."""

    __slots__ = ("code", "digest", "engine", "instruction", "words")

    def __init__(self, entry: bytes, config: Config) -> None:
        word = int.from_bytes(entry, "little")
        refusal = check(word, config)
        self.code = 0 if refusal is None else int(refusal[0])
        self.words = np.frombuffer(entry, dtype="<u4")
        if refusal is None:
            self.instruction = decode(word)
            self.engine = int(self.instruction.engine) - 1
            first = 2 * (9 * self.engine + 1) + 1
            self.digest = sum((first + 2 * j) * value for j, value in enumerate(self.words.tolist())) & MASK32


class Frontend:
    """Control of a core.

    Parameters
    ----------
    config : Config
        Sizes of the core.
    trace : TraceWriter
        Where the slots fetch, dispatch, semaphores and queues are written.

    Attributes
    ----------
    heads : list of (seq, Instruction) or None
        Queue heads, by engine number minus 1.
    granted : sequence of bool
        Waits granted in this cycle, by engine number minus 1; valid after `arbitrate`.
    halt : bool
        An error has been registered.
    error_new : bool
        This is the cycle after the error was raised.
    error_code, error_engine, error_seq : int
        The error register.
    done_set : bool
        This is the last cycle of the run; valid after `commit`.
    fetch : Fetch
        The program reader: requester 0 of the memory port.
    """

    __slots__ = (
        "_all_dispatched", "_array", "_blocked", "_config", "_decode", "_digests", "_dispatch_data", "_dispatch_offset",
        "_dispatched", "_dispatching", "_engines", "_fetch_offset", "_front", "_grants", "_header_done", "_hint",
        "_idle", "_known", "_prog_len", "_queue_depth", "_queue_digest", "_queues", "_queues_offset", "_run",
        "_semaphores_offset", "_signals", "_started", "_still", "_trace", "_words", "done_set", "error_code",
        "error_engine", "error_new", "error_seq", "fetch", "granted", "halt", "heads", "semaphores",
    )  # fmt: skip

    def __init__(self, config: Config, trace: TraceWriter) -> None:
        self._config = config
        self._queue_depth = config.queue_depth
        self._trace = trace
        self._words = trace.words
        self._array = trace.array
        self._fetch_offset = trace.offset("frontend", "fetch")
        self._dispatch_offset = trace.offset("frontend", "dispatch")
        self._dispatch_data = trace.data("frontend", "dispatch", "instruction")[0]
        self._semaphores_offset = trace.offset("frontend", "semaphores")
        self._queues_offset = trace.offset("frontend", "queues")
        self._engines: tuple = ()
        self._known: dict[bytes, _Decoded] = {}
        self.fetch = Fetch(config)
        self.semaphores = Semaphores()
        self.reset()

    def connect(self, load, weights, matmul, vector, store) -> None:
        """Introduce the engines: stations with the members that `docs/interfaces.md` lists for engine classes."""
        self._engines = (load, weights, matmul, vector, store)

    def reset(self) -> None:
        """What a cycle with reset or `Host.clear` leaves behind; call it instead of `commit`."""
        self.fetch.reset()
        self.semaphores.reset()
        self.heads: list = [None] * ENGINES
        self.granted = _NONE
        self.halt = self.error_new = self.done_set = False
        self.error_code = self.error_engine = self.error_seq = 0
        self._queues = tuple(deque() for _ in range(ENGINES))  # (seq, instruction)
        self._digests = tuple(deque() for _ in range(ENGINES))  # of the same entries
        self._queue_digest = 0
        self._decode: _Decoded | None = None
        self._header_done = self._started = False
        self._dispatched = self._still = self._hint = 0
        self._run = self._dispatching = self._blocked = self._idle = False
        self._front = None
        self._grants: list = []
        self._signals: list = []
        self._prog_len = 0
        self._all_dispatched = False

    def arbitrate(self) -> None:
        """Grant the waits of this cycle: sets `granted`."""
        grants = self._grants
        if grants:
            grants.clear()
            self.granted = _NONE
        if self.halt:
            return
        heads = self.heads
        allows = self.semaphores.allows
        for index, engine in enumerate(self._engines):
            request = engine.wait_request(heads[index])
            if request >= 0 and allows(request & SYNC_MASK):
                grants.append((index, request))
        if grants:
            granted = [False] * ENGINES
            for index, _ in grants:
                granted[index] = True
            self.granted = granted

    def observe(self, host) -> None:
        """Look at the engines' registers and write the trace; before any engine steps.

        Parameters
        ----------
        host : Host
            Run control and settings.
        """
        words = self._words
        base = self._trace.base
        words[base + self._semaphores_offset] = self.semaphores.digest
        words[base + self._queues_offset] = self._queue_digest
        self.done_set = False
        self._run = host.run
        if not host.run:
            return
        halt = self.halt
        signals = self._signals
        if signals:
            signals.clear()
        for engine in self._engines:
            if engine.signal & SIGNALLED:
                signals.append(engine.signal)
        if halt:
            self._dispatching = False
            self.done_set = self.fetch.inflight == 0 and not any(engine.pending() for engine in self._engines)
            return
        front = None
        if not self._started:
            self._started = True
            self._prog_len = host.prog_len
            self._all_dispatched = host.prog_len == 0
            if not self.fetch.start(host.prog_addr, host.prog_len):
                front = (Error.PROGRAM, 0, 0)
        fetch = self.fetch
        if fetch.active and fetch.word_valid:
            words[base + self._fetch_offset] = VALID | fetch.seq

        decoded = self._decode
        self._dispatching = self._blocked = False
        if decoded is not None:
            if decoded.code:
                front = front or (decoded.code, 0, self._dispatched & SEQ_MASK)
            elif len(self._queues[decoded.engine]) == self._queue_depth:
                self._blocked = True
            else:
                self._dispatching = True
                words[base + self._dispatch_offset] = VALID | decoded.engine + 1 << 16 | self._dispatched & SEQ_MASK
                offset = base + self._dispatch_data
                self._array[offset : offset + 8] = decoded.words
        late = self._progress()
        if late is None and host.cycles == host.cycle_limit and host.cycle_limit:
            late = (Error.CYCLE_LIMIT, 0, 0)
        self._front = (front, late) if front or late else None

    def _progress(self) -> tuple | None:
        """Find the end of the run (``_idle``) or a deadlock, which is returned as an error."""
        self._idle = False
        if not (self._all_dispatched or self._blocked):
            self._still = 0
            return None
        # The engine that was seen working in the cycle before most likely still is.
        engines, heads, granted = self._engines, self.heads, self.granted
        index = self._hint
        engine, head = engines[index], heads[index]
        if (head is not None or engine.busy()) and engine.stuck(head, granted[index]) < 0:
            self._still = 0
            return None
        first = None
        resting = 0
        for index, engine in enumerate(engines):
            head = heads[index]
            seq = engine.stuck(head, granted[index])
            working = head is not None or engine.busy()
            if seq >= 0:
                if first is None:
                    first = (index + 1, seq)
                resting += not working
            elif working:
                self._hint = index
                self._still = 0
                return None
            else:
                resting += 1
        self._idle = resting == ENGINES and self._all_dispatched
        if first is None or self._signals:
            self._still = 0
            return None
        self._still += 1
        return (Error.DEADLOCK, *first) if self._still == PATIENCE + 1 else None

    def commit(self, port, memory) -> None:
        """End the cycle, after every engine has stepped.

        Parameters
        ----------
        port : Port
            Handshakes of this cycle: requester 0 is fetch.
        memory : MemoryAgent
            Outputs of this cycle.
        """
        self.error_new = False
        if not self._run:
            return
        halt = self.halt
        overflow = False
        if self._signals or self._grants:
            overflow = self.semaphores.apply(self._signals, [request & SYNC_MASK for _, request in self._grants])
            for index, request in self._grants:
                if request & ISSUE:
                    self._pop(index)
        popped = self._advance(halt)
        fetch = self.fetch
        bus = None
        if fetch.active or popped:
            beat = memory.rdata if port.r_id == 0 else None
            fetch.step(halt, port.ar_id == 0, beat, memory.rresp, memory.rlast, popped)
            bus = fetch.error
        if halt:
            return
        front, late = self._front or (None, None)
        if front is None:
            if overflow:
                front = (Error.SEMAPHORE_OVERFLOW, 0, 0)
            elif bus is not None:
                front = (bus[0], 0, bus[1])
            else:
                front = late
        self.done_set = self._idle and front is None
        if front is None:
            for index, engine in enumerate(self._engines):
                if engine.error:
                    code, seq = engine.error
                    front = (code, index + 1, seq)
                    break
            else:
                return
        self.halt = self.error_new = True
        self.error_code, self.error_engine, self.error_seq = (int(value) for value in front)

    def _advance(self, halt: bool) -> bool:
        """Dispatch and decode; True if an entry leaves the buffer."""
        if halt:
            return False
        if self._dispatching:
            self._push(self._decode)
            self._decode = None
        buffer = self.fetch.buffer
        if not buffer or self._decode is not None:
            return False
        if not self._header_done:
            self._header_done = True
            self.semaphores.load(buffer.popleft())
            return True
        entry = buffer.popleft()
        decoded = self._known.get(entry)
        if decoded is None:
            if len(self._known) == KNOWN_WORDS:
                self._known.clear()
            decoded = self._known[entry] = _Decoded(entry, self._config)
        self._decode = decoded
        return True

    def _push(self, decoded: _Decoded) -> None:
        index = decoded.engine
        queue = self._queues[index]
        entry = (self._dispatched & SEQ_MASK, decoded.instruction)
        queue.append(entry)
        self._digests[index].append(decoded.digest)
        change = 18 * index + 1
        if len(queue) == 1:
            self.heads[index] = entry
            change += decoded.digest
        self._queue_digest = self._queue_digest + change & MASK32
        self._dispatched += 1
        self._all_dispatched = self._dispatched == self._prog_len

    def _pop(self, index: int) -> None:
        queue, digests = self._queues[index], self._digests[index]
        queue.popleft()
        change = -(18 * index + 1) - digests.popleft()
        if queue:
            self.heads[index] = queue[0]
            change += digests[0]
        else:
            self.heads[index] = None
        self._queue_digest = self._queue_digest + change & MASK32
