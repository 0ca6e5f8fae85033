# SPDX-License-Identifier: Apache-2.0
"""What random programs hold how often: the weights that a test may dial."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from beatmatch.isa import Opcode

PLAIN_OPCODES = (
    (Opcode.LOAD, 4),
    (Opcode.MATMUL, 5),
    (Opcode.REQUANT, 3),
    (Opcode.ADD, 2),
    (Opcode.MAXPOOL, 1),
    (Opcode.AVGPOOL, 1),
    (Opcode.STORE, 3),
)


class DialError(ValueError):
    """A dial that does not exist or stands outside its range; the text names it."""


@dataclass(frozen=True)
class Dials:
    """Weights of `random_programs.generate`; the defaults are those of every campaign.

    Parameters
    ----------
    opcodes : tuple of (Opcode, int)
        Weights of the operations (weights instructions come with their matmuls).
    parts, slow_parts : (int, int)
        Least and most parts of a program behind its prologue, with a memory of ordinary speed and with a slow one.
    double_buffer, short_matmuls : float
        Share of the parts that are a double buffer, or matmuls of a row or two one after the other.
    hesitant : float
        Chance that the memory stalls at all.
    most_stall : int
        Highest chance of a stall on a channel, in 1/256.
    most_latency : int
        Longest read and write latency of the memory, in cycles.
    dram : float
        Chance that the memory is a DRAM.
    errors : float
        Chance that a program has a mistake.
    error_kinds : tuple of str
        Mistakes to draw from (names of `random_errors.KINDS`); empty is all.
    resets, starts : float
        Chance of a reset in mid-run with a new start, and of a start at any time.
    """

    opcodes: tuple[tuple[Opcode, int], ...] = PLAIN_OPCODES
    parts: tuple[int, int] = (4, 22)
    slow_parts: tuple[int, int] = (4, 9)
    double_buffer: float = 0.15
    short_matmuls: float = 0.07
    hesitant: float = 0.6
    most_stall: int = 160
    most_latency: int = 200
    dram: float = 0.2
    errors: float = 0.25
    error_kinds: tuple[str, ...] = ()
    resets: float = 0.12
    starts: float = 0.08

    def __post_init__(self) -> None:
        for name in ("double_buffer", "short_matmuls", "hesitant", "dram", "errors", "resets", "starts"):
            if not 0 <= getattr(self, name) <= 1:
                raise DialError(f"The dial {name} stands at {getattr(self, name)}; it is a share from 0 to 1.")
        for name, most in (("most_stall", 255), ("most_latency", 65535)):
            if not 1 <= getattr(self, name) <= most:
                raise DialError(f"The dial {name} stands at {getattr(self, name)}; it goes from 1 to {most}.")
        for name in ("parts", "slow_parts"):
            least, most = getattr(self, name)
            if not 0 < least <= most:
                raise DialError(f"The dial {name} stands at {least} to {most}; it needs 1 or more, the least first.")
        if not any(weight > 0 for _, weight in self.opcodes) or any(weight < 0 for _, weight in self.opcodes):
            raise DialError("The dial opcodes needs weights of 0 or more, of which one is not 0.")

    def turned(self) -> str:
        """The dials that do not stand at their defaults, for a program's origin; empty if all do."""
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f", dials {' '.join(changed)}" if changed else ""


PLAIN = Dials()
