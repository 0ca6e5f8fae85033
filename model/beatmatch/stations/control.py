# SPDX-License-Identifier: Apache-2.0
"""The words that engines and frontend exchange: waits, issues and signals. Their bits are in docs/interfaces.md."""

from __future__ import annotations

from beatmatch.isa import Instruction

ISSUE = 1 << 18
"""Bit of a wait request that makes it an issue."""
SYNC_MASK = ISSUE - 1
"""The bits of a wait request that say what it waits for."""
LAST = 1 << 24
"""Bit of issue and retire events: nothing of the instruction follows."""


def sync_of(instruction: Instruction) -> int:
    """The 18 bits of an instruction's waits: {wait1_n, wait1_id, wait0_n, wait0_id}."""
    f = instruction.fields
    return f["wait0_id"] | f["wait0_n"] << 5 | f["wait1_id"] << 9 | f["wait1_n"] << 14


def signals_of(instruction: Instruction) -> int:
    """The 12 bits of an instruction's signals: {sig1_id, sig1_en, sig0_id, sig0_en}; 0 where it gives none."""
    f = instruction.fields
    first = 1 | f["sig0_id"] << 1 if f["sig0_en"] else 0
    second = 1 | f["sig1_id"] << 1 if f["sig1_en"] else 0
    return first | second << 6
