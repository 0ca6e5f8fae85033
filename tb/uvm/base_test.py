# SPDX-License-Identifier: Apache-2.0
"""The base of all tests. It owns the run phase and the verdict: a test that checked nothing cannot pass."""

from __future__ import annotations

import time

import cocotb
from cocotb.triggers import Timer
from pyuvm import ConfigDB, uvm_test

from tb.lockstep import transport
from tb.lockstep.job import locate
from tb.lockstep.streams import derive
from tb.uvm import guards
from tb.uvm.bfm import BenchError, CoreBfm
from tb.uvm.env import CoreEnv
from tb.uvm.job import Job

IDLE_CYCLES = 4 * transport.BLOCK
"""Clock cycles without one being played after which the test is given up: a sequence waits for what never comes."""
OWNED = ("__init__", "run_phase", "final_phase")


class VerdictError(AssertionError):
    """The test must not pass; the text lists why, a sentence each."""


class BaseTest(uvm_test):
    """Derive from this, decorate with ``@pyuvm.test()``, and write `main`.

    Class attributes
    ----------------
    programs : int
        Random programs that `main` usually runs; the command line may change it (`count`).
    covers : tuple of str
        Coverage groups that this test promises to sample ("matmul.row"); one that was not fails the test.
    instructions : bool
        The test dispatches instructions; False only for tests of registers alone.
    """

    programs = 8
    covers: tuple[str, ...] = ()
    instructions = True

    def __init__(self, name, parent) -> None:
        for owned in OWNED:
            if getattr(type(self), owned) is not getattr(BaseTest, owned):
                raise VerdictError(
                    f"{type(self).__name__} overrides {owned}, which holds the verdict: put the stimulus into main() "
                    "and checks into check_phase()."
                )
        self._errors = guards.ErrorRecords()
        self._began, self._ended = time.perf_counter(), False
        super().__init__(name, parent)
        self.job = Job.load()
        self.config = self.job.configuration()
        for patch in self.job.patches:
            locate(patch)(setattr)
        self.bfm = CoreBfm(transport.make(cocotb.top, self.config), self.config)
        ConfigDB().set(None, "*", "JOB", self.job)
        ConfigDB().set(None, "*", "BFM", self.bfm)

    @property
    def count(self) -> int:
        """Random programs to run."""
        return self.programs if self.job.programs is None else self.job.programs

    def seed(self, *names: object) -> int:
        """A seed that depends on the base seed, this test and the names only."""
        return derive(self.job.seed, type(self).__name__, *names)

    def build_phase(self) -> None:
        """Make the environment; set factory overrides before calling this."""
        self.env = CoreEnv.create("env", self)

    def end_of_elaboration_phase(self) -> None:
        """Refuse what would never run."""
        found = guards.phases(self)
        if not hasattr(self, "env"):
            found.append(f"{type(self).__name__}.build_phase makes no environment: call super().build_phase().")
        if found:
            self._errors.close()
            raise VerdictError(" ".join(found))

    async def main(self) -> None:
        """The stimulus: start sequences on ``self.env.sequencer``."""
        raise NotImplementedError(f"{type(self).__name__} has no stimulus: write `async def main(self)`.")

    async def run_phase(self) -> None:
        """Raise the objection, run `main`, end what is open."""
        self.raise_objection("main")
        cocotb.start_soon(self._watch())  # to the end of the phase: others may hold objections longer
        await self.main()
        await self.bfm.close()
        self._ended = True
        self.drop_objection("main")

    async def _watch(self) -> None:
        """Give up when the clock runs and nothing is played."""
        played = -1
        while played != self.bfm.cycles:
            played = self.bfm.cycles
            await Timer(IDLE_CYCLES * transport.PERIOD_NS, "ns")
        raise BenchError(
            f"No cycle was played for {IDLE_CYCLES} clock cycles: an objection is never dropped, or a sequence waits "
            "for an item that no driver takes or ends (is item_done() called?)."
        )

    def final_phase(self) -> None:
        """The verdict. Raises VerdictError with every reason not to pass."""
        complaints = self._complaints()
        if complaints:
            raise VerdictError(" ".join(complaints))
        scoreboard = self.env.scoreboard
        self.job.note(
            "test",
            test=type(self).__name__,
            programs=scoreboard.programs,
            cycles=scoreboard.compared,
            events=scoreboard.events,
            digests=scoreboard.digests,
            instructions=scoreboard.dispatched,
            accesses=self.env.register_checker.writes + self.env.register_checker.reads,
            trace_sha256=scoreboard.trace_sha256(),
            seconds=round(time.perf_counter() - self._began, 3),
            hits=[[*place, sorted(seeds)] for place, seeds in self.env.coverage.bins.seeds.items()],
        )

    def _complaints(self) -> list[str]:
        """Every reason why a pass would mean nothing."""
        bfm, env = self.bfm, self.env
        found = [*guards.objections(), *guards.queues(self), *self._errors.close(), *bfm.complaints]
        if not self._ended:
            found.append("main() did not come to its end.")
        for watcher in (env.scoreboard, env.coverage, env.csr.monitor):
            if (watcher.programs, watcher.cycles) != (bfm.programs, bfm.cycles):
                found.append(
                    f"{bfm.cycles} cycles of {bfm.programs} programs were played, but {watcher.get_full_name()} saw "
                    f"{watcher.cycles} of {watcher.programs}."
                )
        if env.scoreboard.compared != bfm.cycles:
            found.append(f"{bfm.cycles} cycles were played, but {env.scoreboard.compared} compared.")
        checked = env.register_checker.writes + env.register_checker.reads
        if env.csr.monitor.answers != checked:
            found.append(f"The RTL answered {env.csr.monitor.answers} register accesses, but {checked} were checked.")
        if not bfm.programs or not env.scoreboard.events:
            found.append("The run was empty: no program was played, or nothing happened in it.")
        if self.instructions and not env.scoreboard.dispatched:
            found.append("No instruction was dispatched; set `instructions = False` in a test of registers alone.")
        found += self._dead_digests()
        sampled = env.coverage.sampled()
        if not sampled:
            found.append("No coverage collector is left in the coverage subscriber.")
        for name in self.covers:
            if not sampled.get(name):
                found.append(f"{type(self).__name__} promises to cover {name}, which was never sampled.")
        return found

    def _dead_digests(self) -> list[str]:
        """Digests that stayed 0 although their station worked: equal on both sides, but worth nothing."""
        sampled, live = self.env.coverage.sampled(), self.env.scoreboard.live_digests
        work = {"frontend.queues": "frontend.dispatch", "matmul.array": "matmul.row"}
        work |= {f"{engine}.state": f"{engine}.retire" for engine in ("load", "weights", "matmul", "vector", "store")}
        return [
            f"The digest {digest} was 0 in every cycle, though there were {sampled[event]} events {event}."
            for digest, event in work.items()
            if sampled.get(event) and digest not in live
        ]
