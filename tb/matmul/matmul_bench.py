# SPDX-License-Identifier: Apache-2.0
"""The matrix unit in lockstep with its model: random instructions, grants, tiles, halts and resets.

Run by tests/sim/test_matmul.py. The bench is queue, semaphores, scratchpad and weight FIFO of the unit; every
output and trace word is compared in every cycle.
"""

import json
import os
import random
from collections import Counter

import cocotb
import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Instruction, Opcode, make
from beatmatch.stations.control import ISSUE, SYNC_MASK
from beatmatch.stations.matmul import Matmul
from beatmatch.stations.scratchpad import Scratchpad
from beatmatch.stations.weight_fifo import WeightFifo
from beatmatch.stations.writer import TraceWriter
from tb.pins import Pins, trace_int

INPUTS = (
    "rst_ni", "halt_i", "instr_valid_i", "instr_i", "seq_i", "wait_grant_i", "sp_rdata_i", "fifo_count_i",
    "fifo_rdata_i",
)  # fmt: skip
OUTPUTS = (
    "wait_valid_o", "wait_issue_o", "wait_sync_o", "sig_o", "err_valid_o", "err_code_o", "err_seq_o", "busy_o",
    "pending_o", "stuck_o", "stuck_seq_o", "sp_req_valid_o", "sp_req_addr_o", "fifo_rvalid_o", "fifo_rtile_o",
    "fifo_rrow_o", "fifo_release_o", "acc_pre_valid_o", "acc_pre_addr_o", "acc_valid_o", "acc_addr_o", "acc_add_o",
    "acc_data_o", "active_o", "weight_shift_o", "weight_stall_o", "wait_o", "useful_o", "trace_o",
)  # fmt: skip


def random_matmul(rng: random.Random, config: Config) -> Instruction:
    """A short matmul, mostly within range."""

    def small(*choices):
        return rng.choice(choices)

    f = {
        "keep": rng.random() < 0.3, "accumulate": rng.random() < 0.3, "each": rng.random() < 0.5,
        "x": small(1, 1, 2, 3, config.rows, config.rows + 3), "y": small(1, 1, 2, 3),
        "kx": small(1, 1, 2, 3), "ky": small(1, 1, 1, 2), "kc": small(1, 1, 2, 3), "outer": small(1, 2, 3, 5),
        "stride_x": small(1, 1, 2, 7), "stride_y": small(1, 1, 2, 7), "dilation_x": rng.randint(1, 4),
        "dilation_y": rng.randint(1, 4), "pad_left": small(0, 0, 1, 2, 15), "pad_top": small(0, 0, 0, 1, 15),
        "width": small(2, config.rows, 4095, 4095), "height": small(1, 4, 511, 511),
        "pad_value": rng.randint(-128, 127), "k_lanes": small(config.rows, rng.randint(1, config.rows)),
        "n_lanes": rng.randint(1, config.cols), "src_ring": rng.randrange(4), "acc_ring": rng.randrange(4),
    }  # fmt: skip
    for which in (0, 1):
        f |= {f"wait{which}_id": rng.randrange(32), f"wait{which}_n": small(0, 1, 15)}
        f |= {f"sig{which}_id": rng.randrange(32), f"sig{which}_en": rng.randrange(2)}
    wild = rng.random() < 0.12
    operands, rows = config.sp_words * config.act_parts, config.acc_rows
    if rng.random() < 0.15:  # one row at the end of either memory, or one past it
        f |= {"x": 1, "y": 1, "kx": 1, "ky": 1, "kc": 1, "outer": 1, "pad_left": 0, "pad_top": 0}
        past_src, past_acc = small((0, 0), (0, 0), (1, 0), (0, 1))
        f |= {"src": operands - 1 + past_src, "acc": min(rows - 1 + past_acc, 4095)}
        return make(Opcode.MATMUL, **{name: int(value) for name, value in f.items()})
    if rng.random() < 0.15:  # short tiles that go round the rings
        f |= {"x": small(1, 2), "y": 1, "kx": 1, "ky": 1, "kc": 1, "outer": 6, "pad_left": 0, "pad_top": 0}
        f |= {"src_ring": small(1, 2), "acc_ring": small(1, 2)}
    while True:
        scale = small(1, 2, 5, 40)
        f |= {
            "src_pitch_x": rng.randrange(scale), "src_pitch_y": rng.randrange(2 * scale),
            "src_kc_stride": rng.randrange(4 * scale), "src_outer_stride": rng.randrange(8 * scale),
            "src": rng.randrange(operands), "acc": rng.randrange(rows), "acc_outer_stride": rng.randrange(2 * scale),
        }  # fmt: skip
        if wild:
            f |= {rng.choice(("src_pitch_x", "src_pitch_y")): 1023, "src_outer_stride": small(0, 65535)}
            break
        iy = min(f["height"], f["y"] * f["stride_y"] + f["ky"] * f["dilation_y"])
        ix = min(f["width"], f["x"] * f["stride_x"] + f["kx"] * f["dilation_x"])
        src = f["src"] + f["kc"] * f["src_kc_stride"] + f["outer"] * f["src_outer_stride"]
        src += iy * f["src_pitch_y"] + ix * f["src_pitch_x"]
        acc = f["acc"] + f["outer"] * f["acc_outer_stride"] + f["x"] * f["y"]
        if (src < operands and acc <= rows) or rng.random() < 0.002:
            break
        if rng.random() < 0.05:  # it will never fit
            f |= {"x": 1, "y": 1, "outer": 1, "kc": 1, "width": 2, "height": 1}
    return make(Opcode.MATMUL, **{name: int(value) for name, value in f.items()})


class Surroundings:
    """Random queue, semaphores, tiles, halts and resets."""

    def __init__(self, rng: random.Random, config: Config, fifo: WeightFifo) -> None:
        self.rng, self.config, self.fifo = rng, config, fifo
        self.seq = 0
        self.restart()

    def restart(self) -> None:
        """After a reset."""
        self.head = None
        self.halt = False
        self.slot = self.halted = 0
        self.retune()

    def retune(self) -> None:
        """New probabilities."""
        choice = self.rng.choice
        self.head_rate, self.grant_rate = choice((0.05, 0.5, 1.0)), choice((0.05, 0.5, 1.0))
        self.tile_rate = choice((0.0, 0.02, 0.2, 1.0, 1.0))
        self.halt_rate = choice((0.0, 0.0, 0.005))

    def present(self, error: bool, stuck: bool) -> bool:
        """Start a cycle; returns whether it is one of reset."""
        rng = self.rng
        self.halt = self.halt or error or rng.random() < self.halt_rate
        self.halted += self.halt
        if rng.random() < (0.02 if stuck else 0.002):
            self.retune()
        if self.head is None and rng.random() < self.head_rate:
            self.head = self.seq, random_matmul(rng, self.config)
            self.seq = (self.seq + rng.choice((1, 1, 9999))) % 65536
        return (self.halted > 60 and rng.random() < 0.03) or rng.random() < 0.0005

    def fill(self) -> None:
        """Maybe complete a tile (what weights does in its step)."""
        fifo = self.fifo
        if fifo.reserved < self.config.fifo_tiles and self.rng.random() < self.tile_rate:
            low, high = self.rng.choice(((-128, 127), (-128, -127), (-3, 3)))
            shape = fifo.memory.shape[1:]
            np_rng = np.random.default_rng(self.rng.getrandbits(32))
            fifo.memory[self.slot] = np_rng.integers(low, high, shape, endpoint=True)
            self.slot = (self.slot + 1) % self.config.fifo_tiles
            fifo.reserve()
            fifo.tile_done()


def expected(model: Matmul, head, granted: bool, request: int) -> dict[str, int]:
    """Outputs of this cycle by port name; what means nothing in it is left out."""
    active, weight_shift, weight_stall, wait, useful = model.levels(head, granted)
    stuck = model.stuck(head, granted)
    values = {
        "wait_valid_o": request >= 0, "sig_o": model.signal, "busy_o": model.busy(), "pending_o": model.pending(),
        "stuck_o": stuck >= 0, "sp_req_valid_o": model.sp_read >= 0, "acc_pre_valid_o": model.acc_pre >= 0,
        "acc_valid_o": model.acc_row >= 0, "active_o": active, "weight_shift_o": weight_shift,
        "weight_stall_o": weight_stall, "wait_o": wait, "useful_o": useful,
    }  # fmt: skip
    if request >= 0:
        values |= {"wait_issue_o": bool(request & ISSUE), "wait_sync_o": request & SYNC_MASK}
    if stuck >= 0:
        values["stuck_seq_o"] = stuck
    if model.sp_read >= 0:
        values["sp_req_addr_o"] = model.sp_read
    if model.acc_pre >= 0:
        values["acc_pre_addr_o"] = model.acc_pre
    if model.acc_row >= 0:
        data = int.from_bytes(model.acc_data.astype("<i4").tobytes(), "little")
        values |= {"acc_addr_o": model.acc_row, "acc_add_o": model.acc_add, "acc_data_o": data}
    return values


@cocotb.test()
async def lockstep(dut):
    """Every output and trace word in every cycle."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    cycles, seed = int(os.environ["CYCLES"]), int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    writer = TraceWriter(config, 1)
    scratchpad, fifo = Scratchpad(config), WeightFifo(config)
    scratchpad.memory[:] = np.random.default_rng(seed).integers(0, 256, scratchpad.memory.shape, np.uint8)
    model = Matmul(config, writer, scratchpad, fifo)
    around = Surroundings(rng, config, fifo)
    shift_offset = writer.offset("matmul", "shift")
    slots = {name: writer.offset("matmul", name) for name in ("issue", "retire", "sp_read", "row", "shift")}
    seen = Counter()
    pins = Pins(dut, INPUTS, OUTPUTS)
    await pins.start()
    for _ in range(2):
        await pins.next()

    fifo_data, stuck = 0, False
    for _ in range(cycles):
        reset = around.present(model.error != 0, stuck)
        head, halt = around.head, around.halt
        request = model.wait_request(head)
        granted = request >= 0 and not halt and rng.random() < around.grant_rate
        pins.drive(
            rst_ni=not reset, halt_i=halt, instr_valid_i=head is not None, instr_i=head[1].word() if head else 0,
            seq_i=head[0] if head else 0, wait_grant_i=granted, fifo_count_i=fifo.count, fifo_rdata_i=fifo_data,
            sp_rdata_i=int.from_bytes(scratchpad.matmul_data.tobytes(), "little"),
        )  # fmt: skip
        await pins.settle()
        scratchpad.arbitrate(model.sp_read, -1, -1, -1, None, None)
        around.fill()
        seen_levels = model.levels(head, granted)
        values = expected(model, head, granted, request)  # of the registers, which the step changes
        stuck = values["stuck_o"]
        model.step(head, granted, halt)
        shift = writer.words[writer.base + shift_offset]
        values["fifo_rvalid_o"] = shift >> 31
        values["fifo_release_o"] = bool(shift >> 31 and shift & 255 == config.rows - 1)
        if shift >> 31:
            values |= {"fifo_rrow_o": shift & 255, "fifo_rtile_o": shift >> 8 & 15}
            row = fifo.memory[shift >> 8 & 15, shift & 255]
            fifo_data = int.from_bytes(row.tobytes(), "little")
        code, sequence = model.error or (0, 0)
        values |= {"err_valid_o": code != 0, "err_code_o": code, "err_seq_o": sequence}
        for name, offset in slots.items():
            seen[name] += writer.words[writer.base + offset] >> 31
        seen.update(error=code != 0, halt=halt, reset=reset, stuck=stuck)
        seen.update(dict(zip(("active", "shifting", "stalled", "waiting"), seen_levels, strict=False)))
        pins.compare(f"seed {seed}", **values, trace_o=trace_int(writer, "matmul"))
        scratchpad.commit()
        if granted and request & ISSUE:
            around.head = None
        if reset:
            model.reset()
            fifo.reset()
            scratchpad.reset()
            around.restart()
        await pins.next()
    dut._log.info(f"seen: {dict(seen)}")
    if cycles >= 10000:
        missing = [name for name, count in seen.items() if not count]
        assert not missing, f"the bench never saw {missing}"
