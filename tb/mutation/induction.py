# SPDX-License-Identifier: Apache-2.0
"""Original and mutant side by side, by induction over conditional equalities.

The typical mutant that changes nothing touches a register whose value does not matter at that time: a reset value
that is loaded before it is read, an enable beside a valid bit. What proves it is an invariant: *if this control bit is
1 (or 0), the register is the same on both sides*. All such conditions on the registers that the mutant makes differ are
assumed at once; a solver looks for a step that breaks one, the broken ones go, and what is left in the end is inductive
(Houdini). All other registers are one and the same on both sides, and so has to be what they hold next; one that is not
joins those that differ. If then no output can differ, the mutant is equivalent. At power-up both sides hold the same,
so all conditions are true there, and a reset is a step like any other.

Limits are counts of conflicts and propagations, so what is proven does not depend on how busy the machine is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pysat.solvers import Solver

from tb.mutation.graph import Graph, Netlist
from tb.mutation.sides import Sides

WORK = 40_000
"""Conflicts in all questions about one mutant."""
PROPAGATIONS = 1_000
"""So many count as a conflict: some questions are long without one."""
ROUNDS, MOST = 6, 60
"""How often registers may be added to those that differ, and how many there may be."""
CONTROL_WIDTH, BUSIEST = 3, 60
"""Conditions are registers of so few bits, and the bits that most gates read."""


class _OutOfWork(Exception):
    pass


class Induction:
    """Proofs about the mutants of one netlist."""

    def __init__(self, sides: Sides) -> None:
        self._sides, self._graph, self._netlist = sides, sides.graph, sides.netlist
        netlist = sides.netlist
        self._registers: dict[str, list[int]] = {}
        for latch in netlist.latches:
            self._registers.setdefault(_register(netlist, latch), []).append(latch)
        self._conditions = [bit ^ off for bit in self._control_bits() for off in (0, 1)]

    def proves(self, mutant: int) -> bool:
        """Whether no output of the mutant, given by its number in the selector, ever differs."""
        apart: dict[str, list[int]] = {}  # registers that may differ, and when they do not
        work = WORK
        try:
            for _ in range(ROUNDS):
                self._sides.forget()
                step = _Step(self._graph, work)
                more = self._kept(step, mutant, apart)
                if not more:
                    return self._same_outputs(step)
                if len(apart) + len(more) > MOST:
                    return False
                work = step.work
                apart |= {register: list(self._conditions) for register in more}
        except _OutOfWork:
            pass
        finally:
            self._sides.forget()
        return False

    def _control_bits(self) -> list[int]:
        """Registers that are likely to say whether others matter: narrow ones, and the bits that most gates read."""
        narrow = [bit for bits in self._registers.values() if len(bits) <= CONTROL_WIDTH for bit in bits]
        readers = Counter(operand & ~1 for gate in self._netlist.ands for operand in gate[1:])
        busy = sorted(self._netlist.latches, key=lambda latch: -readers[latch])[:BUSIEST]
        return list(dict.fromkeys([*narrow, *busy]))

    def _differences(self) -> dict[str, int]:
        """By register, the literal that says whether what it holds next differs; left out where it can't."""
        found: dict[str, int] = {}
        differing = self._sides.differences(self._netlist.latches.values())
        for latch, following in self._netlist.latches.items():
            if following in differing:
                register = _register(self._netlist, latch)
                found[register] = self._graph.either(found.get(register, 0), differing[following])
        return found

    def _next(self, condition: int) -> int:
        """The literal of the netlist that a condition, a register or its inverse, is a step later."""
        return self._netlist.latches[condition & ~1] ^ (condition & 1)

    def _kept(self, step: _Step, mutant: int, apart: dict[str, list[int]]) -> set[str]:
        """Drop conditions until the others are inductive; which further registers may differ."""
        graph, sides = self._graph, self._sides
        twins = {latch: graph.input() for register in apart for latch in self._registers[register]}
        sides.change(mutant, twins)
        for register, conditions in apart.items():
            difference = 0
            for latch in self._registers[register]:
                difference = graph.either(difference, graph.differ(sides.original[latch], twins[latch]))
            for condition in conditions:
                step.assume((register, condition), graph.both(difference, sides.of_original(condition)) ^ 1)
        claims = []  # register, condition (None: always the same), literal that breaks it
        for register, difference in self._differences().items():
            if register not in apart:
                claims.append((register, None, difference))
            for condition in apart.get(register, ()):
                claims.append((register, condition, graph.both(difference, sides.of_original(self._next(condition)))))
        claims = [claim for claim in claims if claim[2]]
        more: set[str] = set()
        while claims and not more and step.possible(*(claim[2] for claim in claims)):
            broken = [claim for claim in claims if step.was(claim[2])]
            claims = [claim for claim in claims if not step.was(claim[2])]
            for register, condition, _ in broken:
                if condition is None:
                    more.add(register)
                else:
                    apart[register].remove(condition)
                    step.forget((register, condition))
        return more

    def _same_outputs(self, step: _Step) -> bool:
        return not step.possible(*self._sides.differences(self._netlist.outputs).values())


class _Step:
    """One step of the netlist in a solver: gates are loaded as far as questions need them."""

    def __init__(self, graph: Graph, work: int) -> None:
        self.work, self._graph = work, graph
        self._solver = Solver("glucose4")
        self._count = 0  # of the solver's variables
        self._variables: dict[int, int] = {}  # by literal of the graph
        self._assumed: dict[tuple[str, int], int] = {}
        self._model: Sequence[int] = ()
        self._solver.add_clause([self._literal(1)])

    def assume(self, name: tuple[str, int], literal: int) -> None:
        """Assume a literal of the graph until it is forgotten."""
        self._assumed[name] = self._solver_variable()
        self._solver.add_clause([-self._assumed[name], self._literal(literal)])

    def forget(self, name: tuple[str, int]) -> None:
        """Assume it no longer."""
        del self._assumed[name]

    def possible(self, *literals: int) -> bool:
        """Whether one of these literals of the graph can be true under what is assumed."""
        wanted = [literal for literal in literals if literal]
        if not wanted:
            return False
        asked = self._solver_variable()
        self._solver.add_clause([-asked, *map(self._literal, wanted)])
        before = self._solver.accum_stats()
        self._solver.conf_budget(max(1, self.work))
        self._solver.prop_budget(max(1, self.work) * PROPAGATIONS)
        found = self._solver.solve_limited([asked, *self._assumed.values()])
        after = self._solver.accum_stats()
        self.work -= after["conflicts"] - before["conflicts"]
        self.work -= (after["propagations"] - before["propagations"]) // PROPAGATIONS
        if found is None or self.work <= 0:
            raise _OutOfWork
        self._model = self._solver.get_model() if found else ()
        self._solver.add_clause([-asked])
        return found

    def was(self, literal: int) -> bool:
        """Whether a literal was true in what the last question found."""
        variable = self._literal(literal)
        return self._model[abs(variable) - 1] == variable

    def _solver_variable(self) -> int:
        self._count += 1
        return self._count

    def _literal(self, literal: int) -> int:
        """The solver's literal, with the gates behind it."""
        waiting = [literal & ~1]
        while waiting:
            variable = waiting[-1]
            operands = self._graph.operands(variable) or ()
            missing = [operand & ~1 for operand in operands if operand & ~1 not in self._variables]
            if variable in self._variables or not missing:
                waiting.pop()
            waiting += missing
            if variable in self._variables or missing:
                continue
            self._variables[variable] = gate = self._solver_variable()
            if operands:
                left, right = map(self._signed, operands)
                for clause in ([-gate, left], [-gate, right], [gate, -left, -right]):
                    self._solver.add_clause(clause)
        return self._signed(literal)

    def _signed(self, literal: int) -> int:
        found = self._variables[literal & ~1]
        return -found if literal & 1 else found


def _register(netlist: Netlist, latch: int) -> str:
    """The register that a latch is a bit of."""
    return re.sub(r"\[\d+\]$", "", netlist.names.get(latch, str(latch)))
