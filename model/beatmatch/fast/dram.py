# SPDX-License-Identifier: Apache-2.0
"""A DRAM behind a port: `memory.banks.DramState` in integers. The rules are in `docs/memory.md`."""

from __future__ import annotations

from beatmatch.fast.compiled import compiled
from beatmatch.fast.registers import layout
from beatmatch.memory.banks import READ, WRITE
from beatmatch.memory.dram import MAPPINGS, MOST_BANKS, SMALLEST_BLOCK, Dram, DramCounters
from beatmatch.memory.image import PAGE

PARTS = 256 * PAGE // SMALLEST_BLOCK
"""Places for parts of reads: of as many bursts as `memory.READS`."""
PAGE_BITS = PAGE.bit_length() - 1
NOTHING = -1
"""No row, no direction."""
COUNTERS = ("hits", "misses", "conflicts", "turnarounds")
TIMES = ("trcd", "trp", "tcl", "tcwl", "tras", "trtp", "twr", "twtr", "trtw", "working", "period")

LAYOUT = layout(
    "Dram",
    "on rate per_byte channel_mask channel_shift block block_shift line_shift bank_mask bank_shift row_mask row_shift "
    "neighbours open access_bytes " + " ".join(TIMES) + " " + " ".join(COUNTERS) + " parts_first parts_count",
    {
        **{name: MOST_BANKS for name in ("rows", "again", "last_period", "free", "last")},
        **{name: PARTS for name in ("parts_position", "parts_left")},
    },
)
"""``on``: the memory is a DRAM. ``rows``, ``again`` and ``last_period`` are by bank of all channels, ``free`` and
``last`` by channel; ``neighbours``: neighbouring rows are in one bank; parts: next position and beats left."""


def describe(d, dram: Dram, rate: tuple[int, int]) -> None:
    """Take over what a DRAM is; ``rate``: bytes per cycle of all channels, as a fraction."""
    d.on, d.rate, d.per_byte = 1, rate[0], rate[1] * dram.channels
    for name in ("channel", "bank", "row"):
        size = getattr(dram, f"{name}s")
        setattr(d, f"{name}_mask", size - 1)
        setattr(d, f"{name}_shift", size.bit_length() - 1)
    d.block, d.block_shift = dram.block, dram.block.bit_length() - 1
    d.line_shift = (dram.row_bytes // dram.block).bit_length() - 1
    d.neighbours, d.open = MAPPINGS.index(dram.mapping), int(dram.page_policy == "open")
    d.access_bytes = dram.access_bytes
    for name in TIMES:
        setattr(d, name, getattr(dram, name))


def counted(d) -> tuple[int, ...]:
    """The counters of parts and turnarounds."""
    return tuple(int(getattr(d, name)) for name in COUNTERS)


def count_again(d, counts: tuple[int, ...]) -> None:
    """Set those counters, for a cycle whose arrivals do not count."""
    for name, count in zip(COUNTERS, counts, strict=True):
        setattr(d, name, count)


def counters(d, now: int) -> DramCounters | None:
    """What it did up to this cycle; None if it is no DRAM."""
    if not d.on:
        return None
    periods, rest = divmod(now, int(d.period))
    refreshing = now - periods * int(d.working) - min(rest, int(d.working))
    return DramCounters(*counted(d), refreshing)


@compiled
def reset(d):
    """Close all rows and forget all transfers; the counters stay."""
    d.parts_first = d.parts_count = 0
    for index in range((d.channel_mask + 1) * (d.bank_mask + 1)):
        d.rows[index] = NOTHING
        d.again[index] = d.last_period[index] = 0
    for index in range(d.channel_mask + 1):
        d.free[index] = 0
        d.last[index] = NOTHING


@compiled
def _cycle(d, position):
    """The cycle of a position."""
    time = position // d.rate
    return time // d.working * d.period + time % d.working


@compiled
def next_pass(d):
    """The cycle in which the next beat that was asked for passes the data bus."""
    return _cycle(d, d.parts_position[d.parts_first])


@compiled
def take(d, size):
    """The next beat goes to the port."""
    at = d.parts_first
    d.parts_left[at] -= 1
    d.parts_position[at] += size * d.per_byte
    if not d.parts_left[at]:
        d.parts_first = (at + 1) & (PARTS - 1)
        d.parts_count -= 1


@compiled
def arrive(d, page, offset, beats, size, direction, cycle):
    """Work a burst into the state; the cycle in which the last of its beats passes."""
    arrival = cycle // d.period * d.working + min(cycle % d.period, d.working)
    last = 0
    while beats:
        count = min(beats, (d.block - (offset & (d.block - 1))) // size)
        position = _part(d, page, offset, count * size, direction, arrival)
        if direction == READ:
            at = (d.parts_first + d.parts_count) & (PARTS - 1)
            d.parts_position[at] = position
            d.parts_left[at] = count
            d.parts_count += 1
        last = max(last, _cycle(d, position + (count - 1) * size * d.per_byte))
        offset += count * size
        beats -= count
    return last


@compiled
def _part(d, page, offset, length, direction, arrival):
    """A part of a burst, in one row of one bank; the position of its first beat."""
    if d.block_shift <= PAGE_BITS:
        number = page << (PAGE_BITS - d.block_shift) | offset >> d.block_shift
    else:
        number = page >> (d.block_shift - PAGE_BITS)
    channel = number & d.channel_mask
    line = number >> d.channel_shift >> d.line_shift
    if d.neighbours:
        bank, row = line >> d.row_shift & d.bank_mask, line & d.row_mask
    else:
        bank, row = line & d.bank_mask, line >> d.bank_shift & d.row_mask
    bank += channel * (d.bank_mask + 1)
    latency = d.tcwl if direction == WRITE else d.tcl

    # Refresh: all rows are closed since.
    free, n = d.free[channel], d.rate
    period = max(arrival, free // n - latency) // d.working
    if period > d.last_period[bank]:
        d.rows[bank] = NOTHING
        d.again[bank] = period * d.working

    # Row: the first column command, and how long the bank must stay as it is.
    if d.rows[bank] == row:
        d.hits += 1
        column, hold = arrival, d.again[bank]
    else:
        if d.rows[bank] == NOTHING:
            d.misses += 1
            activation = max(arrival, d.again[bank])
        else:
            d.conflicts += 1
            activation = max(arrival + d.trp, d.again[bank])
        column, hold = activation + d.trcd, activation + d.tras + d.trp

    # Direction: the data bus turns around.
    if d.last[channel] not in (NOTHING, direction):
        d.turnarounds += 1
        if direction == WRITE:
            free += d.trtw * n
        else:
            column = max(column, -(-free // n) + d.twtr)

    # Transfer of whole accesses.
    unit = d.access_bytes * d.per_byte
    skipped = offset & (d.access_bytes - 1)
    begin = max((column + latency) * n, free)
    end = begin + (skipped + length + d.access_bytes - 1) // d.access_bytes * unit

    # Afterwards.
    done = -(-end // n) + d.twr if direction == WRITE else (end - unit) // n - d.tcl + d.trtp
    d.again[bank] = max(hold, done + d.trp)
    d.last_period[bank] = (end - 1) // n // d.working
    d.rows[bank] = row if d.open else NOTHING
    d.free[channel] = end
    d.last[channel] = direction
    return begin + skipped * d.per_byte
