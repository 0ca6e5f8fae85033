# SPDX-License-Identifier: Apache-2.0
"""Programs: everything one run needs, in one value and one self-checking file.

The same file runs on the functional tier, on the stepped tier and on the RTL.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from beatmatch.config import Config, ConfigError
from beatmatch.isa.encode import Instruction, decode
from beatmatch.isa.fields import BASE_REGISTERS, INSTRUCTION_BITS, INSTRUCTION_BYTES, SEMAPHORE_MAX, SEMAPHORES
from beatmatch.memory import ADDRESSES, MemoryImage, MemoryTiming, MemoryTimingError

MAGIC = b"beatmatch-program"
VERSION = 1
DTYPES = ("int8", "uint8", "int32")
HOST_EVENTS = ("reset", "start", "write", "read")
ACCESSES = ("write", "read")
"""Host events that are one access of the register bus."""
REGISTER_SPACE, WORD = 1 << 12, 1 << 32
LARGEST_RESULT, MOST_DIMENSIONS = 1 << 30, 32
"""Bytes and dimensions of a result."""


class ProgramError(ValueError):
    """A program, or a file of one, that makes no sense; the text says what is wrong in one sentence."""


@dataclass(frozen=True)
class Segment:
    """Bytes that stand in memory before the run.

    Parameters
    ----------
    address : int
        Byte address of the first one.
    data : bytes
    """

    address: int
    data: bytes


@dataclass(frozen=True)
class Base:
    """A base register: transfers may touch ``size`` bytes from ``address`` on."""

    address: int = 0
    size: int = 0


@dataclass(frozen=True)
class HostEvent:
    """What the host does during the run.

    Parameters
    ----------
    cycle : int
        Cycle of the run, counted from the first one after the initial reset.
    action : str
        ``reset`` holds ``rst_ni`` low for ``length`` cycles; ``start`` programs the registers again and starts;
        ``write`` and ``read`` are one access of a register as soon as the bus is free.
    length : int
        Cycles of a reset; 0 for all others.
    address, data : int
        Byte address below 4,096 and the 32 bits of an access; 0 for all others, and the data of a read.
    """

    cycle: int
    action: str
    length: int = 0
    address: int = 0
    data: int = 0

    def record(self) -> list[int | str]:
        """What a program file says of it; the inverse is ``HostEvent(*record)``."""
        access = [self.address, self.data] if self.action in ACCESSES else []
        return [self.cycle, self.action, self.length, *access]


@dataclass(frozen=True)
class Result:
    """A named tensor in memory.

    Parameters
    ----------
    address : int
        Byte address of its first element.
    dtype : str
        ``int8``, ``uint8`` or ``int32`` (little endian).
    shape, strides : tuple of int
        Elements and bytes per dimension.
    """

    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def read(self, image: MemoryImage) -> np.ndarray:
        """The tensor as it stands in ``image``."""
        item = np.dtype(self.dtype).newbyteorder("<")
        if 0 in self.shape:
            return np.zeros(self.shape, self.dtype)
        span = item.itemsize + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        raw = image.read(self.address, span)
        view = np.ndarray(self.shape, item, raw.data, 0, self.strides)
        return view.astype(self.dtype)


@dataclass
class Program:
    """Instructions and all that surrounds them.

    Parameters
    ----------
    config : Config
        The core it is made for.
    instructions : list of int
        256-bit words; `Instruction` objects are turned into words. Illegal words are allowed: errors can be tested.
    semaphores : tuple of 32 int
        Initial counts.
    bases : tuple of 16 Base
    address : int
        Where the header and the instructions stand in memory.
    segments : tuple of Segment
        Memory besides the program; later ones win.
    timing : MemoryTiming
    cycle_limit : int
        Watchdog in cycles, less than 2^32; 0 is none.
    host : tuple of HostEvent
        In the order of their cycles.
    results : dict of str to Result
    names : dict of int to str
        Names of semaphores for people; they change nothing.
    origin : str
        How it came to be, one line.
    seed : int
        Random seed it was drawn from, or 0.
    weight_timing : MemoryTiming or None
        Of the memory behind the weight port, for a configuration that has one; None: the same as ``timing``.
    """

    config: Config
    instructions: list[int]
    semaphores: tuple[int, ...] = (0,) * SEMAPHORES
    bases: tuple[Base, ...] = (Base(),) * BASE_REGISTERS
    address: int = 0
    segments: tuple[Segment, ...] = ()
    timing: MemoryTiming = field(default_factory=MemoryTiming)
    cycle_limit: int = 0
    host: tuple[HostEvent, ...] = ()
    results: dict[str, Result] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    origin: str = ""
    seed: int = 0
    weight_timing: MemoryTiming | None = None

    def __post_init__(self) -> None:
        self.instructions = [w.word() if isinstance(w, Instruction) else int(w) for w in self.instructions]
        self.semaphores = _padded(self.semaphores, SEMAPHORES, 0, "semaphores")
        self.bases = _padded(self.bases, BASE_REGISTERS, Base(), "bases")
        self.segments, self.host = tuple(self.segments), tuple(self.host)
        self._check()

    def _check(self) -> None:
        if not isinstance(self.config, Config) or not isinstance(self.timing, MemoryTiming):
            raise ProgramError("config must be a Config, and timing a MemoryTiming.")
        if self.weight_timing is not None:
            if not isinstance(self.weight_timing, MemoryTiming):
                raise ProgramError("weight_timing must be None or a MemoryTiming.")
            if not self.config.weight_port:
                raise ProgramError("weight_timing is given, but the configuration has no weight port: weight_port=1.")
        for index, word in enumerate(self.instructions):
            if not 0 <= word < 1 << INSTRUCTION_BITS:
                raise ProgramError(f"Instruction {index} has more than {INSTRUCTION_BITS} bits.")
        for index, count in enumerate(self.semaphores):
            _whole(f"The start of semaphore {index}", count, SEMAPHORE_MAX)
        for index, base in enumerate(self.bases):
            _whole(f"The address of base register {index}", base.address, ADDRESSES - 1)
            _whole(f"The size of base register {index}", base.size, ADDRESSES - 1)
        size = (1 + len(self.instructions)) * INSTRUCTION_BYTES
        _whole("The program's address", self.address, ADDRESSES - size)
        for item in self.segments:
            _whole("A segment's address", item.address, ADDRESSES - len(item.data))
        _whole("cycle_limit", self.cycle_limit, (1 << 32) - 1)
        _whole("seed", self.seed, None)
        for event in self.host:
            if event.action not in HOST_EVENTS:
                raise ProgramError(f"A host event is {event.action!r}; it must be one of {', '.join(HOST_EVENTS)}.")
            _whole("The cycle of a host event", event.cycle, None)
            _whole("The length of a host event", event.length, None)
            _whole("The address of a host event", event.address, REGISTER_SPACE - 1)
            _whole("The data of a host event", event.data, WORD - 1)
            if event.action not in ACCESSES and (event.address or event.data):
                raise ProgramError(f"A host event {event.action!r} has no address and no data.")
        for name, result in self.results.items():
            _check_result(name, result)
        for index, name in self.names.items():
            _whole("A semaphore with a name", index, SEMAPHORES - 1)
            if not isinstance(name, str):
                raise ProgramError(f"The name of semaphore {index} is {name!r}; it must be a text.")

    # ----- what others need of it -----

    def decoded(self) -> list[Instruction | None]:
        """The instructions as values; None for an opcode that does not exist."""
        return [decode(word) for word in self.instructions]

    def image_bytes(self) -> bytes:
        """Header (32 semaphore counts) and instructions as memory holds them."""
        return bytes(self.semaphores) + b"".join(w.to_bytes(INSTRUCTION_BYTES, "little") for w in self.instructions)

    def memory(self) -> MemoryImage:
        """A new memory with the segments and the program."""
        image = MemoryImage()
        for item in self.segments:
            image.write(item.address, item.data)
        image.write(self.address, self.image_bytes())
        return image

    def read(self, image: MemoryImage) -> dict[str, np.ndarray]:
        """All results as they stand in ``image``."""
        return {name: result.read(image) for name, result in self.results.items()}

    def replace(self, **changes: object) -> Program:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def digest(self) -> str:
        """Sixteen hex digits that name the content."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:16]

    # ----- one file -----

    def to_bytes(self) -> bytes:
        """The content of a program file: a line with version and sha256, then the compressed payload."""
        record = {
            "config": self.config.record(),
            "instructions": [f"{word:x}" for word in self.instructions],
            "semaphores": list(self.semaphores),
            "bases": [[b.address, b.size] for b in self.bases],
            "address": self.address,
            "segments": [[s.address, len(s.data)] for s in self.segments],
            "timing": self.timing.to_dict(),
            "cycle_limit": self.cycle_limit,
            "host": [event.record() for event in self.host],
            "results": {n: [r.address, r.dtype, list(r.shape), list(r.strides)] for n, r in self.results.items()},
            "names": {str(index): name for index, name in sorted(self.names.items())},
            "origin": self.origin,
            "seed": self.seed,
        }
        if self.weight_timing is not None:  # programs without it have the bytes that they always had
            record["weight_timing"] = self.weight_timing.to_dict()
        text = json.dumps(record, separators=(",", ":")).encode()
        payload = zlib.compress(len(text).to_bytes(8, "little") + text + b"".join(s.data for s in self.segments), 6)
        return b"%s %d %s\n" % (MAGIC, VERSION, hashlib.sha256(payload).hexdigest().encode()) + payload

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "the data") -> Program:
        """Inverse of `to_bytes`; raises ProgramError for anything else."""
        line, newline, payload = raw.partition(b"\n")
        words = line.split()
        if not newline or len(words) != 3 or words[0] != MAGIC:
            raise ProgramError(f"{name} is no Beatmatch program file.")
        if words[1] != b"%d" % VERSION:
            shown = words[1].decode(errors="replace")
            raise ProgramError(f"{name} has format version {shown}; this version reads {VERSION}.")
        if hashlib.sha256(payload).hexdigest().encode() != words[2]:
            raise ProgramError(f"{name} is truncated or corrupt: its checksum does not match.")
        try:
            content = zlib.decompress(payload)
            size = int.from_bytes(content[:8], "little")
            return cls._from_record(json.loads(content[8 : 8 + size]), content[8 + size :])
        except KeyError as error:
            raise ProgramError(f"{name} holds no legal program: its record lacks {error}.") from None
        except (ConfigError, MemoryTimingError, ProgramError) as error:
            raise ProgramError(f"{name} holds no legal program: {error}") from None
        except (zlib.error, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ProgramError(f"{name} holds no legal program: its record cannot be read ({error}).") from None

    @classmethod
    def _from_record(cls, record: dict, data: bytes) -> Program:
        segments, done = [], 0
        for address, size in record["segments"]:
            segments.append(Segment(address, data[done : done + size]))
            done += size
        if done != len(data):
            raise ProgramError("its segments do not have the stated sizes.")
        return cls(
            config=Config.from_dict(record["config"]),
            instructions=[int(word, 16) for word in record["instructions"]],
            semaphores=tuple(record["semaphores"]),
            bases=tuple(Base(*pair) for pair in record["bases"]),
            address=record["address"],
            segments=tuple(segments),
            timing=MemoryTiming.from_dict(record["timing"]),
            weight_timing=MemoryTiming.from_dict(record["weight_timing"]) if "weight_timing" in record else None,
            cycle_limit=record["cycle_limit"],
            host=tuple(HostEvent(*event) for event in record["host"]),
            results={n: Result(a, d, tuple(sh), tuple(st)) for n, (a, d, sh, st) in record["results"].items()},
            names={int(index): name for index, name in record["names"].items()},
            origin=record["origin"],
            seed=record["seed"],
        )

    def save(self, path: str | Path) -> None:
        """Write the program file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Program:
        """Read a program file; raises ProgramError if it is missing, truncated, corrupt or something else."""
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            raise ProgramError(f"{path} cannot be read: {error.strerror}.") from None
        return cls.from_bytes(raw, str(path))


def _whole(what: str, value: object, most: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0 or (most is not None and value > most):
        legal = "an integer of 0 or more" if most is None else f"an integer from 0 to {most}"
        raise ProgramError(f"{what} is {value!r}; it must be {legal}.")


def _check_result(name: str, result: Result) -> None:
    if result.dtype not in DTYPES or len(result.shape) != len(result.strides) or len(result.shape) > MOST_DIMENSIONS:
        legal = f"{', '.join(DTYPES)} with one stride for each of at most {MOST_DIMENSIONS} dimensions"
        raise ProgramError(f"Result {name!r} must be one of {legal}.")
    _whole(f"The address of result {name!r}", result.address, ADDRESSES - 1)
    for part in (*result.shape, *result.strides):
        _whole(f"A size or stride of result {name!r}", part, LARGEST_RESULT)
    item = np.dtype(result.dtype).itemsize
    span = item + sum(max(n - 1, 0) * s for n, s in zip(result.shape, result.strides, strict=True))
    size = item * prod(result.shape)
    if max(span, size) > LARGEST_RESULT or result.address + span > ADDRESSES:
        raise ProgramError(f"Result {name!r} has {size} bytes over {span} of memory; at most {LARGEST_RESULT} can be.")


def _padded(values: Iterable, size: int, fill: object, label: str) -> tuple:
    values = tuple(values)
    if len(values) > size:
        raise ProgramError(f"There are {len(values)} {label}; at most {size} exist.")
    return values + (fill,) * (size - len(values))
