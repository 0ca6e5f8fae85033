# SPDX-License-Identifier: Apache-2.0
"""Replay a solver's witness on the netlist: a wave file, and a table with a row per cycle to read."""

import re
from dataclasses import dataclass
from pathlib import Path

from tb.formal import netlist, prove

_VAR = re.compile(r"^\$var \w+ (\d+) (\S+) (\S+)")
INTERNAL = re.compile(r"^(ok\d*|ok_q|started_q|nrst|clk_i|[nvh]\..*|bad\..*|cov\..*|.*\$.*|.*\.clk_i)$")
"""Signals that the instrumentation brought, and those without a name in the source."""


@dataclass
class Counterexample:
    """A run that violates a check.

    Attributes
    ----------
    wave : Path
        VCD file.
    signals : dict of str to list of str
        Hexadecimal value of each signal in each cycle, as the registers see it at the cycle's end.
    violated : int
        The cycle in which the replayed netlist violates the check.
    """

    check: str
    wave: Path
    signals: dict[str, list[str]]
    violated: int

    def table(self, most: int = 40) -> str:
        """Signals as rows, cycles as columns; those that change come first."""
        changing = [name for name, values in self.signals.items() if len(set(values)) > 1]
        still = [name for name in self.signals if name not in changing]
        names = (changing + still)[:most]
        cycles = len(next(iter(self.signals.values())))
        rows = [["cycle", *(f"{c}{'*' if c == self.violated else ''}" for c in range(cycles))]]
        for name in names:
            values = self.signals[name]
            same = [values[c] if c == 0 or values[c] != values[c - 1] else "." for c in range(cycles)]
            rows.append([name, *same])
        widths = [max(len(row[c]) for row in rows) for c in range(cycles + 1)]
        lines = []
        for row in rows:
            cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]))
        left = len(self.signals) - len(names)
        return "\n".join([*lines, f"* violated here; {left} more signals in {self.wave.name}"])


def replay(folder: Path, top: str, check: str, position: int, limit: int) -> Counterexample:
    """Run the witness of a violated check through Yosys' simulator, which knows nothing of the solver."""
    stem = check.replace("/", "_")
    wave = folder / f"{stem}.vcd"
    witness = prove.witness(folder, position, f"{stem}.bad", limit)
    netlist.yosys(folder, netlist.REPLAY.format(witness=witness.name, wave=wave.name, top=top))
    signals = cycles(wave.read_text())
    hits = [c for c, value in enumerate(signals[f"bad.{check}"]) if value == "1"]
    if not hits:
        raise netlist.FormalError(
            f"The witness of {check} does not violate it in the replay; keep {witness} and report it."
        )
    shown = {name: values for name, values in signals.items() if not INTERNAL.match(name)}
    return Counterexample(check, wave, shown, hits[0])


def cycles(vcd: str) -> dict[str, list[str]]:
    """Value of each signal in each cycle, in hexadecimal; the replay has ten time steps in a cycle."""
    names, now, rows = {}, {}, []
    for line in vcd.splitlines():
        if declared := _VAR.match(line):
            names.setdefault(declared[2], declared[3])
        elif line.startswith("b"):
            value, code = line[1:].split()
            now[code] = _hex(value)
        elif line.startswith("#"):
            time = int(line[1:])
            if rows and rows[-1][0] % 10:
                rows.pop()
            rows.append((time, now := dict(now)))
    values = [row for _, row in rows[:-1]]  # the last time step only ends the last cycle
    return {names[code]: [row.get(code, "x") for row in values] for code in names}


def _hex(bits: str) -> str:
    return f"{int(bits, 2):x}" if set(bits) <= {"0", "1"} else "x"  # an unknown bit makes all unknown
