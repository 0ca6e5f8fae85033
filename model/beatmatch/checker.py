# SPDX-License-Identifier: Apache-2.0
"""Is a program legal, and does it order all that must be ordered? The answer does not depend on speed.

What a program may rely on:

* inside one engine, conflicting accesses happen in program order: load writes, matmul writes, and store writes to
  memory go in order; vector starts an outer iteration when its pipeline is empty. Only inside one outer iteration of
  vector, reading what the same iteration wrote is a hazard;
* a signal says that its iteration, and all that came before it in its engine, has ended;
* a wait comes after enough signals; a counter with several signalling engines proves of one engine only what the
  others cannot have given;
* matmul takes a tile after weights has written it.

Vector clocks over these rules say which accesses of two engines are ordered; all others that overlap are hazards.
"""

from __future__ import annotations

from beatmatch.footprint import footprint
from beatmatch.isa.encode import Instruction
from beatmatch.isa.fields import INSTRUCTION_BYTES, Engine, Error
from beatmatch.isa.legality import check as check_legal
from beatmatch.ordering import Finding, Walk
from beatmatch.program import Program
from beatmatch.sequence import Halt, Sequencer

__all__ = ["Finding", "check"]


def check(program: Program) -> list[Finding]:
    """All findings; an empty list means that the program computes the same at any speed.

    With illegal instructions or addresses the order is not looked at.
    """
    findings = _static(program)
    if findings:
        return findings
    instructions = program.decoded()
    findings = _waiters(instructions)
    walk = Walk(program, instructions, single_waiters=not findings)
    order = Sequencer(instructions, program.semaphores, 1, program.config.fifo_tiles, walk)
    try:
        order.run()
    except Halt as halt:
        blocked = tuple(index for _, index, _ in order.blocked()) if halt.code is Error.DEADLOCK else ()
        if halt.code is Error.DEADLOCK:
            text = f"With one-entry queues the program cannot finish. {halt.text}"
            findings.append(Finding("deadlock", tuple(sorted(blocked)), text))
        else:
            findings.append(Finding("overflow", (), halt.text))
    return findings + walk.findings


def _static(program: Program) -> list[Finding]:
    """Illegal words, and operands out of range."""
    config, findings = program.config, []
    if not program.instructions:
        findings.append(Finding("program", (), "The program has no instructions."))
    unit = max(INSTRUCTION_BYTES, config.mem_bytes)
    if program.address % unit:
        findings.append(Finding("program", (), f"The program's address must be a multiple of {unit}."))
    for index, word in enumerate(program.instructions):
        problem = check_legal(word, config)
        if problem is not None:
            findings.append(Finding("illegal", (index,), f"Instruction {index}: {problem[1]}"))
    if findings:
        return findings
    for index, instruction in enumerate(program.decoded()):
        # All addresses grow with the outer index, up to the ring's size: its last values see the largest ones.
        for iteration in sorted({0, instruction.outer - 1, *range(min(instruction.outer, 8))}):
            problem = footprint(instruction, iteration, config, program.bases).problem
            if problem:
                text = f"Instruction {index} ({instruction.opcode.name}), outer iteration {iteration}: {problem}"
                findings.append(Finding("range", (index,), text))
                break
    return findings


def _waiters(instructions: list[Instruction]) -> list[Finding]:
    """Counters that more than one engine waits on."""
    users: dict[int, dict[Engine, int]] = {}
    for index, instruction in enumerate(instructions):
        for semaphore, n in ((instruction.wait0_id, instruction.wait0_n), (instruction.wait1_id, instruction.wait1_n)):
            if n:
                users.setdefault(semaphore, {}).setdefault(instruction.engine, index)
    findings = []
    for semaphore, engines in sorted(users.items()):
        if len(engines) > 1:
            who = " and ".join(f"{engine.name.lower()} (instruction {index})" for engine, index in engines.items())
            findings.append(
                Finding("waiters", tuple(sorted(engines.values())), f"Semaphore {semaphore} is waited on by {who}.")
            )
    return findings
