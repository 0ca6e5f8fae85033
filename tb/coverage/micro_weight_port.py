# SPDX-License-Identifier: Apache-2.0
"""Coverage groups: the weight port beside the memory port."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb.coverage.group import MICROARCHITECTURAL, group, hit
from tb.coverage.window import Window, before


@group(MICROARCHITECTURAL, "What both ports do in one cycle.",
       [f"weights {channel} with {other}" for channel in ("AR", "R")
        for other in ("AR of fetch", "R of fetch", "AR of load", "R of load", "AW", "W", "B")])  # fmt: skip
def two_ports(w: Window) -> Iterable[str]:
    if not w.config.weight_port:
        return
    others = {"AW": w.on("port", "aw"), "W": w.on("port", "w"), "B": w.flag("m_axi_bvalid")}
    for who in ("fetch", "load"):
        others |= {f"AR of {who}": w.state[f"burst.{who}"], f"R of {who}": w.state[f"beat.{who}"]}
    for channel, kind in (("AR", "burst"), ("R", "beat")):
        mine = w.state[f"{kind}.weights"]
        yield from (f"weights {channel} with {name}" for name in hit({n: mine & mask for n, mask in others.items()}))


@group(MICROARCHITECTURAL, "The weight port's own channels.",
       ("AR behind AR", "AR stalls with bursts out", "R behind R", "R stalls with bursts out",
        "R of the next burst behind the last beat", "held back once", "held back four cycles", "beat while halted",
        "AR in the cycle of a beat", "idle while the memory port reads",
        "the memory port idle while it reads"))  # fmt: skip
def weight_port(w: Window) -> Iterable[str]:
    if not w.config.weight_port:
        return []
    alive, ar, beat = w.flag("rst_n"), w.state["burst.weights"], w.state["beat.weights"]
    valid, out = w.flag("m_axi_weights_rvalid") & alive, w.state["reads.weights"] > 0
    held = valid & ~beat
    ended = before(beat & w.flag("m_axi_weights_rlast"))
    elsewhere = np.any([w.state["reads.fetch"] > 0, w.state["reads.load"] > 0], axis=0)
    return hit({
        "AR behind AR": ar & before(ar), "AR stalls with bursts out": alive & out & ~w.flag("m_axi_weights_arready"),
        "R behind R": beat & before(beat), "R stalls with bursts out": alive & out & ~valid,
        "R of the next burst behind the last beat": beat & ended, "held back once": held,
        "held back four cycles": held & before(held) & before(held, 2) & before(held, 3),
        "beat while halted": beat & w.flag("status.halt"), "AR in the cycle of a beat": ar & beat,
        "idle while the memory port reads": ~out & elsewhere, "the memory port idle while it reads": out & ~elsewhere,
    })  # fmt: skip
