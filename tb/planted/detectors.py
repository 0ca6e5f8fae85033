# SPDX-License-Identifier: Apache-2.0
"""What has to notice a planted fault: each detector says in a line what it found, or "passed".

They are the checks that the project relies on, run on as little as possible: the lockstep session and runner without a
simulator, the cycles derived by hand, the oracle, and tests.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np

from beatmatch import oracle, stimulus
from beatmatch.functional import run as run_functional
from beatmatch.machine import SteppedMachine, run_stepped
from beatmatch.program import HostEvent
from tb import sim
from tb.lockstep import random_programs, runner, session
from tb.lockstep.compare import Unknown
from tb.lockstep.job import JOB_VARIABLE, Item, Job, Result
from tb.lockstep.model_side import ModelSide
from tb.lockstep.streams import derive
from tb.model_mutation.judge import run_tests
from tb.planted.links import CONFIG, SPOILS, AliasingLink, RecordLink, awaited, cases
from tests.model import test_micro_programs as hand

PASSED = "passed"
LIMIT = 20_000
"""Cycles after which a run without an end is given up."""


def described(result: Result) -> str:
    """A result in a line."""
    found = result.divergence
    return f"{found['kind']} {found['station']}.{found['slot']}" if found else PASSED


def lockstep(spoil: str = "", aliased: bool = False, unknown: int = 0) -> str:
    """The session over one program: the RTL's records spoiled by name, or with an X, or the model's own."""
    side = ModelSide(cases()[0].program)
    bits = [Unknown(unknown, 2, 0xF000)] if unknown else []
    link = AliasingLink(side.machine) if aliased else RecordLink(SPOILS[spoil] if spoil else None, bits)
    return described(awaited(session.run_program(link, CONFIG, Item(0, {}), side)))


def canaries() -> str:
    """Every way to spoil a record has to be a divergence, and every flipped bit, first and last of blocks included."""
    for name in SPOILS:
        if name != "lost_end" and lockstep(name) == PASSED:
            return f"the canary {name} lived"
    last = len(cases()[0].records) - 1
    for cycle in (0, 1023, 1024, last):
        for word in (0, -1):

            def flip(records: np.ndarray, cycle=cycle, word=word) -> np.ndarray:
                records[cycle, word] ^= np.uint32(1)
                return records

            link = RecordLink(flip)
            result = awaited(session.run_program(link, CONFIG, Item(0, {}), ModelSide(cases()[0].program)))
            if result.divergence is None or result.divergence["cycle"] != cycle:
                return f"the flipped bit of cycle {cycle} lived"
    return PASSED if lockstep(unknown=77) == "unknown_x host.status" else "the unknown bit lived"


def job(programs: int = 3, count: int = 3) -> str:
    """The runner over a job of saved programs, with the session in this process instead of a simulator's."""
    return _job([{"file": index} for index in range(programs)][:count])


def _job(sources: list[dict]) -> str:
    def in_process(*_, env, **__) -> None:
        todo = Job.load(Path(env[JOB_VARIABLE]))
        awaited(session.run_job(RecordLink(), todo))

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(sim, "run", in_process):
        for index, case in enumerate(cases()):
            case.program.save(Path(folder) / f"{index}.bmp")
        items = [
            Item(index, {"file": str(Path(folder) / f"{source['file']}.bmp")} if "file" in source else source)
            for index, source in enumerate(sources)
        ]
        built = sim.Build("none", "none", Path(folder), False, False, 0.0)
        results = runner.run(built, CONFIG, items, folder=Path(folder))
    wrong = [described(result) for result in results if result.divergence]
    return wrong[0] if wrong else PASSED


def random_job() -> str:
    """The same for a random program; its records are foreign, so that a divergence is what is right."""
    found = _job([{"random": derive(1, "planted")}])
    return PASSED if found != PASSED else "foreign records passed"


def derivations() -> str:
    """The cycles and events derived by hand, each program at its last latency."""
    for micro in hand.SLOWED:
        found = hand.differences(micro, *hand.run(micro))
        if found:
            return f"derivation: {found[0]}"
    return PASSED


def values() -> str:
    """The product of the stepped and of the functional tier against the oracle."""
    case = cases()[0]
    expected = oracle.matmul(*case.operands)
    stepped = run_stepped(case.program, limit=LIMIT).values["out"]
    if not np.array_equal(stepped, expected):
        return "values of the stepped tier"
    functional = case.program.read(run_functional(case.program).image)["out"]
    return PASSED if np.array_equal(functional, expected) else "values of the functional tier"


def host_script() -> str:
    """A reset that a program asks for comes in the cycles that it names, and the program runs again."""
    program = cases()[2].program.replace(host=(HostEvent(300, "reset", 5), HostEvent(330, "start")))
    machine = SteppedMachine(program)
    rows = np.concatenate([rows.copy() for rows, _ in machine.blocks(LIMIT)])
    low = np.flatnonzero(~rows[:, 0] >> stimulus.SHIFT["rst_n"] & 1)
    if low.tolist() != list(range(300, 305)):
        return f"the reset is in cycles {low[:1].tolist()} to {low[-1:].tolist()}"
    product = program.read(machine.memory.image)["out"]
    return PASSED if np.array_equal(product, oracle.matmul(*cases()[2].operands)) else "values after the reset"


def seeds() -> str:
    """Different seeds and names give different streams and programs, the same ones the same."""
    drawn = [derive(1, "a"), derive(2, "a"), derive(1, "b"), derive(1, "a", 1)]
    if len(set(drawn)) < len(drawn):
        return "two streams are the same"
    if derive(1, "a") != drawn[0]:
        return "a stream does not replay"
    first, second, again = (random_programs.generate(seed, CONFIG).to_bytes() for seed in (1, 2, 1))
    if first != again:
        return "a program does not replay"
    body = [random_programs.generate(seed, CONFIG).instructions for seed in (1, 2)]
    return PASSED if body[0] != body[1] and first != second else "two seeds give the same program"


DETECTORS: dict[str, Callable[..., str]] = {
    item.__name__: item for item in (lockstep, canaries, job, random_job, derivations, values, host_script, seeds)
}


def detect(name: str, **options) -> str:
    """What a detector finds; an exception is a finding, too."""
    try:
        if name.startswith("tests:"):
            found = run_tests([name.removeprefix("tests:")])
            return f"fails {found.name.rpartition('::')[2]}" if found else PASSED
        return DETECTORS[name](**options)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}".splitlines()[0]
