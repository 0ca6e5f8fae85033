# SPDX-License-Identifier: Apache-2.0
"""The load engine: rows of memory into the scratchpad or the parameter memory. Its twin is `rtl/load/bm_load.sv`."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Error, Instruction, Space
from beatmatch.stations.gearbox import Gearbox
from beatmatch.stations.transfer import Transfer
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

PARAMETER = int(Space.PARAMETER)
LOAD = 1
"""Number of load on the memory port."""


class Load(Transfer):
    """One station of the stepped machine; parameters and common members as in `Transfer`.

    Attributes
    ----------
    gearbox : Gearbox
        Its word register is the write request: ``gearbox.data`` (bytes), ``gearbox.bytes`` (low bytes enabled).
    """

    __slots__ = ("_bytes", "_enables", "_issue_offset", "_retire_offset", "_state_offset", "_write_offset", "gearbox")

    def __init__(self, config: Config, trace: TraceWriter, bases: list[int], sizes: list[int]) -> None:
        self.gearbox = Gearbox(config.mem_bytes, config.lanes)
        limits = (config.sp_words, config.param_rows * config.param_words)
        super().__init__(config, trace, bases, sizes, "dst", limits)
        self._bytes = trace.words.cast("B")
        self._issue_offset = trace.offset("load", "issue")
        self._retire_offset = trace.offset("load", "retire")
        self._write_offset = trace.offset("load", "write")
        self._state_offset = trace.offset("load", "state")
        enable_bytes = 4 * trace.data("load", "write", "enable")[1]
        self._enables = [((1 << count) - 1).to_bytes(enable_bytes, "little") for count in range(config.lanes + 1)]

    def reset(self) -> None:
        """Everything idle and empty."""
        super().reset()
        self.gearbox.reset()

    def sp_write(self, halt: bool) -> tuple[int, int, np.ndarray] | None:
        """This cycle's write request for the scratchpad: (word, low bytes enabled, uint8 [lanes]) or None."""
        gearbox = self.gearbox
        if not gearbox.valid or halt or gearbox.meta[3] == PARAMETER:
            return None
        return gearbox.meta[4] + gearbox.index, gearbox.bytes, np.frombuffer(gearbox.data, np.uint8)

    def parameter_write(self, halt: bool) -> tuple[int, int, np.ndarray] | None:
        """This cycle's write to the parameter memory, in words of ``lanes`` bytes; like `sp_write`."""
        gearbox = self.gearbox
        if not gearbox.valid or halt or gearbox.meta[3] != PARAMETER:
            return None
        return gearbox.meta[4] + gearbox.index, gearbox.bytes, np.frombuffer(gearbox.data, np.uint8)

    def taken(self, sp_granted: bool, halt: bool) -> bool:
        """Whether the write request of this cycle is granted: `sp_granted`, or a parameter word."""
        gearbox = self.gearbox
        return gearbox.valid and not halt and (sp_granted or gearbox.meta[3] == PARAMETER)

    def read_ready(self, taken: bool, halt: bool) -> bool:
        """Ready for a read beat in this cycle."""
        rows = self.bursts.rows
        return halt or self.gearbox.ready(rows[0] if rows else None, taken)

    def busy(self) -> bool:
        """Whether anything is under way, the signal and retire registers included."""
        bursts = self.bursts
        return bool(
            self._run or bursts.row_valid or bursts.rows or bursts.inflight or self.gearbox.valid or self._retire
        )

    def stuck(self, head: tuple[int, Instruction] | None, granted: bool) -> int:
        """Sequence number of the instruction that can't go on; -1: not stuck."""
        if granted:
            return -1
        if self._run:
            bursts = self.bursts
            idle = not (bursts.row_valid or bursts.rows or bursts.inflight or self.gearbox.valid)
            return self._seq if self._starting and idle else -1
        return head[0] if head is not None and not self.busy() else -1

    def step(
        self, head: tuple[int, Instruction] | None, granted: bool, halt: bool, taken: bool, ar_ready: bool, beat
    ) -> None:
        """One cycle.

        Parameters
        ----------
        head : queue head
        granted : the wait presented in this cycle is granted
        taken : as `taken` said
        ar_ready : the AR register has its handshake (``port.ar_id == LOAD``)
        beat : the memory's outputs (``rdata, rresp, rlast``) if a beat for load has its handshake
            (``port.r_id == LOAD``), else None
        """
        bursts = self.bursts
        gearbox = self.gearbox
        rows = bursts.rows
        self.error = 0
        if not (granted or self._run or bursts.row_valid or rows or bursts.inflight or gearbox.valid or self._retire):
            return
        base = self._trace.base
        words = self._words
        words[base + self._state_offset] = (
            self._run
            + 3 * self._outer
            + 5 * self._row
            + 7 * bursts.inflight
            + 9 * bursts.row_valid
            + 11 * len(rows)
            + 13 * gearbox.valid
        )
        if self._retire:
            words[base + self._retire_offset] = self._retire
            self._retire = self.signal = 0
        if taken:
            retire, signals, ends, space, local = gearbox.meta
            offset = base + self._write_offset
            words[offset] = VALID | space << 20 | local + gearbox.index
            content = self._enables[gearbox.bytes] + gearbox.data
            offset = 4 * offset + 4
            self._bytes[offset : offset + len(content)] = content
            if ends and gearbox.last:
                self._retire = retire
                self.signal = signals
        front = rows[0] if rows else None
        run = self._run
        bursts.advance(ar_ready, beat is not None and beat.rlast, halt)
        if halt:
            gearbox.flush()
        else:
            if run:
                if granted:
                    words[base + self._issue_offset] = self._iteration_header()
                if not bursts.row_valid and (granted or not self._starting):
                    self._generate()
            elif granted:
                words[base + self._issue_offset] = self._issue(head)
            if beat is not None and beat.rresp:
                code = Error.BUS_DECERR if beat.rresp == 3 else Error.BUS_SLVERR
                self.error = (int(code), front[2][0] & 0xFFFF)
            if gearbox.step(front, None if beat is None else beat.rdata, taken):
                rows.popleft()
