# SPDX-License-Identifier: Apache-2.0
"""The host side: AXI4-Lite registers, run control and cycle accounting. The twin of `rtl/host/bm_host.sv`."""

from __future__ import annotations

from beatmatch import csr
from beatmatch.config import Config
from beatmatch.isa.fields import BASE_REGISTERS
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

OKAY, SLVERR = 0, 2
MASK32 = 0xFFFFFFFF
IDLE_BUS = (0, 0, 0, 0, 0, 1, 0, 0, 1)
"""A bus cycle without requests that takes every response."""

PLACES: dict[int, tuple[str, int, int]] = {
    register.address + register.stride * index + 4 * half: (register.name, index, half)
    for register in csr.REGISTERS
    for index in range(register.count)
    for half in range(register.bits // 32)
}
"""Word address to (register, index in its array, 0 for the low and 1 for the high word)."""

# Categories as bits of the status slot.
_ACTIVE, _SHIFT, _STALL, _RAW, _INPUT = (1 << bit for bit in range(5, 10))


class Host:
    """Registers, run control, counters.

    Parameters
    ----------
    config : Config
        Sizes, as the CONFIG registers show them.
    trace : TraceWriter
        Where the slots axil, status and error are written.

    Attributes
    ----------
    busy, done, clear, run : bool
        ``clear`` is the cycle in which the engines are reset; ``run`` is busy and not clear.
    prog_addr, prog_len, cycle_limit : int
    base, size : list of int
        The 16 base registers and their windows, in bytes; the lists stay the same objects (engines keep them).
    cycles, active, weight_shift, weight_stall, raw_stall, input_stall : int
        Counters, in cycles; ``non_matrix`` is what the first three leave of ``cycles``.
    useful_macs : int
        Multiply-accumulates of used rows and columns.
    bvalid, bresp, rvalid, rresp, rdata : int
        Responses on the bus; ``awready``, ``wready``, ``arready`` likewise.
    """

    __slots__ = (
        "_ar", "_aw", "_axil_offset", "_axil_word", "_category", "_config", "_error_offset", "_frontend", "_moving",
        "_overflow", "_status_offset", "_trace", "_useful", "_w", "_words", "active", "base", "bresp", "busy", "bvalid",
        "clear", "cycle_limit", "cycles", "done", "input_stall", "prog_addr", "prog_len", "raw_stall", "rdata", "rresp",
        "run", "rvalid", "size", "useful_macs", "weight_shift", "weight_stall",
    )  # fmt: skip

    def __init__(self, config: Config, trace: TraceWriter) -> None:
        self._config = config
        self._trace = trace
        self._words = trace.words
        self._axil_offset = trace.offset("host", "axil")
        self._status_offset = trace.offset("host", "status")
        self._error_offset = trace.offset("host", "error")
        self.base = [0] * BASE_REGISTERS
        self.size = [0] * BASE_REGISTERS
        self.reset()

    def reset(self) -> None:
        """What a cycle with ``rst_ni`` low leaves behind; call it instead of `commit`."""
        self.busy = self.done = self.clear = self.run = False
        self.prog_addr = self.prog_len = self.cycle_limit = 0
        self.base[:] = self.size[:] = [0] * BASE_REGISTERS
        self._aw = self._w = self._ar = None
        self.bvalid = self.rvalid = False
        self.bresp = self.rresp = OKAY
        self.rdata = 0
        self._overflow = False
        self._frontend = None
        self._category = self._useful = 0
        self._clear_counters()
        self._show()

    def _clear_counters(self) -> None:
        self.cycles = self.active = self.weight_shift = self.weight_stall = 0
        self.raw_stall = self.input_stall = self.useful_macs = 0

    @property
    def non_matrix(self) -> int:
        """Cycles that are neither active nor a weight shift or stall."""
        return self.cycles - self.active - self.weight_shift - self.weight_stall

    @property
    def awready(self) -> bool:
        """The write address register is free."""
        return self._aw is None

    @property
    def wready(self) -> bool:
        """The write data register is free."""
        return self._w is None

    @property
    def arready(self) -> bool:
        """The read address register is free."""
        return self._ar is None

    def observe(
        self,
        frontend,
        overflow: bool,
        active: bool = False,
        weight_shift: bool = False,
        weight_stall: bool = False,
        wait: bool = False,
        load_busy: bool = False,
        useful: int = 0,
    ) -> None:
        """Look at this cycle's levels and write the trace.

        Parameters
        ----------
        frontend : Frontend
            Its halt and error register.
        overflow : bool
            Sticky flag of the accumulator.
        active, weight_shift, weight_stall, wait, useful : bool and int
            Levels of matmul; ``useful`` is multiply-accumulates of the row at the array's edge, 0 if there is none.
        load_busy : bool
            Load is busy.
        """
        self._frontend = frontend
        self._overflow = overflow
        category = 0
        if self.run:
            if active:
                category = _ACTIVE
            elif weight_shift:
                category = _SHIFT
            elif weight_stall:
                category = _STALL
            elif wait:
                category = _INPUT if load_busy else _RAW
        self._category = category
        self._useful = useful
        words = self._words
        base = self._trace.base
        offset = base + self._axil_offset
        words[offset] = self._axil_word
        words[offset + 1] = self.rdata
        words[base + self._status_offset] = category | self.busy | self.done << 1 | frontend.halt * 12 | overflow << 4
        if frontend.error_new:
            words[base + self._error_offset] = (
                VALID | frontend.error_code << 20 | frontend.error_engine << 16 | frontend.error_seq
            )

    def commit(self, bus: tuple | None, done_set: bool) -> None:
        """End the cycle.

        Parameters
        ----------
        bus : (awvalid, awaddr, wvalid, wdata, wstrb, bready, arvalid, araddr, rready) or None
            What the bus master drives in this cycle; None is `IDLE_BUS`.
        done_set : bool
            The run's last cycle (`Frontend.done_set`).
        """
        self.clear = False
        start = False
        if bus is not None or self._moving:
            start = self._transfer(bus or IDLE_BUS)
        if self.busy:
            self._count()
            if done_set:
                self.busy = False
                self.done = True
            self.run = self.busy
        elif start:
            self._clear_counters()
            self.busy = self.clear = True
            self.done = False

    def _count(self) -> None:
        self.cycles += 1
        category = self._category
        if category:
            if category == _ACTIVE:
                self.active += 1
            elif category == _SHIFT:
                self.weight_shift += 1
            elif category == _STALL:
                self.weight_stall += 1
            elif category == _RAW:
                self.raw_stall += 1
            else:
                self.input_stall += 1
        if self.run:
            self.useful_macs += self._useful

    def _transfer(self, bus: tuple) -> bool:
        """One cycle of the bus; True if a start is accepted."""
        awvalid, awaddr, wvalid, wdata, wstrb, bready, arvalid, araddr, rready = bus
        start = False
        aw, w, ar = self._aw, self._w, self._ar
        # The read comes first: it sees what the registers hold in this cycle.
        if ar is not None and not self.rvalid:
            self.rvalid = True
            self.rresp = OKAY if ar in PLACES else SLVERR
            self.rdata = self._read(ar) if self.rresp == OKAY else 0
            self._ar = None
        elif rready:
            self.rvalid = False
        if aw is not None and w is not None and not self.bvalid:
            self.bvalid = True
            self.bresp = OKAY if aw in PLACES else SLVERR
            if self.bresp == OKAY and not self.busy:
                start = self._write(aw, *w)
            self._aw = self._w = None
        elif bready:
            self.bvalid = False
        if awvalid and aw is None:
            self._aw = awaddr & ~3
        if wvalid and w is None:
            self._w = (wdata, wstrb)
        if arvalid and ar is None:
            self._ar = araddr & ~3
        self._show()
        return start

    def _show(self) -> None:
        """Pack the axil slot, which only a transfer changes."""
        self._axil_word = (
            (self._aw is None)
            | (self._w is None) << 1
            | self.bvalid << 2
            | self.bresp << 3
            | (self._ar is None) << 5
            | self.rvalid << 6
            | self.rresp << 7
        )
        self._moving = bool(
            self.bvalid or self.rvalid or self._aw is not None or self._w is not None or self._ar is not None
        )

    def _write(self, address: int, data: int, strobe: int) -> bool:
        """Write a word while not busy; True if it is a start."""
        name, index, half = PLACES[address]
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)
        if name == "CTRL":
            return bool(data & mask & 1)
        keep = ~(mask << 32 * half)
        value = (data & mask) << 32 * half
        if name == "PROG_LEN":
            self.prog_len = self.prog_len & keep | value
        elif name == "PROG_ADDR":
            self.prog_addr = self.prog_addr & keep | value
        elif name == "CYCLE_LIMIT":
            self.cycle_limit = self.cycle_limit & keep | value
        elif name == "BASE":
            self.base[index] = self.base[index] & keep | value
        elif name == "SIZE":
            self.size[index] = self.size[index] & keep | value
        return False

    def _read(self, address: int) -> int:
        name, index, half = PLACES[address]
        return self.value(name, index) >> 32 * half & MASK32

    def value(self, name: str, index: int = 0) -> int:
        """What a register reads as in this cycle, all of its bits.

        Parameters
        ----------
        name : str
            As in `beatmatch.csr`.
        index : int
            For BASE and SIZE.
        """
        config, frontend = self._config, self._frontend
        if name == "BASE":
            return self.base[index]
        if name == "SIZE":
            return self.size[index]
        if name in ("PROG_LEN", "PROG_ADDR", "CYCLE_LIMIT", "CYCLES", "ACTIVE", "WEIGHT_SHIFT", "WEIGHT_STALL",
                    "NON_MATRIX", "RAW_STALL", "INPUT_STALL", "USEFUL_MACS"):  # fmt: skip
            return getattr(self, name.lower())
        if name == "ID":
            return csr.ID.pack(version=csr.ID_VERSION_VALUE, letters=csr.ID_LETTERS_VALUE)
        if name == "STATUS":
            return csr.STATUS.pack(
                busy=self.busy, done=self.done, error=bool(frontend and frontend.halt), overflow=self._overflow
            )
        if name == "ERROR":
            return csr.ERROR.pack(code=frontend.error_code, engine=frontend.error_engine) if frontend else 0
        if name == "ERROR_SEQ":
            return frontend.error_seq if frontend else 0
        if name == "CONFIG_ARRAY":
            return csr.CONFIG_ARRAY.pack(rows=config.rows, cols=config.cols)
        if name == "CONFIG_SCRATCHPAD":
            return csr.CONFIG_SCRATCHPAD.pack(words=config.sp_words, banks=config.sp_banks)
        if name == "CONFIG_ACCUMULATOR":
            return csr.CONFIG_ACCUMULATOR.pack(rows=config.acc_rows, banks=config.acc_banks)
        if name == "CONFIG_DEPTH":
            return csr.CONFIG_DEPTH.pack(
                fifo_tiles=config.fifo_tiles, queue=config.queue_depth, param_rows=config.param_rows
            )
        if name == "CONFIG_MEMORY":
            return csr.CONFIG_MEMORY.pack(bits=config.mem_bits, outstanding=config.outstanding)
        return 0  # CTRL
