# SPDX-License-Identifier: Apache-2.0
"""The frontend in lockstep with its model: random programs, memory, engines, errors and resets.

Run by tests/sim/test_frontend.py. The program is fetched from a `MemoryAgent` with random stalls; the host is the
model's, driven over its bus; the engines are fakes that take, hold, wait and signal.
"""

import collections
import json
import os
import random
from dataclasses import dataclass

import cocotb

from beatmatch import csr
from beatmatch.config import Config
from beatmatch.isa import Error, Opcode
from beatmatch.memory import ErrorRange, MemoryAgent, MemoryImage, MemoryTiming
from beatmatch.stations.control import ISSUE, SYNC_MASK
from beatmatch.stations.frontend import ENGINES, Frontend
from beatmatch.stations.host import Host
from beatmatch.stations.writer import TraceWriter
from tb.frontend.engines import FakeEngine, WildEngine
from tb.frontend.words import any_word, legal_word
from tb.pins import Pins, trace_int

PATIENCE = 4000
"""Cycles after which a run that has not ended is a failure of the bench."""
HOST = ("run_i", "prog_addr_i", "prog_len_i", "cycle_limit_i", "cycles_i")
MEMORY = ("ar_ready_i", "r_valid_i", "r_data_i", "r_resp_i", "r_last_i")
ENGINE = {
    "wait_valid_i": 1, "wait_issue_i": 1, "wait_sync_i": 18, "sig_i": 12, "err_valid_i": 1, "err_code_i": 8,
    "err_seq_i": 16, "busy_i": 1, "pending_i": 1, "stuck_i": 1, "stuck_seq_i": 16,
}  # fmt: skip
OUTPUTS = (
    "ar_valid_o", "ar_addr_o", "ar_len_o", "r_ready_o", "instr_valid_o", "instr_o", "seq_o", "wait_grant_o", "halt_o",
    "error_valid_o", "error_code_o", "error_engine_o", "error_seq_o", "done_set_o", "trace_o",
)  # fmt: skip


@dataclass
class Scenario:
    """One run: a program in memory, how memory and engines behave, and the settings."""

    image: MemoryImage
    timing: MemoryTiming
    engines: list
    address: int
    length: int
    limit: int
    reset_after: int  # cycle of the run in which reset is pulled, -1 for never
    ar_rate: float


def program(rng: random.Random, config: Config, length: int, waits: float) -> list[int]:
    """Legal words that wait and signal on a few semaphores."""
    words = []
    few = rng.choice((2, 4, 32))
    for _ in range(length):
        chosen = {
            "each": int(rng.random() < 0.3), "outer": rng.choice((1, 2, 3)),
            "wait0_id": rng.randrange(few), "wait1_id": rng.randrange(few),
            "wait0_n": rng.choice((1, 1, 2, 15)) if rng.random() < waits else 0,
            "wait1_n": rng.choice((1, 2)) if rng.random() < waits / 2 else 0,
            "sig0_en": int(rng.random() < 0.7), "sig0_id": rng.randrange(few),
            "sig1_en": int(rng.random() < 0.2), "sig1_id": rng.randrange(few),
        }  # fmt: skip
        words.append(legal_word(rng, config, rng.choice(list(Opcode)), **chosen))
    return words


def scenario(rng: random.Random, config: Config, index: int) -> Scenario:
    """A random run, about half of them without an error; the first few are of given kinds."""
    length = rng.choice((1, 2, 5, 7, 8, 9, 15, 16, 17, 30, 60))
    words = program(rng, config, length, rng.choice((0.05, 0.2, 0.5)))
    kind = 1.0 if index == 0 else rng.random() * 0.96 if index < 3 else rng.random()
    if kind < 0.1:
        words[rng.randrange(length)] = any_word(rng, config)
    align = max(32, config.mem_bytes)
    address = rng.choice((0x1000, 0x40_0000_0000, (1 << 64) - 8192)) + align * rng.randrange(32)
    header = bytes(rng.choice((0, 3, 20, 250 if kind < 0.3 else 60)) for _ in range(32))
    image = MemoryImage()
    image.write(address, header + b"".join(word.to_bytes(32, "little") for word in words))
    errors = ()
    if 0.1 < kind < 0.2:
        at = address + rng.randrange(32 * (length + 1))
        errors = (ErrorRange(at, at, rng.choice((2, 3))),)
    elif kind > 0.96:
        address, length = rng.choice(((address + align // 2, length), (address, 0)))
    timing = MemoryTiming(
        read_latency=rng.choice((1, 2, 5, 20, 50)), stalls=tuple(rng.choice((0, 0, 64, 180)) for _ in range(5)),
        seed=rng.getrandbits(32), errors=errors, max_reads=rng.choice((1, 2, 8)),
    )  # fmt: skip
    collide = 2 < index < 9  # errors of engines and the cycle limit together
    low = index == 1 or collide
    limit = rng.choice((1, 2) if low else (1, 2, rng.randrange(1, 300))) if low or rng.random() < 0.1 else 1500
    if collide or rng.random() < 0.2:
        engines = [WildEngine(rng, 0.2 if collide else 0.001) for _ in range(ENGINES)]
    else:
        error_rate = rng.choice((0, 0, 0, 0.002))
        work, lazy = rng.choice((1, 3, 12, 30)), rng.choice((0, 0, 0, 0.3))
        if limit == 1500 and not lazy:
            limit = 0  # then every run comes to its end, if only by a deadlock
        engines = [FakeEngine(rng, work, lazy, error_rate, rng.choice((0, 5, 30))) for _ in range(ENGINES)]
    reset_after = 3 if index == 2 else rng.randrange(100) if rng.random() < 0.15 and index > 2 else -1
    return Scenario(
        image, timing, engines, address, length,
        limit=limit, reset_after=reset_after, ar_rate=rng.choice((0.2, 1, 1)),
    )  # fmt: skip


class FetchPort:
    """The memory port with one requester; other traffic is a random refusal."""

    def __init__(self) -> None:
        self.ar = None
        self.ar_id = self.r_id = -1
        self.rready = False

    def select(self, frontend: Frontend, memory: MemoryAgent, allowed: bool) -> bool:
        """Decide the handshakes; returns ``ar_ready`` as the requester sees it."""
        fetch = frontend.fetch
        self.rready = fetch.read_ready(False, frontend.halt)
        self.ar = (0, fetch.address, fetch.length) if fetch.valid and allowed else None
        ready = memory.arready and allowed
        self.ar_id = 0 if fetch.valid and ready else -1
        self.r_id = 0 if memory.rvalid and self.rready else -1
        return ready


class Bench:
    """RTL pins, model, and everything around them."""

    def __init__(self, dut, config: Config, rng: random.Random, seed: int) -> None:
        self.rng, self.seed, self.config = rng, seed, config
        self.writer = TraceWriter(config, 1)
        self.host = Host(config, self.writer)
        self.frontend = Frontend(config, self.writer)
        self.port = FetchPort()
        self.pins = Pins(dut, ["rst_ni", *HOST, *MEMORY, *ENGINE], OUTPUTS)
        self.ends = collections.Counter()
        self._words: dict[int, tuple] = {}

    def word(self, instruction) -> int:
        """Its encoding, worked out once (the instruction is kept, so that its id stays its own)."""
        known = self._words.get(id(instruction))
        if known is None:
            known = self._words[id(instruction)] = (instruction, instruction.word())
        return known[1]

    async def cycle(self, run: Scenario, memory: MemoryAgent, bus=None, reset: bool = False) -> None:
        """One clock cycle of everything."""
        rng, host, frontend, port = self.rng, self.host, self.frontend, self.port
        engines = run.engines
        for engine in engines:
            engine.choose(host.run, frontend.halt)
        ready = port.select(frontend, memory, rng.random() < run.ar_rate)
        frontend.arbitrate()
        frontend.observe(host)
        host.observe(frontend, False)

        heads, granted = list(frontend.heads), list(frontend.granted)
        pins = self._engine_pins(run, heads, granted)
        expected = {
            "ar_valid_o": frontend.fetch.valid, "ar_addr_o": frontend.fetch.address, "ar_len_o": frontend.fetch.length,
            "r_ready_o": port.rready, "halt_o": frontend.halt, "error_valid_o": frontend.error_new,
            "error_code_o": frontend.error_code, "error_engine_o": frontend.error_engine,
            "error_seq_o": frontend.error_seq, "instr_valid_o": pack([head is not None for head in heads], 1),
            "instr_o": pack([self.word(head[1]) if head else 0 for head in heads], 256),
            "seq_o": pack([head[0] if head else 0 for head in heads], 16), "wait_grant_o": pack(granted, 1),
            "trace_o": trace_int(self.writer, "frontend"),
        }  # fmt: skip
        for engine, head, grant in zip(engines, heads, granted, strict=True):
            engine.step(head, grant, frontend.halt)
        pins["err_valid_i"] = pack([bool(engine.error) for engine in engines], 1)
        pins["err_code_i"] = pack([engine.error[0] if engine.error else 0 for engine in engines], 8)
        pins["err_seq_i"] = pack([engine.error[1] if engine.error else 0 for engine in engines], 16)
        self.pins.drive(
            rst_ni=not (reset or host.clear), run_i=host.run, prog_addr_i=host.prog_addr, prog_len_i=host.prog_len,
            cycle_limit_i=host.cycle_limit, cycles_i=host.cycles, ar_ready_i=ready, r_valid_i=memory.rvalid,
            r_data_i=int.from_bytes(memory.rdata, "little"), r_resp_i=memory.rresp, r_last_i=memory.rlast, **pins,
        )  # fmt: skip
        await self.pins.settle()
        ar, rready = port.ar, port.rready
        if reset or host.clear:
            del expected["wait_grant_o"]  # nobody looks at it in a cycle that ends in reset
            frontend.reset()
        else:
            frontend.commit(port, memory)
            expected["done_set_o"] = frontend.done_set
        self.pins.compare(f"seed {self.seed}", **{name: int(value) for name, value in expected.items()})
        if reset:
            host.reset()
            memory.skip_reset_cycle()
        else:
            host.commit(bus, frontend.done_set)
            memory.commit(ar, None, None, rready, True)
        await self.pins.next()

    def _engine_pins(self, run: Scenario, heads: list, granted: list) -> dict[str, int]:
        engines = run.engines
        requests = [engine.wait_request(head) for engine, head in zip(engines, heads, strict=True)]
        stuck = [engine.stuck(*pair) for engine, pair in zip(engines, zip(heads, granted, strict=True), strict=True)]
        return {
            "wait_valid_i": pack([request >= 0 for request in requests], 1),
            "wait_issue_i": pack([request >= 0 and bool(request & ISSUE) for request in requests], 1),
            "wait_sync_i": pack([request & SYNC_MASK if request >= 0 else 0 for request in requests], 18),
            "sig_i": pack([engine.signal for engine in engines], 12),
            "busy_i": pack([engine.busy() for engine in engines], 1),
            "pending_i": pack([engine.pending() for engine in engines], 1),
            "stuck_i": pack([seq >= 0 for seq in stuck], 1),
            "stuck_seq_i": pack([max(seq, 0) for seq in stuck], 16),
        }

    async def run(self, run: Scenario) -> None:
        """Set up, start, and go on to the end of the run and a few cycles more."""
        host, frontend = self.host, self.frontend
        frontend.connect(*run.engines)
        memory = MemoryAgent(run.timing, run.image, self.config.mem_bytes)
        host.prog_addr, host.prog_len, host.cycle_limit = run.address, run.length, run.limit
        start = (1, csr.CTRL.address, 1, 1, 15, 1, 0, 0, 1)
        await self.cycle(run, memory, start)
        cycles = 0
        while host.busy or host._moving:
            reset = cycles == run.reset_after
            await self.cycle(run, memory, reset=reset)
            if reset:
                self.ends["RESET"] += 1
                return
            cycles += 1
            assert cycles < PATIENCE, f"seed {self.seed}: the run does not end"
        self.ends[Error(frontend.error_code).name if frontend.halt else "done"] += 1
        for _ in range(self.rng.randrange(4)):
            await self.cycle(run, memory)


def pack(values, width: int) -> int:
    """Engine-indexed values as one vector."""
    return sum(int(value) << width * index for index, value in enumerate(values))


@cocotb.test()
async def lockstep(dut):
    """Every output and trace word in every cycle of many runs, one after the other without reset in between."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    seed = int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    bench = Bench(dut, config, rng, seed)
    await bench.pins.start()
    await bench.pins.next()
    cycles = int(os.environ["CYCLES"])
    index = 0
    while bench.pins.cycle < cycles:
        await bench.run(scenario(rng, config, index))
        index += 1
    dut._log.info("ends of runs: %s", dict(bench.ends))
    wanted = os.environ.get("WANTED", "").split()
    missing = [name for name in wanted if not bench.ends[name]]
    assert not missing, f"no run ended with {missing}: {dict(bench.ends)}"
