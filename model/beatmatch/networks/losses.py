# SPDX-License-Identifier: Apache-2.0
"""Every cycle of a network in which the array could have done more, with its cause and its layer.

Together with the useful ones, these are all cycles: nothing is counted twice and nothing is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from beatmatch.config import Config
from beatmatch.networks.result import LayerResult, NetworkResult

CAUSES = (
    "groups", "rows", "columns", "weight_shift", "weight_stall", "vector", "results", "inputs", "edges", "estimate",
)  # fmt: skip
"""`Loss.cause`: grouped convolutions, padding to the array's rows and columns, weights on their way in, no weights,
layers without products, products that wait for results or for load, the rest of products' windows, and priced work."""


@dataclass(frozen=True)
class Loss:
    """Cycles that one layer loses for one cause.

    Attributes
    ----------
    cause : str
        Of `CAUSES`.
    layer : LayerResult
    cycles : float
    """

    cause: str
    layer: LayerResult
    cycles: float


def losses(result: NetworkResult) -> list[Loss]:
    """All of them, the largest first; with the array's useful cycles they add up to the network's."""
    found = [Loss(cause, layer, cycles) for layer in result for cause, cycles in _of(layer, result.config).items()]
    return sorted((loss for loss in found if loss.cycles > 0), key=lambda loss: -loss.cycles)


def _of(layer: LayerResult, config: Config) -> dict[str, float]:
    """Cycles by cause. Unused PEs count where the layer's own rows ran, stalls in the layer's window."""
    if layer.accounting is None:
        return {"estimate": layer.cycles}
    found = layer.accounting
    rest = found.non_matrix - found.raw_stall - found.input_stall
    lost = {"weight_shift": found.weight_shift, "weight_stall": found.weight_stall}
    if not layer.fill_rows:
        return {**lost, "vector": found.non_matrix}
    lost |= {"results": found.raw_stall, "inputs": found.input_stall, "edges": rest}
    taken = layer.macs / (config.peak_macs * layer.fill_rows * layer.fill_cols)  # rows that entered the array
    if layer.groups > 1:
        return {**lost, "groups": taken * (1 - layer.fill_rows * layer.fill_cols)}
    columns = taken * (1 - layer.fill_cols)
    return {**lost, "columns": columns, "rows": (taken - columns) * (1 - layer.fill_rows)}
