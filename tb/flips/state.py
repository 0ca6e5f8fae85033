# SPDX-License-Identifier: Apache-2.0
"""Every bit of state in the core: flip-flops and memories, as Yosys finds them in the RTL."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from beatmatch.config import Config
from tb import synth, toolchain

TOP = "bm_core"
UNIT_OF = {"u_weight_fifo": "weights"}
"""Instances of the top whose station has another name than the instance."""

ELABORATE = """\
read_slang --top {top} {parameters} --best-effort-hierarchy --ignore-assertions --ignore-initial {sources}
hierarchy -check -top {top}
proc
memory_collect
write_json state.json
"""


@dataclass(frozen=True)
class Element:
    """Flip-flops that are driven together, or a memory.

    Attributes
    ----------
    path : str
        Instance path below the core, "" for the core itself.
    module, name : str
        Module in which the variable is declared (of its many instances, the one at `path`), and its name there;
        a name within a generate block has the block in front.
    low, width : int
        First bit and bits of the variable, or of one word of it.
    words : int
        Words of a memory; 0: flip-flops.
    """

    path: str
    module: str
    name: str
    low: int
    width: int
    words: int

    @property
    def unit(self) -> str:
        """The station that holds it."""
        instance = self.path.split(".")[0]
        return UNIT_OF.get(instance, instance.removeprefix("u_"))

    @property
    def kind(self) -> str:
        """``registers`` or ``memories``: with its unit, the stratum from which flips are drawn."""
        return "memories" if self.words else "registers"

    @property
    def bits(self) -> int:
        """How many bits can be flipped."""
        return self.width * max(1, self.words)

    @property
    def variable(self) -> str:
        """Full name below the core."""
        return ".".join(filter(None, (self.path, self.name)))


@cache
def elements(config: Config) -> tuple[Element, ...]:
    """All state of the core of a configuration, tracing on, in the order of their names.

    Raises `tb.synth.SynthesisError` if Yosys refuses the design.
    """
    files = " ".join(str(path.resolve()) for path in toolchain.rtl_sources())
    parameters = " ".join(f"-G {key}={value}" for key, value in (config.rtl_parameters() | {"TRACE": 1}).items())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        synth._yosys(folder, ELABORATE.format(top=TOP, parameters=parameters, sources=files), TOP)
        modules = json.loads((folder / "state.json").read_text())["modules"]
    found = [element for name, module in modules.items() for element in _of_module(name, module)]
    return tuple(sorted(found, key=lambda element: (element.variable, element.low)))


def _of_module(full_name: str, module: dict) -> list[Element]:
    base, _, instance = full_name.partition("$")
    path = instance.removeprefix(TOP).removeprefix(".")
    nets = {name: net["bits"] for name, net in module["netnames"].items() if not name.startswith("$")}
    found = []
    for cell_name, cell in module["cells"].items():
        kind = cell["type"]
        if kind.startswith("$mem"):
            size, width, writers = (int(cell["parameters"][key], 2) for key in ("SIZE", "WIDTH", "WR_PORTS"))
            if not writers:
                continue  # a table that Yosys made of a case statement
            found.append(Element(path, base, cell["parameters"]["MEMID"].removeprefix("\\"), 0, width, size))
        elif kind.endswith("dff") or "dffe" in kind or "dffsr" in kind:
            variable = _driven(cell_name.removeprefix("$driver$"), nets, full_name)
            bits = cell["connections"]["Q"]
            low = nets[variable].index(bits[0])
            if nets[variable][low : low + len(bits)] != bits:
                raise synth.SynthesisError(f"The flip-flops {cell_name} of {full_name} are no range of {variable}.")
            found.append(Element(path, base, variable, low, len(bits), 0))
    return found


def _driven(name: str, nets: dict, module: str) -> str:
    """The variable that a driver is called after: its longest prefix that is a net (`q[7:0]`, `instr_q.acc`)."""
    known = [net for net in nets if name == net or (name.startswith(net) and name[len(net)] in "[.")]
    if not known:
        raise synth.SynthesisError(f"The flip-flops {name} of {module} have no variable.")
    return max(known, key=len)
