# SPDX-License-Identifier: Apache-2.0
"""Names and figures as people read them, the same in terminal, page, and notebook."""

from __future__ import annotations

from beatmatch.networks.result import ESTIMATE, FREE, LayerResult, NetworkResult

WHERE = {
    "useful": "useful work",
    "unused": "array fed, PEs unused",
    "weight_stall": "no weights",
    "weight_shift": "weights on their way in",
    "raw_stall": "waits for other engines",
    "input_stall": "waits for load",
    "other": "no matrix work",
    "estimate": "estimate, priced not run",
}
"""Categories of cycles in the order of the bars, with what people call them."""

FIDELITY = {
    "exact": "exact: inside what has been in lockstep with the RTL",
    "unproven": "unproven: the model says so, nobody has looked whether the RTL agrees",
    "estimate": "estimate: priced by a declared host, not run",
    "free": "free: nothing moves",
}
"""What the labels mean."""


def count(value: float) -> str:
    """A number with thousands."""
    return f"{value:,.0f}"


def short(value: float) -> str:
    """A number in at most three digits and a letter for thousands, millions and so on."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * scale:
            return f"{value / scale:#.3g}".rstrip(".") + letter
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """A share of 0 to 1."""
    return f"{100 * share:.1f} %"


def size(layer: LayerResult) -> str:
    """The shape of a layer's output."""
    return "x".join(map(str, layer.shape))


def machine(result: NetworkResult) -> str:
    """Its configuration in a few words."""
    config = result.config
    return f"{config.name or 'custom'}, {config.rows} x {config.cols}"


def ratio(moved: float, minimum: float) -> str:
    """How often the minimum was moved."""
    if not minimum:
        return "no minimum" if moved else "-"
    times = moved / minimum
    return f"{times:,.2f} x" if times < 1000 else "> 999 x"


def totals(result: NetworkResult) -> dict[str, str]:
    """The headline figures: label and text."""
    memory = result.memory_bytes
    moved = memory["read"] + memory["written"]
    facts = {
        "cycles": count(result.cycles),
        "of the array's peak was useful work": percent(result.utilization),
        "multiply-accumulates": count(result.macs),
        "bytes over the memory port": count(moved),
        "of the least that has to move": ratio(moved, memory["minimum"]),
        "of the cycles are estimates": percent(result.estimated_cycles / (result.cycles or 1)),
    }
    return facts


def standing(result: NetworkResult) -> str:
    """What the result is worth, in a sentence or two."""
    priced = [layer for layer in result if layer.fidelity == ESTIMATE]
    run = {layer.fidelity for layer in result} - {ESTIMATE, FREE}
    label = next((name for name in ("unproven", "exact") if name in run), None)
    parts = [f"What ran on the core is {label}. {result.reason}".strip()] if label else []
    if priced:
        share = percent(result.estimated_cycles / (result.cycles or 1))
        parts.append(f"{len(priced)} of {len(result.layers)} layers, {share} of the cycles, are priced, not run.")
    return " ".join(parts) or "Nothing ran."
