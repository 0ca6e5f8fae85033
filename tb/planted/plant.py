# SPDX-License-Identifier: Apache-2.0
"""What a planted fault is, and how one is put into the running code of this process: no file is written."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tb.toolchain import ROOT


@dataclass(frozen=True)
class Edit:
    """One textual change of a Python file; `old` has to occur in it exactly once."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Plant:
    """A fault in a checker or in the environment, and how it must show.

    Attributes
    ----------
    name : str
    what : str
        The mistake, in words.
    detector : str
        What has to notice it: a name of `detectors.DETECTORS`, or ``tests:`` and a test.
    expected : str
        Regular expression that the detector's finding has to match in full.
    edit : Edit or None
        The change of the code, or None if the detector itself is given the mistake (`options`).
    options : dict
        Handed to the detector.
    """

    name: str
    what: str
    detector: str
    expected: str
    edit: Edit | None = None
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def where(self) -> str:
        """The file that is wrong, or the part of the environment."""
        return self.edit.file if self.edit else f"{self.detector} link"


def changed_source(edit: Edit) -> str:
    """The file's text with the change; ValueError if the old text is not there exactly once: write the fault anew."""
    text = (ROOT / edit.file).read_text()
    if text.count(edit.old) != 1:
        raise ValueError(f"{edit.file} holds {edit.old!r} {text.count(edit.old)} times instead of once.")
    return text.replace(edit.old, edit.new)


def module_of(edit: Edit) -> ModuleType:
    """The live module of a file."""
    name = edit.file.removesuffix(".py").removeprefix("model/").replace("/", ".")
    return importlib.import_module(name)


@contextmanager
def planted(edit: Edit) -> Iterator[None]:
    """Live functions have the code of the changed file, and its constants their changed values, until the end."""
    module = module_of(edit)
    fresh = ModuleType(module.__name__)
    fresh.__dict__.update(__file__=module.__file__, __package__=module.__package__)
    exec(compile(changed_source(edit), module.__file__, "exec"), fresh.__dict__)
    undo: list[Callable[[], None]] = []
    if not _transplant(module, fresh, module.__name__, undo):
        raise ValueError(f"The change of {edit.file} changes no function and no constant.")
    try:
        yield
    finally:
        for step in reversed(undo):
            step()


def _transplant(target: Any, source: Any, home: str, undo: list[Callable[[], None]]) -> int:
    """Give everything below a module or class the code of its new version; the number of functions changed."""
    count = 0
    for name, new in list(vars(source).items()):
        old = vars(target).get(name)
        if inspect.isclass(new) and new.__module__ == home and inspect.isclass(old):
            count += _transplant(old, new, home, undo)
        elif isinstance(new, int) and isinstance(old, int) and new != old:
            count += _constant(name, old, new, undo)
        else:
            old, new = _function(old), _function(new)
            if old and new and new.__module__ == home and _differs(old.__code__, new.__code__):
                undo.append(lambda function=old, code=old.__code__: setattr(function, "__code__", code))
                old.__code__ = new.__code__
                count += 1
    return count


def _function(value: Any) -> FunctionType | None:
    for wrapper in ("fget", "__func__", "__wrapped__"):
        value = getattr(value, wrapper, value)
    return value if isinstance(value, FunctionType) else None


def _differs(old: CodeType, new: CodeType) -> bool:
    """Whether two versions of a function do different things; lines may have moved."""
    plain = [
        (code.co_code, code.co_names, [c for c in code.co_consts if not isinstance(c, CodeType)]) for code in (old, new)
    ]
    inner = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (old, new)]
    return plain[0] != plain[1] or any(_differs(*pair) for pair in zip(*inner, strict=True))


def _constant(name: str, old: int, new: int, undo: list[Callable[[], None]]) -> int:
    for module in list(sys.modules.values()):
        if module.__name__.split(".")[0] in ("tb", "beatmatch") and vars(module).get(name) == old:
            undo.append(lambda module=module: setattr(module, name, old))
            setattr(module, name, new)
    return 1
