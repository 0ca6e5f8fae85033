# SPDX-License-Identifier: Apache-2.0
"""Runs mutants, each in a process forked from this one: everything is imported once, nothing a mutant does survives."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import connection, get_context
from time import monotonic

from tb.model_mutation.inject import InjectionError, inject
from tb.model_mutation.judge import Judge, Witness
from tb.model_mutation.mutants import Mutant

MEMORY = 4 << 30
"""Bytes of address space that a mutant may take."""
FORK = get_context("fork")


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant; no witness: it lives."""

    mutant: Mutant
    witness: Witness | None
    seconds: float

    @property
    def crashed(self) -> bool:
        """It was noticed by an exception, not by a difference."""
        return self.witness is not None and self.witness.detail.startswith("raised ")


class BaselineError(RuntimeError):
    """The unchanged model does not pass: mutants mean nothing until it does."""


def baseline(judge: Judge, files: Sequence[str] = ("machine.py",)) -> float:
    """Processor seconds that the unchanged model takes to pass everything; raises BaselineError if it does not."""

    def passes(pipe) -> None:
        found = next(filter(None, map(judge.witness, files)), None)
        pipe.send((found, resource.getrusage(resource.RUSAGE_SELF).ru_utime))

    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=passes, args=(theirs,))
    process.start()
    theirs.close()
    try:
        found, seconds = ours.recv()
    except EOFError:
        raise BaselineError("The process of the unchanged model died.") from None
    process.join()
    if found is not None:
        raise BaselineError(f"The unchanged model fails at {found.name}: {found.detail}")
    return seconds


def run(
    mutants: Sequence[Mutant],
    judge: Judge,
    jobs: int,
    cpu_seconds: int,
    progress: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Judge mutants; the verdicts in the order of the mutants.

    Parameters
    ----------
    jobs : processes at a time.
    cpu_seconds : a mutant that computes longer hangs, which is noticed.

    Raises InjectionError if a mutant cannot be made: that is no kill.
    """
    waiting = list(reversed(list(enumerate(mutants))))
    running: dict[int, tuple] = {}
    verdicts: dict[int, Verdict] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            index, mutant = waiting.pop()
            ours, theirs = FORK.Pipe(duplex=False)
            process = FORK.Process(target=_child, args=(theirs, mutant, judge, cpu_seconds))
            process.start()
            theirs.close()
            running[process.sentinel] = (process, ours, index, mutant, monotonic())
        for sentinel in connection.wait(list(running)):
            process, ours, index, mutant, started = running.pop(sentinel)
            process.join()
            verdict = Verdict(mutant, _heard(ours, process, mutant), monotonic() - started)
            verdicts[index] = verdict
            progress(verdict)
    return [verdicts[index] for index in range(len(mutants))]


def _heard(pipe, process, mutant: Mutant) -> Witness | None:
    """What the child said; its death says something, too."""
    try:
        kind, value = pipe.recv()
    except EOFError:
        code = process.exitcode
        if code == -signal.SIGXCPU:
            return Witness("processor time", "does not end")
        return Witness("process", f"died with {code}")
    if kind == "broken":
        raise InjectionError(f"{mutant.id} ({mutant.what}): {value}")
    return value


def _child(pipe, mutant: Mutant, judge: Judge, cpu_seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        inject(mutant)
    except Exception as error:
        pipe.send(("broken", str(error)))
        os._exit(0)
    pipe.send(("witness", judge.witness(mutant.file)))
    pipe.close()
    os._exit(0)
