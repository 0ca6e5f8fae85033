# SPDX-License-Identifier: Apache-2.0
"""Configurations of the core: the sizes that a user may choose, and the named presets.

A configuration only bounds legal values; instruction encodings and behaviour never depend on it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, fields

MAX_ASPECT = 8
"""Largest ratio of rows to cols (either way): a scratchpad word holds at most eight operand parts."""
LATER = {"weight_port": 0}
"""Fields that came after the first release, and their defaults, which are the core as it was."""


class ConfigError(ValueError):
    """A configuration that the core cannot be built with; the text names the field and the legal range."""


def _power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


@dataclass(frozen=True)
class Config:
    """Sizes of one core.

    Parameters
    ----------
    rows, cols : int
        Processing elements down (reduction) and across (outputs); powers of two, 4 to 256, ratio at most 8.
    sp_words : int
        Scratchpad words in all banks together, each of ``max(rows, cols)`` bytes.
    sp_banks : int
        Scratchpad banks, 1 to 8; ``sp_words / sp_banks`` is a power of two of at least 16.
    acc_rows : int
        Accumulator rows in all banks together (at most 4,096), each of ``cols`` int32 values.
    acc_banks : int
        Accumulator banks, 1 to 8; ``acc_rows / acc_banks`` is a power of two of at least 4.
    fifo_tiles : int
        Weight FIFO capacity in tiles of ``rows x cols`` bytes, 2 to 16.
    queue_depth : int
        Instructions that wait in front of each engine, 1 to 32.
    mem_bits : int
        Width of the memory port in bits; a power of two, 32 to 1,024.
    outstanding : int
        Bursts that one engine may have in flight, 1 to 64.
    param_rows : int
        Rows of the parameter memory (``cols`` channels of 8 bytes each); a power of two, 4 to 128.
    name : str
        Only a label; two configurations with equal sizes build the same core.
    weight_port : int
        1: weights that come from memory come through a second port of ``mem_bits``, and nothing else does; 0: through
        the memory port, like everything else.
    """

    rows: int = 8
    cols: int = 8
    sp_words: int = 4096
    sp_banks: int = 2
    acc_rows: int = 256
    acc_banks: int = 2
    fifo_tiles: int = 4
    queue_depth: int = 8
    mem_bits: int = 64
    outstanding: int = 8
    param_rows: int = 32
    name: str = dataclasses.field(default="custom", compare=False)
    weight_port: int = 0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "name" and not isinstance(value, str):
                raise ConfigError(f"name must be a text, not {value!r}.")
            if item.name != "name" and (isinstance(value, bool) or not isinstance(value, int)):
                raise ConfigError(f"{item.name} must be an integer, not {value!r}.")
        for label in ("rows", "cols"):
            value = getattr(self, label)
            if not _power_of_two(value) or not 4 <= value <= 256:
                raise ConfigError(f"{label} is {value}; it must be a power of two from 4 to 256.")
        if max(self.rows, self.cols) > MAX_ASPECT * min(self.rows, self.cols):
            raise ConfigError(
                f"rows x cols is {self.rows}x{self.cols}; the larger may be at most {MAX_ASPECT} times the smaller."
            )
        self._check_banked("sp_words", "sp_banks", 16, 131072)
        self._check_banked("acc_rows", "acc_banks", 4, 4096)
        if not _power_of_two(self.mem_bits) or not 32 <= self.mem_bits <= 1024:
            raise ConfigError(f"mem_bits is {self.mem_bits}; it must be a power of two from 32 to 1024.")
        if not _power_of_two(self.param_rows) or not 4 <= self.param_rows <= 128:
            raise ConfigError(f"param_rows is {self.param_rows}; it must be a power of two from 4 to 128.")
        ranges = (("fifo_tiles", 2, 16), ("queue_depth", 1, 32), ("outstanding", 1, 64), ("weight_port", 0, 1))
        for label, low, high in ranges:
            value = getattr(self, label)
            if not low <= value <= high:
                raise ConfigError(f"{label} is {value}; it must be from {low} to {high}.")

    def _check_banked(self, total: str, banks: str, least: int, most: int) -> None:
        count, size = getattr(self, banks), getattr(self, total)
        if not 1 <= count <= 8:
            raise ConfigError(f"{banks} is {count}; it must be from 1 to 8.")
        if size % count or not _power_of_two(size // count) or size // count < least:
            raise ConfigError(
                f"{total} is {size} in {count} banks; each bank must hold a power of two of at least {least} entries."
            )
        if size > most:
            raise ConfigError(f"{total} is {size}; it may be at most {most}.")

    # ----- derived sizes: every unit below is what the name says -----

    @property
    def lanes(self) -> int:
        """Bytes of one scratchpad word."""
        return max(self.rows, self.cols)

    @property
    def act_parts(self) -> int:
        """Activation operands (``rows`` bytes) per scratchpad word."""
        return self.lanes // self.rows

    @property
    def col_parts(self) -> int:
        """Column operands (``cols`` bytes: weight rows, vector operands and results) per scratchpad word."""
        return self.lanes // self.cols

    @property
    def mem_bytes(self) -> int:
        """Bytes of one beat on the memory port; every memory address and stride is a multiple of it."""
        return self.mem_bits // 8

    @property
    def sp_bank_words(self) -> int:
        """Words of one scratchpad bank."""
        return self.sp_words // self.sp_banks

    @property
    def acc_bank_rows(self) -> int:
        """Rows of one accumulator bank."""
        return self.acc_rows // self.acc_banks

    @property
    def param_words(self) -> int:
        """Scratchpad-sized words that one parameter row spans (load writes the parameter memory in these)."""
        return 8 * self.cols // self.lanes

    @property
    def peak_macs(self) -> int:
        """Multiply-accumulates per cycle."""
        return self.rows * self.cols

    def rtl_parameters(self) -> dict[str, int]:
        """Parameters of the top-level RTL module, by name."""
        return {item.name.upper(): getattr(self, item.name) for item in fields(self) if item.name != "name"}

    def to_dict(self) -> dict[str, int | str]:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)

    def record(self) -> dict[str, int | str]:
        """Like `to_dict` without later fields at their default: what `digest` and program files are made of."""
        return {key: value for key, value in self.to_dict().items() if value != LATER.get(key)}

    @classmethod
    def from_dict(cls, data: dict) -> Config:
        """Inverse of `to_dict`; raises ConfigError on an unknown field."""
        if not isinstance(data, dict):
            raise ConfigError(f"A configuration must be an object with the sizes, not {data!r}.")
        known = {item.name for item in fields(cls)}
        unknown = [key for key in data if key not in known]
        if unknown:
            raise ConfigError(f"Unknown configuration field {unknown[0]!r}; the fields are {', '.join(sorted(known))}.")
        return cls(**data)

    def digest(self) -> str:
        """Twelve hex digits that name the sizes (not the label).

        Fields that came after the first release count only if they are not at their default: a core that has not
        changed keeps its name.
        """
        sizes = {key: value for key, value in self.record().items() if key != "name"}
        return hashlib.sha256(json.dumps(sizes, sort_keys=True).encode()).hexdigest()[:12]


PRESETS: dict[str, Config] = {
    config.name: config
    for config in (
        Config(4, 4, 1024, 2, 64, 2, 2, 4, 32, 4, 16, "tiny"),
        Config(8, 8, 4096, 2, 256, 2, 4, 8, 64, 8, 32, "small"),
        Config(16, 16, 8192, 4, 1024, 2, 8, 8, 128, 16, 64, "base"),
        Config(32, 32, 16384, 4, 2048, 2, 8, 8, 256, 16, 64, "large"),
        Config(128, 128, 65536, 8, 4096, 2, 8, 16, 1024, 32, 64, "mxu128"),
        Config(256, 256, 98304, 6, 4096, 2, 4, 16, 1024, 32, 64, "tpu_v1", weight_port=1),
    )
}

DEFAULT_LATENCY: dict[str, int] = {"tiny": 20, "small": 50, "base": 50, "large": 80, "mxu128": 100, "tpu_v1": 500}
"""Read latency in cycles of the memory that each preset is usually measured with."""
DEFAULT_BANDWIDTH: dict[str, tuple[int, int]] = {"tpu_v1": (20, 1)}
"""Bytes per cycle, as a fraction, of such memories as are slower than the port; reads and writes have as much each."""
DEFAULT_WEIGHT_MEMORY: dict[str, tuple[int, tuple[int, int]]] = {"tpu_v1": (100, (340, 7))}
"""Read latency in cycles, and bytes per cycle as a fraction, behind the weight port (docs/tpu_v1.md)."""


def preset(name: str) -> Config:
    """The preset with this name; raises ConfigError naming the known ones."""
    if not isinstance(name, str) or name not in PRESETS:
        raise ConfigError(f"There is no preset {name!r}; the presets are {', '.join(PRESETS)}.")
    return PRESETS[name]
