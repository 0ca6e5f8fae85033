# SPDX-License-Identifier: Apache-2.0
"""Faults of what the RTL is compared with: the model, its memory and host, the oracle, the checker of programs."""

from tb.planted.environment import edited
from tb.planted.plant import Plant

ENDLESS = "raised RuntimeError: The program did not end .*"
STATIONS, AGENT = "model/beatmatch/stations", "model/beatmatch/memory/agent.py"
HOST_AGENT, ORACLE = "model/beatmatch/host_agent.py", "model/beatmatch/oracle.py"
ORDERING, CHECKER = "model/beatmatch/ordering.py", "model/beatmatch/checker.py"
CHECKER_TEST, ORACLE_TESTS = "tests:tests/model/test_checker.py::{0}", "tests:tests/model/test_oracle.py"
TWO_GIVERS = CHECKER_TEST.format("test_a_signal_of_two_givers_proves_only_what_the_other_cannot_have_given")

MODEL = (
    edited("model_off_by_one", "the model's sums are one too high", "lockstep", "value accumulator.write",
           f"{STATIONS}/accumulator.py", "target[:] = data", "target[:] = data + 1"),
    edited("model_digest_lost", "the model's digest of the array is always 0", "lockstep", "digest matmul.array",
           f"{STATIONS}/array.py", "self.digest = int(np.dot(self._buffer, self._places)) & 0xFFFFFFFF",
           "self.digest = 0"),
    edited("model_counts_twice", "a signal counts twice", "lockstep", "digest frontend.semaphores",
           f"{STATIONS}/semaphores.py",
           "index = signal >> 1 & 31\n                change[index] = change.get(index, 0) + 1",
           "index = signal >> 1 & 31\n                change[index] = change.get(index, 0) + 2"),
    edited("model_stale_weight", "the model keeps the old weights", "lockstep", "digest matmul.array",
           f"{STATIONS}/array.py", "        if swap:\n", "        if swap and self._swap_waves:\n"),
    edited("model_drops_event", "the model shows no retire of matmul", "lockstep", "extra matmul.retire",
           f"{STATIONS}/matmul.py", "words[base + self._retire_offset] = self._retire\n", "pass\n"),
    edited("model_digest_unweighted", "the places of a digest do not count: swapped lanes would not show",
           "lockstep", "digest frontend.semaphores",
           f"{STATIONS}/semaphores.py", "digest += (2 * index + 1) * (value", "digest += (value"),
)  # fmt: skip

AGENTS = (
    edited("memory_early", "memory answers reads a cycle early", "derivations", "derivation: .*",
           AGENT, "(now + timing.read_latency, *ar)", "(now + timing.read_latency - 1, *ar)"),
    edited("memory_late", "memory answers writes a cycle late", "derivations", "derivation: .*",
           AGENT, "written + self._timing.write_latency", "written + self._timing.write_latency + 1"),
    edited("memory_wrong_data", "memory answers with the bytes behind", "values", "values of the stepped tier",
           AGENT, "start = read[2]\n", "start = read[2] + size\n"),
    edited("memory_wrong_id", "memory answers for another requester", "derivations", ENDLESS,
           AGENT, "self.rid = read[0]\n", "self.rid = (read[0] + 1) % 3\n"),
    edited("memory_missing_last", "memory never marks the last beat", "derivations", ENDLESS,
           AGENT, "self.rlast = True\n", "pass\n"),
    edited("memory_extra_response", "memory answers every write twice", "derivations",
           "raised IndexError: pop from an empty deque",
           AGENT, "self._answers.append((written + self._timing.write_latency, write[4]))\n",
           "self._answers.extend([(written + self._timing.write_latency, write[4])] * 2)\n"),
    edited("memory_drops_write", "memory does not store full beats", "values", "values of the stepped tier",
           AGENT, "write[0][write[1] : write[1] + size] = data\n", "pass\n"),
    edited("host_late", "the host's script is a cycle late", "host_script", "the reset is in cycles .301. to .305.",
           HOST_AGENT, "self._events[0].cycle <= self._cycle and", "self._events[0].cycle < self._cycle and"),
    edited("host_no_reset", "the host forgets the reset", "host_script", "the reset is in cycles .. to ..",
           HOST_AGENT, "self._resetting = event.length\n", "pass\n"),
)  # fmt: skip

REFERENCES = (
    edited("oracle_off_by_one", "the oracle's product is one too high", "values", "values of the stepped tier",
           ORACLE, "        total += a[:, k : k + 1] * b[k : k + 1, :]\n    return total",
           "        total += a[:, k : k + 1] * b[k : k + 1, :]\n    return total + 1"),
    edited("oracle_rounds_up", "the oracle rounds ties up", ORACLE_TESTS, "fails test_rounding_is_to_nearest_even",
           ORACLE, "(twice == 0 and quotient % 2)", "twice == 0"),
    edited("functional_off_by_one", "the functional tier's sums are one too high", "values",
           "values of the functional tier", "model/beatmatch/functional.py", "acc[:] = total + old if add else total",
           "acc[:] = (total + old if add else total) + 1"),
    edited("checker_sees_no_hazard", "accesses are never compared",
           CHECKER_TEST.format("test_leaving_out_any_wait_for_data_is_found"), "fails test_leaving_out_any_wait_.*",
           ORDERING, "for iteration in range(node.first, node.first + node.count):\n            touched",
           "for iteration in range(0):\n            touched"),
    edited("checker_believes_all", "every signal counts as given by one engine", TWO_GIVERS,
           "fails test_a_signal_of_two_givers_.*",
           ORDERING, "sure = needed - (everyone - totals[engine])", "sure = needed"),
    edited("checker_no_deadlock", "a deadlock is no finding", CHECKER_TEST.format("test_accumulator_and_store_hazards"),
           "fails test_accumulator_and_store_hazards.*",
           CHECKER, 'findings.append(Finding("deadlock", tuple(sorted(blocked)), text))', "pass"),
    edited("derivation_off_by_one", "the hand-derived cycles are compared one too late", "derivations",
           "derivation: .*", "tests/model/test_micro_programs.py",
           "start = busy.index(1) - 1  #", "start = busy.index(1)  #"),
)  # fmt: skip

ROWS: tuple[Plant, ...] = (*MODEL, *AGENTS, *REFERENCES)
