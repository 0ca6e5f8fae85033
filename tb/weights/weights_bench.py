# SPDX-License-Identifier: Apache-2.0
"""The weights engine and the FIFO in lockstep with their models, under random back-pressure everywhere.

Run by tests/sim/test_weights.py. The bench is queue, semaphores, memory, scratchpad and array; every output, every
trace word and every row read from the FIFO is compared.
"""

import json
import os
import random
from collections import Counter, deque
from types import SimpleNamespace

import cocotb
import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Instruction, Opcode, make
from beatmatch.stations.control import ISSUE, SYNC_MASK
from beatmatch.stations.weight_fifo import WeightFifo
from beatmatch.stations.weights import Weights
from beatmatch.stations.writer import TraceWriter
from tb.pins import Pins, trace_int

INPUTS = (
    "rst_ni", "halt_i", "instr_valid_i", "instr_i", "seq_i", "wait_grant_i", "base_i", "size_i", "ar_ready_i",
    "r_valid_i", "r_data_i", "r_resp_i", "r_last_i", "sp_grant_i", "sp_rdata_i", "fifo_rvalid_i", "fifo_rtile_i",
    "fifo_rrow_i", "fifo_release_i",
)  # fmt: skip
OUTPUTS = (
    "wait_valid_o", "wait_issue_o", "wait_sync_o", "sig_o", "err_valid_o", "err_code_o", "err_seq_o", "busy_o",
    "pending_o", "stuck_o", "stuck_seq_o", "ar_valid_o", "ar_addr_o", "ar_len_o", "r_ready_o", "sp_req_valid_o",
    "sp_req_addr_o", "fifo_rdata_o", "fifo_count_o", "trace_o",
)  # fmt: skip
IMAGE_BYTES = 1 << 16
WINDOW = 1 << 40


def random_weights(rng: random.Random, config: Config, sizes: list[int]) -> Instruction:
    """A short weights instruction of either kind, mostly legal."""

    def small(*choices):
        return rng.choice(choices)

    f = {
        "each": rng.random() < 0.5, "outer": small(1, 1, 2, 3, 9), "inner": small(1, 1, 2, 3, 6),
        "k_rows": small(config.rows, rng.randint(1, config.rows)),
        "n_lanes": small(config.cols, rng.randint(1, config.cols)),
    }  # fmt: skip
    for which in (0, 1):
        f |= {f"wait{which}_id": rng.randrange(32), f"wait{which}_n": small(0, 1, 15)}
        f |= {f"sig{which}_id": rng.randrange(32), f"sig{which}_en": rng.randrange(2)}
    wild = rng.random() < 0.03
    if rng.random() < 0.5:
        step = config.mem_bytes if not wild else 1

        def stride(bits):
            return rng.randrange(1 << small(4, 10, bits)) // step * step

        if rng.random() < 0.3:
            f |= {"packed": 1, "k_rows": config.rows, "n_lanes": config.cols}
        f |= {
            "base": rng.randrange(16) if wild else rng.randrange(4), "offset": stride(32), "row_stride": stride(24),
            "inner_stride": stride(28), "outer_stride": stride(28),
        }  # fmt: skip
        if rng.random() < 0.3:  # one row at the end of the window, or past it
            f["n_lanes"] = small(config.cols, f["n_lanes"])
            size = config.rows * config.cols if f.get("packed") else f["n_lanes"]
            f["base"] = rng.randrange(4, 8)
            end = (sizes[f["base"]] - size) // step * step + small(0, 0, 0, 0, step)
            f |= {"offset": min(max(end, 0), 2**32 - step), "row_stride": 0, "inner_stride": 0, "outer_stride": 0}
        return make(Opcode.WEIGHTS_MEM, **{name: int(value) for name, value in f.items()})
    operands = config.sp_words * config.col_parts
    room = operands - 1
    f["src_ring"] = rng.randrange(4)
    f["src"] = rng.randrange(room + 1)
    room -= f["src"]
    limits = {"row_stride": config.rows, "inner_stride": f["inner"], "outer_stride": f["outer"]}
    for name, count in limits.items():
        most = room // count
        f[name] = 4095 if wild else rng.randint(0, min(most, 4095))
        room -= f[name] * (count - 1) if not wild else 0
    return make(Opcode.WEIGHTS_SP, **{name: int(value) for name, value in f.items()})


class Memory:
    """Answers bursts in order, with random gaps; every beat is a function of its address."""

    def __init__(self, rng: random.Random, mem_bytes: int) -> None:
        self.rng, self.mem_bytes = rng, mem_bytes
        self.image = rng.randbytes(IMAGE_BYTES)
        self.reset()

    def reset(self) -> None:
        self.beats = deque()
        self.beat = None

    def present(self, rate: float, error_rate: float) -> None:
        """Maybe put the next beat on the port; it stays until taken."""
        if self.beat is None and self.beats and self.rng.random() < rate:
            address, last = self.beats.popleft()
            start = address % IMAGE_BYTES
            resp = self.rng.choice((2, 3)) if self.rng.random() < error_rate else 0
            self.beat = SimpleNamespace(rdata=self.image[start : start + self.mem_bytes], rresp=resp, rlast=last)

    def accept(self, address: int, length: int) -> None:
        """A burst's AR handshake."""
        size = self.mem_bytes
        assert address % size == 0 and (address & 4095) + (length + 1) * size <= 4096
        self.beats.extend((address + i * size, i == length) for i in range(length + 1))


class Surroundings:
    """Random rates, queue, halts and resets, and the array that empties the FIFO."""

    def __init__(self, rng: random.Random, config: Config, fifo: WeightFifo, sizes: list[int]) -> None:
        self.rng, self.config, self.fifo, self.sizes = rng, config, fifo, sizes
        self.seq = 0
        self.restart()

    def restart(self) -> None:
        """After a reset."""
        self.head = None
        self.halt = False
        self.halted = 0
        self.tile = 0
        self.row = -1  # row that the array reads in this cycle
        self.retune()

    def retune(self) -> None:
        """New probabilities."""
        choice = self.rng.choice
        self.head_rate, self.grant_rate = choice((0.05, 0.5, 1.0)), choice((0.05, 0.5, 1.0))
        self.ar_rate, self.r_rate = choice((0.1, 0.5, 1.0)), choice((0.1, 0.6, 1.0))
        self.sp_rate, self.tile_rate = choice((0.1, 0.6, 1.0)), choice((0.0, 0.02, 0.1, 1.0))
        self.halt_rate, self.error_rate = choice((0.0, 0.0, 0.0, 0.005)), choice((0.0, 0.0, 0.0, 0.01))

    def present(self, error: bool, stuck: bool) -> bool:
        """Start a cycle; returns whether it is one of reset."""
        rng, fifo = self.rng, self.fifo
        self.halt = self.halt or error or rng.random() < self.halt_rate
        self.halted += self.halt
        if rng.random() < (0.01 if stuck else 0.003):
            self.retune()
        if self.head is None and rng.random() < self.head_rate:
            self.head = self.seq, random_weights(rng, self.config, self.sizes)
            self.seq = (self.seq + rng.choice((1, 1, 9999))) % 65536
        if self.row < 0 and fifo.count and rng.random() < self.tile_rate:
            self.row = 0
        return (self.halted > 50 and rng.random() < 0.1) or rng.random() < 0.0005

    def shift(self) -> None:
        """End of the cycle, as matmul's step: a row of a tile was read."""
        fifo = self.fifo
        if self.row == 0:
            fifo.begin()
        if self.row >= 0:
            self.row += 1
            if self.row == self.config.rows:
                fifo.release()
                self.row = -1
                self.tile = (self.tile + 1) % self.config.fifo_tiles
        fifo.commit()


def expected(model: Weights, head, granted: bool, halt: bool, request: int, fifo: WeightFifo) -> dict[str, int]:
    """Outputs of this cycle by port name, before the step; what means nothing in it is left out."""
    stuck, bursts = model.stuck(head, granted), model.bursts
    values = {
        "wait_valid_o": request >= 0, "sig_o": model.signal, "busy_o": model.busy(), "pending_o": model.pending(),
        "stuck_o": stuck >= 0, "ar_valid_o": bursts.valid, "r_ready_o": model.read_ready(False, halt),
        "sp_req_valid_o": model.sp_request >= 0, "fifo_count_o": fifo.count,
    }  # fmt: skip
    if request >= 0:
        values |= {"wait_issue_o": bool(request & ISSUE), "wait_sync_o": request & SYNC_MASK}
    if stuck >= 0:
        values["stuck_seq_o"] = stuck
    if bursts.valid:
        values |= {"ar_addr_o": bursts.address, "ar_len_o": bursts.length}
    if model.sp_request >= 0:
        values["sp_req_addr_o"] = model.sp_request
    return values


def random_windows(rng: random.Random, config: Config) -> tuple[list[int], list[int]]:
    """Base registers: the first eight aligned and with room, the others anything."""
    size = config.mem_bytes
    bases = [rng.getrandbits(48) // size * size for _ in range(8)] + [rng.getrandbits(64) for _ in range(8)]
    sizes = [WINDOW] * 4 + [rng.randrange(1 << 18, 1 << 20) // 16 * 16 for _ in range(4)]
    sizes += [rng.getrandbits(33) for _ in range(8)]
    return bases, sizes


def pack(values: list[int]) -> int:
    """Sixteen 64-bit registers as one port."""
    return sum(value << 64 * k for k, value in enumerate(values))


@cocotb.test()
async def lockstep(dut):
    """Every output and trace word in every cycle."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    cycles, seed = int(os.environ["CYCLES"]), int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    writer = TraceWriter(config, 1)
    image = np.random.default_rng(seed).integers(0, 256, (config.sp_words, config.lanes), np.uint8)
    scratchpad = SimpleNamespace(weights_data=image[0])
    fifo, memory = WeightFifo(config), Memory(rng, config.mem_bytes)
    bases, sizes = random_windows(rng, config)
    model = Weights(config, writer, bases, sizes, scratchpad, fifo)
    around = Surroundings(rng, config, fifo, sizes)
    slots = {name: writer.offset("weights", name) for name in ("issue", "retire", "sp_read", "fifo_write")}
    seen = Counter()
    pins = Pins(dut, INPUTS, OUTPUTS)
    await pins.start()
    for _ in range(2):
        await pins.next()

    stuck = False
    was_read = None  # the FIFO row whose data arrive in this cycle
    for _ in range(cycles):
        reset = around.present(model.error != 0, stuck)
        head, halt = around.head, around.halt
        request = model.wait_request(head)
        granted = request >= 0 and not halt and rng.random() < around.grant_rate
        memory.present(around.r_rate, around.error_rate)
        beat = memory.beat
        ar_ready = rng.random() < around.ar_rate
        sp_granted = model.sp_request >= 0 and rng.random() < around.sp_rate
        row, tile = around.row, around.tile
        release = row == config.rows - 1
        pins.drive(
            rst_ni=not reset, halt_i=halt, instr_valid_i=head is not None, instr_i=head[1].word() if head else 0,
            seq_i=head[0] if head else 0, wait_grant_i=granted, base_i=pack(bases), size_i=pack(sizes),
            ar_ready_i=ar_ready, r_valid_i=beat is not None, sp_grant_i=sp_granted,
            r_data_i=int.from_bytes(beat.rdata, "little") if beat else rng.getrandbits(32),
            r_resp_i=beat.rresp if beat else 0, r_last_i=beat.rlast if beat else 0,
            sp_rdata_i=int.from_bytes(scratchpad.weights_data.tobytes(), "little"),
            fifo_rvalid_i=row >= 0, fifo_rtile_i=tile, fifo_rrow_i=max(row, 0), fifo_release_i=release,
        )  # fmt: skip
        await pins.settle()
        values = expected(model, head, granted, halt, request, fifo)
        stuck = values["stuck_o"]
        if was_read is not None:
            values["fifo_rdata_o"] = was_read
        taken = beat is not None and values["r_ready_o"]
        ar = ar_ready and model.bursts.valid
        if ar:
            memory.accept(model.bursts.address, model.bursts.length)
        no_slot = model._waits and fifo.reserved == config.fifo_tiles
        word = model.sp_request
        model.step(head, granted, halt, sp_granted, ar, beat if taken else None)
        was_read = int.from_bytes(fifo.memory[tile, row].tobytes(), "little") if row >= 0 else None
        code, sequence = model.error or (0, 0)
        values |= {"err_valid_o": code != 0, "err_code_o": code, "err_seq_o": sequence}
        for name, offset in slots.items():
            seen[name] += writer.words[writer.base + offset] >> 31
        seen.update({f"error {code}": 1} if code else {}, halt=halt, reset=reset, stuck=stuck, no_slot=no_slot)
        pins.compare(f"seed {seed}", **values, trace_o=trace_int(writer, "weights"))
        around.shift()
        if taken:
            memory.beat = None
        if sp_granted:
            scratchpad.weights_data = image[word]
        if granted and request & ISSUE:
            around.head = None
        if reset:
            model.reset()
            fifo.reset()
            memory.reset()
            around.restart()
            was_read = None
            new_bases, new_sizes = random_windows(rng, config)
            bases[:], sizes[:] = new_bases, new_sizes
        await pins.next()
    dut._log.info(f"seen: {dict(seen)}")
    if cycles >= 10000:
        missing = [name for name in (*slots, "halt", "reset", "stuck", "no_slot") if not seen[name]]
        assert not missing, f"the bench never saw {missing}"
        assert any(name.startswith("error") for name in seen), "the bench never saw an error"
