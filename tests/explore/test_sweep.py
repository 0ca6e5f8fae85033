# SPDX-License-Identifier: Apache-2.0
"""A sweep gives one table: on a rerun, for any number of workers, behind a kill, from the cache or fresh."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from threading import Timer
from types import SimpleNamespace

import pytest

from beatmatch.explore import sweep, timer
from beatmatch.explore.cache import Cache
from beatmatch.explore.columns import COLUMNS
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.pools import local, ray
from beatmatch.explore.store import read_parquet, write_parquet
from beatmatch.explore.totals import totals
from tests.explore import studies
from tests.explore.studies import SWEEP

DISTINCT = 12
"""Three distinct layers on four machines that can be built."""

KILLED = """
import os, signal, sys
from pathlib import Path
from beatmatch.explore import sweep
from beatmatch.explore.cache import Cache
from beatmatch.explore.pools import local
from tests.explore import studies

folder = Path(sys.argv[1])
plan = sweep.plan(studies.study(folder, *studies.SWEEP))
with Cache(folder / "cache.sqlite") as cache, local(1) as submit:
    sweep.execute(plan, cache, submit, 1, lambda done, total: done < 4 or os.kill(os.getpid(), signal.SIGKILL))
"""


def parquet(rows, folder, name: str) -> bytes:
    write_parquet(rows, folder / name)
    return (folder / name).read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The table by one worker and an empty cache, as bytes, and the folder with both."""
    folder = tmp_path_factory.mktemp("reference")
    rows, timed = studies.run(studies.study(folder, *SWEEP), folder / "cache.sqlite")
    assert timed == DISTINCT
    return rows, parquet(rows, folder, "table.parquet"), folder


def test_a_rerun_times_nothing_and_gives_the_same_bytes(reference):
    _, data, folder = reference
    again, timed = studies.run(studies.study(folder, *SWEEP), folder / "cache.sqlite")
    assert timed == 0 and parquet(again, folder, "again.parquet") == data


def test_two_workers_give_the_same_bytes(reference, tmp_path):
    _, data, folder = reference
    rows, timed = studies.run(studies.study(folder, *SWEEP), tmp_path / "cache.sqlite", workers=2)
    assert timed == DISTINCT and parquet(rows, tmp_path, "table.parquet") == data


def test_the_table_is_whole(reference):
    rows, _, folder = reference
    assert [list(row) for row in rows] == [list(COLUMNS)] * len(rows)
    built = [row for row in rows if row["config"]]
    assert len(built) == 4 * 4 and len(rows) == len(built) + 4  # layers x machines, and a row for each that is none
    assert {row["name"] for row in built} == {"first", "twin", "wide", "long"}
    for row in built:
        assert row["reason"] == "" and row["cycles"] >= row["active"] + row["weight_stall"] + row["weight_shift"] > 0
        assert row["macs"] <= row["cycles"] * row["rows"] * row["cols"]
    assert all("acc_rows is 48" in row["reason"] and row["cycles"] is None for row in rows if not row["config"])
    assert read_parquet(folder / "table.parquet") == rows


def test_equal_layers_are_timed_once_and_equal_a_fresh_timing(reference):
    rows, _, folder = reference
    study = studies.study(folder, *SWEEP)
    plan = sweep.plan(study)
    assert plan.points == 20 and len(plan.tasks) == DISTINCT
    by_layer = {(row["point"], row["name"]): row for row in rows if row["config"]}
    graph = timer.graph_of(study.networks[0], ())
    for point in study.points():
        if point.machine:
            fresh = timer.record(graph, 1, point.machine.config, point.machine.memory)["layers"][0]
            twins = [by_layer[point.label, name] for name in ("first", "twin")]
            assert [row["cycles"] for row in twins] == [fresh["end"] - fresh["start"]] * 2
            assert {**twins[0], "name": "", "layer": 0} == {**twins[1], "name": "", "layer": 0}


class MadeUpRay:
    """As much of Ray as the pool uses, in this process."""

    def __init__(self, processors: int) -> None:
        self.processors, self.running = processors, False

    def init(self, address: str, **_: object) -> None:
        if address == "nowhere":
            raise ConnectionError("Could not find any running Ray instance.")
        self.running = True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.processors)}

    def remote(self, function):
        def call(*arguments) -> SimpleNamespace:
            future: Future = Future()
            future.set_result(function(*arguments))
            return SimpleNamespace(future=lambda: future)

        return SimpleNamespace(remote=call)

    def shutdown(self) -> None:
        self.running = False


def test_a_cluster_gives_the_same_bytes(reference, tmp_path, monkeypatch):
    _, data, folder = reference
    engine = MadeUpRay(3)
    monkeypatch.setitem(sys.modules, "ray", engine)
    plan = sweep.plan(studies.study(folder, *SWEEP))
    with Cache(tmp_path / "cache.sqlite") as cache, ray("auto") as (submit, workers):
        assert workers == 3 and engine.running
        assert sweep.execute(plan, cache, submit, workers) == DISTINCT
        rows = sweep.table(plan, cache)
    assert not engine.running and parquet(rows, tmp_path, "table.parquet") == data


@pytest.mark.parametrize(
    ("address", "processors", "says"),
    [("nowhere", 1, "No Ray cluster answers at nowhere"), ("auto", 0, "no processors")],
)
def test_a_cluster_that_cannot_be_used(monkeypatch, address, processors, says):
    engine = MadeUpRay(processors)
    monkeypatch.setitem(sys.modules, "ray", engine)
    with pytest.raises(ExploreError, match=says), ray(address):
        raise AssertionError("it was used")
    assert not engine.running


def test_a_killed_sweep_goes_on_where_it_stopped(reference, tmp_path):
    _, data, _ = reference
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    killed = subprocess.run(command, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    rows, timed = studies.run(studies.study(tmp_path, *SWEEP), tmp_path / "cache.sqlite")
    assert timed == DISTINCT - 4
    names = {row["network"] for row in rows}
    assert len(names) == 1  # the folder's name is in the table: the rest has to be equal
    reference_name = reference[0][0]["network"]
    assert parquet([{**row, "network": reference_name} for row in rows], tmp_path, "table.parquet") == data


def test_ctrl_c_keeps_what_was_timed(tmp_path):
    def interrupt(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    plan = sweep.plan(studies.study(tmp_path, *SWEEP))
    with Cache(tmp_path / "cache.sqlite") as cache, local(1) as submit:
        with pytest.raises(KeyboardInterrupt):
            sweep.execute(plan, cache, submit, 1, interrupt)
        assert len(cache.get(plan.tasks)) >= 4


def test_ctrl_c_in_a_pool_finishes_what_runs_and_starts_no_more(tmp_path):
    plan = sweep.plan(studies.study(tmp_path, *SWEEP))
    started: list[Future] = []

    def submit(function, *arguments) -> Future:
        future: Future = Future()
        if len(started) < 2:  # two processors: these run, the others wait
            future.set_running_or_notify_cancel()
            Timer(0.2 + len(started) / 2, lambda: future.set_result(function(*arguments))).start()
        started.append(future)
        return future

    def interrupt(done: int, total: int) -> None:
        if done >= 1:
            raise KeyboardInterrupt

    with Cache(tmp_path / "cache.sqlite") as cache:
        with pytest.raises(KeyboardInterrupt):
            sweep.execute(plan, cache, submit, 2, interrupt)
        assert len(cache.get(plan.tasks)) == 2
    assert [future.cancelled() for future in started] == [False] * 2 + [True] * (len(started) - 2)


def test_an_unexpected_error_says_what_was_timed(tmp_path):
    plan = sweep.plan(studies.study(tmp_path, "rows=4"))

    def submit(function, *arguments) -> Future:
        future: Future = Future()
        future.set_exception(ZeroDivisionError("a bug"))
        return future

    with Cache(tmp_path / "cache.sqlite") as cache, pytest.raises(ZeroDivisionError) as found:
        sweep.execute(plan, cache, submit, 1)
    assert "net.csv, node " in found.value.__notes__[0]


def test_a_worker_that_dies_is_named(tmp_path):
    plan = sweep.plan(studies.study(tmp_path, "rows=4"))

    def submit(function, *arguments) -> Future:
        future: Future = Future()
        future.set_exception(BrokenProcessPool("a child process terminated"))
        return future

    with Cache(tmp_path / "cache.sqlite") as cache, pytest.raises(ExploreError, match="fewer --jobs"):
        sweep.execute(plan, cache, submit, 1)


def test_a_layer_without_room_is_a_row_with_a_reason(tmp_path):
    table = "Layer, M, N, K,\nsmall, 4, 4, 8,\nhuge, 4, 8, 300000,\n"
    study = studies.study(tmp_path, "sp_words=32")
    studies.network(tmp_path, table)
    timer.graph_of.cache_clear()
    rows, _ = studies.run(study, tmp_path / "cache.sqlite")
    small, huge = rows
    assert small["cycles"] and not small["reason"]
    assert huge["cycles"] is None and "not" in huge["reason"]
    (total,) = totals(rows)
    assert total.cycles is None and total.reason.startswith("huge")


def test_the_whole_network_is_one_timing_with_the_same_multiply_accumulates(reference, tmp_path):
    rows, _, _ = reference
    study = studies.study(tmp_path, "rows=4", granularity="network")
    whole, timed = studies.run(study, tmp_path / "cache.sqlite")
    assert timed == 1 and [row["name"] for row in whole] == ["first", "twin", "wide", "long"]
    alone = [row for row in rows if row["point"] == "rows=4 bandwidth=1x acc_rows=64"]
    assert [row["macs"] for row in whole] == [row["macs"] for row in alone]
    assert sum(row["cycles"] for row in whole) < sum(row["cycles"] for row in alone)  # layers overlap


def test_the_cache_forgets_when_the_sources_change(tmp_path, monkeypatch):
    study = studies.study(tmp_path, "rows=4")
    before = set(sweep.plan(study).tasks)
    monkeypatch.setattr(sweep.keys, "sources", lambda: "another version")
    assert before.isdisjoint(sweep.plan(study).tasks)


def test_a_cache_that_is_none_is_refused(tmp_path):
    path = tmp_path / "cache.sqlite"
    path.write_text("no database, but long enough to be taken for one by its size" * 20)
    with pytest.raises(ExploreError, match="delete it"):
        Cache(path)


@pytest.mark.parametrize("text", [None, "", "PAR1 nonsense"])
def test_what_is_no_table_is_refused(tmp_path, text):
    path = tmp_path / "table.parquet"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ExploreError, match=r"table\.parquet"):
        read_parquet(path)


def test_a_table_that_cannot_be_written_leaves_nothing(reference, tmp_path):
    with pytest.raises(ExploreError, match="cannot be written"):
        write_parquet(reference[0], tmp_path / "no" / "table.parquet")
    assert os.listdir(tmp_path) == []
