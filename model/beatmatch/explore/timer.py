# SPDX-License-Identifier: Apache-2.0
"""The one place where a layer or a network is timed; runs in workers, so it takes and gives plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache

from beatmatch.config import Config
from beatmatch.explore.changes import Machine
from beatmatch.explore.keys import nameless
from beatmatch.memory import MemoryTiming
from beatmatch.networks.graph import Graph
from beatmatch.networks.read import read_network
from beatmatch.networks.result import LayerResult
from beatmatch.networks.timing import time_layer, time_network

Dims = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Task:
    """One timing.

    Attributes
    ----------
    key : str
        Of its record in the cache.
    network : str
    dims : tuple of (str, int)
    node : int or None
        The layer by its place in the graph; None is the whole network.
    machine : Machine
    """

    key: str
    network: str
    dims: Dims
    node: int | None
    machine: Machine


@lru_cache(maxsize=4)
def graph_of(network: str, dims: Dims) -> Graph:
    """A network's graph; each process reads it once."""
    return read_network(network, dict(dims) or None)


def run(task: Task) -> dict:
    """The record of a task: ``layers``, or the ``reason`` why the machine cannot run it."""
    return record(graph_of(task.network, task.dims), task.node, task.machine.config, task.machine.memory)


def record(graph: Graph, node: int | None, config: Config, memory: MemoryTiming) -> dict:
    """As `run`, for a graph."""
    try:
        if node is None:
            return {"layers": [_plain(layer) for layer in time_network(graph, config, memory).layers]}
        alone = nameless(graph, graph.nodes[node])
        return {"layers": [_plain(time_layer(alone, alone.nodes[0], config, memory))]}
    except ValueError as error:  # all refusals of the package are ValueErrors
        return {"reason": str(error)}


def _plain(layer: LayerResult) -> Mapping[str, object]:
    """A layer's fields, ready for JSON."""
    data = dict(vars(layer))
    data["shape"] = list(layer.shape)
    data["accounting"] = asdict(layer.accounting) if layer.accounting else None
    return data
