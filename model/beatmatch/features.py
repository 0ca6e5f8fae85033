# SPDX-License-Identifier: Apache-2.0
"""Which features a program has, by name: what the fidelity record is kept in.

A feature is something that a program uses or not (an operation, an option of one, a kind of memory, a reset, an error
that it ends in); a size is a count or a latency that may be small or large.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from beatmatch.config import Config
from beatmatch.isa.encode import Instruction
from beatmatch.isa.fields import Error, Format, Opcode, Space
from beatmatch.memory import MemoryTiming
from beatmatch.memory.timing import CHANNELS, SLVERR
from beatmatch.program import Program

COUNTS = ("outer", "inner", "rows", "row_bytes", "x", "y", "kx", "ky", "kc", "width", "height")
"""Instruction fields that are sizes."""

NONZERO = {
    "each": "each", "wait0_n": "wait", "wait1_n": "wait", "sig0_en": "signal", "sig1_en": "signal",
    "dst_ring": "ring", "src_ring": "ring", "acc_ring": "acc_ring", "keep": "keep", "accumulate": "accumulate",
    "packed": "packed", "pad_left": "padding", "pad_top": "padding", "pad_value": "pad_value",
    "zero_point": "zero_point",
}  # fmt: skip
"""Fields that switch an option on when they are not 0, and the option's name."""

ABOVE_ONE = {"stride_x": "stride", "stride_y": "stride", "dilation_x": "dilation", "dilation_y": "dilation"}
"""The same for fields that do so above 1."""


@dataclass
class Features:
    """What a program has.

    Attributes
    ----------
    flags : set of str
        Features, such as ``matmul.keep``, ``memory.shared``, ``error.DEADLOCK``.
    sizes : dict of str to int
        The greatest count of each kind, such as ``matmul.x`` (rows), and the memory's latencies in cycles.
    """

    flags: set[str] = field(default_factory=set)
    sizes: dict[str, int] = field(default_factory=dict)


def features(program: Program, error: Error = Error.NONE) -> Features:
    """The features of a program that ended in `error`."""
    found = Features()
    for item in program.decoded():
        if item is not None:  # an opcode that does not exist shows as the error it causes
            _instruction(found, item, program.config)
    _memory(found, program.timing, "memory", CHANNELS)
    if program.config.weight_port:
        found.flags.add("weight_port.own_timing" if program.weight_timing else "weight_port")
        _memory(found, program.weight_timing or program.timing, "weight_memory", CHANNELS[:2])
    found.flags |= {f"host.{event.action}" for event in program.host}
    if program.cycle_limit:
        found.flags.add("host.cycle_limit")
    if error:
        found.flags.add(f"error.{error.name}")
    return found


def _instruction(found: Features, item: Instruction, config: Config) -> None:
    name, values = item.opcode.name.lower(), item.fields
    flags = {option for key, option in NONZERO.items() if values.get(key)}
    flags |= {option for key, option in ABOVE_ONE.items() if values.get(key, 1) > 1}
    if item.opcode in (Opcode.LOAD, Opcode.STORE, Opcode.MATMUL):
        spaces: dict[str, str] = {"dst_space": "to"} if item.opcode is Opcode.LOAD else {}
    else:
        spaces = {"src_space": "from"}
    for key, word in spaces.items():
        if values.get(key) in tuple(Space):
            flags.add(f"{word}_{Space(values[key]).name.lower()}")
    if values.get("dst_format") == Format.INT32:
        flags.add("raw_int32")
    if "param_mode" in values:
        flags.add(f"param_mode_{values['param_mode']}")
    if (values.get("clip_low", -128), values.get("clip_high", 127)) != (-128, 127):
        flags.add("clip")
    if values.get("k_rows", config.rows) < config.rows or values.get("k_lanes", config.rows) < config.rows:
        flags.add("k_tail")
    if values.get("n_lanes", config.cols) < config.cols:
        flags.add("n_tail")
    found.flags |= {name, *(f"{name}.{flag}" for flag in flags)}
    for key in COUNTS:
        if key in values:
            size = f"{name}.{key}"
            found.sizes[size] = max(found.sizes.get(size, 0), values[key])


def _memory(found: Features, timing: MemoryTiming, memory: str, channels: tuple[str, ...]) -> None:
    """What the timing of one of the memories has that can be seen on these channels."""
    writes = "w" in channels
    for name in ("read_bandwidth", "write_bandwidth"):
        if getattr(timing, name) is not None and (writes or name == "read_bandwidth"):
            found.flags.add(f"{memory}.{name}")
    if timing.dram is not None:
        found.flags.add(f"{memory}.dram")
    if timing.shared and writes:
        found.flags.add(f"{memory}.shared")
    found.flags |= {f"{memory}.stall_{name}" for name, rate in zip(channels, timing.stalls, strict=False) if rate}
    for area in timing.errors:
        if area.reads or writes:
            found.flags.add(f"{memory}.slverr" if area.response == SLVERR else f"{memory}.decerr")
    for name in ("read_latency", "max_reads", *(("write_latency", "max_writes") if writes else ())):
        found.sizes[f"{memory}.{name}"] = getattr(timing, name)
