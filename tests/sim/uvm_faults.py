# SPDX-License-Identifier: Apache-2.0
"""Mistakes of tests and of the environment that must not pass, and what the verdict has to say of each.

The test of each name stands in `uvm_faults_bench.py`; all of them run in one simulator process.
"""

import re
from dataclasses import dataclass

from tb.uvm.run import run
from tests.sim.faults import CONFIG

MODULE = "tests.sim.uvm_faults_bench"
SOUND = "Sound"
"""The same stimulus without a mistake; it has to pass."""


@dataclass(frozen=True)
class UvmFault:
    """A mistake.

    Attributes
    ----------
    name : str
        Of the test that makes it.
    what : str
        The mistake, in words.
    expected : str
        Regular expression that the reason of the failure has to match.
    """

    name: str
    what: str
    expected: str


FAULTS = (
    UvmFault("OwnRunPhase", "the run phase is overridden and raises no objection", "overrides run_phase"),
    UvmFault("NoObjection", "no objection reaches the handler", "No objection was raised"),
    UvmFault("ObjectionKept", "an objection is never dropped", "No cycle was played for"),
    UvmFault("MisspeltPhase", "a phase is misspelt", "chek_phase is no phase .* is check_phase meant"),
    UvmFault("AsyncCheck", "a check is a coroutine", "check_phase would never run: declare it with `def`"),
    UvmFault("NoEnvironment", "build_phase forgets its base", "makes no environment"),
    UvmFault("NoMain", "there is no stimulus", "has no stimulus"),
    UvmFault("LoggedError", "an error is only logged", "1 error records were logged.*the result is wrong"),
    UvmFault("EmptyRun", "no program is played", "The run was empty"),
    UvmFault("NoInstruction", "only an empty program is played", "No instruction was dispatched"),
    UvmFault("UnsampledGroup", "promised coverage is not reached", "promises to cover host.error"),
    UvmFault("NoCollector", "coverage is not collected", "No coverage collector is left"),
    UvmFault("StateNotMet", "a planned reset never happens", "never met the state host.error"),
    UvmFault("PlanWithoutProgram", "a reset is planned behind the last program", "had no program to happen in"),
    UvmFault("LostProgram", "the driver drops a program", "was never played"),
    UvmFault("ItemNotDone", "a driver forgets item_done()", "No cycle was played for"),
    UvmFault("WaitsForNothing", "the stimulus waits for ever", "No cycle was played for"),
    UvmFault("ItemLeft", "items stay in a queue", "still holds . items that nobody took"),
    UvmFault("SequenceRaises", "a sequence raises", "the sequence gave up"),
    UvmFault("BlockDropped", "cycles are lost on their way to the scoreboard", "lost its place in the trace"),
    UvmFault("BlockTwice", "cycles come twice", "lost its place in the trace"),
    UvmFault("BlocksSwapped", "cycles come in another order", "lost its place in the trace"),
    UvmFault("EndLost", "the end of a program is lost", "but .* saw .* of 0"),
    UvmFault("TraceSilent", "nothing reaches the scoreboard", "saw 0 of 0"),
    UvmFault("TraceLate", "the RTL's trace is a cycle late", "late: the RTL is late"),
    UvmFault("DigestLost", "a digest is lost on both sides", "The digest matmul.array was 0 in every cycle"),
    UvmFault("ScoreboardBlind", "the scoreboard compares nothing", "cycles were played, but 0 compared"),
    UvmFault("ScoreboardLenient", "the scoreboard sees a difference and goes on", "were played, but .* compared"),
    UvmFault("AccessMissed", "the register monitor misses a write", "PROG_LEN .* must read as 0x00000000"),
    UvmFault("WrongResetValue", "the register model has another reset value", "CYCLE_LIMIT .* must read as 0x00000005"),
    UvmFault("CheckerDeaf", "the register checker checks nothing", "register accesses, but 0 were checked"),
    UvmFault("BeatCorrupted", "the RTL reads other data than the model", "value: the RTL shows another value"),
    UvmFault("RowLost", "the RTL misses a row of stimulus", "cycle 2.: host.axil"),
    UvmFault("UnknownBit", "a bit of the trace is X", "unknown_x: the RTL drives unknown bits"),
    UvmFault("RecordsEnd", "the RTL's records end early", "records for .* rows"),
)
"""In the order of `uvm_faults_bench.py`."""


def reasons(simulator: str) -> dict[str, str]:
    """Run all of them on one simulator: why each failed, an empty text for those that passed."""
    names = [SOUND, *(fault.name for fault in FAULTS)]
    outcome = run(CONFIG, simulator, names, seed=1, module=MODULE)
    return {name: outcome.failed.get(name, "") for name in names}


def caught(fault: UvmFault, reason: str) -> bool:
    """Whether the verdict says what it has to say."""
    return bool(re.search(fault.expected, reason, re.DOTALL))
