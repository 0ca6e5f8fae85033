# SPDX-License-Identifier: Apache-2.0
"""What timing a network gives: per layer and in total where the cycles went, what moved, and what it is worth.

Everything that shows, stores or compares networks starts from `NetworkResult`; `beatmatch.networks.timing` makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from beatmatch.accounting import Accounting
from beatmatch.config import Config
from beatmatch.fidelity import EXACT, UNPROVEN

FREE, ESTIMATE = "free", "estimate"
"""Besides `EXACT` and `UNPROVEN`: a layer that moves nothing, and one that is priced, not run."""


@dataclass(frozen=True)
class Traffic:
    """What one tensor moved over the memory port.

    Attributes
    ----------
    tensor : str
    kind : str
        ``weights``, ``parameters``, ``input``, ``output``, ``activation``, or ``program`` (instructions).
    layer : str
        The layer that moved it.
    read, written : int
        Bytes in whole beats, as the port's counters count them.
    minimum : int
        Bytes that any machine with these layers has to move: each constant, input and output once, no activation.
    """

    tensor: str
    kind: str
    layer: str
    read: int
    written: int
    minimum: int


@dataclass(frozen=True)
class LayerResult:
    """One node of the graph.

    Attributes
    ----------
    name, op : str
        The node's, as in the graph.
    where : str
        ``core``, ``free`` or ``estimate``.
    shape : tuple of int
        Of its output, in the graph's order of axes.
    macs : int
        Multiply-accumulates of the network (not those that the padding of tiles adds).
    start, end : int
        Its window of cycles, from the network's start: layers overlap, so the window of a layer ends with its last
        result, and the next one's begins there. Windows add up to the network's cycles.
    accounting : Accounting or None
        Of the window; None if nothing ran on the core.
    read_bytes, written_bytes, minimum_bytes : int
        Over the memory port, as in `Traffic`.
    fidelity : str
        ``exact``, ``unproven``, ``estimate`` or ``free``.
    note : str
        How it was cut (bands, where its weights live), or why it is an estimate: a sentence or empty.
    fill_rows, fill_cols : float
        Mean share of the array's rows and columns with useful work while it was active, 0 to 1; 0 without products.
    window_macs : float or None
        Multiply-accumulates that the core made within the window, whosever they are: the array may begin a layer while
        the vector unit still ends the one before. Sums over the core's layers to their ``macs``. None: ``macs``.
    groups : int
        Of a convolution: its input channels are that many sets, each for its own outputs.
    """

    name: str
    op: str
    where: str
    shape: tuple[int, ...]
    macs: int
    start: int
    end: int
    accounting: Accounting | None
    read_bytes: int
    written_bytes: int
    minimum_bytes: int
    fidelity: str
    note: str = ""
    fill_rows: float = 0.0
    fill_cols: float = 0.0
    window_macs: float | None = None
    groups: int = 1

    @property
    def cycles(self) -> int:
        """Cycles of the window."""
        return self.end - self.start

    def shares(self, config: Config) -> dict[str, float]:
        """Shares of the window's cycles that add up to 1.

        ``useful`` counts the multiply-accumulates of the window at the array's peak, ``unused`` the rest of the cycles
        in which rows entered the array; then ``weight_stall``, ``weight_shift``, ``raw_stall``, ``input_stall``,
        ``other`` (the rest of non-matrix) and ``estimate``.
        """
        cycles = self.cycles or 1
        if self.accounting is None:
            return {**dict.fromkeys(SHARES, 0.0), "estimate": 1.0 if self.cycles else 0.0}
        found = self.accounting
        useful = (self.macs if self.window_macs is None else self.window_macs) / config.peak_macs
        stalls = {name: getattr(found, name) for name in ("weight_stall", "weight_shift", "raw_stall", "input_stall")}
        counts = {"useful": useful, "unused": found.active - useful, **stalls}
        counts["other"] = found.non_matrix - found.raw_stall - found.input_stall
        counts["estimate"] = self.cycles - found.cycles
        return {name: counts[name] / cycles for name in SHARES}

    def to_dict(self, config: Config) -> dict:
        """Plain values, ready for JSON and for a row of a table."""
        data = {key: value for key, value in self.__dict__.items() if key not in ("accounting", "shape")}
        data |= {"shape": list(self.shape), "cycles": self.cycles, "shares": self.shares(config)}
        data["accounting"] = asdict(self.accounting) if self.accounting else None
        data["utilization"] = data["shares"]["useful"]
        return data


SHARES = (
    "useful", "unused", "weight_stall", "weight_shift", "raw_stall", "input_stall", "other", "estimate",
)  # fmt: skip
"""Categories of `LayerResult.shares`, in the order in which bars stack them."""


@dataclass(frozen=True)
class NetworkResult:
    """A network on a configuration.

    Attributes
    ----------
    name, source : str
        Of the graph.
    config : Config
    memory : dict
        The memory timing, as `MemoryTiming.to_dict` gives it.
    layers : list of LayerResult
        In the order of the graph; their windows add up.
    traffic : list of Traffic
    cpu_seconds, peak_rss_mb : float
        What it took from graph to result: processor time, and the process's largest memory so far.
    reason : str
        What the exact part is worth, in a sentence.
    options : dict
        What else the result depends on: the prices of estimates, dims.
    """

    name: str
    source: str
    config: Config
    memory: dict
    layers: list[LayerResult]
    traffic: list[Traffic]
    cpu_seconds: float
    peak_rss_mb: float
    reason: str = ""
    options: dict = field(default_factory=dict)

    def __iter__(self) -> Iterator[LayerResult]:
        return iter(self.layers)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the network."""
        return sum(layer.macs for layer in self.layers)

    @property
    def cycles(self) -> int:
        """All cycles, estimates included."""
        return self.layers[-1].end if self.layers else 0

    @property
    def estimated_cycles(self) -> int:
        """The cycles that were priced, not run."""
        return sum(layer.cycles for layer in self.layers if layer.accounting is None)

    @property
    def utilization(self) -> float:
        """Multiply-accumulates that the array made over what it could have made in all cycles, 0 to 1.

        Those of an estimate were not made by the array.
        """
        return self.shares()["useful"]

    @property
    def fidelity(self) -> str:
        """The weakest of the layers': ``estimate``, ``unproven`` or ``exact``."""
        found = {layer.fidelity for layer in self.layers}
        return next((label for label in (ESTIMATE, UNPROVEN, EXACT) if label in found), FREE)

    @property
    def memory_bytes(self) -> dict[str, int]:
        """Bytes read and written over the memory port, and the least that any machine has to move."""
        return {
            "read": sum(item.read for item in self.traffic),
            "written": sum(item.written for item in self.traffic),
            "minimum": sum(item.minimum for item in self.traffic),
        }

    def shares(self) -> dict[str, float]:
        """Shares of all cycles per category, adding up to 1."""
        cycles = self.cycles or 1
        parts = [(layer.cycles, layer.shares(self.config)) for layer in self.layers]
        return {name: sum(count * shares[name] for count, shares in parts) / cycles for name in SHARES}

    def rows(self) -> list[dict]:
        """One flat dictionary per layer: `pandas.DataFrame(result.rows())` is the table."""
        flat = []
        for layer in self.layers:
            data = layer.to_dict(self.config)
            data.pop("accounting")
            shares = data.pop("shares")
            flat.append({**data, "shape": "x".join(map(str, layer.shape)), **shares})
        return flat

    def to_dict(self) -> dict:
        """Everything, ready for JSON."""
        return {
            "network": self.name,
            "source": self.source,
            "config": self.config.to_dict(),
            "config_digest": self.config.digest(),
            "memory": self.memory,
            "options": self.options,
            "macs": self.macs,
            "cycles": self.cycles,
            "estimated_cycles": self.estimated_cycles,
            "utilization": self.utilization,
            "accounting": self.shares(),
            "memory_bytes": self.memory_bytes,
            "fidelity": self.fidelity,
            "reason": self.reason,
            "cpu_seconds": self.cpu_seconds,
            "peak_rss_mb": self.peak_rss_mb,
            "layers": [layer.to_dict(self.config) for layer in self.layers],
            "traffic": [asdict(item) for item in self.traffic],
        }

    @classmethod
    def from_dict(cls, data: dict) -> NetworkResult:
        """Inverse of `to_dict`; raises ResultError."""
        from beatmatch.networks.saved import result_of

        return result_of(data)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from beatmatch.networks.report.notebook import summary

        return summary(self)


def load(path: str | Path) -> NetworkResult:
    """A result from the JSON file that it was saved to; raises ResultError."""
    from beatmatch.networks import saved

    return saved.load(path)
