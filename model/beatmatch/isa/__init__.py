# SPDX-License-Identifier: Apache-2.0
"""The instruction set: declarations, encoding, and the text form of programs."""

from beatmatch.isa.encode import EncodingError, Instruction, decode, make
from beatmatch.isa.fields import ENGINE_OF, LAYOUTS, Engine, Error, Format, Opcode, Space

__all__ = [
    "ENGINE_OF",
    "LAYOUTS",
    "EncodingError",
    "Engine",
    "Error",
    "Format",
    "Instruction",
    "Opcode",
    "Space",
    "decode",
    "make",
]
