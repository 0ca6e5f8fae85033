# SPDX-License-Identifier: Apache-2.0
"""Regressions in small, under Icarus: parts, resume, and all that can go wrong with a simulator."""

import dataclasses
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from beatmatch.config import Config
from tb.lockstep.campaign import Batch
from tb.lockstep.failure import Failure
from tb.lockstep.job import Item
from tb.lockstep.report import Divergence
from tb.lockstep.streams import derive
from tb.regress import engine, execute, failures, plan, pools, regression
from tb.regress.chunks import Chunk
from tb.regress.regression import Options
from tb.regress.store import Store

CONFIG = Config(4, 4, 64, 2, 32, 2, 2, 2, 32, 2, 4, "regress")
SHORT = (9, 5, 56)
"""Numbers of short programs of seed 1 on this configuration."""
pytestmark = pytest.mark.icarus


def quiet():
    return Console(file=io.StringIO(), width=120)


def batches():
    items = [Item(index, {"random": derive(1, "program", number)}) for index, number in enumerate(SHORT)]
    return [Batch(CONFIG, items)]


def store_of(path, resume=False):
    return Store(path, {"kind": "test"}, resume)


def run(store, patches=()):
    items = tuple(batches()[0].items)
    left = Chunk(CONFIG, "icarus", items).without(store.done())
    with pools.local(1) as pool:
        engine.run([left] if left else [], pool, 1, store, patches=patches)
    return store


@pytest.fixture(scope="module")
def good_file(tmp_path_factory):
    """The results of the programs as they run undisturbed."""
    path = tmp_path_factory.mktemp("good") / "run.jsonl"
    run(store_of(path))
    return path


@pytest.fixture
def good(good_file):
    """The trace hashes of these results."""
    store = store_of(good_file, resume=True)
    assert sorted(store.results) == [0, 1, 2] and not store.crashes
    assert all(result.divergence is None and result.cycles > 300 for result in store.results.values())
    return {index: result.sha256 for index, result in store.results.items()}


@pytest.fixture
def small_plan(monkeypatch):
    volume = plan.Volume(2, 0, 1, programs=2, cycles=1000)
    monkeypatch.setitem(plan.VOLUMES, "smoke", {"verilator": volume, "icarus": volume})


def test_a_run_leaves_its_part_its_history_and_nothing_to_resume(tmp_path, small_plan):
    options = Options("smoke", ("icarus",), config=CONFIG, jobs=1, root=tmp_path)
    (part,) = regression.run(options, quiet())
    written = json.loads((tmp_path / "custom/parts/smoke-icarus.json").read_text())
    assert written["programs"] == 2 and written["cycles"] > 1000 and written["mismatches"] == 0
    assert written["events"] > 0 and written["digests"] > written["cycles"] and "load" in written["features"]
    assert written["trace_sha256"] == part["trace_sha256"] and len(written["slowest"]) == 2
    assert regression.problems([part | {"steady": True}]) == []  # whoever edits the sources while this test runs
    options.resume = True
    (again,) = regression.run(options, quiet())
    assert again["trace_sha256"] == part["trace_sha256"] and again["cpu_seconds"] == part["cpu_seconds"]
    history = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert [row["cycles"] for row in history] == [part["cycles"]] * 2


def test_a_crash_costs_one_program(tmp_path, good):
    store = run(store_of(tmp_path / "run.jsonl"), ["tests.regress.hostile:dies"])
    # The piece restarts behind the victim: there is one program left, so it is struck no more.
    assert {index: result.sha256 for index, result in store.results.items()} == {0: good[0], 2: good[2]}
    assert list(store.crashes) == [1] and "died before its tests ended" in store.crashes[1]["text"]
    (found,) = failures.collect(batches(), "icarus", store)
    assert found["kind"] == "crash" and found["seed"] == batches()[0].items[1].source["random"]
    assert found["replay"].startswith("beatmatch lockstep sim_build/") and found["replay"].endswith("--sim icarus")


def test_a_simulator_that_hangs_is_ended(tmp_path, good, monkeypatch):
    monkeypatch.setattr(execute, "POLL_SECONDS", 0.02)
    items = tuple(batches()[0].items[:2])
    outcome = execute.execute(Chunk(CONFIG, "icarus", items), ["tests.regress.hostile:hangs"], stall=20.0)
    assert outcome.kind == "timeout" and [result.sha256 for result in outcome.results] == [good[0]]


def test_a_run_can_be_stopped():
    execute.STOP.set()
    try:
        assert execute.execute(Chunk(CONFIG, "icarus", tuple(batches()[0].items))).kind == "stopped"
    finally:
        execute.STOP.clear()


def test_a_stopped_run_goes_on_where_it_was(tmp_path, good, good_file):
    path = tmp_path / "run.jsonl"
    lines = good_file.read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"index": 2' not in line]
    path.write_text("".join(kept) + '{"result": {"ind')  # killed while it wrote the last result
    store = store_of(path, resume=True)
    assert store.resumed and store.done() == {0, 1}
    before = store.results[0].cpu_seconds
    run(store)
    assert {index: result.sha256 for index, result in store.results.items()} == good
    assert store.results[0].cpu_seconds == before, "a program that was done ran again"


def test_a_divergence_has_a_bucket_a_seed_and_a_replay_line(tmp_path, good_file, monkeypatch):
    path = tmp_path / "run.jsonl"
    path.write_text(good_file.read_text())
    store = store_of(path, resume=True)
    late = Divergence("late", 7, 7, 9, "load", "write", "data", "1", "2")
    for index in (0, 2):
        store.add(dataclasses.replace(store.results[index], divergence=late.to_dict()))
    found = failures.collect(batches(), "icarus", store, ["tests.sim.model_faults:model_no_swap"])
    (row,) = failures.buckets(found)
    assert (row["kind"], row["station"], row["place"], row["count"]) == ("late", "load", "write.data", 2)
    assert [failure["seed"] for failure in found] == [batches()[0].items[index].source["random"] for index in (0, 2)]
    saved = Failure.load(Path(found[0]["replay"].removeprefix("make replay RUN=")))
    assert saved.program.seed == found[0]["seed"] and saved.patches == ["tests.sim.model_faults:model_no_swap"]

    shorter = saved.program.replace(instructions=saved.program.instructions[:2])
    monkeypatch.setattr(failures.shrink, "shrink", lambda failed: dataclasses.replace(failed, program=shorter))
    failures.shrink_first([row])
    assert found[0]["small"] == found[0]["replay"] + "-small" and found[0]["small_instructions"] == 2


def test_the_pieces_run_on_a_dask_cluster(tmp_path, good):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'beatmatch[cluster]'")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as machines:
        store = store_of(tmp_path / "run.jsonl")
        with pools.cluster(machines.scheduler_address) as (pool, workers):
            assert workers == 1
            chunk = Chunk(CONFIG, "icarus", tuple(batches()[0].items))
            engine.run([chunk], pool, workers, store, shared_builds=False)
    assert {index: result.sha256 for index, result in store.results.items()} == good
