# SPDX-License-Identifier: Apache-2.0
"""Run a study: what the cache lacks is timed once, in whatever order and place; the table has one order only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from beatmatch.config import Config
from beatmatch.explore import columns, keys, timer
from beatmatch.explore.cache import Cache
from beatmatch.explore.columns import Row
from beatmatch.explore.errors import ExploreError
from beatmatch.explore.pools import Submit
from beatmatch.explore.study import LAYERS, Point, Study
from beatmatch.explore.timer import Task
from beatmatch.networks.graph import Graph
from beatmatch.networks.lowering.placement import FREE, place

AHEAD = 4
"""Tasks per worker that wait in the pool: enough that none idles, few enough that Ctrl-C is quick."""

Progress = Callable[[int, int], None]
"""Called with the tasks done and all tasks."""


@dataclass
class Plan:
    """What a study needs: the tasks by key, and which key belongs to which row.

    Attributes
    ----------
    study : Study
    tasks : dict of str to Task
        Each distinct timing once.
    places : list
        In the table's order: network, point, and by place of the layer what its node is called and its record's key.
    """

    study: Study
    tasks: dict[str, Task] = field(default_factory=dict)
    places: list[tuple[str, Point, dict[int, tuple[Row, str]]]] = field(default_factory=list)

    @property
    def points(self) -> int:
        """Rows before timing: machines times layers (times networks, if whole networks are timed)."""
        return sum(max(1, len(found)) for _, _, found in self.places)


def plan(study: Study) -> Plan:
    """All timings of a study."""
    result = Plan(study)
    dims = tuple(sorted(study.dims.items()))
    points = study.points()
    machines = {point.machine: keys.machine_key(point.machine) for point in points if point.machine}
    for network in study.networks:
        graph = timer.graph_of(network, dims)
        parts = {config: _parts(graph, study.granularity, config) for config in {m.config for m in machines}}
        for point in points:
            found = {}
            for index, node, content in parts[point.machine.config] if point.machine else ():
                key = keys.digest([study.granularity, content, *machines[point.machine]])
                task = Task(key, network, dims, index if study.granularity == LAYERS else None, point.machine)
                result.tasks.setdefault(key, task)
                found[index] = node, key
            result.places.append((network, point, found))
    return result


def _parts(graph: Graph, granularity: str, config: Config) -> list[tuple[int, Row, str]]:
    """Place, what the row says about the node, and key of each part that is timed.

    Layers that are free in the network (a Relu that the convolution before it does on its way, say) are left out.
    """
    if granularity != LAYERS:
        return [(0, {}, keys.network_key(graph))]
    return [
        (index, {"name": step.node.name, "op": step.node.op}, keys.layer_key(graph, step.node))
        for index, step in enumerate(place(graph, config).steps)
        if step.where != FREE
    ]


def execute(found: Plan, cache: Cache, submit: Submit, workers: int, progress: Progress | None = None) -> int:
    """Time what the cache lacks; each result is kept at once. Returns how many were timed.

    Raises
    ------
    ExploreError
        If a worker died.
    """
    have = cache.get(found.tasks)
    left = [task for key, task in found.tasks.items() if key not in have]
    done, total = len(found.tasks) - len(left), len(found.tasks)
    waiting: dict[Future, Task] = {}
    tasks = iter(left)
    if progress:
        progress(done, total)
    try:
        while _fill(waiting, tasks, submit, AHEAD * workers):
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                task = waiting.pop(future)
                cache.put(task.key, _result(future, task))
                done += 1
            if progress:
                progress(done, total)
    except BrokenProcessPool:
        raise ExploreError(
            "A worker process was ended from outside, perhaps for want of memory; what is done is kept: run the same "
            "command again with fewer --jobs."
        ) from None
    finally:
        _keep_finished(waiting, cache)
    return len(left)


def _result(future: Future, task: Task) -> dict:
    """The record of a task; an error that nobody expects says which task it was."""
    try:
        return future.result()
    except Exception as error:
        error.add_note(f"It was timing {task.network}, node {task.node}, on {task.machine}.")
        raise


def _fill(waiting: dict[Future, Task], tasks: Iterator[Task], submit: Submit, most: int) -> bool:
    """Hand out tasks up to `most`; whether any is under way."""
    while len(waiting) < most and (task := next(tasks, None)):
        waiting[submit(timer.run, task)] = task
    return bool(waiting)


def _keep_finished(waiting: dict[Future, Task], cache: Cache) -> None:
    """Behind a stop: no more tasks start, and what is running is finished and kept."""
    running = {future: task for future, task in waiting.items() if not future.cancel()}
    for future in wait(running).done:
        if not future.exception():
            cache.put(running[future].key, future.result())


def table(found: Plan, cache: Cache) -> list[Row]:
    """The rows of a study that has been executed, in the order of networks, points and layers."""
    result: list[Row] = []
    for network, point, places in found.places:
        records = cache.get(key for _, key in places.values())
        parts = {place: (node, records[key]) for place, (node, key) in places.items()}
        result += columns.rows(network, point, found.study.granularity, parts)
    return result
