# SPDX-License-Identifier: Apache-2.0
"""The vector engine in lockstep with its model: random instructions, grants, data, parameter writes, halts, resets.

Run by tests/sim/test_vector.py. The bench is every neighbour at once: queue, semaphores, both memories and load. Grants
come late at random, and read data are garbage except in the cycle after a grant.
"""

import json
import os
import random

import cocotb
import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Format, Instruction, Opcode, Space, make
from beatmatch.stations.control import ISSUE, SYNC_MASK
from beatmatch.stations.vector import WAIT, Vector
from beatmatch.stations.writer import TraceWriter
from tb.pins import Pins, trace_int

INPUTS = (
    "rst_ni", "halt_i", "instr_valid_i", "instr_i", "seq_i", "wait_grant_i", "sp_grant_i", "sp_rdata_i", "acc_grant_i",
    "acc_rdata_i", "par_wvalid_i", "par_waddr_i", "par_wenable_i", "par_wdata_i",
)  # fmt: skip
OUTPUTS = (
    "wait_valid_o", "wait_issue_o", "wait_sync_o", "sig_o", "err_valid_o", "err_code_o", "err_seq_o", "busy_o",
    "pending_o", "stuck_o", "stuck_seq_o", "sp_req_valid_o", "sp_req_addr_o", "sp_wvalid_o", "sp_waddr_o",
    "sp_wenable_o", "sp_wdata_o", "acc_req_valid_o", "acc_req_addr_o", "trace_o",
)  # fmt: skip
OPCODES = (Opcode.REQUANT, Opcode.ADD, Opcode.MAXPOOL, Opcode.AVGPOOL)
EXTREMES = (0, 1, 0x7F, 0x80, 0xFF)
MOST_ELEMENTS = 120


def instruction(rng: random.Random, config: Config) -> Instruction:
    """A legal instruction; some have wild addresses, some end at the very last or one past the last address."""
    opcode = rng.choice(OPCODES)
    pool = opcode in (Opcode.MAXPOOL, Opcode.AVGPOOL)
    accumulator = rng.random() < 0.5
    raw = rng.random() < 0.3
    operands = config.sp_words * config.col_parts
    wild = rng.random() < 0.1
    f: dict[str, int] = {}
    while True:
        outer = rng.choice((1, 1, 2, 3, 5, 9))
        x, y = rng.choice((1, 2, 3, rng.randint(1, 12))), rng.choice((1, 1, 2, 3))
        kx, ky = (rng.choice((1, 2, 3, 5)), rng.choice((1, 2, 3))) if pool else (1, 1)
        if outer * x * y * kx * ky <= MOST_ELEMENTS:
            break
    if pool:
        f = {
            "kx": kx, "ky": ky, "stride_x": rng.randint(1, 3), "stride_y": rng.randint(1, 3),
            "pad_left": rng.choice((0, 1, 7)), "pad_top": rng.choice((0, 1, 7)),
            "width": rng.randint(1, 2 * x + 2), "height": rng.randint(1, 2 * y + 2),
        }  # fmt: skip
    elif opcode is Opcode.ADD:
        f["src2"] = rng.randrange(operands)
    source = config.acc_rows if accumulator else operands
    small = (0, 1, 1, 2, 3)
    low, high = rng.randint(-128, 127), rng.randint(-128, 127)
    mode = rng.choice((0, 1, 1, 2))
    f |= {
        "outer": outer, "each": rng.randrange(2), "x": x, "y": y,
        "wait0_id": rng.randrange(32), "wait0_n": rng.randrange(16),
        "wait1_id": rng.randrange(32), "wait1_n": rng.randrange(16),
        "sig0_en": rng.randrange(2), "sig0_id": rng.randrange(32),
        "sig1_en": rng.randrange(2), "sig1_id": rng.randrange(32),
        "zero_point": rng.choice((0, rng.randint(-128, 127))),
        "clip_low": rng.choice((-128, low)), "clip_high": rng.choice((127, high)),
        "src_space": Space.ACCUMULATOR if accumulator else Space.SCRATCHPAD,
        "src_format": Format.INT32 if accumulator else Format.INT8,
        "dst_format": Format.INT32 if raw else Format.INT8,
        "src": rng.randrange(1 << 18) if wild else rng.randrange(max(1, source // 2)),
        "src_pitch_x": rng.choice(small), "src_pitch_y": rng.choice((*small, x)),
        "src_outer_stride": rng.randrange(1 << 16) if wild else rng.choice(small),
        "src_ring": rng.choice((0, 0, 1, 2, 3)),
        "dst": rng.randrange(max(1, operands // 2)),
        "dst_pitch": rng.randrange(1 << 10) if wild else rng.choice((1, 4, 3)),
        "dst_outer_stride": rng.choice((0, 1, x * y)), "dst_ring": rng.choice((0, 0, 1, 2, 3)),
        "param_mode": mode, "param": rng.randrange(config.param_rows) if mode else 0,
    }  # fmt: skip
    if rng.random() < 0.2:
        at_the_edge(rng, f, opcode, operands)
    return make(opcode, **f)


def at_the_edge(rng: random.Random, f: dict[str, int], opcode: Opcode, operands: int) -> None:
    """Move a destination (or ADD's second source) so that its greatest address is the last legal one, or one more."""
    outers = min(f["outer"], 1 << f["dst_ring"]) if f["dst_ring"] else f["outer"]
    reach = (outers - 1) * f["dst_outer_stride"] + (f["x"] * f["y"] - 1) * f["dst_pitch"]
    past = rng.randrange(2)
    if opcode is Opcode.ADD and rng.random() < 0.5:
        f["src2"] = max(0, operands - 1 - reach + past)
    else:
        f["dst"] = max(0, operands - (4 if f["dst_format"] else 1) - reach + past)


class World:
    """The neighbours of the engine; what they do is random, at rates that change now and then."""

    def __init__(self, rng: random.Random, config: Config) -> None:
        self.rng, self.config = rng, config
        self.head: tuple[int, Instruction] | None = None
        self.sequence = 0
        self.retune()

    def retune(self) -> None:
        """New rates of everything."""
        rng = self.rng
        self.head_rate, self.wait_rate = rng.choice((0.1, 1.0)), rng.choice((0.1, 0.5, 1.0))
        self.sp_rate, self.acc_rate = rng.choice((0.2, 0.7, 1.0, 1.0)), rng.choice((0.2, 0.7, 1.0, 1.0))
        self.param_rate = rng.choice((0.05, 0.9))
        self.halt_rate, self.reset_rate = rng.choice((0, 0, 0.01)), rng.choice((0, 0.003))

    def bytes(self, count: int) -> np.ndarray:
        """Random bytes, a run of extreme ones now and then."""
        data = np.frombuffer(self.rng.randbytes(count), dtype=np.uint8)
        if self.rng.random() < 0.3:
            data = np.array(EXTREMES, dtype=np.uint8)[data % len(EXTREMES)]
        return data

    def next_head(self) -> None:
        if self.head is None and self.rng.random() < self.head_rate:
            self.head = (self.sequence, instruction(self.rng, self.config))
            self.sequence = (self.sequence + 1) % 65536


def little(data: np.ndarray) -> int:
    return int.from_bytes(np.ascontiguousarray(data).tobytes(), "little")


def outputs(vector: Vector, config: Config, head, granted: bool) -> dict[str, int]:
    """Outputs that are registers, or functions of them; payloads only where they are valid."""
    wait, stuck = vector.wait_request(head), vector.stuck(head, granted)
    values = {
        "wait_valid_o": wait >= 0, "sig_o": vector.signal, "busy_o": vector.busy(), "pending_o": vector.pending(),
        "stuck_o": stuck >= 0, "sp_req_valid_o": vector.sp_read >= 0, "acc_req_valid_o": vector.acc_read >= 0,
        "sp_wvalid_o": vector.write is not None,
    }  # fmt: skip
    if wait >= 0:
        values |= {"wait_issue_o": wait >> 18, "wait_sync_o": wait & SYNC_MASK}
    if stuck >= 0:
        values["stuck_seq_o"] = stuck
    if vector.sp_read >= 0:
        values["sp_req_addr_o"] = vector.sp_read
    if vector.acc_read >= 0:
        values["acc_req_addr_o"] = vector.acc_read
    if vector.write is not None:
        word, part, data = vector.write
        values["sp_waddr_o"] = word
        values["sp_wenable_o"] = ((1 << config.cols) - 1) << part.start
        values["sp_wdata_o"] = little(np.tile(data, config.col_parts))
    return {name: int(value) for name, value in values.items()}


@cocotb.test()
async def lockstep(dut):
    """Every output and trace word in every cycle."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    cycles = int(os.environ["CYCLES"])
    seed = int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    writer = TraceWriter(config, 1)
    vector, world = Vector(config, writer), World(rng, config)
    pins = Pins(dut, INPUTS, OUTPUTS)
    await pins.start()
    for _ in range(2):
        await pins.next()

    seen = dict.fromkeys(("writes", "retired", "errors", "halted rows", "further waits", "held", "cut off"), 0)
    halt, to_reset = False, 0
    sp_granted = acc_granted = False
    for cycle in range(cycles):
        if cycle % 400 == 0:
            world.retune()
        reset = rng.random() < world.reset_rate or to_reset == 1
        to_reset = max(0, to_reset - 1)
        world.next_head()
        head = world.head
        wait = vector.wait_request(head)
        granted = wait >= 0 and not halt and rng.random() < world.wait_rate
        sp_data, acc_data = world.bytes(config.lanes), world.bytes(4 * config.cols).view(np.int32)
        sp_granted = vector.sp_read >= 0 and rng.random() < world.sp_rate
        acc_granted = vector.acc_read >= 0 and rng.random() < world.acc_rate
        load = None
        if rng.random() < world.param_rate:
            load = (rng.randrange(len(vector.param_memory)), rng.choice((config.lanes, rng.randint(1, config.lanes))))
            data = world.bytes(config.lanes)
            pins.drive(par_waddr_i=load[0], par_wenable_i=(1 << load[1]) - 1, par_wdata_i=little(data))
        pins.drive(
            rst_ni=not reset, halt_i=halt, instr_valid_i=head is not None,
            instr_i=head[1].word() if head else rng.getrandbits(256), seq_i=head[0] if head else rng.getrandbits(16),
            wait_grant_i=granted, sp_grant_i=sp_granted, sp_rdata_i=little(sp_data), acc_grant_i=acc_granted,
            acc_rdata_i=little(acc_data), par_wvalid_i=load is not None,
        )  # fmt: skip
        seen["writes"] += vector.write is not None
        seen["halted rows"] += halt and vector.write is not None
        seen["further waits"] += granted and not wait >> 18
        seen["held"] += sp_granted != acc_granted and vector.sp_read >= 0 and vector.acc_read >= 0
        seen["cut off"] += reset and vector.pending()
        expected = outputs(vector, config, head, granted)
        assert vector._phase == WAIT or not granted or wait & ISSUE
        vector.step(head, granted, halt, sp_granted, acc_granted, sp_data, acc_data)
        if load is not None:
            vector.write_parameters(*load, data)
        code, number = vector.error or (0, 0)
        expected |= {"err_valid_o": int(code != 0), "err_code_o": code, "err_seq_o": number}
        seen["errors"] += code != 0
        seen["retired"] += vector.signal != 0
        await pins.settle()
        pins.compare(f"seed {seed}", **expected, trace_o=trace_int(writer, "vector"))

        if granted and wait & ISSUE:
            world.head = None
        if not halt and (code or rng.random() < world.halt_rate):
            halt, to_reset = True, rng.choice((2, 10, 40))
        if reset:  # what a start does, too
            vector.reset()
            halt, to_reset = False, 0
            world.head = None
        await pins.next()
    cocotb.log.info("%s", seen)
    assert all(seen.values()), f"the bench shows too little: {seen}"
