# SPDX-License-Identifier: Apache-2.0
"""Which words are instructions that a configuration can execute: the decoder's rules, and a sentence for each refusal.

The twin of ``rtl/frontend/bm_legality.sv``; the same function serves the assembler and the checkers. Address ranges
are not looked at here: they depend on strides and windows and are checked by the engines row by row.
"""

from __future__ import annotations

from beatmatch.config import Config
from beatmatch.isa.encode import OPCODE_MASK, Instruction, decode, positions, reserved_bits
from beatmatch.isa.fields import Error, Format, Opcode, Space

_VECTOR = frozenset({Opcode.REQUANT, Opcode.ADD, Opcode.MAXPOOL, Opcode.AVGPOOL})
_WEIGHTS = frozenset({Opcode.WEIGHTS_MEM, Opcode.WEIGHTS_SP})


def check(word: int, config: Config) -> tuple[Error, str] | None:
    """Whether the decoder accepts a word.

    Parameters
    ----------
    word : int
        256 bits, as memory holds them.
    config : Config
        Sizes of the core; only rows and cols matter.

    Returns
    -------
    None for a legal instruction, else the error code and a sentence with field, value and legal range. If several
    rules fail: ILLEGAL_OPCODE before ILLEGAL_FIELD before ZERO_SIZE.
    """
    instruction = decode(word)
    if instruction is None:
        legal = ", ".join(f"{int(opcode)} ({opcode.name})" for opcode in Opcode)
        return Error.ILLEGAL_OPCODE, f"The opcode is {word & OPCODE_MASK}; it must be one of {legal}."
    sentence = _illegal_field(instruction, word, config)
    if sentence:
        return Error.ILLEGAL_FIELD, f"{instruction.opcode.name} {sentence}"
    for name, (_, field) in positions(instruction.opcode).items():
        if field.nonzero and instruction.fields[name] == 0:
            top = (1 << field.width) - 1
            return Error.ZERO_SIZE, f"{instruction.opcode.name} {name} is 0; it must be from 1 to {top}."
    return None


def _illegal_field(instruction: Instruction, word: int, config: Config) -> str | None:
    """The rest of a sentence about the first field that is illegal, or None."""
    opcode, fields = instruction.opcode, instruction.fields
    reserved = word & reserved_bits(opcode)
    if reserved:
        first = (reserved & -reserved).bit_length() - 1
        return f"bit {first} is 1; it is reserved and must be 0."
    if fields["instance"]:
        return f"instance is {fields['instance']}; it must be 0."
    if fields["wait0_n"] and fields["wait1_n"] and fields["wait0_id"] == fields["wait1_id"]:
        return f"wait1_id is {fields['wait1_id']}, as wait0_id; it must be another semaphore, or one of the n 0."
    if opcode is Opcode.LOAD:
        return _one_of("dst_space", fields, (Space.SCRATCHPAD, Space.PARAMETER))
    if opcode in _WEIGHTS:
        return _weights(opcode, fields, config)
    if opcode is Opcode.MATMUL:
        return (
            _one_of("act_format", fields, (Format.INT8,))
            or _one_of("weight_format", fields, (Format.INT8,))
            or _at_most("k_lanes", fields, config.rows, "rows")
            or _at_most("n_lanes", fields, config.cols, "cols")
        )
    if opcode in _VECTOR:
        return _vector(fields)
    return None


def _weights(opcode: Opcode, fields: dict[str, int], config: Config) -> str | None:
    sentence = (
        _at_most("k_rows", fields, config.rows, "rows")
        or _at_most("n_lanes", fields, config.cols, "cols")
        or _one_of("weight_format", fields, (Format.INT8,))
    )
    if sentence:
        return sentence
    if opcode is Opcode.WEIGHTS_SP and fields["transpose"]:
        return "transpose is 1; it is reserved and must be 0."
    if opcode is Opcode.WEIGHTS_MEM and fields["packed"]:
        for name, full in (("k_rows", config.rows), ("n_lanes", config.cols)):
            if fields[name] != full:
                return f"{name} is {fields[name]}; it must be {full} with packed tiles."
    return None


def _vector(fields: dict[str, int]) -> str | None:
    sentence = _one_of("src_space", fields, (Space.SCRATCHPAD, Space.ACCUMULATOR))
    if sentence:
        return sentence
    space = Space(fields["src_space"])
    source = Format.INT8 if space is Space.SCRATCHPAD else Format.INT32
    if fields["src_format"] != source:
        return (
            f"src_format is {fields['src_format']}; it must be {int(source)} ({source.name}) "
            f"for a source in the {space.name.lower()}."
        )
    sentence = _one_of("dst_format", fields, (Format.INT8, Format.INT32))
    if sentence:
        return sentence
    if fields["param_mode"] == 3:
        return "param_mode is 3; it must be from 0 to 2."
    if fields["clip_low"] > fields["clip_high"]:
        return f"clip_low is {fields['clip_low']}; it must be at most clip_high, which is {fields['clip_high']}."
    return None


def _one_of(name: str, fields: dict[str, int], legal: tuple) -> str | None:
    if fields[name] in legal:
        return None
    return f"{name} is {fields[name]}; it must be {' or '.join(f'{int(value)} ({value.name})' for value in legal)}."


def _at_most(name: str, fields: dict[str, int], most: int, what: str) -> str | None:
    if fields[name] <= most:
        return None
    return f"{name} is {fields[name]}; it must be from 1 to {most} ({what})."
