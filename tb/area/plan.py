# SPDX-License-Identifier: Apache-2.0
"""Which configurations the area proxy is fitted on, and which it is tried on."""

from __future__ import annotations

from beatmatch.config import PRESETS, Config

CENTRE = Config(
    rows=8, cols=8, sp_words=1024, sp_banks=2, acc_rows=64, acc_banks=2, fifo_tiles=2, queue_depth=4, mem_bits=64,
    outstanding=4, param_rows=16,
)  # fmt: skip
"""What the others differ from: small, so that the whole plan takes minutes."""

STEPS: tuple[dict[str, int], ...] = ({"rows": 4},)
"""Sizes that change together are seen by different modules, or by terms that are told apart elsewhere."""

SEEN = {
    "rows": 2, "cols": 2, "sp_words": 2, "acc_rows": 2, "fifo_tiles": 2, "mem_bits": 2, "param_rows": 2,
}  # fmt: skip
"""Sizes whose cells the plan tells from the others', and a factor that is legal in `base`."""

HELD_OUT = ("small", "base", "large")
"""Presets that the fit does not see; `tools/measure_presets.py` has synthesized them, up to 16 times its PEs."""


def fitted() -> list[Config]:
    """Configurations that the fit is made of: the centre, its neighbours, and the smallest preset."""
    near = [Config(**{**CENTRE.to_dict(), **step}) for step in STEPS]
    return [CENTRE, *near, PRESETS["tiny"]]


def held_out() -> list[Config]:
    """Configurations that the fit is tried on."""
    return [PRESETS[name] for name in HELD_OUT]
