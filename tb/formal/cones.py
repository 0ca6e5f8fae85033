# SPDX-License-Identifier: Apache-2.0
"""Combinational paths of the whole core's netlist, found by structure: no solver, no bound, no assumption.

From each valid output of the ports the netlist is followed back to registers, memories and inputs. An input named
ready that is met on the way would be a path from ready to valid, which AXI forbids and which can close a loop.
"""

import json
import time
from pathlib import Path

from beatmatch.config import Config
from tb import toolchain
from tb.formal import netlist

TOP = "bm_core"

FORBIDDEN = {
    "m_axi_arvalid_o": "m_axi_arready_i",
    "m_axi_awvalid_o": "m_axi_awready_i",
    "m_axi_weights_arvalid_o": "m_axi_weights_arready_i",
    "m_axi_wvalid_o": "m_axi_wready_i",
    "s_axil_bvalid_o": "s_axil_bready_i",
    "s_axil_rvalid_o": "s_axil_rready_i",
}
"""Each valid output, and the ready input of its channel: shown apart, though no ready may be met at all."""

READ = """\
read_slang --top {top} {parameters} --ignore-initial --ignore-assertions {sources}
hierarchy -check -top {top}
proc
flatten
opt_clean
write_json core.json
"""
STOPS = ("dff", "mem", "$ff")
"""A cell whose type contains one of these has no combinational path from its data to its output."""


def cones(cells: dict, ports: dict) -> dict[str, set[str]]:
    """Inputs that each output depends on in the same cycle.

    Parameters
    ----------
    cells, ports : dict
        Of the flat module in Yosys' JSON.
    """
    drivers: dict[int, list] = {}
    for cell in cells.values():
        if any(stop in cell["type"] for stop in STOPS) and "memrd" not in cell["type"]:
            continue
        if cell["type"].startswith("$memrd") and int(cell["parameters"]["CLK_ENABLE"], 2):
            continue
        inputs = [
            bit for pin, bits in cell["connections"].items() if cell["port_directions"][pin] == "input" for bit in bits
        ]
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "output":
                for bit in bits:
                    drivers[bit] = inputs
    named = {bit: name for name, port in ports.items() if port["direction"] == "input" for bit in port["bits"]}
    found = {}
    for name, port in ports.items():
        if port["direction"] != "output":
            continue
        seen, waiting = set(), [bit for bit in port["bits"] if isinstance(bit, int)]
        while waiting:
            bit = waiting.pop()
            if bit not in seen:
                seen.add(bit)
                waiting += [other for other in drivers.get(bit, ()) if isinstance(other, int)]
        found[name] = {named[bit] for bit in seen if bit in named}
    return found


def check(folder: Path, sources: list[Path] | None = None) -> list[dict]:
    """Rows of the report: per valid output, whether it depends on any ready in the same cycle."""
    started = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    parameters = Config(rows=4, cols=4, mem_bits=32, weight_port=1).rtl_parameters() | {"TRACE": 0}
    assigned = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    files = " ".join(map(str, sources or toolchain.rtl_sources()))
    netlist.yosys(folder, READ.format(top=TOP, parameters=assigned, sources=files))
    module = json.loads((folder / "core.json").read_text())["modules"][TOP]
    depends = cones(module["cells"], module["ports"])
    seconds = round((time.monotonic() - started) / len(FORBIDDEN), 2)
    rows = []
    for valid, ready in FORBIDDEN.items():
        met = sorted(name for name in depends[valid] if "ready" in name)
        rows.append({
            "name": f"no_path_to_{valid}",
            "unit": TOP,
            "statement": f"No combinational path leads from {ready} or any other ready to {valid}.",
            "flavour": "assert",
            "engine": "cone of the netlist",
            "parameters": parameters,
            "seconds": seconds,
            "proven": not met,
            "covered": ready in module["ports"] and valid in module["ports"],
            "assumptions": [],
            "said": f"paths from {', '.join(met)}" if met else "",
        })  # fmt: skip
    return rows
