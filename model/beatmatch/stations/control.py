# SPDX-License-Identifier: Apache-2.0
"""The words that engines and frontend exchange: waits, issues and signals. Their bits are in docs/interfaces.md."""

from __future__ import annotations

from beatmatch.isa import Instruction

ISSUE = 1 << 18
"""Bit of a wait request that makes it an issue."""
SYNC_MASK = ISSUE - 1
"""The bits of a wait request that say what it waits for."""
SIGNALLED = 1 | 1 << 6
"""The enables of a signal register: without them it is not set, whatever ids it holds."""
LAST = 1 << 24
"""Bit of issue and retire events: nothing of the instruction follows."""


def sync_of(instruction: Instruction) -> int:
    """The 18 bits of an instruction's waits: {wait1_n, wait1_id, wait0_n, wait0_id}."""
    f = instruction.fields
    return f["wait0_id"] | f["wait0_n"] << 5 | f["wait1_id"] << 9 | f["wait1_n"] << 14


def signals_of(instruction: Instruction) -> int:
    """The 12 bits of an instruction's signals: {sig1_id, sig1_en, sig0_id, sig0_en}, ids even without an enable."""
    f = instruction.fields
    return f["sig0_en"] | f["sig0_id"] << 1 | f["sig1_en"] << 6 | f["sig1_id"] << 7
