# SPDX-License-Identifier: Apache-2.0
"""Turn the immediate assertions, assumptions and covers of a flat netlist into outputs that a solver can ask for.

For a check `name` the netlist gets the outputs `bad.name` (an assertion is enabled and violated) and `cov.name` (it
is enabled: its antecedent is reachable; or the condition of a cover statement holds). Both count only while every
assumption has held in this and in all earlier cycles. Reset is one of the assumptions: `rst_ni` is low in the first
cycle and free afterwards.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

RESET = "reset"
"""Name of the assumption that every unit has."""

_CHECK = re.compile(r"(?:^  attribute .*\n)*^  cell \$check (\S+)\n(?:^    .*\n)*^  end\n", re.MULTILINE)
_OUTPUT = re.compile(r"^( *wire(?: width \d+)?) output (\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Check:
    """One immediate assertion, assumption or cover.

    Attributes
    ----------
    name : str
        Its label; for one in the RTL itself `<file's stem>:<line>`, numbered from the second instance on.
    flavour : str
        `assert`, `assume` or `cover`.
    file, line : str, int
        Where it stands.
    """

    name: str
    flavour: str
    file: str
    line: int


def _one(op: str, a: str, y: str) -> str:
    return (
        f"  cell {op} $f.{y[1:]}\n    parameter \\A_SIGNED 0\n    parameter \\A_WIDTH 1\n    parameter \\Y_WIDTH 1\n"
        f"    connect \\A {a}\n    connect \\Y {y}\n  end\n"
    )


def _two(op: str, a: str, b: str, y: str) -> str:
    widths = "".join(f"    parameter \\{p}_SIGNED 0\n    parameter \\{p}_WIDTH 1\n" for p in "AB")
    return (
        f"  cell {op} $f.{y[1:]}\n{widths}    parameter \\Y_WIDTH 1\n"
        f"    connect \\A {a}\n    connect \\B {b}\n    connect \\Y {y}\n  end\n"
    )


def _register(d: str, q: str) -> str:
    return (
        f"  cell $dff $f.{q[1:]}\n    parameter \\CLK_POLARITY 1\n    parameter \\WIDTH 1\n"
        f"    connect \\CLK \\clk_i\n    connect \\D {d}\n    connect \\Q {q}\n  end\n"
    )


def checks(rtlil: str) -> list[tuple[Check, str, str, str]]:
    """The checks of a flat netlist, each with its text, enable and condition."""
    found, seen = [], Counter()
    for match in _CHECK.finditer(rtlil):
        text, cell = match[0], match[1]
        file, line = re.search(r'attribute \\src "(.*?):(\d+)', text).groups()
        name = cell.removeprefix("\\")
        if cell.startswith("$"):
            stem = f"{Path(file).stem}:{line}"
            seen[stem] += 1
            name = stem if seen[stem] == 1 else f"{stem}.{seen[stem]}"
        flavour = re.search(r'FLAVOR "(\w+)"', text)[1]
        enable, condition = (re.search(rf"connect \\{pin} (.*)", text)[1] for pin in ("EN", "A"))
        found.append((Check(name, flavour, file, int(line)), text, enable, condition))
    return found


def instrument(rtlil: str, unit: str) -> tuple[str, list[Check]]:
    """The netlist with its checks as outputs (its own outputs are none any more), and the checks.

    Checks that stand in the file of the unit itself (not of what is inside it) are left out: they restate its
    contract towards its environment, which the harness assumes under a name.
    """
    everything = checks(rtlil)
    found = [entry for entry in everything if not entry[0].name.startswith(f"{unit}:")]
    for _, text, _, _ in everything:
        rtlil = rtlil.replace(text, "")
    rtlil = _OUTPUT.sub(r"\1", rtlil)
    wires = ["  wire \\ok\n", "  wire \\nrst\n", "  wire \\h.reset\n", "  attribute \\init 1'0\n  wire \\started_q\n"]
    wires.append("  attribute \\init 1'1\n  wire \\ok_q\n")
    cells = [_register("1'1", "\\started_q"), _register("\\ok", "\\ok_q"), _one("$not", "\\rst_ni", "\\nrst")]
    cells.append(_two("$or", "\\started_q", "\\nrst", "\\h.reset"))
    held, port = ["\\h.reset"], 10_000
    for check, _, enable, condition in found:
        name, port = check.name, port + 2
        if check.flavour == "assume":
            wires += [f"  wire \\n.{name}\n", f"  wire \\h.{name}\n"]
            cells += [_one("$not", enable, f"\\n.{name}"), _two("$or", f"\\n.{name}", condition, f"\\h.{name}")]
            held.append(f"\\h.{name}")
            continue
        wires += [f"  wire \\n.{name}\n", f"  wire \\v.{name}\n", f"  wire output {port} \\cov.{name}\n"]
        if check.flavour == "cover":
            cells.append(_two("$and", enable, condition, f"\\v.{name}"))
            cells.append(_two("$and", f"\\v.{name}", "\\ok", f"\\cov.{name}"))
            continue
        wires.append(f"  wire output {port + 1} \\bad.{name}\n")
        cells += [_one("$not", condition, f"\\n.{name}"), _two("$and", f"\\n.{name}", enable, f"\\v.{name}")]
        cells += [_two("$and", f"\\v.{name}", "\\ok", f"\\bad.{name}"), _two("$and", enable, "\\ok", f"\\cov.{name}")]
    before = "\\ok_q"
    for index, condition in enumerate(held):
        after = "\\ok" if index == len(held) - 1 else f"\\ok{index}"
        if after != "\\ok":
            wires.append(f"  wire {after}\n")
        cells.append(_two("$and", before, condition, after))
        before = after
    end = rtlil.rindex("\nend\n") + 1
    return rtlil[:end] + "".join(wires) + "".join(cells) + rtlil[end:], [entry[0] for entry in found]
