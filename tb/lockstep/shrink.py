# SPDX-License-Identifier: Apache-2.0
"""Makes a failing program smaller as long as it fails in the same way: ``python -m tb.lockstep.shrink RUN``.

Candidates of one round run in one simulator process; the smallest that still diverges with the same kind in the same
slot is the start of the next round.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from beatmatch.isa import Instruction, Opcode, make
from beatmatch.isa.encode import EncodingError
from beatmatch.memory import MemoryTiming
from beatmatch.program import Program
from tb import sim
from tb.lockstep import runner
from tb.lockstep.failure import Failure
from tb.lockstep.job import Item
from tb.lockstep.report import Divergence
from tb.lockstep.report import console as report_console

ROUNDS = 40
COUNTS = ("outer", "rows", "x", "y", "kx", "ky", "kc", "inner")
"""Fields whose product is the work of an instruction."""
SIMPLE_TIMING = MemoryTiming(read_latency=1, write_latency=1)


def shrink(failed: Failure, rounds: int = ROUNDS) -> Failure:
    """The smallest program found that fails with the same kind in the same slot."""
    built = runner.build(failed.config, failed.sim, sources=failed.source_paths())
    for _ in range(rounds):
        smaller = _round(built, failed)
        if smaller is None:
            break
        failed = smaller
    return failed


def size(program: Program) -> tuple[int, ...]:
    """What counts as smaller: instructions, host events, their work, then memory that is not ideal."""
    work = 0
    for item in program.decoded():
        if item is not None:
            product = 1
            for name in COUNTS:
                product *= item.fields.get(name, 1)
            work += product
    waits = sum(bin(word & ((1 << 38) - 1 ^ 0x1FFF)).count("1") for word in program.instructions)
    memories = (program.timing != SIMPLE_TIMING) + (program.weight_timing is not None)
    return (len(program.instructions), len(program.host), work, memories, waits)


def _round(built: sim.Build, failed: Failure) -> Failure | None:
    candidates = sorted(_candidates(failed.program), key=size)
    candidates = [program for program in candidates if size(program) < size(failed.program)]
    if not candidates:
        return None
    rejected: set[int] = set()
    while True:
        left = [index for index in range(len(candidates)) if index not in rejected]
        failing = _first_alike(built, failed, [(index, candidates[index]) for index in left])
        if failing is None:
            return None
        # Alone in a new process, so that nothing earlier candidates left in the memories can be the reason.
        alone = _first_alike(built, failed, [(failing[0], candidates[failing[0]])])
        if alone is not None:
            return dataclasses.replace(failed, program=candidates[alone[0]], divergence=alone[1])
        rejected.add(failing[0])


def _first_alike(
    built: sim.Build, failed: Failure, programs: list[tuple[int, Program]]
) -> tuple[int, Divergence] | None:
    """The first of some programs that diverges as the failed one did."""
    want = failed.divergence
    like = [want.kind, want.station, want.slot]
    with tempfile.TemporaryDirectory() as folder:
        items = []
        for index, program in programs:
            path = Path(folder) / f"{index}.bmp"
            program.save(path)
            items.append(Item(index, {"file": str(path)}))
        results = runner.run(built, failed.config, items, patches=failed.patches, stop_like=like)
    for result in results:
        if result.divergence and [result.divergence[name] for name in ("kind", "station", "slot")] == like:
            return result.index, Divergence.from_dict(result.divergence)
    return None


def _candidates(program: Program) -> Iterator[Program]:
    """Programs with something left out."""
    count = len(program.instructions)
    width = max(1, count // 2)
    while width:
        for start in range(0, count, width):
            yield program.replace(instructions=program.instructions[:start] + program.instructions[start + width :])
        width //= 2
    if program.host:
        yield program.replace(host=())
        for start in range(len(program.host)):
            yield program.replace(host=program.host[:start] + program.host[start + 1 :])
    if program.weight_timing is not None:
        yield program.replace(weight_timing=None)
        yield program.replace(weight_timing=dataclasses.replace(program.weight_timing, stalls=(0,) * 5))
    if program.timing != SIMPLE_TIMING:
        yield program.replace(timing=SIMPLE_TIMING)
        yield program.replace(timing=dataclasses.replace(program.timing, stalls=(0,) * 5))
    for index, item in enumerate(program.decoded()):
        if item is not None:
            for changed in _smaller(item):
                words = list(program.instructions)
                words[index] = changed.word()
                yield program.replace(instructions=words)


def _smaller(item: Instruction) -> Iterator[Instruction]:
    fields = item.fields
    for name in COUNTS:
        for value in {1, fields.get(name, 1) // 2}:
            if 0 < value < fields.get(name, 1):
                yield from _made(item.opcode, fields | {name: value})
    for index in (0, 1):
        if fields[f"wait{index}_n"]:
            yield from _made(item.opcode, fields | {f"wait{index}_n": 0, f"wait{index}_id": 0})
        if fields[f"sig{index}_en"]:
            yield from _made(item.opcode, fields | {f"sig{index}_en": 0, f"sig{index}_id": 0})


def _made(opcode: Opcode, fields: dict[str, int]) -> Iterator[Instruction]:
    try:
        yield make(opcode, **fields)
    except EncodingError:  # an encoding that was illegal on purpose
        return


def main(argv: Sequence[str] | None = None) -> int:
    """Shrink the program of a failing run; the result is a new folder beside it."""
    parser = argparse.ArgumentParser(prog="python -m tb.lockstep.shrink", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of the failing run (sim_build/lockstep/...)")
    arguments = parser.parse_args(argv)
    console = report_console()
    failed = Failure.load(arguments.run)
    result = shrink(failed)
    result = dataclasses.replace(result, folder=failed.folder.with_name(failed.folder.name + "-small"))
    result.save()
    console.print(
        f"{len(failed.program.instructions)} instructions became {len(result.program.instructions)}: {result.folder}",
        highlight=False,
    )
    console.print(result.divergence.renderable())
    return 0


if __name__ == "__main__":
    sys.exit(main())
