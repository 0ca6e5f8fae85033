# SPDX-License-Identifier: Apache-2.0
"""Instructions as records of integers: what the engines look up instead of decoding."""

from __future__ import annotations

from beatmatch.config import Config
from beatmatch.fast.registers import Layout
from beatmatch.isa.encode import decode
from beatmatch.isa.fields import LAYOUTS
from beatmatch.isa.legality import check
from beatmatch.stations.control import signals_of, sync_of

NAMES = tuple(dict.fromkeys(field.name for fields in LAYOUTS.values() for field in fields))
"""Fields of all operations; an instruction leaves those of others 0."""

INSTRUCTION = Layout("Code", tuple((name, 1) for name in ("refusal", "engine", "sync", "signals", *NAMES)))
"""``refusal`` is the decoder's error code (then nothing else is set), ``engine`` 0 for load; ``sync`` and ``signals``
as in `stations.control`."""


def table(words: list[int], config: Config) -> object:
    """The instructions of a program as decode sees them."""
    known = {word: _values(word, config) for word in set(words)}
    return INSTRUCTION.array([known[word] for word in words] or [_values(0, config)])


def _values(word: int, config: Config) -> tuple[int, ...]:
    refusal = check(word, config)
    if refusal is not None:
        return (int(refusal[0]),) + (0,) * (len(INSTRUCTION.fields) - 1)
    instruction = decode(word)
    fields = {"opcode": int(instruction.opcode), **instruction.fields}
    values = tuple(fields.get(name, 0) for name in NAMES)
    return (0, int(instruction.engine) - 1, sync_of(instruction), signals_of(instruction), *values)
