# SPDX-License-Identifier: Apache-2.0
"""What a regression runs, in which pieces, and what it makes of the results; without a simulator."""

from concurrent.futures import Future

import pytest

from beatmatch.config import PRESETS, Config
from beatmatch.fast import run_fast
from beatmatch.features import features
from beatmatch.networks.errors import GraphError
from tb.lockstep.campaign import Batch
from tb.lockstep.job import Item, Result
from tb.regress import __main__ as command
from tb.regress import engine, failures, figures, networks, plan, regression, reruns, workloads
from tb.regress.chunks import split
from tb.regress.execute import Outcome
from tb.regress.store import Store

CONFIG = Config(4, 4, 64, 2, 32, 2, 2, 2, 32, 2, 4)


def result(index, **changes):
    values = {"index": index, "cycles": 10, "events": 5, "digests": 20, "sha256": f"{index:064x}", "seconds": 1.0}
    return Result(**values | {"cpu_seconds": 1.0, "model_seconds": 0.5, "transport_seconds": 0.4} | changes)


@pytest.mark.parametrize(("kind", "sim"), [(kind, sim) for kind in plan.VOLUMES for sim in plan.VOLUMES[kind]])
def test_a_plan_is_numbered_through_and_large_enough(kind, sim):
    batches = plan.plan(kind, sim, [3])
    items = sorted(item.index for batch in batches for item in batch.items)
    assert items == list(range(len(items))) and len(items) >= plan.VOLUMES[kind][sim].programs
    names = [figures._name(item.source) + batch.config.digest() for batch in batches for item in batch.items]
    assert len(set(names)) == len(names), "a program runs twice on one configuration"


def test_nightly_has_sixty_random_configurations_and_both_simulators_share_many_programs():
    night = plan.plan("nightly", "verilator", [1])
    assert len({batch.config.digest() for batch in night if batch.config.name.startswith("random")}) >= 60

    def keys(kind, sim):
        pieces = plan.plan(kind, sim, [1])
        return {(str(item.source), batch.config.digest()) for batch in pieces for item in batch.items}

    for kind in (kind for kind, volumes in plan.VOLUMES.items() if len(volumes) > 1):
        assert len(keys(kind, "verilator") & keys(kind, "icarus")) >= 6


def test_seeds_are_lists_and_ranges():
    assert plan.parse_seeds("7") == [7] and plan.parse_seeds("1,4..6") == [1, 4, 5, 6]
    for text in ("", "x", "1,,2", "3..", "1,1", "5..4"):
        with pytest.raises(ValueError, match="--seeds is"):
            plan.parse_seeds(text)


def test_large_batches_are_split_and_the_longest_piece_comes_first():
    items = [Item(index, {"random" if index < 90 else "compiled": index}) for index in range(100)]
    chunks = split([Batch(CONFIG, items), Batch(Config(16, 16), items[:3])], "icarus", longest=2.0)
    assert len(chunks) > 3 and [chunk.seconds for chunk in chunks] == sorted((c.seconds for c in chunks), reverse=True)
    assert sorted(i.index for c in chunks if c.config == CONFIG for i in c.items) == list(range(100))


class Scripted:
    """A pool that answers at once, from a function of the piece."""

    def __init__(self, answer):
        self.answer, self.seen = answer, []

    def submit(self, _, chunk, patches):
        self.seen.append(chunk)
        future = Future()
        future.set_result(self.answer(chunk))
        return future


def test_configurations_are_built_before_their_pieces_and_a_failed_build_fails_its_programs(tmp_path):
    good, bad = Batch(CONFIG, [Item(0, {"random": 1})]), Batch(Config(8, 8), [Item(1, {"random": 2})])

    def answer(chunk):
        if chunk.config == bad.config:
            return Outcome([], error="No such module", kind="build")
        return Outcome([result(item.index) for item in chunk.items], build_seconds=0.0 if chunk.items else 2.5)

    pool, store = Scripted(answer), Store(tmp_path / "run.jsonl", {})
    engine.run(split([good, bad], "icarus"), pool, 2, store)
    order = [(chunk.config.rows, len(chunk.items)) for chunk in pool.seen]
    assert order.index((4, 0)) < order.index((4, 1)) and (8, 1) not in order
    assert set(store.results) == {0} and store.crashes[1]["kind"] == "build" and store.build_seconds == 2.5


def test_errors_are_alike_whatever_numbers_and_paths_they_hold():
    text = "lockstep failed: COCOTB_RANDOM_SEED=1\n  RuntimeError: row {} of /a/x{}/y is 0x{}f\n  ****"
    assert failures.normalise(text.format(1, 2, 3)) == "RuntimeError: row # of FILE is HEX"
    assert failures.normalise(text.format(4, 5, "a")) == failures.normalise(text.format(1, 2, 3))
    assert failures.normalise("ValueError: a") != failures.normalise("ValueError: b")
    assert failures.normalise("") == "no message"


def test_buckets_hold_like_failures():
    def failure(kind, station, slot, field, headline):
        return {"kind": kind, "station": station, "slot": slot, "field": field, "headline": headline}

    rows = failures.buckets(
        [
            failure("value", "load", "write", "data", "cycle 7"),
            failure("value", "load", "write", "data", "cycle 9"),
            failure("late", "load", "write", "data", "cycle 7"),
            failure("crash", "simulator", "icarus", "", "RuntimeError: a"),
            failure("crash", "simulator", "icarus", "", "RuntimeError: b"),
        ]
    )
    assert [row["count"] for row in rows] == [2, 1, 1, 1] and rows[0]["place"] == "write.data"


def test_unequal_traces_of_the_simulators_are_a_failure():
    hashes = {("a", "x"): "00" * 32, ("b", "x"): "11" * 32}
    same = figures.compare(hashes, {**hashes, ("c", "x"): "22" * 32})
    assert same["programs"] == 2 and same["different"] == [] and same["sha256"][0] == same["sha256"][1]
    other = figures.compare(hashes, {**hashes, ("b", "x"): "ff" * 32})
    assert len(other["different"]) == 1 and other["sha256"][0] != other["sha256"][1]
    part = {"kind": "regress", "sim": "icarus", "mismatches": 0, "programs": 2, "cycles": 9, "crashes": 0, "planned": 2}
    part |= {"steady": True, "least": {"programs": 2, "cycles": 9}}
    assert regression.problems([{**part, "shared": same}]) == []
    assert "different traces" in regression.problems([{**part, "shared": other}])[0]
    assert "changed while" in regression.problems([{**part, "shared": same, "steady": False}])[0]
    assert "no program both" in regression.problems([{**part, "shared": figures.compare({}, hashes)}])[0]


def test_a_run_that_stays_small_or_incomplete_fails():
    part = {"kind": "regress", "sim": "icarus", "programs": 2, "cycles": 9, "crashes": 0, "planned": 2}
    assert figures.shortfall({**part, "least": {"programs": 2, "cycles": 9}}) == ""
    assert "must come to 10" in figures.shortfall({**part, "least": {"programs": 2, "cycles": 10}})
    assert "--resume" in figures.shortfall({**part, "planned": 3, "least": {"programs": 2, "cycles": 9}})


def test_results_of_other_sources_or_seeds_are_not_resumed(tmp_path):
    path = tmp_path / "run.jsonl"
    Store(path, {"seeds": [1]}).add(result(0))
    assert Store(path, {"seeds": [1]}, resume=True).done() == {0}
    other = Store(path, {"seeds": [2]}, resume=True)
    assert not other.resumed and other.done() == set()


def test_compiled_programs_replay_from_their_seed_and_are_long():
    first, second = (workloads.generate(9, CONFIG) for _ in range(2))
    assert first.to_bytes() == second.to_bytes() and first.seed == 9 and first.cycle_limit == workloads.LIMIT
    assert workloads.generate(10, CONFIG).to_bytes() != first.to_bytes()


def test_large_programs_have_the_counts_of_real_work():
    sizes = {}
    for seed in range(8):
        program = workloads.program_of({"large": seed}, PRESETS["base"])
        for name, value in features(program).sizes.items():
            sizes[name] = max(value, sizes.get(name, 0))
    random = {"matmul.x": 24, "load.rows": 12, "load.row_bytes": 24 * PRESETS["base"].lanes}  # the most of short ones
    assert all(sizes[name] > 2 * most for name, most in random.items()), sizes


def test_reruns_differ_in_everything_that_must_not_matter():
    rows = reruns.variations(1, 200)
    assert len(rows) == 200 and rows[0].order == tuple(range(reruns.PROGRAMS))
    assert len({row.hash_seed for row in rows}) == 200 and len({row.order for row in rows}) > 100
    assert {row.workers for row in rows} == {1, 2} and {row.sim for row in rows} == {"verilator", "icarus"}


@pytest.mark.parametrize(("answers", "flaky"), [("aaaa", 0), ("aaba", 1), ("baaa", 3)])
def test_a_rerun_with_another_trace_is_flaky(monkeypatch, answers, flaky):
    monkeypatch.setattr(reruns, "trace", lambda batch, rerun, patches: answers[rerun.number] * 64)
    part = reruns.run(1, 4, 2)
    assert part["reruns"] == 4 and part["flaky"] == flaky == len(part["different"])


def test_if_the_plain_run_fails_every_rerun_counts_as_flaky(monkeypatch):
    monkeypatch.setattr(reruns, "trace", lambda batch, rerun, patches: "crash: it died")
    assert reruns.run(1, 4, 2)["flaky"] == 4


@pytest.mark.parametrize(
    "arguments",
    ["smoke --seeds x", "smoke --config huge", "smoke --jobs 0", "smoke --configs 0", "reruns --count 1",
     "fidelity nothing.json", "testplan --plan nothing.toml"],
)  # fmt: skip
def test_a_bad_command_line_is_one_sentence(capsys, arguments):
    assert command.main(arguments.split()) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_network_is_one_program_on_random_values():
    config = PRESETS["large"]
    source = {"network": "squeezenet1_1", "seed": 5}
    program = workloads.program_of(source, config)
    again, other = workloads.program_of(source, config), workloads.program_of(source | {"seed": 6}, config)
    assert program.digest() == again.digest() != other.digest()
    assert program.instructions == other.instructions and program.cycle_limit > 1_000_000
    assert all(any(segment.data) for segment in program.segments) and len(program.segments) == 3
    found = run_fast(program)
    assert not found.error and found.cycles == run_fast(other).cycles > 500_000  # cycles do not depend on values
    assert features(program).sizes["avgpool.kx"] == 13  # the counts of a real network


def test_what_is_no_program_of_the_core_is_refused():
    with pytest.raises(ValueError, match="bert_base has layers that the core of large cannot do"):
        networks.generate("bert_base", 1, PRESETS["large"])
    with pytest.raises(GraphError, match="does not fit on the chip"):
        networks.generate("squeezenet1_1", 1, PRESETS["tiny"])


def test_networks_run_on_the_preset_or_on_the_one_configuration():
    (batch,) = plan.plan("networks", "verilator", [1])
    (own,) = plan.plan("networks", "verilator", [1], config=CONFIG)
    assert (batch.config, own.config) == (PRESETS["large"], CONFIG)
    assert [item.source["network"] for item in batch.items] == [*networks.NETWORKS]
    assert [item.source for item in own.items] == [item.source for item in batch.items]
