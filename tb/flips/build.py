# SPDX-License-Identifier: Apache-2.0
"""The lockstep bench under Verilator with the core's state, and nothing else, within reach."""

from __future__ import annotations

from collections.abc import Sequence

from beatmatch import stimulus
from beatmatch.config import Config
from beatmatch.trace import layout
from tb import sim, toolchain
from tb.flips.state import Element
from tb.lockstep.runner import HERE as LOCKSTEP
from tb.lockstep.runner import TOP

HERE = toolchain.ROOT / "tb" / "flips"


def build(config: Config, state: Sequence[Element]) -> sim.Build:
    """The bench top of a configuration, from the cache if nothing changed.

    Only state is public: combinational signals stay optimised, and Verilator evaluates what depends on a public
    variable anew at the next edge. The bench's own clearing of the memories is left out; whoever writes the
    state does that.
    """
    variables = {(element.module, element.name.split(".")[-1]) for element in state}
    folder = toolchain.SIM_BUILD / "flips"
    folder.mkdir(parents=True, exist_ok=True)
    control = folder / f"state-{config.digest()}.vlt"
    lines = [f'public_flat_rw -module "{module}" -var "{name}"' for module, name in sorted(variables)]
    control.write_text("\n".join(["`verilator_config", *lines]) + "\n")
    return sim.build(
        TOP,
        [control, *toolchain.rtl_sources(), LOCKSTEP / f"{TOP}.sv"],
        "verilator",
        config.rtl_parameters() | {"TRACE_WORDS": layout(config).words, "STIM_WORDS": stimulus.words(config)},
        defines={"BM_DPI": 1, "BM_NO_MEMORIES": 1},
        includes=[LOCKSTEP],
        c_sources=[LOCKSTEP / "dpi.cpp", HERE / "state.cpp"],
    )
