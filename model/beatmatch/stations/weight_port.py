# SPDX-License-Identifier: Apache-2.0
"""The weight port: an AXI4 master for the reads of weights alone. Its twin is `rtl/host/bm_weight_port.sv`."""

from __future__ import annotations

from beatmatch.config import Config
from beatmatch.stations.weights import WEIGHTS, Weights
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID


class WeightPort:
    """Passes the reads of weights to a memory of their own; it has no registers.

    Parameters
    ----------
    config : Config
        One with a weight port.
    trace : TraceWriter
    weights : Weights
        Its ``bursts`` are the AR register.

    Attributes
    ----------
    ar : (id, address, beats - 1) or None
        What AR shows in this cycle: the argument of `MemoryAgent.commit`.
    ar_taken : bool
        AR has its handshake in this cycle.
    rready : bool
        An R beat has its handshake in this cycle.
    """

    __slots__ = ("_offset", "_ready_offset", "_trace", "_weights", "_words", "ar", "ar_taken", "rready")

    def __init__(self, config: Config, trace: TraceWriter, weights: Weights) -> None:
        self._weights = weights
        self._trace = trace
        self._words = trace.words
        self._offset = trace.offset("weight_port", "ar")
        self._ready_offset = trace.offset("weight_port", "ready")
        self.ar = None
        self.ar_taken = self.rready = False

    def select(self, mem, halt: bool) -> None:
        """Decide this cycle's handshakes from weights' registers and the weight memory's outputs; call it once."""
        base, words = self._trace.base, self._words
        bursts = self._weights.bursts
        self.ar_taken = False
        self.ar = None
        if bursts.valid:
            address, length = bursts.address, bursts.length
            self.ar = (WEIGHTS, address, length)
            if mem.arready:
                self.ar_taken = True
                offset = base + self._offset
                words[offset] = VALID | length
                words[offset + 1] = address & 0xFFFFFFFF
                words[offset + 2] = address >> 32
        self.rready = mem.rvalid and self._weights.read_ready(False, halt)
        if self.rready:
            words[base + self._ready_offset] = 1
