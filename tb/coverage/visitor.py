# SPDX-License-Identifier: Apache-2.0
"""A host that looks around: register accesses of all kinds before, during and after the run of a program.

The three request channels advance on their own, and responses are not always taken at once; so accesses overlap in
all the ways that AXI4-Lite allows.
"""

from __future__ import annotations

import random
from collections import deque

from beatmatch import csr
from beatmatch.host_agent import HostAgent
from beatmatch.machine import SteppedMachine
from beatmatch.program import Program
from beatmatch.stations.host import PLACES, Host
from beatmatch.stimulus import SHIFT

ADDRESSES = tuple(sorted(PLACES))
UNMAPPED = (0x024, 0x03C, 0x054, 0x07C, 0x0C0, 0x0FC, 0x200, 0x7FC, 0xFFC)


class Visitor(HostAgent):
    """Carries out the program's host script like `HostAgent`, and visits registers in between."""

    def __init__(self, program: Program, rng: random.Random) -> None:
        self._rng = rng
        self._pace = [rng.choice((40, 128, 255)) for _ in range(5)]  # of AW, W, AR, B, R in 1/256
        self._plan_visits("before")
        self._still_to_come = ["busy", "after"]
        super().__init__(program)

    # ----- what to visit -----

    def _plan_visits(self, when: str) -> None:
        rng = self._rng
        self._writes: deque[tuple[int, int, int]] = deque()
        self._write_data: deque[tuple[int, int]] = deque()
        self._reads: deque[int] = deque()
        for address in self._round():
            data, strobe = rng.getrandbits(32), rng.choice((15, 15, rng.randrange(16)))
            if address == csr.CTRL.address and when != "busy":  # no start of its own: the script starts
                data, strobe = (data & ~1, strobe) if rng.random() < 0.5 else (data, strobe & ~1)
            self._writes.append((address | rng.randrange(4), data, strobe))
            self._write_data.append((data, strobe))
        self._reads.extend(address | rng.randrange(4) for address in self._round())
        self._owed_b, self._owed_r = len(self._writes), len(self._reads)
        self._show = [False, False, False]
        self._visiting = True
        self._draw()

    def _round(self) -> list[int]:
        """Most registers and some addresses without one, in any order."""
        places = self._rng.sample(ADDRESSES, len(ADDRESSES) * 3 // 4) + self._rng.sample(UNMAPPED, 3)
        self._rng.shuffle(places)
        return places

    def _draw(self) -> None:
        """Which channels are valid and ready in the next cycle; a valid one stays so."""
        rng, pace = self._rng, self._pace
        for channel, queue in enumerate((self._writes, self._write_data, self._reads)):
            self._show[channel] = bool(queue) and (self._show[channel] or rng.randrange(256) < pace[channel])
        self._take_b, self._take_r = rng.randrange(256) < pace[3], rng.randrange(256) < pace[4]

    # ----- the agent's interface -----

    def outputs(self) -> tuple | None:
        """What the bus carries (as for `HostAgent`)."""
        if not self._visiting:
            return super().outputs()
        if not self.rst_n:
            return None
        aw, w, ar = self._show
        data, strobe = self._write_data[0] if w else (0, 0)
        return (
            aw, self._writes[0][0] if aw else 0, w, data, strobe, self._take_b, ar, self._reads[0] if ar else 0,
            self._take_r,
        )  # fmt: skip

    @property
    def quiet(self) -> bool:
        """Nothing to do but to wait for the core."""
        return not self._visiting and super().quiet

    def commit(self, host: Host) -> None:
        """End the cycle."""
        if self._visiting and not self._reset_is_due():
            self._cycle += 1
            self._step_visit(host)
            self.finished = False
            return
        self._visiting = False
        super().commit(host)
        if not self.rst_n:
            return
        if self._waiting and host.busy and not self._operations and "busy" in self._still_to_come:
            self._still_to_come.remove("busy")
            self._plan_visits("busy")
        if self.finished and "after" in self._still_to_come:
            self._still_to_come.remove("after")
            self._plan_visits("after")
        self.finished = self.finished and not self._visiting

    def _reset_is_due(self) -> bool:
        """A reset breaks a visit off; so does its end, which the script's agent has to see."""
        return bool(self._resetting) or any(e.action == "reset" and e.cycle <= self._cycle + 1 for e in self._events)

    def _step_visit(self, host: Host) -> None:
        aw, w, ar = self._show
        for shown, ready, queue, channel in (
            (aw, host.awready, self._writes, 0), (w, host.wready, self._write_data, 1), (ar, host.arready,
            self._reads, 2)
        ):  # fmt: skip
            if shown and ready:
                queue.popleft()
                self._show[channel] = False
        self._owed_b -= bool(host.bvalid and self._take_b)
        self._owed_r -= bool(host.rvalid and self._take_r)
        if self._owed_b or self._owed_r:
            self._draw()
        else:
            self._visiting = False


class VisitedMachine(SteppedMachine):
    """A machine whose host visits; it may also hold responses back, which the plain host never does."""

    def __init__(self, program: Program, seed: int, digest: bool = True) -> None:
        super().__init__(program, digest)
        self.agent = Visitor(program, random.Random(seed))

    def _drive(self) -> tuple | None:
        bus = super()._drive()
        if bus is not None:
            held = (not bus[5]) << SHIFT["s_axil_bready"] | (not bus[8]) << SHIFT["s_axil_rready"]
            self.stimulus.words[self.stimulus.base] &= ~held
        return bus
