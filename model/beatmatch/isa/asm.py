# SPDX-License-Identifier: Apache-2.0
"""The text form of programs: an assembler with sentences for its errors.

One line is one directive or instruction; ``;`` starts a comment. `beatmatch.isa.disasm` is the other direction.

    .config small                      ; a preset, or rows=8 cols=8 ...
    .const N 64                        ; names for expressions; ROWS, COLS, LANES, MB are there
    .semaphore full 0                  ; name and initial count; the index is chosen, or given as @3
    .base 0 0x1000 4096                ; register, address, bytes
    .data 0x1000                       ; a segment; .hex .int8 .int32 .zeros .random .param fill it
    .random 7 N*8                      ; seed and number of int8 values
    .result out int8 0x2000 8,8        ; a tensor: type, address, shape (and strides in bytes if not dense)
    load base=0 row_bytes=N*8 dst=0 signal=full
    matmul x=8 kc=1 wait=full:1 each
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields
from math import prod

import numpy as np

from beatmatch.config import Config, ConfigError, preset
from beatmatch.isa.encode import EncodingError, field_range, make, positions
from beatmatch.isa.expression import ExpressionError, evaluate
from beatmatch.isa.fields import BASE_REGISTERS, INSTRUCTION_BITS, SEMAPHORE_MAX, SEMAPHORES, Opcode
from beatmatch.memory import Dram, ErrorRange, MemoryTiming, MemoryTimingError
from beatmatch.numerics import pack_parameters
from beatmatch.program import ACCESSES, Base, HostEvent, Program, ProgramError, Result, Segment

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s;"]+|;.*|"')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLAIN = re.compile(r"s\d+\Z")
MOST_DATA, MOST_CHANNELS = 1 << 30, 1 << 20
"""Bytes, and channels of parameters, that one directive makes."""


class AssemblyError(ValueError):
    """A program text that cannot be assembled; the text begins with ``line:column``."""

    def __init__(self, line: int, column: int, text: str) -> None:
        super().__init__(f"{line}:{column}: {text}")
        self.line, self.column, self.text = line, column, text


@dataclass
class _Token:
    text: str
    line: int
    column: int

    def error(self, text: str) -> AssemblyError:
        return AssemblyError(self.line, self.column, text)


def assemble(text: str, config: Config | None = None) -> Program:
    """A program from its text.

    Parameters
    ----------
    text : str
    config : Config or None
        Used if the text has no ``.config``.

    Raises
    ------
    AssemblyError
        For the first mistake.
    """
    return _Assembler(config).run(text)


@dataclass
class _Memory:
    """What the text says about one of the memories; ``head`` is the directive to name if it makes no sense."""

    head: _Token
    values: dict = field(default_factory=dict)
    errors: list[ErrorRange] = field(default_factory=list)

    def timing(self) -> MemoryTiming:
        try:
            return MemoryTiming(**self.values, errors=tuple(self.errors))
        except MemoryTimingError as error:
            raise self.head.error(str(error)) from None


class _Assembler:
    def __init__(self, config: Config | None) -> None:
        self.constants: dict[str, int] = {}
        self.config: Config | None = None
        if config is not None:
            self._take(config)
        self.semaphores = [0] * SEMAPHORES
        self.indices = {f"s{index}": index for index in range(SEMAPHORES)}
        self.names: dict[int, str] = {}
        self.taken: set[int] = set()
        self.bases = [Base()] * BASE_REGISTERS
        self.segments: list[tuple[int, bytearray]] = []
        self.instructions: list[int] = []
        self.memories: dict[str, _Memory] = {"timing": _Memory(_Token("", 1, 1))}
        self.host: list[HostEvent] = []
        self.results: dict[str, Result] = {}
        self.scalars = {"address": 0, "cycle_limit": 0, "seed": 0}
        self.origin = ""

    def run(self, text: str) -> Program:
        last = _Token("", 1, 1)
        for number, line in enumerate(text.splitlines(), 1):
            tokens = [_Token(m.group(), number, m.start() + 1) for m in _TOKEN.finditer(line)]
            tokens = [t for t in tokens if not t.text.startswith(";")]
            if not tokens:
                continue
            last = tokens[0]
            if last.text.startswith("."):
                method = getattr(self, f"_do_{last.text[1:]}", None)
                if method is None:
                    raise last.error(f"There is no directive {last.text}.")
                method(last, tokens[1:])
            else:
                self._instruction(last, tokens[1:])
        if self.config is None:
            raise last.error("No .config names the configuration.")
        timings = {name: memory.timing() for name, memory in self.memories.items()}
        try:
            return Program(
                self.config, self.instructions, tuple(self.semaphores), tuple(self.bases),
                segments=tuple(Segment(address, bytes(data)) for address, data in self.segments),
                host=tuple(self.host), results=self.results, names=self.names, origin=self.origin, **self.scalars,
                **timings,
            )  # fmt: skip
        except ProgramError as error:
            raise last.error(str(error)) from None

    def _take(self, config: Config) -> None:
        self.config = config
        self.constants |= {"ROWS": config.rows, "COLS": config.cols, "LANES": config.lanes, "MB": config.mem_bytes}

    def _check(self, token: _Token, **part: object) -> None:
        """Refuse a part of a program at the place where it stands."""
        try:
            Program(preset("tiny"), [], **part)
        except ProgramError as error:
            raise token.error(str(error)) from None

    # ----- values -----

    def _number(self, token: _Token, text: str | None = None) -> int:
        try:
            return evaluate(token.text if text is None else text, self.constants)
        except ExpressionError as error:
            raise token.error(str(error)) from None

    def _numbers(self, token: _Token, text: str | None = None) -> tuple[int, ...]:
        return tuple(self._number(token, part) for part in (token.text if text is None else text).split(","))

    def _arguments(self, head: _Token, tokens: list[_Token], least: int, most: int | None = None) -> list[_Token]:
        most = least if most is None else most
        if not least <= len(tokens) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise head.error(f"{head.text} takes {wanted} arguments, not {len(tokens)}.")
        return tokens

    def _pairs(self, tokens: list[_Token]) -> dict[str, tuple[_Token, str]]:
        pairs = {}
        for token in tokens:
            key, equals, value = token.text.partition("=")
            if not equals:
                raise token.error(f"{token.text!r} should be name=value.")
            if key in pairs:
                raise token.error(f"{key} is given twice.")
            pairs[key] = (token, value)
        return pairs

    def _string(self, token: _Token) -> str:
        try:
            value = json.loads(token.text)
        except ValueError:
            value = None
        if not isinstance(value, str):
            raise token.error(f"{token.text} should be a text in double quotes.")
        return value

    # ----- directives -----

    def _do_config(self, head: _Token, tokens: list[_Token]) -> None:
        if not tokens:
            raise head.error(".config takes the name of a preset, or sizes as name=value.")
        try:
            if len(tokens) == 1 and "=" not in tokens[0].text:
                self._take(preset(tokens[0].text))
            else:
                values = {}
                for key, (token, value) in self._pairs(tokens).items():
                    values[key] = value if key == "name" else self._number(token, value)
                self._take(Config.from_dict(values))
        except ConfigError as error:
            raise tokens[0].error(str(error)) from None

    def _do_const(self, head: _Token, tokens: list[_Token]) -> None:
        name, value = self._arguments(head, tokens, 2)
        if not _NAME.match(name.text):
            raise name.error(f"{name.text!r} is no name.")
        self.constants[name.text] = self._number(value)

    def _do_semaphore(self, head: _Token, tokens: list[_Token]) -> None:
        place = [t for t in tokens[1:] if t.text.startswith("@")]
        rest = [t for t in tokens if t not in place]
        name, *initial = self._arguments(head, rest, 1, 2)
        if not _NAME.match(name.text):
            raise name.error(f"{name.text!r} is no name.")
        if _PLAIN.match(name.text):
            if name.text not in self.indices:
                raise name.error(f"Semaphores are s0 to s{SEMAPHORES - 1}.")
            index = self.indices[name.text]
        else:
            if name.text in self.indices:
                raise name.error(f"Semaphore {name.text} is declared twice.")
            free = [i for i in range(SEMAPHORES) if i not in self.taken]
            index = self._number(place[0], place[0].text[1:]) if place else (free or [SEMAPHORES])[0]
            if not 0 <= index < SEMAPHORES:
                raise (place or [name])[0].error(f"Semaphore {name.text} would be number {index}; they end at 31.")
            if index in self.names:
                raise (place or [name])[0].error(f"Semaphore {index} is already called {self.names[index]}.")
            self.indices[name.text] = index
            self.names[index] = name.text
        self.taken.add(index)
        count = self._number(initial[0]) if initial else 0
        if not 0 <= count <= SEMAPHORE_MAX:
            raise initial[0].error(f"The initial count is {count}; it must be from 0 to {SEMAPHORE_MAX}.")
        self.semaphores[index] = count

    def _do_name(self, head: _Token, tokens: list[_Token]) -> None:
        index, name = self._arguments(head, tokens, 2)
        number, text = self._number(index), self._string(name)
        self._check(index, names={number: text})
        self.names[number] = text

    def _do_base(self, head: _Token, tokens: list[_Token]) -> None:
        index, address, size = self._arguments(head, tokens, 3)
        number = self._number(index)
        if not 0 <= number < BASE_REGISTERS:
            raise index.error(f"There is no base register {number}; they are 0 to {BASE_REGISTERS - 1}.")
        self.bases[number] = Base(self._number(address), self._number(size))
        self._check(address, bases=(self.bases[number],))

    def _do_data(self, head: _Token, tokens: list[_Token]) -> None:
        (address,) = self._arguments(head, tokens, 1)
        self._check(address, segments=(Segment(self._number(address), b""),))
        self.segments.append((self._number(address), bytearray()))

    def _append(self, head: _Token, data: bytes) -> None:
        if not self.segments:
            raise head.error(f"{head.text} needs a .data before it.")
        self.segments[-1][1].extend(data)

    def _do_hex(self, head: _Token, tokens: list[_Token]) -> None:
        for token in tokens:
            try:
                self._append(head, bytes.fromhex(token.text))
            except ValueError as error:
                if isinstance(error, AssemblyError):
                    raise
                raise token.error(f"{token.text!r} is no row of hex digits.") from None

    def _integers(self, head: _Token, tokens: list[_Token], bits: int) -> None:
        for token in tokens:
            for value in self._numbers(token):
                if not -(1 << bits - 1) <= value < 1 << bits - 1:
                    raise token.error(f"{value} does not fit in {bits} bits.")
                self._append(head, value.to_bytes(bits // 8, "little", signed=True))

    def _do_int8(self, head: _Token, tokens: list[_Token]) -> None:
        self._integers(head, tokens, 8)

    def _do_int32(self, head: _Token, tokens: list[_Token]) -> None:
        self._integers(head, tokens, 32)

    def _count(self, token: _Token, text: str | None = None, most: int = MOST_DATA) -> int:
        value = self._number(token, text)
        if not 0 <= value <= most:
            raise token.error(f"The number is {value}; it must be from 0 to {most}.")
        return value

    def _do_zeros(self, head: _Token, tokens: list[_Token]) -> None:
        (count,) = self._arguments(head, tokens, 1)
        self._append(head, bytes(self._count(count)))

    def _do_random(self, head: _Token, tokens: list[_Token]) -> None:
        seed, count = self._arguments(head, tokens, 2)
        rng = np.random.default_rng(abs(self._number(seed)))
        self._append(head, rng.integers(-128, 128, self._count(count)).astype(np.int8).tobytes())

    def _do_param(self, head: _Token, tokens: list[_Token]) -> None:
        values = {"bias": 0, "multiplier": 1, "shift": 0, "channels": 1}
        for key, (token, value) in self._pairs(tokens).items():
            if key not in values:
                raise token.error(f".param has no {key!r}; it has {', '.join(values)}.")
            values[key] = self._number(token, value)
            if key == "channels":
                values[key] = self._count(token, value, MOST_CHANNELS)
        channels = values.pop("channels")
        try:
            self._append(head, pack_parameters(**{key: np.full(channels, value) for key, value in values.items()}))
        except (ValueError, OverflowError) as error:
            raise head.error(str(error)) from None

    def _do_timing(self, head: _Token, tokens: list[_Token], name: str = "timing") -> None:
        memory = self.memories.setdefault(name, _Memory(head))
        memory.head = head
        known = {item.name for item in fields(MemoryTiming)} - {"errors", "dram"}
        for key, (token, value) in self._pairs(tokens).items():
            if key not in known:
                raise token.error(f".{name} has no {key!r}; it has {', '.join(sorted(known))}.")
            numbers = self._numbers(token, value)
            if key == "shared":
                memory.values[key] = bool(numbers[0])
            else:
                memory.values[key] = numbers[0] if len(numbers) == 1 else numbers

    def _do_weight_timing(self, head: _Token, tokens: list[_Token]) -> None:
        self._do_timing(head, tokens, "weight_timing")

    def _do_dram(self, head: _Token, tokens: list[_Token], name: str = "timing") -> None:
        known = {item.name: isinstance(item.default, str) for item in fields(Dram)}
        values = {}
        for key, (token, value) in self._pairs(tokens).items():
            if key not in known:
                raise token.error(f"{head.text} has no {key!r}; it has {', '.join(sorted(known))}.")
            values[key] = value if known[key] else self._number(token, value)
        try:
            self.memories.setdefault(name, _Memory(head)).values["dram"] = Dram(**values)
        except MemoryTimingError as error:
            raise head.error(str(error)) from None

    def _do_weight_dram(self, head: _Token, tokens: list[_Token]) -> None:
        self._do_dram(head, tokens, "weight_timing")

    def _do_weight_error_range(self, head: _Token, tokens: list[_Token]) -> None:
        self._do_error_range(head, tokens, "weight_timing")

    def _do_error_range(self, head: _Token, tokens: list[_Token], name: str = "timing") -> None:
        first, last, response, reads, writes = (self._number(t) for t in self._arguments(head, tokens, 5))
        try:
            area = ErrorRange(first, last, response, bool(reads), bool(writes))
        except MemoryTimingError as error:
            raise head.error(str(error)) from None
        self.memories.setdefault(name, _Memory(head)).errors.append(area)

    def _do_host(self, head: _Token, tokens: list[_Token]) -> None:
        access = len(tokens) > 1 and tokens[1].text in ACCESSES
        cycle, action, *numbers = self._arguments(head, tokens, 2, 4 if access else 3)
        length = [0] if access else []
        self.host.append(HostEvent(self._number(cycle), action.text, *length, *map(self._number, numbers)))
        self._check(cycle, host=(self.host[-1],))

    def _do_result(self, head: _Token, tokens: list[_Token]) -> None:
        name, dtype, address, shape, *strides = self._arguments(head, tokens, 4, 5)
        sizes = self._numbers(shape) if shape.text != "()" else ()
        if strides:
            steps = self._numbers(strides[0]) if strides[0].text != "()" else ()
        else:
            item = 4 if dtype.text == "int32" else 1
            steps = tuple(item * prod(sizes[index + 1 :]) for index in range(len(sizes)))
        key = self._string(name) if name.text.startswith('"') else name.text
        self.results[key] = Result(self._number(address), dtype.text, sizes, steps)
        self._check(name, results={key: self.results[key]})

    def _scalar(self, head: _Token, tokens: list[_Token]) -> None:
        (value,) = self._arguments(head, tokens, 1)
        self.scalars[head.text[1:]] = self._number(value)
        self._check(value, **{head.text[1:]: self._number(value)})

    _do_address = _do_cycle_limit = _do_seed = _scalar

    def _do_origin(self, head: _Token, tokens: list[_Token]) -> None:
        (text,) = self._arguments(head, tokens, 1)
        self.origin = self._string(text)

    def _do_word(self, head: _Token, tokens: list[_Token]) -> None:
        (value,) = self._arguments(head, tokens, 1)
        number = self._number(value)
        if not 0 <= number < 1 << INSTRUCTION_BITS:
            raise value.error(f"The word is {number:#x}; it must be from 0 to 2^{INSTRUCTION_BITS} - 1.")
        self.instructions.append(number)

    # ----- instructions -----

    def _instruction(self, head: _Token, tokens: list[_Token]) -> None:
        try:
            opcode = Opcode[head.text.upper()]
        except KeyError:
            known = ", ".join(o.name.lower() for o in Opcode)
            raise head.error(f"There is no instruction {head.text!r}; there are {known}.") from None
        values: dict[str, int] = {}
        table = positions(opcode)
        flags = [t for t in tokens if t.text == "each"]
        if flags:
            values["each"] = 1
        for key, (token, value) in self._pairs([t for t in tokens if t not in flags]).items():
            if key == "wait":
                self._waits(token, value, values)
            elif key == "signal":
                for index, name in enumerate(self._names(token, value)):
                    values[f"sig{index}_en"], values[f"sig{index}_id"] = 1, self._semaphore(token, name)
            elif key not in table or key == "opcode":
                raise token.error(f"{head.text} has no field {key!r}.")
            else:
                number = self._number(token, value)
                low, high = field_range(table[key][1])
                if not low <= number <= high:
                    low = low or int(table[key][1].nonzero)
                    raise token.error(f"{head.text} {key} is {number}; it must be from {low} to {high}.")
                values[key] = number
        try:
            self.instructions.append(make(opcode, **values).word())
        except EncodingError as error:
            raise head.error(str(error)) from None

    def _names(self, token: _Token, value: str) -> list[str]:
        names = value.split(",")
        if len(names) > 2:
            raise token.error("An instruction has at most two waits and two signals.")
        return names

    def _semaphore(self, token: _Token, name: str) -> int:
        if name not in self.indices:
            raise token.error(f"There is no semaphore {name!r}.")
        return self.indices[name]

    def _waits(self, token: _Token, value: str, values: dict[str, int]) -> None:
        for index, part in enumerate(self._names(token, value)):
            name, colon, count = part.partition(":")
            number = self._number(token, count) if colon else 1
            if not 1 <= number <= 15:
                raise token.error(f"A wait takes from 1 to 15 off a semaphore, not {number}.")
            values[f"wait{index}_id"], values[f"wait{index}_n"] = self._semaphore(token, name), number
