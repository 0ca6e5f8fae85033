# SPDX-License-Identifier: Apache-2.0
"""Faults of the way from the RTL to the verdict: transport, session, comparison, results, seeds, builds."""

from tb.planted.plant import Edit, Plant

SESSION, RUNNER, COMPARE = "tb/lockstep/session.py", "tb/lockstep/runner.py", "tb/lockstep/compare.py"
MODEL_SIDE, SIM, RANDOM = "tb/lockstep/model_side.py", "tb/sim.py", "tb/lockstep/random_programs.py"
COMPARE_TESTS = "tests:tests/sim/test_compare.py"
BUILD_TEST = "tests:tests/sim/test_sim_api.py::test_whatever_changes_the_design_changes_the_build"


def spoiled(name: str, what: str, expected: str) -> Plant:
    """A record that is spoiled on its way."""
    return Plant(name, what, "lockstep", expected, options=(("spoil", name),))


def edited(name: str, what: str, detector: str, expected: str, file: str, old: str, new: str) -> Plant:
    """A change of the code."""
    return Plant(name, what, detector, expected, Edit(file, old, new))


TRANSPORT = (
    spoiled("dropped_event", "an event is lost", "missing port.ar"),
    spoiled("duplicated_event", "an event comes twice", "extra port.ar"),
    spoiled("late_event", "an event comes a cycle late", "late port.ar"),
    spoiled("early_event", "an event comes a cycle early", "early port.ar"),
    spoiled("swapped_events", "two events are exchanged", "order port.ar"),
    spoiled("changed_bit", "a bit of an event's data flips", "value port.ar"),
    spoiled("lost_digest", "the RTL's digest of the array is always 0", "digest matmul.array"),
    spoiled("dropped_record", "a whole cycle is lost and the rest moves up", "missing port.ar"),
    spoiled("duplicated_record", "a whole cycle comes twice", "extra port.ar"),
    spoiled("late_records", "all records are a cycle late", "late host.axil"),
    spoiled("lost_end", "the last records never come", "raised IntegrityError: The transport gave .* records for .*"),
    spoiled("stale_block", "a block of records is the one before it", "missing .*"),
    spoiled("foreign_records", "the records are of another program", "value frontend.dispatch"),
    Plant("aliased_records", "both sides' records are one array", "lockstep",
          "raised IntegrityError: Both sides' records are the same memory.*", options=(("aliased", True),)),
    Plant("unknown_bit", "the transport reports an X", "lockstep", "unknown_x host.status",
          options=(("unknown", 77),)),
)  # fmt: skip

COMPARISON = (
    edited("blind_comparison", "model and model are compared", "canaries", "the canary dropped_event lived",
           SESSION, "comparator.push(expected, actual, unknown)",
           "comparator.push(expected, expected.copy(), unknown)"),
    edited("no_comparison", "blocks are driven and not compared", "lockstep",
           "raised IntegrityError: 1258 cycles were driven and 0 compared.",
           SESSION, "comparator.push(expected, actual, unknown) or", "False or"),
    edited("skipped_boundary", "the last cycle of every block is not compared", "lockstep",
           "raised IntegrityError: 1258 cycles were driven and 1256 compared.",
           COMPARE, "count = min(len(expected), len(actual))\n",
           "count = min(len(expected), len(actual)) - 1\n"
           "        expected, actual = expected[:count], actual[:count]\n"),
    edited("unread_boundary", "differences in the last cycle of a block are not looked for", "canaries",
           "the flipped bit of cycle 1023 lived",
           COMPARE, "np.flatnonzero((left != right).any(axis=1))[0])",
           "[*np.flatnonzero((left[:-1] != right[:-1]).any(axis=1)), at][0])"),
    edited("headers_only", "only the first half of every record is compared", "canaries",
           "the canary lost_digest lived",
           COMPARE, "if not np.array_equal(left, right):",
           "left, right = left[:, : self.layout.words // 2], right[:, : self.layout.words // 2]\n"
           "        if not np.array_equal(left, right):"),
    edited("ignored_unknowns", "X counts as 0", "canaries", "the unknown bit lived",
           COMPARE, "return min([at, *(row for row in unknown if row < len(left))])", "return at"),
    edited("silent_finish", "a side that is ahead at the end is no divergence", COMPARE_TESTS,
           r"fails test_a_side_that_is_ahead.*", COMPARE, "if not any(ahead):", "if any(ahead) or True:"),
    edited("hash_of_nothing", "the records are not hashed", "lockstep",
           "raised IntegrityError: .* cycles were compared and none hashed.",
           COMPARE, 'self._hash.update(np.ascontiguousarray(records, dtype="<u4"))', "pass"),
    edited("hash_of_a_part", "the hash leaves out the last word", COMPARE_TESTS, "fails test_the_hash_.*",
           COMPARE, "np.ascontiguousarray(records, dtype", "np.ascontiguousarray(records[:, :-1], dtype"),
    edited("uncounted_events", "events are not counted", "job", "raised SimulationError: .* it shows nothing.*",
           COMPARE, "self.events += int(", "self.events += 0 * int("),
    edited("wrong_kind", "late and early are exchanged", COMPARE_TESTS, "fails test_late",
           "tb/lockstep/classify.py", 'return Verdict("late", cycle, actual[0][0])',
           'return Verdict("early", cycle, actual[0][0])'),
)  # fmt: skip

RESULTS = (
    Plant("empty_job", "there is no program to run", "job", "raised SimulationError: There is no program to run.*",
          options=(("count", 0),)),
    edited("skipped_program", "the session leaves out the first program", "job",
           "raised SimulationError: The results are of programs 1, 2, not of 0, 1, 2.*",
           SESSION, "for item in job.items:", "for item in job.items[1:]:"),
    edited("one_program", "the session runs the first program only", "job",
           "raised SimulationError: The results are of programs 0, not of 0, 1, 2.*",
           SESSION, "if result.divergence and (job.stop", "if True or (job.stop"),
    edited("wrong_order", "the session runs the programs backwards", "job",
           "raised SimulationError: The results are of programs 2, 1, 0, not of 0, 1, 2.*",
           SESSION, "for item in job.items:", "for item in reversed(job.items):"),
    edited("truncated_results", "the last result is not written in full", "job",
           "raised SimulationError: The results are of programs none, not of 0, 1, 2.*",
           SESSION, "results.write(result.line())", "results.write(result.line()[:-9])"),
    edited("lost_result", "results are not written", "job",
           "raised SimulationError: The results are of programs none, not of 0, 1, 2.*",
           SESSION, "results.write(result.line())", "pass"),
    edited("cut_run", "the model's host gives up after a thousand cycles", "lockstep",
           "raised IntegrityError: The model's host ended the run while the core was still busy.*",
           "model/beatmatch/machine.py", "        self.cycle_count += 1\n        self.finished = agent.finished",
           "        self.cycle_count += 1\n        self.finished = agent.finished or self.cycle_count > 1000"),
    edited("no_cycles", "the model's side is empty", "job",
           "raised SimulationError: .* ended after 0 cycles.*",
           MODEL_SIDE, "return to_the_end(self.machine.program, self.machine.blocks(self._limit))", "return iter(())"),
)  # fmt: skip

RANDOMNESS = (
    edited("foreign_seed", "the program of another seed is run", "random_job",
           "raised IntegrityError: Seed .* was asked for; the program is of seed .*",
           MODEL_SIDE, 'random_programs.generate(source["random"], config)',
           'random_programs.generate(source["random"] + 1, config)'),
    edited("unused_seed", "all seeds give the same program", "seeds", "two seeds give the same program",
           RANDOM, "_Writer(derive(seed, attempt)", "_Writer(derive(0, attempt)"),
    edited("unseeded", "a program is drawn from the clock", "seeds", "a program does not replay",
           RANDOM, "_Writer(derive(seed, attempt)", "_Writer(derive(seed, __import__('time').time_ns(), attempt)"),
    edited("base_seed_ignored", "streams do not depend on the base seed", "seeds", "two streams are the same",
           "tb/lockstep/streams.py", "for part in (base, *names)", "for part in names"),
    edited("stale_build", "the build's key leaves out the sources", BUILD_TEST,
           "fails test_whatever_changes_the_design_changes_the_build",
           SIM, "for path in [*sources, *headers,", "for path in [*headers,"),
    edited("stale_parameters", "the build's key leaves out the parameters", BUILD_TEST,
           "fails test_whatever_changes_the_design_changes_the_build",
           SIM, "sorted(parameters.items()), sorted(defines", "sorted(defines"),
)  # fmt: skip

ROWS = (*TRANSPORT, *COMPARISON, *RESULTS, *RANDOMNESS)
