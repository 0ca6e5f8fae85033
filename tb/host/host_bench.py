# SPDX-License-Identifier: Apache-2.0
"""The host side in lockstep with its model: random bus timing, random levels, starts, errors, resets.

Run by tests/sim/test_host.py. One bus master per channel follows AXI4-Lite (valid holds until ready) and is
otherwise random; frontend, matmul and load are random levels.
"""

import json
import os
import random
from types import SimpleNamespace

import cocotb

from beatmatch import csr
from beatmatch.config import Config
from beatmatch.stations.host import PLACES, Host
from beatmatch.stations.writer import TraceWriter
from tb.pins import Pins, trace_int

BUS_IN = ("awvalid", "awaddr", "wvalid", "wdata", "wstrb", "bready", "arvalid", "araddr", "rready")
BUS_OUT = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")
LEVELS = ("active_i", "weight_shift_i", "weight_stall_i", "wait_i", "load_busy_i", "useful_i", "overflow_i")
FRONTEND = ("halt_i", "error_valid_i", "error_code_i", "error_engine_i", "error_seq_i", "done_set_i")
SETTINGS = ("prog_addr_o", "prog_len_o", "cycle_limit_o", "cycles_o", "base_o", "size_o", "run_o")
WRITABLE = [address for address, (name, _, _) in PLACES.items() if "w" in csr.__dict__[name].access]


class Master:
    """Random requests on the three request channels, held until they are taken."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.aw = self.w = self.ar = None
        self.retune()

    def retune(self) -> None:
        """New probabilities, per channel."""
        self.rate = [self.rng.choice((0.2, 0.5, 1.0)) for _ in range(5)]
        self.start_rate = self.rng.choice((0.1, 0.3))

    def address(self) -> int:
        draw = self.rng.random()
        if draw < self.start_rate:
            return csr.CTRL.address
        if draw < 0.5:
            return self.rng.choice(WRITABLE) + self.rng.randrange(4)
        if draw < 0.8:
            return self.rng.choice(list(PLACES)) + self.rng.randrange(4)
        return self.rng.randrange(4096)

    def present(self) -> tuple:
        """What the master drives in this cycle."""
        rng, rate = self.rng, self.rate
        if self.aw is None and rng.random() < rate[0]:
            self.aw = self.address()
        if self.w is None and rng.random() < rate[1]:
            self.w = (rng.getrandbits(32) | (rng.random() < 0.3), rng.choice((15, 15, 1, rng.getrandbits(4))))
        if self.ar is None and rng.random() < rate[2]:
            self.ar = self.address()
        data, strobe = self.w or (0, 0)
        return (
            int(self.aw is not None), self.aw or 0, int(self.w is not None), data, strobe, int(rng.random() < rate[3]),
            int(self.ar is not None), self.ar or 0, int(rng.random() < rate[4]),
        )  # fmt: skip

    def end(self, host: Host) -> None:
        """Drop what was taken in this cycle."""
        if host.awready:
            self.aw = None
        if host.wready:
            self.w = None
        if host.arready:
            self.ar = None


def outputs(host: Host, rst_ni: int) -> dict[str, int]:
    """All outputs but the trace, by port name."""
    values = {f"s_axil_{name}_o": int(getattr(host, name)) for name in BUS_OUT}
    for name in SETTINGS:
        attribute = getattr(host, name[:-2])
        if isinstance(attribute, list):
            attribute = sum(value << 64 * index for index, value in enumerate(attribute))
        values[name] = int(attribute)
    values["engine_rst_no"] = int(rst_ni and not host.clear)
    return values


@cocotb.test()
async def lockstep(dut):
    """Every output and trace word in every cycle."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    cycles = int(os.environ["CYCLES"])
    seed = int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    writer = TraceWriter(config, 1)
    host, master = Host(config, writer), Master(rng)
    bus_in = [f"s_axil_{name}_i" for name in BUS_IN]
    pins = Pins(dut, ["rst_ni", *bus_in, *LEVELS, *FRONTEND], [*outputs(host, 1), "trace_o"])
    await pins.start()
    for _ in range(2):
        await pins.next()

    runs = 0
    halt = False
    for cycle in range(cycles):
        if cycle % 500 == 0:
            master.retune()
            done_rate = rng.choice((0.003, 0.05))
        reset = rng.random() < 0.002
        if not host.busy:
            halt = halt and not reset
        halt = (halt and not host.clear) or (host.run and rng.random() < 0.01)
        frontend = SimpleNamespace(
            halt=halt, error_new=rng.random() < 0.1, error_code=rng.getrandbits(8), error_engine=rng.getrandbits(4),
            error_seq=rng.getrandbits(16),
        )  # fmt: skip
        levels = [int(rng.random() < 0.4) for _ in range(5)]
        useful = rng.choice((0, config.peak_macs, rng.randrange(1 << 17)))
        overflow = int(rng.random() < 0.5)
        done_set = host.run and rng.random() < done_rate
        bus = master.present()
        pins.drive(
            rst_ni=not reset, **dict(zip(bus_in, bus, strict=True)),
            **dict(zip(LEVELS, (*levels, useful, overflow), strict=True)),
            halt_i=halt, error_valid_i=frontend.error_new, error_code_i=frontend.error_code,
            error_engine_i=frontend.error_engine, error_seq_i=frontend.error_seq, done_set_i=done_set,
        )  # fmt: skip
        host.observe(frontend, overflow, *levels, useful)
        await pins.settle()
        pins.compare(f"seed {seed}", **outputs(host, not reset), trace_o=trace_int(writer, "host"))
        master.end(host)
        if reset:
            host.reset()
            master.aw = master.w = master.ar = None  # a master obeys the reset, too
        else:
            host.commit(bus, done_set)
            runs += host.clear
        await pins.next()
    assert runs >= cycles // 1000, f"only {runs} runs were started: the bench shows nothing"
