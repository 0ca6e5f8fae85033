# SPDX-License-Identifier: Apache-2.0
"""Named memories: the times of DRAM standards in nanoseconds, and what they are in cycles of a core's clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from beatmatch.memory.dram import Dram
from beatmatch.memory.errors import MemoryTimingError, is_integer
from beatmatch.memory.timing import MemoryTiming

MHZ = 1000
"""Clock of the core unless told."""
MOST_MHZ = 10_000
CONTROLLER_PS = 20_000
"""Way through controller and wires, both ways together: an assumption of this project, no standard has one."""


@dataclass(frozen=True)
class Standard:
    """A DRAM as its data sheet has it.

    Attributes
    ----------
    text : str
        What it is, and where the figures are from.
    rate : (int, int)
        Megabytes (10^6) per second over all channels, as a fraction.
    sizes : dict
        Fields of `Dram` that are no times.
    times : dict
        Fields of `Dram` that are, in picoseconds.
    """

    text: str
    rate: tuple[int, int]
    sizes: dict[str, int] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)


STANDARDS = {
    "ddr3-1066": Standard(
        "one 64-bit rank of 2 Gb x8, 7-7-7 (JESD79-3, speed bin 1066F)",
        (25_600, 3),
        {"banks": 8, "rows": 1 << 15, "row_bytes": 8192, "access_bytes": 64},
        {
            "trcd": 13_125, "trp": 13_125, "tcl": 13_125, "tcwl": 11_250, "tras": 37_500, "trtp": 7_500, "twr": 15_000,
            "twtr": 7_500, "trtw": 3_750, "trefi": 7_800_000, "trfc": 160_000,
        },
    ),
    "ddr4-2400": Standard(
        "one 64-bit rank of 8 Gb x8, 16-16-16 (JESD79-4, speed bin 2400R)",
        (19_200, 1),
        {"banks": 16, "rows": 1 << 16, "row_bytes": 8192, "access_bytes": 64},
        {
            "trcd": 13_320, "trp": 13_320, "tcl": 13_320, "tcwl": 10_000, "tras": 32_000, "trtp": 7_500, "twr": 15_000,
            "twtr": 7_500, "trtw": 1_666, "trefi": 7_800_000, "trfc": 350_000,
        },
    ),
    "hbm2": Standard(
        "one stack of 4 GiB, 16 pseudo-channels of 64 bit at 2 Gb/s (sizes: JESD235; times: vendors' own, these are "
        "those of public simulators)",
        (256_000, 1),
        {"channels": 16, "interleave": 256, "banks": 16, "rows": 1 << 14, "row_bytes": 1024, "access_bytes": 32},
        {
            "trcd": 14_000, "trp": 14_000, "tcl": 14_000, "tcwl": 4_000, "tras": 34_000, "trtp": 6_000, "twr": 16_000,
            "twtr": 8_000, "trtw": 2_000, "trefi": 3_900_000, "trfc": 260_000,
        },
    ),
}  # fmt: skip
"""By name. Bank groups and what `docs/memory.md` leaves out are left out here too."""


def cycles(picoseconds: int, mhz: int) -> int:
    """Cycles of a clock that take at least as long."""
    return -(-picoseconds * mhz // 1_000_000)


def dram_preset(name: str, mhz: int = MHZ) -> MemoryTiming:
    """A memory by the name of its standard, behind a core of this clock.

    Parameters
    ----------
    name : str
        One of `STANDARDS`.
    mhz : int
        Clock of the core, 1 to 10,000.

    Raises
    ------
    MemoryTimingError
        There is no such name, or the clock is out of range.
    """
    if name not in STANDARDS:
        raise MemoryTimingError(f"There is no memory {name!r}; there are {', '.join(STANDARDS)}.")
    if not is_integer(mhz) or not 1 <= mhz <= MOST_MHZ:
        raise MemoryTimingError(f"The core's clock is {mhz!r} MHz; it must be from 1 to {MOST_MHZ}.")
    standard = STANDARDS[name]
    times = {key: cycles(value, mhz) for key, value in standard.times.items()}
    times["trefi"] = standard.times["trefi"] * mhz // 1_000_000
    if times["trfc"] >= times["trefi"]:
        raise MemoryTimingError(f"A clock of {mhz} MHz is too slow for {name}: it would refresh all of the time.")
    through, per = standard.rate[0], standard.rate[1] * mhz
    divisor = gcd(through, per)
    latency = cycles(CONTROLLER_PS, mhz)
    return MemoryTiming(
        read_latency=latency,
        write_latency=latency,
        read_bandwidth=(through // divisor, per // divisor),
        shared=True,
        dram=Dram(**standard.sizes, **times),
    )
