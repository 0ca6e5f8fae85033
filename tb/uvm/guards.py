# SPDX-License-Identifier: Apache-2.0
"""What makes a test fail that would otherwise pass for nothing: each guard returns complaints, a sentence each."""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Iterator

from pyuvm import ObjectionHandler, UVMQueue, uvm_component, uvm_root

PHASES = (
    "build_phase", "connect_phase", "end_of_elaboration_phase", "start_of_simulation_phase", "run_phase",
    "extract_phase", "check_phase", "report_phase", "final_phase",
)  # fmt: skip
ALIKE = 0.8
"""From this similarity on a name is taken for a misspelt phase; of names that do end in _phase all are."""


def components(top: uvm_component | None = None) -> Iterator[uvm_component]:
    """A component and everything below it; all of the test by default."""
    for child in [top] if top is not None else uvm_root().get_children():
        yield child
        for below in child.get_children():
            yield from components(below)


def phases(top: uvm_component) -> list[str]:
    """Methods that look like a phase and would never be called or awaited."""
    found: list[str] = []
    for kind in {type(component) for component in components(top)}:
        for base in kind.__mro__:
            if base.__module__.split(".")[0] == "pyuvm" or base is object:
                continue
            for name, value in vars(base).items():
                if inspect.isfunction(value):
                    found += _phase(base.__name__, name, value)
    return sorted(set(found))


def _phase(owner: str, name: str, method) -> list[str]:
    if name in PHASES:
        if inspect.iscoroutinefunction(method) == (name == "run_phase"):
            return []
        wanted = "async def" if name == "run_phase" else "def"
        return [f"{owner}.{name} would never run: declare it with `{wanted}`."]
    alike = difflib.get_close_matches(name, PHASES, 1, ALIKE)
    if alike or name.endswith("_phase"):
        hint = alike or difflib.get_close_matches(name, PHASES, 1, 0)
        return [f"{owner}.{name} is no phase and would never be called: is {hint[0]} meant?"]
    return []


def queues(top: uvm_component) -> list[str]:
    """Queues of sequencers, ports and FIFOs that still hold something."""
    found = []
    for component in components(top):
        for name, value in vars(component).items():
            if isinstance(value, UVMQueue) and value.qsize():
                found.append(f"{component.get_full_name()}.{name} still holds {value.qsize()} items that nobody took.")
    return found


def objections() -> list[str]:
    """No objection, or one that is still raised."""
    handler = ObjectionHandler()
    if not handler.objection_raised:
        return ["No objection was raised, so the run phase ended before it began: call super().run_phase()."]
    if handler.get_objection_count():
        return [f"{handler.get_objection_count()} objections are still raised at the end."]
    return []


class ErrorRecords:
    """Counts every log record of level ERROR and above in this process, whatever its logger does with it."""

    def __init__(self) -> None:
        self._factory = logging.getLogRecordFactory()
        self.messages: list[str] = []
        logging.setLogRecordFactory(self._make)

    def _make(self, *arguments, **options) -> logging.LogRecord:
        record = self._factory(*arguments, **options)
        if record.levelno >= logging.ERROR:
            self.messages.append(f"{record.levelname} of {record.name}: {record.getMessage()}")
        return record

    def close(self) -> list[str]:
        """Stop counting; a complaint if there was one."""
        logging.setLogRecordFactory(self._factory)
        if not self.messages:
            return []
        return [f"{len(self.messages)} error records were logged, the first: {self.messages[0]}"]
