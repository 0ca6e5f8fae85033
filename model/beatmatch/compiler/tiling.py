# SPDX-License-Identifier: Apache-2.0
"""How a matrix product is cut into blocks: of all cuts that fit, the one with the least estimated time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from beatmatch.compiler.builder import CompileError
from beatmatch.config import Config

BURST_OVERHEAD = 10
"""Cycles of a burst's way besides the memory's latency."""

ITERATION_OVERHEAD = 14
"""Cycles that the vector engine loses per outer iteration: its pipeline runs empty."""


@dataclass(frozen=True)
class Tiling:
    """Sizes of one cut.

    An output block has ``mb`` rows and ``nb`` tiles of columns and stands in the accumulators; a step multiplies it
    through ``kc`` tiles of the reduction.

    Parameters
    ----------
    mb, nb, kc : int
    slots : int
        Steps whose operands are in the scratchpad at a time.
    out_slots : int
        Output blocks in the scratchpad at a time.
    resident : bool
        The rows of a block are loaded whole, once for all its columns.
    weights_sp : bool
        Weights go through the scratchpad; else the weights engine reads packed tiles from memory.
    """

    mb: int
    nb: int
    kc: int
    slots: int
    out_slots: int
    resident: bool
    weights_sp: bool


@dataclass(frozen=True)
class Sizes:
    """A matrix product in the units of a configuration."""

    config: Config
    m: int
    k: int
    n: int
    item: int
    latency: int
    channels: bool

    @property
    def k_tiles(self) -> int:
        """Tiles of the reduction."""
        return -(-self.k // self.config.rows)

    @property
    def n_tiles(self) -> int:
        """Tiles of columns."""
        return -(-self.n // self.config.cols)

    @property
    def acc_slot(self) -> int:
        """Accumulator rows of one of the two blocks: halves that share no bank if there are several."""
        config = self.config
        if config.acc_banks == 1:
            return config.acc_rows // 2
        return config.acc_banks // 2 * config.acc_bank_rows

    def words(self, size: int) -> int:
        """Scratchpad words that hold this many bytes."""
        return -(-size // self.config.lanes)

    def a_words(self, tiling: Tiling) -> int:
        """Words of an A slot."""
        size = self.k if tiling.resident else min(tiling.kc * self.config.rows, self.k)
        return tiling.mb * self.words(size)

    def b_words(self, tiling: Tiling) -> int:
        """Words of a B slot."""
        rows = min(tiling.kc * self.config.rows, self.k)
        return rows * self.words(tiling.nb * self.config.cols) if tiling.weights_sp else 0

    def out_words(self, tiling: Tiling) -> int:
        """Words of an output slot."""
        return tiling.mb * self.words(tiling.nb * self.config.cols * self.item)


@dataclass(frozen=True)
class Places:
    """First words of the three areas of the scratchpad."""

    a: int
    b: int
    out: int
    shared_bank: bool


def place(sizes: Sizes, tiling: Tiling) -> Places | None:
    """Where the areas go; None if they do not fit. Activations get banks of their own if possible."""
    config = sizes.config
    a = (2 if tiling.resident else tiling.slots) * sizes.a_words(tiling)
    b = tiling.slots * sizes.b_words(tiling)
    out = tiling.out_slots * sizes.out_words(tiling)
    if a + b + out > config.sp_words:
        return None
    start = -(-a // config.sp_bank_words) * config.sp_bank_words
    if start + b + out <= config.sp_words:
        return Places(0, start, start + b, False)
    return Places(0, a, a + b, True)


def _legal(sizes: Sizes, t: Tiling) -> bool:
    """Whether every field holds its value."""
    config = sizes.config
    if t.mb * t.nb > sizes.acc_slot or t.mb > 511 or t.nb > 255 or t.kc > 255:
        return False
    if sizes.channels and t.nb > max(1, config.param_rows // 2) and sizes.n_tiles > config.param_rows:
        return False
    if sizes.channels and sizes.n_tiles > config.param_rows and t.resident:
        return False
    row_words = sizes.words(t.nb * config.cols)
    out_pitch = sizes.words(t.nb * config.cols * sizes.item) * config.col_parts
    row_bytes = sizes.words(sizes.k if t.resident else t.kc * config.rows) * config.lanes
    return (
        row_words * config.col_parts <= 4095
        and config.rows * row_words * config.col_parts <= 65535
        and out_pitch <= 1023
        and row_bytes <= 65535
        and row_words * config.lanes <= 65535
        and t.nb * config.cols * sizes.item <= 65535
        and config.rows * t.kc <= 4095
    )


def _halvings(top: int, also: int, halves: bool = True) -> list[int]:
    """Powers of two (with ``halves`` also their 3/2) up to both bounds, and the lower bound itself."""
    values = {min(top, also)}
    power = 1
    while power <= min(top, also):
        values |= {power, min(power * 3 // 2, top, also)} if halves else {power}
        power *= 2
    return sorted(values)


def _candidates(sizes: Sizes, weights_sp: bool) -> Iterator[Tiling]:
    for mb in _halvings(sizes.acc_slot, sizes.m):
        for nb in _halvings(sizes.acc_slot // mb, sizes.n_tiles):
            for kc in _halvings(64, sizes.k_tiles, halves=False):
                for slots in (4, 2):
                    for resident in (True, False):
                        for out_slots in (2, 1):
                            yield Tiling(mb, nb, kc, slots, out_slots, resident, weights_sp)


def _time(sizes: Sizes, t: Tiling, places: Places) -> float:
    """Estimated cycles."""
    config = sizes.config
    beat, latency = config.mem_bytes, sizes.latency + BURST_OVERHEAD

    def beats(rows: int, size: int, bursts_bytes: int) -> float:
        per_row = -(-size // beat)
        burst = min(256, max(1, bursts_bytes // beat), 4096 // beat)
        return rows * per_row / min(1.0, config.outstanding * burst / latency)

    m_blocks, n_blocks = -(-sizes.m // t.mb), -(-sizes.n_tiles // t.nb)
    blocks, steps = m_blocks * n_blocks, -(-sizes.k_tiles // t.kc)
    instructions = blocks * (2 + 3 * steps)
    full, rest = divmod(sizes.m, t.mb)
    rows = full * max(t.mb, config.rows) + (max(rest, config.rows) if rest else 0)
    compute = rows * sizes.n_tiles * sizes.k_tiles
    if places.shared_bank and t.weights_sp:
        compute += m_blocks * sizes.n_tiles * sizes.k_tiles * config.rows
    width = t.nb * config.cols
    if t.weights_sp:
        read_b = m_blocks * n_blocks * beats(sizes.k, min(width, sizes.n), min(width, sizes.n))
    else:
        tile = config.rows * config.cols
        read_b = m_blocks * beats(sizes.n_tiles * sizes.k_tiles, tile, tile)
    a_bytes = sizes.k if t.resident else min(t.kc * config.rows, sizes.k)
    a_pieces = 1 if t.resident else steps * n_blocks
    read_a = a_pieces * beats(sizes.m, a_bytes, a_bytes * (t.mb if t.kc >= sizes.k_tiles else 1))
    fetch = instructions * 32 / beat
    read = read_a + fetch + (0 if config.weight_port else read_b)
    out_bytes = min(width, sizes.n) * sizes.item
    write = n_blocks * beats(sizes.m, out_bytes, out_bytes * (t.mb if n_blocks == 1 else 1))
    per_block = ITERATION_OVERHEAD * (t.nb if sizes.channels else 1) + 20
    vector = sizes.m * sizes.n_tiles * sizes.item + blocks * per_block
    bound = [compute + 8 * blocks, read, write, vector] + [read_b] * config.weight_port
    if t.out_slots == 1 and blocks > 1:
        bound += [vector + write]
    head = read_a / (m_blocks * a_pieces) + read_b / (blocks * steps)
    tail = (vector + write / 4) / blocks
    if blocks > 4:
        head, tail = head * 0.6, tail * 0.6
    step = compute / (blocks * steps)
    stall = max(0.0, 60 - step * (t.slots - 1)) * blocks * steps
    return max(bound) + 0.02 * sum(bound) + head + tail + stall + 2 * instructions


@lru_cache(maxsize=256)
def choose(sizes: Sizes) -> tuple[Tiling, Places]:
    """The cut with the least estimated time that fits.

    Weights pass through the scratchpad if there is room, because then they are dense and row-major in memory; but not
    if they have a port of their own, which only leads to the weight FIFO.
    """
    for weights_sp in (False,) if sizes.config.weight_port else (True, False):
        best: tuple[float, Tiling, Places] | None = None
        for tiling in _candidates(sizes, weights_sp):
            if not _legal(sizes, tiling):
                continue
            places = place(sizes, tiling)
            if places is None:
                continue
            time = _time(sizes, tiling, places)
            if best is None or time < best[0]:
                best = (time, tiling, places)
        if best is not None:
            return best[1], best[2]
    raise CompileError(
        f"A product {sizes.m}x{sizes.k}x{sizes.n} finds no room in {sizes.config.sp_words} scratchpad words."
    )
