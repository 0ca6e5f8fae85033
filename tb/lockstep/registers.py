# SPDX-License-Identifier: Apache-2.0
"""The registers behind each digest: what the model calls them, and where the RTL keeps them.

Used only after a digest differed, to say which register is the first wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from beatmatch.machine import SteppedMachine
from beatmatch.stations.array import REGISTERS

ENGINES = ("load", "weights", "matmul", "vector", "store")
WIDTHS = {"activation": 8, "weight": 8, "shadow": 8, "product": 16, "sum": 32}
TRIANGLES = {"act_skew": 8, "weight_skew": 8, "sum_deskew": 32}


@dataclass(frozen=True)
class Register:
    """One register, or one field of a wide one.

    Attributes
    ----------
    name : str
    index : tuple of int
        Place in the name's array: (row, col) for the processing elements, (lane, delay) for the skews.
    path : str
        Signal in the RTL, below the core.
    low, width : int
        Bits of that signal.
    value : int
        What the model holds, as an unsigned number of `width` bits.
    """

    name: str
    index: tuple[int, ...]
    path: str
    low: int
    width: int
    value: int


def registers(machine: SteppedMachine, station: str, slot: str) -> list[Register]:
    """The registers behind a digest slot with the model's values in the current cycle, in digest order."""
    found = _SLOTS.get((station, slot))
    return list(found(machine)) if found else []


def _array(machine: SteppedMachine) -> Iterator[Register]:
    array = machine.matmul.array
    values = array.registers()
    for name in REGISTERS:
        width = WIDTHS[name]
        for (row, col), value in _entries(values[name]):
            path = f"u_matmul.u_array.gen_row[{row}].u_row.{name}_q"
            yield Register(name, (row, col), path, width * col, width, value & (1 << width) - 1)
    for name, lanes in array.triangles().items():
        width = TRIANGLES[name]
        for lane, delays in enumerate(lanes):
            for delay, value in enumerate(delays.tolist()):
                path = f"u_matmul.u_array.u_{name}.gen_stage[{delay}].stage_q"
                place = lane if name == "sum_deskew" else lane - delay - 1  # a stage holds the lanes that reach it
                yield Register(name, (lane, delay), path, width * place, width, int(value) & (1 << width) - 1)


def _entries(array) -> Iterator[tuple[tuple[int, int], int]]:
    for row, values in enumerate(array.tolist()):
        for col, value in enumerate(values):
            yield (row, col), int(value)


def _semaphores(machine: SteppedMachine) -> Iterator[Register]:
    for index, value in enumerate(machine.frontend.semaphores.count):
        yield Register("count", (index,), "u_frontend.i_semaphores.count_q", 8 * index, 8, value)


def _queues(machine: SteppedMachine) -> Iterator[Register]:
    for index, engine in enumerate(ENGINES):
        queue = machine.frontend._queues[index]
        path = f"u_frontend.i_dispatch.gen_queues[{index}].i_queue"
        yield Register(f"{engine} queue count", (), f"{path}.count", 0, 8, len(queue))
        word = queue[0][1].word() if queue else 0
        for part in range(8):
            yield Register(
                f"{engine} queue head", (part,), f"{path}.instr_o", 32 * part, 32, word >> 32 * part & 0xFFFFFFFF
            )


def _listed(station: str, entries: tuple[tuple[str, str, Callable[[Any], int]], ...]):
    """Registers of an engine's state digest: (name, path below the station, value from the model's station)."""

    def found(machine: SteppedMachine) -> Iterator[Register]:
        for name, path, value in entries:
            yield Register(name, (), f"u_{station}.{path}", 0, 32, int(value(getattr(machine, station))))

    return found


_ROWS = (
    ("run", "run", lambda s: s._run),
    ("outer", "outer", lambda s: s._outer),
    ("row", "row", lambda s: s._row),
    ("inflight", "inflight", lambda s: s.bursts.inflight),
    ("row register valid", "row_valid", lambda s: s.bursts.row_valid),
    ("row list count", "list_count", lambda s: len(s.bursts.rows)),
)
_MATMUL = (
    *((name, f"u_sequencer.{name}_q", lambda s, n=f"_{name}": getattr(s, n)) for name in ("run", "outer")),
    *((name, f"u_sequencer.{name}_q", lambda s, n=f"_{name}": getattr(s, n)) for name in ("ky", "kx", "kc", "y", "x")),
    ("shadow_full", "shadow_full", lambda s: s._shadow_full),
    ("loader busy", "loader_busy", lambda s: s._loading),
    ("loader row", "loader_row", lambda s: s._loader_row),
    ("tile count", "fifo_count_i", lambda s: s._fifo.count),
)

_SLOTS: dict[tuple[str, str], Callable[[SteppedMachine], Iterator[Register]]] = {
    ("matmul", "array"): _array,
    ("frontend", "semaphores"): _semaphores,
    ("frontend", "queues"): _queues,
    ("load", "state"): _listed("load", (*_ROWS, ("word register valid", "word_valid", lambda s: s.gearbox.valid))),
    ("matmul", "state"): _listed("matmul", _MATMUL),
    ("store", "state"): _listed(
        "store",
        (
            *_ROWS,
            ("word buffer count", "word_count", lambda s: len(s._buffer)),
            ("W register valid", "w_valid_o", lambda s: s.w_valid),
        ),
    ),
}
