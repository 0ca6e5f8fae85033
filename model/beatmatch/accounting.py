# SPDX-License-Identifier: Apache-2.0
"""Where the cycles of a run went, in the categories of Table 3 of the TPU paper (ISCA 2017)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from beatmatch.config import Config


@dataclass(frozen=True)
class Accounting:
    """Cycles of one run by category; active, weight shift, weight stall and non-matrix add up to all cycles.

    Attributes
    ----------
    cycles : int
        From start to done.
    active : int
        An activation row entered the array.
    weight_shift, weight_stall : int
        A tile's first row waited: for weights on their way into the array, or for weights that are not there.
    non_matrix : int
        The rest; ``raw_stall`` and ``input_stall`` of it had the matrix unit waiting for a semaphore, without and
        with load at work.
    useful_macs : int
        Multiply-accumulates of used rows and columns.
    peak_macs : int
        Multiply-accumulates per cycle of the array.
    """

    cycles: int
    active: int
    weight_shift: int
    weight_stall: int
    non_matrix: int
    raw_stall: int
    input_stall: int
    useful_macs: int
    peak_macs: int

    @classmethod
    def of(cls, counters, config: Config) -> Accounting:
        """From an object with the counters as attributes (the model's host, or registers read back)."""
        names = (
            "cycles",
            "active",
            "weight_shift",
            "weight_stall",
            "non_matrix",
            "raw_stall",
            "input_stall",
            "useful_macs",
        )
        return cls(*(getattr(counters, name) for name in names), config.peak_macs)

    @property
    def utilization(self) -> float:
        """Useful multiply-accumulates over what the array could have done, 0 to 1."""
        return self.useful_macs / (self.cycles * self.peak_macs) if self.cycles else 0.0

    def shares(self) -> dict[str, float]:
        """Share of the cycles per category, 0 to 1; ``active`` is split into useful and unused work."""
        total = self.cycles or 1
        useful = self.useful_macs / self.peak_macs
        return {
            "active_useful": useful / total,
            "active_unused": (self.active - useful) / total,
            "weight_shift": self.weight_shift / total,
            "weight_stall": self.weight_stall / total,
            "non_matrix": self.non_matrix / total,
            "raw_stall": self.raw_stall / total,
            "input_stall": self.input_stall / total,
        }

    def to_dict(self) -> dict[str, float]:
        """Counters, shares and utilization, ready for JSON."""
        return {**asdict(self), "utilization": self.utilization, "shares": self.shares()}
