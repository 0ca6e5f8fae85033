# SPDX-License-Identifier: Apache-2.0
"""The report of a divergence: as a value, as JSON, and as text for people."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

PLAIN_WIDTH = 120
"""Columns of a report in a pipe or a file."""

SENTENCES = {
    "value": "the RTL shows another value than the model",
    "early": "the RTL is early",
    "late": "the RTL is late",
    "missing": "the RTL lacks what the model shows",
    "extra": "the RTL shows what the model does not",
    "order": "the RTL shows the same things in another order",
    "unknown_x": "the RTL drives unknown bits",
    "digest": "internal state differs",
}


@dataclass
class Divergence:
    """The first difference between model and RTL.

    Attributes
    ----------
    kind : str
        One of `classify.KINDS`.
    cycle : int
        The first cycle in which the two records differ (0 is the first cycle of the run).
    expected_cycle, actual_cycle : int or None
        When model and RTL show what diverged; None if not seen within the window.
    station, slot, field : str
        Where in the record; the field is a header field, a data name, or "digest".
    expected, actual : str
        The two values of that field.
    engine : str or None
        Whose work it is; for a shared unit the engine that asked.
    row, col : int or None
        Place in the array or lane, as far as it can be derived.
    sequence, instruction
        The instruction that caused it: its number in the program and its text.
    in_flight : list of int
        All that this engine had issued and not retired, oldest first.
    also : list of str
        Everything else that differs in the same cycle.
    history : list of (cycle, model text, RTL text)
        The last events of both sides.
    register : dict or None
        Result of the drill-down: the first wrong register.
    """

    kind: str
    cycle: int
    expected_cycle: int | None
    actual_cycle: int | None
    station: str
    slot: str
    field: str
    expected: str
    actual: str
    engine: str | None = None
    row: int | None = None
    col: int | None = None
    sequence: int | None = None
    instruction: str | None = None
    in_flight: list[int] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    history: list[tuple[int, str, str]] = field(default_factory=list)
    register: dict[str, Any] | None = None
    config: dict[str, Any] = field(default_factory=dict)
    seed: str | None = None
    program: str | None = None
    sim: str | None = None
    replay: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Divergence:
        """Inverse of `to_dict`."""
        return cls(**{**data, "history": [tuple(entry) for entry in data.get("history", [])]})

    def headline(self) -> str:
        """One line: what, where, when."""
        place = f"{self.station}.{self.slot}"
        if self.field not in ("", "digest", self.slot):
            place += f".{self.field}"
        return f"cycle {self.cycle}: {place}: {self.kind}: {SENTENCES[self.kind]}"

    def place(self) -> str:
        """Row and column as text, empty if neither is known."""
        known = [f"{name} {value}" for name, value in (("row", self.row), ("col", self.col)) if value is not None]
        return ", ".join(known)

    def renderable(self) -> Group:
        """The whole report for a rich console."""
        facts = Table.grid(padding=(0, 2))
        facts.add_column(style="bold")
        facts.add_column(overflow="fold")
        cycles = f"{self.cycle} (model {_when(self.expected_cycle)}, RTL {_when(self.actual_cycle)})"
        rows = [("kind", f"{self.kind}: {SENTENCES[self.kind]}"), ("cycle", cycles)]
        rows.append(("where", f"station {self.station}, slot {self.slot}, field {self.field}"))
        if self.engine:
            rows.append(("engine", self.engine))
        if self.place():
            rows.append(("place", self.place()))
        rows += [("model", self.expected), ("RTL", self.actual)]
        if self.sequence is not None:
            rows.append(("instruction", f"#{self.sequence}  {self.instruction or ''}".rstrip()))
        if len(self.in_flight) > 1:
            rows.append(("in flight", " ".join(f"#{number}" for number in self.in_flight)))
        if self.register:
            rows.append(("register", _register(self.register)))
        if self.also:
            rows.append(("also", "; ".join(self.also)))
        if self.config:
            rows.append(("configuration", " ".join(f"{key}={value}" for key, value in self.config.items())))
        for label, value in (
            ("simulator", self.sim),
            ("seed", self.seed),
            ("program", self.program),
            ("replay", self.replay),
        ):
            if value:
                rows.append((label, value))
        for label, value in rows:
            facts.add_row(label, Text(str(value)))
        return Group(Panel(facts, title=Text(self.headline()), title_align="left"), self._history_table())

    def _history_table(self) -> Table:
        table = Table(title="last events of both sides", title_justify="left")
        for title in ("cycle", "", "model", "RTL"):
            table.add_column(title, overflow="fold", justify="right" if title == "cycle" else "left")
        for cycle, model, rtl in self.history:
            table.add_row(str(cycle), "" if model == rtl else "<>", Text(model), Text(rtl))
        return table

    def text(self, width: int = 160) -> str:
        """The report as plain text."""
        console = Console(width=width, color_system=None, force_terminal=False, highlight=False)
        with console.capture() as capture:
            console.print(self.renderable())
        return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def console(stderr: bool = False) -> Console:
    """A console for reports, which need room: outside a terminal it does not take rich's 80 columns."""
    result = Console(stderr=stderr)
    if not result.is_terminal and "COLUMNS" not in os.environ:
        result.width = PLAIN_WIDTH
    return result


def _when(cycle: int | None) -> str:
    return "not seen" if cycle is None else str(cycle)


def _register(found: dict[str, Any]) -> str:
    place = "".join(f"[{value}]" for value in found.get("index", []))
    model, rtl = (f"{v:#x}" if isinstance(v, int) and v > 9 else str(v) for v in (found["expected"], found["actual"]))
    return f"{found['name']}{place}: model {model}, RTL {rtl} (cycle {found['cycle']})"
