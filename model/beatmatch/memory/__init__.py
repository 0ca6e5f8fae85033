# SPDX-License-Identifier: Apache-2.0
"""The memory outside the core: its bytes, its timing, and the agent that answers the memory port.

The stepped model and the benches use the same classes, so both sides see the same memory.
"""

from beatmatch.memory.agent import MemoryAgent
from beatmatch.memory.dram import Dram, DramCounters
from beatmatch.memory.errors import MemoryTimingError
from beatmatch.memory.image import ADDRESSES, PAGE, MemoryImage
from beatmatch.memory.presets import dram_preset
from beatmatch.memory.timing import DECERR, OKAY, SLVERR, ErrorRange, MemoryTiming

__all__ = [
    "ADDRESSES",
    "DECERR",
    "OKAY",
    "PAGE",
    "SLVERR",
    "Dram",
    "DramCounters",
    "ErrorRange",
    "MemoryAgent",
    "MemoryImage",
    "MemoryTiming",
    "MemoryTimingError",
    "dram_preset",
]
