# SPDX-License-Identifier: Apache-2.0
"""Stimulus rows into the bench top and trace records out of it, a block of cycles at a time.

Runs inside the simulator. Verilator exchanges whole blocks with C (`dpi.cpp`) and wakes Python once per block;
Icarus has no DPI, there Python drives and reads two packed ports in every cycle.
"""

from __future__ import annotations

import ctypes

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ValueChange

from beatmatch import stimulus
from beatmatch.config import Config
from beatmatch.trace import layout
from tb.lockstep.compare import Unknown

BLOCK = 1024
"""Cycles exchanged at a time."""
PERIOD_NS = 10
RESET_ROWS = 4
"""Cycles of reset in front of every program."""


class Transport:
    """Common to both transports: the clock, and the reset in front of a program."""

    def __init__(self, dut, config: Config) -> None:
        self._dut = dut
        self.row_words = stimulus.words(config)
        self.record_words = layout(config).words
        self.cycles = 0  # rows driven since the simulation started, resets included
        self._clock = Clock(dut.clk_i, PERIOD_NS, "ns", impl="gpi")

    async def reset(self) -> None:
        """Hold reset for a few cycles and zero the memories, as the model's are; the records are dropped."""
        rows = np.zeros((RESET_ROWS, self.row_words), dtype=np.uint32)
        rows[0, 0] = 1 << stimulus.CLEAR_MEMORIES
        await self.exchange(rows)

    async def exchange(self, rows: np.ndarray) -> tuple[np.ndarray, list[Unknown]]:
        """Drive rows, uint32 [cycles, row words], one per cycle.

        Returns
        -------
        numpy.ndarray, list of Unknown
            The records of these cycles, uint32 [cycles, record words] (valid until the next exchange), and their
            unknown bits.
        """
        raise NotImplementedError


class DpiTransport(Transport):
    """Blocks through C arrays."""

    def __init__(self, dut, config: Config) -> None:
        super().__init__(dut, config)
        self._attach = ctypes.CDLL(None).bm_attach
        self._attach.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32]
        self._attach.restype = None
        self._records = np.zeros((BLOCK, self.record_words), dtype=np.uint32)
        self._used_up = ValueChange(dut.wake_o)
        self._clock.start()

    async def exchange(self, rows: np.ndarray) -> tuple[np.ndarray, list[Unknown]]:
        rows = np.ascontiguousarray(rows, dtype=np.uint32)
        count = len(rows)
        if count > len(self._records):
            self._records = np.zeros((count, self.record_words), dtype=np.uint32)
        records = self._records[:count]
        if count:
            self._attach(rows.ctypes.data, self.row_words, records.ctypes.data, self.record_words, count)
            await self._used_up
        self.cycles += count
        return records, []


class PortTransport(Transport):
    """One row and one record per cycle through packed ports."""

    def __init__(self, dut, config: Config) -> None:
        super().__init__(dut, config)
        self._stim = dut.stim_i
        # The public `value` makes an object of logic values first, which takes three times as long.
        self._trace = dut.trace_o._handle.get_signal_val_binstr
        self._edge = FallingEdge(dut.clk_i)
        self._width = 4 * self.record_words
        self._started = False

    async def exchange(self, rows: np.ndarray) -> tuple[np.ndarray, list[Unknown]]:
        if not self._started:  # from here on the simulation stands still at a falling edge between two calls
            self._stim.value = 0
            self._clock.start()
            await self._edge
            self._started = True
        records = bytearray()
        unknown: list[Unknown] = []
        stim, trace, edge = self._stim, self._trace, self._edge
        for index, row in enumerate(rows):
            stim.value = int.from_bytes(row.tobytes(), "little")
            await edge
            text = trace()
            try:
                bits = int(text, 2)
            except ValueError:
                bits = self._resolve(text, index, unknown)
            records += bits.to_bytes(self._width, "little")
        self.cycles += len(rows)
        return np.frombuffer(records, dtype="<u4").reshape(len(rows), self.record_words), unknown

    @staticmethod
    def _resolve(text: str, row: int, unknown: list[Unknown]) -> int:
        """Unknown bits become 0 and are noted."""
        mask = int("".join("0" if bit in "01" else "1" for bit in text), 2)
        for word in range(len(text) // 32):
            bits = (mask >> 32 * word) & 0xFFFFFFFF
            if bits:
                unknown.append(Unknown(row, word, bits))
        return int("".join(bit if bit in "01" else "0" for bit in text), 2)


def make(dut, config: Config) -> Transport:
    """The transport that this simulator's build was made for."""
    dpi = cocotb.SIM_NAME.lower().startswith("verilator")
    return (DpiTransport if dpi else PortTransport)(dut, config)
