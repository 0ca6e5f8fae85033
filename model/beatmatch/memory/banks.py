# SPDX-License-Identifier: Apache-2.0
"""The state of a DRAM's banks and data buses: when the beats of an arriving burst pass. See `docs/memory.md`."""

from __future__ import annotations

from dataclasses import dataclass

from beatmatch.memory.dram import Dram, DramCounters

READ, WRITE = 0, 1


@dataclass
class _Bank:
    """``row``: the open one or None; ``again``: first time of an activation; ``period``: of the last transfer."""

    row: int | None = None
    again: int = 0
    period: int = 0


@dataclass
class _Bus:
    """``free``: the position from which on it is; ``last``: the direction of the last transfer, or None."""

    free: int = 0
    last: int | None = None


class DramState:
    """Banks and data buses of one memory. Times are in the DRAM's clock, positions in parts of a cycle.

    Parameters
    ----------
    dram : Dram
    bandwidth : (int, int)
        Bytes per cycle of all channels, as a fraction.
    mem_bytes : int
        Bytes of a beat.
    """

    def __init__(self, dram: Dram, bandwidth: tuple[int, int], mem_bytes: int) -> None:
        self.dram = dram
        self._mem_bytes = mem_bytes
        self._parts_of_cycle = bandwidth[0]
        self._per_byte = bandwidth[1] * dram.channels  # what a byte moves the position of its channel's bus
        self._working, self._period = dram.working, dram.period
        self._hits = self._misses = self._conflicts = self._turnarounds = 0
        self.reset()

    def reset(self) -> None:
        """Close all rows and forget all transfers; the counters stay."""
        self._banks = [[_Bank() for _ in range(self.dram.banks)] for _ in range(self.dram.channels)]
        self._buses = [_Bus() for _ in range(self.dram.channels)]

    def counters(self, now: int) -> DramCounters:
        """The counters, of which those of refresh up to this cycle."""
        return DramCounters(self._hits, self._misses, self._conflicts, self._turnarounds, now - self._time(now))

    def arrive(self, address: int, beats: int, direction: int, cycle: int) -> list[int]:
        """Work a burst into the state that arrives in this cycle.

        Parameters
        ----------
        address, beats : int
        direction : READ or WRITE
        cycle : int

        Returns
        -------
        list of int
            The cycle in which each of its beats passes a data bus.
        """
        passes: list[int] = []
        block, size = self.dram.block, self._mem_bytes
        while beats:
            count = min(beats, (block - address % block) // size)
            passes += self._part(address, count, direction, self._time(cycle))
            address += count * size
            beats -= count
        return passes

    def _time(self, cycle: int) -> int:
        """The DRAM's time in a cycle: its clock stands still during refresh."""
        periods, rest = divmod(cycle, self._period)
        return periods * self._working + min(rest, self._working)

    def _cycle(self, position: int) -> int:
        """The cycle of a position."""
        periods, rest = divmod(position // self._parts_of_cycle, self._working)
        return periods * self._period + rest

    def _place(self, address: int) -> tuple[int, int, int]:
        """Channel, bank and row of an address."""
        dram = self.dram
        number, channel = divmod(address // dram.block, dram.channels)
        line = number * dram.block // dram.row_bytes
        if dram.mapping == "row-bank-column":
            return channel, line % dram.banks, line // dram.banks % dram.rows
        return channel, line // dram.rows % dram.banks, line % dram.rows

    def _part(self, address: int, beats: int, direction: int, arrival: int) -> list[int]:
        """A part of a burst, in one row of one bank."""
        dram, n, per_byte = self.dram, self._parts_of_cycle, self._per_byte
        channel, bank_number, row = self._place(address)
        bank, bus = self._banks[channel][bank_number], self._buses[channel]
        latency = dram.tcwl if direction == WRITE else dram.tcl

        # Refresh: all rows are closed since.
        period = max(arrival, bus.free // n - latency) // self._working
        if period > bank.period:
            bank.row, bank.again = None, period * self._working

        # Row: the first column command, and how long the bank must stay as it is.
        if bank.row == row:
            self._hits += 1
            column, hold = arrival, bank.again
        else:
            if bank.row is None:
                self._misses += 1
                activation = max(arrival, bank.again)
            else:
                self._conflicts += 1
                activation = max(arrival + dram.trp, bank.again)
            column, hold = activation + dram.trcd, activation + dram.tras + dram.trp

        # Direction: the data bus turns around.
        free = bus.free
        if bus.last is not None and bus.last != direction:
            self._turnarounds += 1
            if direction == WRITE:
                free += dram.trtw * n
            else:
                column = max(column, -(-free // n) + dram.twtr)

        # Transfer of whole accesses.
        unit = dram.access_bytes * per_byte
        skipped = address % dram.access_bytes
        size = self._mem_bytes
        begin = max((column + latency) * n, free)
        end = begin - -(skipped + beats * size) // dram.access_bytes * unit
        passes = [self._cycle(begin + (skipped + beat * size) * per_byte) for beat in range(beats)]

        # Afterwards.
        done = -(-end // n) + dram.twr if direction == WRITE else (end - unit) // n - dram.tcl + dram.trtp
        bank.again = max(hold, done + dram.trp)
        bank.period = (end - 1) // n // self._working
        bank.row = row if dram.page_policy == "open" else None
        bus.free, bus.last = end, direction
        return passes
