# SPDX-License-Identifier: Apache-2.0
"""Facts of docs/timing.md about the host side, counted by hand, and the register map."""

from types import SimpleNamespace

import pytest

from beatmatch import csr
from beatmatch.config import Config, preset
from beatmatch.stations.host import IDLE_BUS, OKAY, PLACES, SLVERR, Host
from beatmatch.stations.writer import TraceWriter

CONFIG = preset("base")


class Bench:
    """A host with an idle frontend."""

    def __init__(self, config=CONFIG):
        self.host = Host(config, TraceWriter(config, 1))
        self.frontend = SimpleNamespace(halt=False, error_new=False, error_code=0, error_engine=0, error_seq=0)
        self.now = 0

    def cycle(self, done_set=False, levels=(), useful=0, overflow=False, **bus):
        names = ("awvalid", "awaddr", "wvalid", "wdata", "wstrb", "bready", "arvalid", "araddr", "rready")
        values = tuple(bus.get(name, idle) for name, idle in zip(names, IDLE_BUS, strict=True))
        self.host.observe(self.frontend, overflow, **dict.fromkeys(levels, True), useful=useful)
        self.host.commit(values if bus else None, done_set)
        self.now += 1

    def write(self, address, data, strobe=15):
        self.cycle(awvalid=1, awaddr=address, wvalid=1, wdata=data, wstrb=strobe)
        self.cycle()
        response = self.host.bresp
        assert self.host.bvalid
        self.cycle()
        return response

    def read(self, address):
        self.cycle(arvalid=1, araddr=address)
        self.cycle()
        assert self.host.rvalid
        result = self.host.rdata, self.host.rresp
        self.cycle()
        return result

    def start(self):
        self.cycle(awvalid=1, awaddr=csr.CTRL.address, wvalid=1, wdata=1, wstrb=1)
        self.cycle()


def test_a_write_happens_the_cycle_after_the_later_handshake():
    bench = Bench()
    host = bench.host
    bench.cycle(awvalid=1, awaddr=csr.PROG_LEN.address)
    assert not host.awready
    bench.cycle()
    bench.cycle(wvalid=1, wdata=77, wstrb=15)
    assert (host.wready, host.bvalid, host.prog_len) == (False, False, 0)
    bench.cycle(bready=0)  # the write
    assert (host.awready, host.wready, host.bvalid, host.prog_len) == (True, True, True, 77)
    bench.cycle(bready=0)
    assert host.bvalid
    bench.cycle(bready=1)
    assert not host.bvalid


def test_a_waiting_response_holds_the_next_write_back():
    bench = Bench()
    host = bench.host
    bench.cycle(awvalid=1, awaddr=csr.PROG_LEN.address, wvalid=1, wdata=1, wstrb=15)
    bench.cycle(awvalid=1, awaddr=csr.PROG_LEN.address, wvalid=1, wdata=2, wstrb=15, bready=0)  # not taken yet
    bench.cycle(awvalid=1, awaddr=csr.PROG_LEN.address, wvalid=1, wdata=3, wstrb=15, bready=0)
    for _ in range(3):
        bench.cycle(bready=0)
        assert host.prog_len == 1
    bench.cycle(bready=1)  # response taken
    bench.cycle()
    assert host.prog_len == 3


def test_a_read_gives_the_values_of_its_cycle():
    bench = Bench()
    bench.start()
    assert bench.host.clear
    for _ in range(9):
        bench.cycle()
    bench.cycle(arvalid=1, araddr=csr.CYCLES.address)
    assert bench.host.cycles == 10  # busy in 10 cycles so far
    bench.cycle()
    assert bench.host.rdata == 10


def test_the_read_in_the_cycle_of_a_write_sees_the_old_value():
    bench = Bench()
    bench.cycle(awvalid=1, awaddr=csr.BASE.address, wvalid=1, wdata=5, wstrb=15, arvalid=1, araddr=csr.BASE.address)
    bench.cycle()
    assert (bench.host.rdata, bench.host.base[0]) == (0, 5)


@pytest.mark.parametrize("address", [0x024, 0x03C, 0x054, 0x0C0, 0x200, 0xFFC])
def test_an_address_without_a_register(address):
    bench = Bench()
    assert bench.write(address, 0xFFFFFFFF) == SLVERR
    assert bench.read(address) == (0, SLVERR)


@pytest.mark.parametrize("register", csr.REGISTERS, ids=lambda register: register.name)
def test_every_word_of_every_register(register):
    bench = Bench()
    for index in range(register.count):
        for half in range(register.bits // 32):
            address = register.address + register.stride * index + 4 * half
            assert PLACES[address] == (register.name, index, half)
            before, _ = bench.read(address)
            if register is csr.CTRL:
                continue
            assert bench.write(address, 0xA5A50000 | address) == OKAY
            expected = 0xA5A50000 | address if register.access == "rw" else before
            assert bench.read(address) == (expected, OKAY)
    assert bench.host.prog_len in (0, 0xA5A50014)


def test_strobes_select_bytes():
    bench = Bench()
    bench.write(csr.PROG_ADDR.address + 4, 0x11223344)
    bench.write(csr.PROG_ADDR.address + 4, 0xAABBCCDD, strobe=0b0101)
    assert bench.host.prog_addr == 0x11BB33DD << 32
    bench.write(csr.CTRL.address, 1, strobe=0b1110)
    assert not bench.host.busy


def test_identity_and_sizes():
    bench = Bench(Config(256, 64, 6 * 1024, 6, 512, 2, 16, 32, 1024, 64, 128))
    assert csr.ID.unpack(bench.read(csr.ID.address)[0]) == {"version": 1, "letters": 0x424D}
    fields = {}
    for register in csr.REGISTERS:
        if register.name.startswith("CONFIG_"):
            value = register.unpack(bench.read(register.address)[0])
            fields |= {f"{register.name[7:].lower()}.{name}": number for name, number in value.items()}
    assert fields == {
        "array.rows": 256, "array.cols": 64, "scratchpad.words": 6144, "scratchpad.banks": 6, "accumulator.rows": 512,
        "accumulator.banks": 2, "depth.fifo_tiles": 16, "depth.queue": 32, "depth.param_rows": 128, "memory.bits": 1024,
        "memory.outstanding": 64,
    }  # fmt: skip


def test_every_write_is_ignored_while_busy():
    bench = Bench()
    bench.start()
    for register in csr.REGISTERS:
        assert bench.write(register.address, 0xFFFFFFFF) == OKAY
    host = bench.host
    assert (host.prog_addr, host.prog_len, host.cycle_limit, host.base[0], host.size[0]) == (0, 0, 0, 0, 0)
    assert host.busy
    assert not host.clear


def test_categories_have_an_order_and_sum_to_the_cycles():
    bench = Bench()
    bench.start()
    everything = ("active", "weight_shift", "weight_stall", "wait", "load_busy")
    bench.cycle(levels=everything, useful=9)  # the clear cycle is non-matrix, whatever the engines say
    for first in range(len(everything)):
        for _ in range(first + 1):
            bench.cycle(levels=everything[first:], useful=100)
    bench.cycle(levels=("wait",), done_set=True)
    bench.cycle(levels=everything, useful=50)  # not busy any more
    host = bench.host
    counts = (host.active, host.weight_shift, host.weight_stall, host.input_stall, host.raw_stall)
    assert counts == (1, 2, 3, 4, 1)
    assert host.cycles == 1 + 15 + 1
    assert host.non_matrix == 1 + 4 + 5 + 1
    assert host.useful_macs == 1500
    assert host.cycles == host.active + host.weight_shift + host.weight_stall + host.non_matrix
    assert bench.read(csr.NON_MATRIX.address) == (11, OKAY)


def test_start_clears_done_and_the_counters():
    bench = Bench()
    bench.start()
    bench.cycle()
    bench.cycle(done_set=True)
    status = csr.STATUS.unpack(bench.read(csr.STATUS.address)[0])
    assert status == {"busy": 0, "done": 1, "error": 0, "overflow": 0}
    bench.start()
    host = bench.host
    assert (host.busy, host.done, host.clear, host.run, host.cycles) == (True, False, True, False, 0)
    bench.cycle()
    assert (host.clear, host.run, host.cycles) == (False, True, 1)


def test_errors_and_overflow_are_read_back():
    bench = Bench()
    bench.frontend = SimpleNamespace(halt=True, error_new=False, error_code=10, error_engine=3, error_seq=0x1234)
    assert csr.ERROR.unpack(bench.read(csr.ERROR.address)[0]) == {"code": 10, "engine": 3}
    assert bench.read(csr.ERROR_SEQ.address)[0] == 0x1234
    bench.cycle(arvalid=1, araddr=csr.STATUS.address)
    bench.cycle(overflow=True)
    assert csr.STATUS.unpack(bench.host.rdata) == {"busy": 0, "done": 0, "error": 1, "overflow": 1}


def test_base_registers_stay_the_same_lists():
    bench = Bench()
    base, size = bench.host.base, bench.host.size
    bench.write(csr.SIZE.address + 8 * 5 + 4, 7)
    assert size[5] == 7 << 32
    bench.host.reset()
    assert bench.host.base is base
    assert size == [0] * 16


def test_registers_pack_and_unpack():
    value = csr.CONFIG_ARRAY.pack(rows=256, cols=4)
    assert value == 4 << 16 | 256
    assert csr.CONFIG_ARRAY.unpack(value) == {"rows": 256, "cols": 4}


@pytest.mark.parametrize("low", [1, 2, 3])
def test_the_lowest_two_bits_of_an_address_do_not_count(low):
    bench = Bench()
    assert bench.write(csr.PROG_LEN.address + low, 77) == 0
    assert bench.host.prog_len == 77
    assert bench.read(csr.PROG_LEN.address + low) == (77, 0)
