# SPDX-License-Identifier: Apache-2.0
"""Roofline: what array and memory port allow, and what each layer reached in its window."""

from __future__ import annotations

from dataclasses import dataclass

from beatmatch.networks.result import LayerResult, NetworkResult


@dataclass(frozen=True)
class Roof:
    """What no layer can exceed.

    Attributes
    ----------
    peak : int
        Multiply-accumulates per cycle of the array.
    reads, both : float
        Bytes per cycle of the memory port: reads alone, and reads and writes at the same time.
    """

    peak: int
    reads: float
    both: float

    def at(self, intensity: float) -> float:
        """Multiply-accumulates per cycle at this many multiply-accumulates per byte."""
        return min(self.peak, self.both * intensity)


@dataclass(frozen=True)
class Point:
    """One layer.

    Attributes
    ----------
    layer : LayerResult
    intensity : float
        Its multiply-accumulates per byte over the memory port.
    reached : float
        Multiply-accumulates per cycle of its window.
    """

    layer: LayerResult
    intensity: float
    reached: float


def roof_of(result: NetworkResult) -> Roof:
    """The roofs of a result's configuration and memory; a weight port of its own counts as reads."""
    config, memory = result.config, result.memory
    reads = _rate(memory.get("read_bandwidth"), config.mem_bytes)
    writes = 0.0 if memory.get("shared") else _rate(memory.get("write_bandwidth"), config.mem_bytes)
    if config.weight_port:
        weights = result.options.get("weight_memory") or memory
        reads += _rate(weights.get("read_bandwidth"), config.mem_bytes)
    return Roof(config.peak_macs, reads, reads + writes)


def points(result: NetworkResult) -> list[Point]:
    """The core's layers with products and traffic; a layer that moves nothing has no intensity."""
    found = []
    for layer in result:
        moved = layer.read_bytes + layer.written_bytes
        if layer.accounting is not None and layer.macs and layer.cycles and moved:
            reached = layer.shares(result.config)["useful"] * result.config.peak_macs
            found.append(Point(layer, layer.macs / moved, reached))
    return found


def _rate(bandwidth, beat: int) -> float:
    return min(beat, bandwidth[0] / bandwidth[1]) if bandwidth else float(beat)
