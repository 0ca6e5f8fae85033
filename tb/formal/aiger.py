# SPDX-License-Identifier: Apache-2.0
"""And-inverter graphs in the binary AIGER format: reading, writing, and unrolling in time."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Graph:
    """A sequential graph; a literal is twice a variable, plus one if negated, and 0 is false.

    Attributes
    ----------
    inputs, latches, ands : int
        Their variables follow one another in this order, from 1 on.
    next : list of int
        Literal that each latch takes over.
    outputs : list of int
        Literals.
    gates : list of (int, int)
        Operands of each and gate; they only refer to earlier variables.
    """

    inputs: int
    latches: int
    next: list[int]
    outputs: list[int]
    gates: list[tuple[int, int]]

    @classmethod
    def read(cls, path: Path) -> "Graph":
        header, rest = path.read_bytes().split(b"\n", 1)
        _, _, inputs, latches, outputs, ands = header.split()[:6]
        lines = []
        for _ in range(int(latches) + int(outputs)):
            line, rest = rest.split(b"\n", 1)
            lines.append(int(line.split()[0]))
        graph = cls(int(inputs), int(latches), lines[: int(latches)], lines[int(latches) :], [])
        position = 0

        def number() -> int:
            nonlocal position
            value, shift = 0, 0
            while True:
                byte = rest[position]
                position += 1
                value |= (byte & 127) << shift
                if byte < 128:
                    return value
                shift += 7

        for index in range(int(ands)):
            left = 2 * (1 + graph.inputs + graph.latches + index)
            first = left - number()
            graph.gates.append((first, first - number()))
        return graph

    def write(self, path: Path) -> None:
        """Write the graph; latches start at 0."""
        most = self.inputs + self.latches + len(self.gates)
        head = f"aig {most} {self.inputs} {self.latches} {len(self.outputs)} {len(self.gates)}\n"
        body = bytearray(head.encode() + b"".join(b"%d\n" % literal for literal in [*self.next, *self.outputs]))
        for index, (a, b) in enumerate(self.gates):
            left = 2 * (1 + self.inputs + self.latches + index)
            high, low = max(a, b), min(a, b)
            for value in (left - high, high - low):
                while value >= 128:
                    body.append(value & 127 | 128)
                    value >>= 7
                body.append(value)
        path.write_bytes(body)


def step(graph: Graph, frames: int, before: list[int], last: int) -> Graph:
    """The induction step as a combinational graph: can output `last` be 1 in frame `frames` although it was not before?

    Frame 0 starts from any state; the outputs `before` are 0 in all frames but the last, and so is `last`.
    """
    wide = Graph((frames + 1) * graph.inputs + graph.latches, 0, [], [], [])
    first_gate = 1 + wide.inputs
    state = [2 * (1 + i) for i in range(graph.latches)]

    def both(a: int, b: int) -> int:
        wide.gates.append((a, b))
        return 2 * (first_gate + len(wide.gates) - 1)

    terms = []
    for frame in range(frames + 1):
        own = [0, *(2 * (1 + graph.latches + frame * graph.inputs + i) for i in range(graph.inputs)), *state]

        def value(literal: int, own: list[int] = own) -> int:
            return own[literal >> 1] ^ (literal & 1)

        for a, b in graph.gates:
            own.append(both(value(a), value(b)))
        if frame < frames:
            terms += [value(graph.outputs[position]) ^ 1 for position in {*before, last}]
        else:
            terms.append(value(graph.outputs[last]))
        state = [value(literal) for literal in graph.next]
    found = terms[0]
    for term in terms[1:]:
        found = both(found, term)
    wide.outputs = [found]
    return wide
