# SPDX-License-Identifier: Apache-2.0
"""Planted faults: the RTL or the model is made wrong in one place, and the lockstep run has to find it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from beatmatch.config import Config
from beatmatch.program import Program
from tb import toolchain
from tb.lockstep import random_errors, random_programs, runner
from tb.lockstep.drill import drill_down
from tb.lockstep.failure import Failure
from tb.lockstep.job import Item, Result
from tb.lockstep.model_side import program_of
from tb.lockstep.report import Divergence
from tb.lockstep.streams import derive, stream

PROGRAMS = 24
"""Random programs tried until one diverges."""


@dataclass(frozen=True)
class Edit:
    """One textual change of a file below ``rtl/``; `old` has to occur in it exactly once."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Fault:
    """A fault and what its report has to say.

    Attributes
    ----------
    name : str
    what : str
        The mistake, in words.
    edit : Edit or None
        The change of the RTL, or None if the model is changed.
    patch : str
        ``module:function`` that changes the model, called with a function like `setattr`.
    kinds : tuple of str
        Kinds that the first divergence may have.
    stations : tuple of str
        Stations that its report may name.
    config : Config
    seed : int
        Of the random programs.
    disturbed : str
        Only programs with this mistake (a name of `random_errors.KINDS`), for faults that only errors show.
    """

    name: str
    what: str
    kinds: tuple[str, ...]
    stations: tuple[str, ...]
    config: Config
    edit: Edit | None = None
    patch: str = ""
    seed: int = 1
    disturbed: str = ""


@contextmanager
def edited_sources(*edits: Edit, keep: Path | None = None) -> Iterator[list[Path]]:
    """The files of a copy of ``rtl/`` with these changes, in `keep` or for the time being.

    Raises ValueError if the old text does not occur exactly once: the fault has to be written anew then.
    """
    root = toolchain.ROOT / "rtl"
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copy = keep or Path(folder) / "rtl"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(root, copy)
        for edit in edits:
            path = copy / edit.file
            text = path.read_text()
            if text.count(edit.old) != 1:
                raise ValueError(f"{edit.file} holds {edit.old!r} {text.count(edit.old)} times instead of once.")
            path.write_text(text.replace(edit.old, edit.new))
        yield [copy / path.relative_to(root) for path in toolchain.rtl_sources()]


def random_items(seed: int, count: int = PROGRAMS) -> list[Item]:
    """Job items of the first random programs of a seed."""
    return [Item(index, {"random": derive(seed, "program", index)}) for index in range(count)]


def disturbed_items(fault: Fault, folder: Path, count: int = 4) -> list[Item]:
    """Job items of programs that all have the mistake that the fault needs."""
    items = []
    for index in range(count):
        program = random_programs.generate(derive(fault.seed, "program", index), fault.config)
        if "disturbed" not in program.origin:
            program = random_errors.disturb(stream(fault.seed, index), program, fault.disturbed)
            path = folder / f"{index}.bmp"
            program.save(path)
            items.append(Item(index, {"file": str(path)}))
    return items


def catch(
    fault: Fault, sim: str, *, items: Sequence[Item] | None = None, drill: bool = False, folder: Path | None = None
) -> tuple[Divergence | None, Result]:
    """Run programs on the faulty pair until they diverge; the report, and the last program's result.

    With `drill` the register behind a differing digest is looked for, too; `folder` keeps program and report.
    """
    with tempfile.TemporaryDirectory(prefix="planted-") as programs:
        if items is None:
            items = disturbed_items(fault, Path(programs)) if fault.disturbed else random_items(fault.seed)
        return _catch(fault, sim, list(items), drill, folder)


def _catch(
    fault: Fault, sim: str, items: list[Item], drill: bool, folder: Path | None
) -> tuple[Divergence | None, Result]:
    patches = [fault.patch] if fault.patch else []
    edits = [fault.edit] if fault.edit else []
    with edited_sources(*edits, keep=folder / "rtl" if folder else None) as sources:
        built = runner.build(fault.config, sim, sources=sources)
        results = runner.run(built, fault.config, items, patches=patches, stop=True)
        last = results[-1]
        if last.divergence is None:
            return None, last
        found = Divergence.from_dict(last.divergence)
        if drill or folder is not None:
            program: Program = program_of(next(i.source for i in items if i.index == last.index), fault.config)
            with tempfile.TemporaryDirectory(prefix="planted-") as temporary:
                failed = Failure(folder or Path(temporary), program, sim, found, patches, [str(p) for p in sources])
                failed.save()
                if drill:
                    drill_down(failed)
                    failed.save()
        return found, last
