# SPDX-License-Identifier: Apache-2.0
"""The memory port: the AXI4 master that all transfers share. Its twin is `rtl/host/bm_port.sv`."""

from __future__ import annotations

from types import SimpleNamespace

from beatmatch.config import Config
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

BREADY = 2


_NOBODY = SimpleNamespace(bursts=SimpleNamespace(valid=False))
"""In the place of a requester that has a port of its own: it never asks."""


class Port:
    """Arbitrates the reads of fetch, load and weights, and passes store's writes.

    Parameters
    ----------
    fetch, load, weights : object
        Each has ``bursts`` (an object with ``valid``, ``address``, ``length``: its AR register; `RowBursts` is one)
        and ``read_ready(granted, halt)``, asked only while a beat for it is on the port. Load's ``granted`` is
        that its word register is emptied in this cycle; the others ignore it. ``weights`` is None if it has a port of
        its own.
    store : object
        Has ``bursts`` (its AW register) and ``w_valid, w_data, w_strobe, w_last``.

    Attributes
    ----------
    ar : (id, address, beats - 1) or None
        What AR shows in this cycle; likewise ``aw`` (address, beats - 1) and ``w`` (data, strobe, last): the
        arguments of `MemoryAgent.commit`.
    ar_id : int
        Requester whose AR has its handshake in this cycle; -1: none.
    r_id : int
        Requester whose R beat has its handshake in this cycle; -1: none. ``rready`` is the same as a bool.
    """

    __slots__ = (
        "_aw_offset", "_bytes", "_kept", "_offset", "_ready_offset", "_requesters", "_store", "_strobe_words",
        "_trace", "_w_data", "_w_offset", "_words", "ar", "ar_id", "aw", "r_id", "rready", "w",
    )  # fmt: skip

    def __init__(self, config: Config, trace: TraceWriter, fetch, load, weights, store) -> None:
        self._requesters = (fetch, load, _NOBODY if weights is None else weights)
        self._store = store
        self._trace = trace
        self._words = trace.words
        self._bytes = trace.words.cast("B")
        self._offset = trace.offset("port", "ar")
        self._aw_offset = trace.offset("port", "aw")
        self._w_offset = trace.offset("port", "w")
        self._w_data = trace.data("port", "w", "data")[0]
        self._strobe_words = trace.data("port", "w", "strobe")[1]
        self._ready_offset = trace.offset("port", "ready")
        self.reset()

    def reset(self) -> None:
        """Forget the kept choice."""
        self._kept = -1
        self.ar = self.aw = self.w = None
        self.ar_id = self.r_id = -1
        self.rready = False

    def select(self, mem, granted: bool, halt: bool) -> None:
        """Decide this cycle's handshakes from the requesters' registers and the memory's outputs; call it once.

        ``granted``: load's word register is emptied in this cycle (see `Load.taken`).
        """
        trace = self._trace
        base = trace.base
        words = self._words
        requesters = self._requesters
        self.ar_id = -1
        choice = self._kept
        if choice < 0:
            if requesters[0].bursts.valid:
                choice = 0
            elif requesters[1].bursts.valid:
                choice = 1
            elif requesters[2].bursts.valid:
                choice = 2
        if choice >= 0:
            bursts = requesters[choice].bursts
            address, length = bursts.address, bursts.length
            self.ar = (choice, address, length)
            if mem.arready:
                self._kept = -1
                self.ar_id = choice
                offset = base + self._offset
                words[offset] = VALID | choice << 8 | length
                words[offset + 1] = address & 0xFFFFFFFF
                words[offset + 2] = address >> 32
            else:
                self._kept = choice
        else:
            self.ar = None

        if mem.rvalid and requesters[mem.rid].read_ready(granted, halt):
            self.rready = True
            self.r_id = mem.rid
            words[base + self._ready_offset] = BREADY | 1
        else:
            self.rready = False
            self.r_id = -1
            words[base + self._ready_offset] = BREADY

        store = self._store
        bursts = store.bursts
        if bursts.valid:
            address, length = bursts.address, bursts.length
            self.aw = (address, length)
            if mem.awready:
                offset = base + self._aw_offset
                words[offset] = VALID | length
                words[offset + 1] = address & 0xFFFFFFFF
                words[offset + 2] = address >> 32
        else:
            self.aw = None
        if store.w_valid:
            data, strobe, last = self.w = (store.w_data, store.w_strobe, store.w_last)
            if mem.wready:
                offset = base + self._w_offset
                words[offset] = VALID | last
                for index in range(self._strobe_words):
                    words[offset + 1 + index] = strobe >> 32 * index & 0xFFFFFFFF
                start = 4 * (base + self._w_data)
                self._bytes[start : start + len(data)] = data
        else:
            self.w = None
