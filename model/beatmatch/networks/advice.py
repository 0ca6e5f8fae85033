# SPDX-License-Identifier: Apache-2.0
"""Advice in plain words: what wastes the array, in which layers, and what network or machine would not.

Every sentence is made from the figures that it names. Remedies say what the lowering of today makes of a changed
network (`tests/networks/test_remedies.py` runs them); they are no promise about accuracy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from beatmatch.networks.losses import CAUSES, Loss, losses
from beatmatch.networks.result import NetworkResult
from beatmatch.networks.sentences import SENTENCES

LEAST = 0.02
"""Share of all cycles below which a cause is not worth a sentence."""
LEAST_TRAFFIC = 1.5
"""Times the minimum that memory traffic may reach before it is worth one."""


@dataclass(frozen=True)
class Advice:
    """One way in which cycles are lost.

    Attributes
    ----------
    cause : str
        Of `losses.CAUSES`, or ``traffic``.
    cycles : int
        Lost to it; for traffic, the cycles in which the array waited for memory, which other causes may count as well.
    share : float
        Of all cycles, 0 to 1.
    layers : tuple of str
        That lose them, the worst first.
    text, remedy : str
        What happens, and what would not: whole sentences.
    """

    cause: str
    cycles: int
    share: float
    layers: tuple[str, ...]
    text: str
    remedy: str

    def to_dict(self) -> dict:
        """Plain values, ready for JSON."""
        return {**asdict(self), "layers": list(self.layers)}

    def __str__(self) -> str:
        return f"{self.text} {self.remedy}"


def advice(result: NetworkResult, least: float = LEAST) -> list[Advice]:
    """What is worth changing, by cycles lost; empty if nothing is.

    Parameters
    ----------
    result : NetworkResult
    least : float
        Share of all cycles from which a cause is named.
    """
    found = losses(result)
    given = []
    for cause in CAUSES:
        part = [loss for loss in found if loss.cause == cause]
        lost = sum(loss.cycles for loss in part)
        if part and lost >= least * result.cycles:
            text, remedy = SENTENCES[cause](part, result)
            given.append(_advice(cause, lost, result, [loss.layer.name for loss in part], text, remedy))
    given.sort(key=lambda one: -one.cycles)
    return given + _traffic(result, found)


def _advice(cause: str, cycles: float, result: NetworkResult, layers: Sequence[str], text: str, remedy: str) -> Advice:
    share = cycles / result.cycles if result.cycles else 0.0
    return Advice(cause, round(cycles), share, tuple(layers), text, remedy)


def _traffic(result: NetworkResult, found: Sequence[Loss]) -> list[Advice]:
    """A word on memory traffic far above the minimum."""
    total = result.memory_bytes
    moved = total["read"] + total["written"]
    if not total["minimum"] or moved < LEAST_TRAFFIC * total["minimum"]:
        return []
    extra: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for row in result.traffic:
        extra[row.layer] += row.read + row.written - row.minimum
        kinds[row.kind] += row.read + row.written - row.minimum
    waited = sum(loss.cycles for loss in found if loss.cause in ("weight_stall", "inputs"))
    (kind, most), (worst, size) = kinds.most_common(1)[0], extra.most_common(1)[0]
    text = (
        f"Memory moves {moved:,} bytes where {total['minimum']:,} have to ({moved / total['minimum']:.1f} times); "
        f"{most:,} of the rest are {_KINDS.get(kind, kind)}, and {worst} alone moves {size:,} more than it has to. "
        f"The array waited {waited:,.0f} cycles for memory."
    )
    layers = [name for name, size in extra.most_common() if size > 0]
    return [_advice("traffic", waited, result, layers, text, _LESS.get(kind, _LESS[""]))]


_KINDS = {
    "weights": "weights (tiles are padded to the array's size, and read again where they are not kept)",
    "activation": "activations that did not stay on the chip",
    "input": "inputs that are read more than once",
    "program": "instructions",
}
_LESS = {
    "weights": "Channels in multiples of the array's sizes pad nothing; more scratchpad (sp_words) keeps weights.",
    "program": "Larger layers need fewer instructions per byte.",
    "": "More scratchpad (sp_words) keeps them on the chip.",
}
