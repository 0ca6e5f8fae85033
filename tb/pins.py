# SPDX-License-Identifier: Apache-2.0
"""Drive and compare the pins of a station in a unit lockstep bench: handles are looked up once."""

from __future__ import annotations

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

SETTLE_NS = 1
"""From driving the inputs to sampling the outputs of the same cycle."""


class Mismatch(AssertionError):
    """RTL and model differ; the text says where."""


class Pins:
    """The pins of a bench top.

    Parameters
    ----------
    dut : cocotb handle
        The top.
    inputs, outputs : sequence of str
        Port names; an output may also be ``trace_o``, whose words are named on a mismatch.
    """

    def __init__(self, dut, inputs, outputs) -> None:
        self._clock = dut.clk_i
        self._inputs = {name: getattr(dut, name) for name in inputs}
        self._outputs = {name: getattr(dut, name) for name in outputs}
        self._driven = dict.fromkeys(inputs)
        self.cycle = 0

    async def start(self) -> None:
        """Start the clock; every input is 0, and the first cycle begins."""
        self.drive(**dict.fromkeys(self._inputs, 0))
        Clock(self._clock, 10, "ns").start()
        await FallingEdge(self._clock)

    def drive(self, **values: int) -> None:
        """Set inputs of this cycle; the others keep their values."""
        for name, value in values.items():
            if self._driven[name] != value:
                self._driven[name] = value
                self._inputs[name].value = int(value)

    async def settle(self) -> None:
        """Let the outputs follow the inputs of this cycle."""
        await Timer(SETTLE_NS, "ns")

    def compare(self, hint: str, **expected: int) -> None:
        """Check outputs of this cycle. Raises Mismatch."""
        for name, value in expected.items():
            try:
                seen = int(self._outputs[name].value)
            except ValueError:
                raise Mismatch(f"cycle {self.cycle}: {name} is {self._outputs[name].value}; {hint}") from None
            if seen != value:
                raise Mismatch(f"cycle {self.cycle}: {name} is {_show(name, seen, value)}; {hint}")

    async def next(self) -> None:
        """Go to the next cycle."""
        await FallingEdge(self._clock)
        self.cycle += 1


def _show(name: str, seen: int, expected: int) -> str:
    if name != "trace_o":
        return f"{seen:#x}, the model has {int(expected):#x}"
    words = max(seen.bit_length(), expected.bit_length()) // 32 + 1
    pairs = ((k, seen >> 32 * k & 0xFFFFFFFF, expected >> 32 * k & 0xFFFFFFFF) for k in range(words))
    return ", ".join(f"word {k} {a:#010x}, the model has {b:#010x}" for k, a, b in pairs if a != b)


def trace_int(writer, station: str) -> int:
    """The words that the model wrote for a station in this cycle, as ``trace_o`` has them; then they are cleared."""
    start, count = writer.layout.stations[station]
    words = writer.array[writer.base + start : writer.base + start + count]
    value = int.from_bytes(words.astype("<u4").tobytes(), "little")
    words[:] = 0
    return value
