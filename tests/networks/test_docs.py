# SPDX-License-Identifier: Apache-2.0
"""The page's tables are those of the code."""

import re

from beatmatch.config import preset
from beatmatch.networks import library
from beatmatch.networks.lowering.placement import place
from beatmatch.networks.lowering.placement import where as placed
from beatmatch.networks.operators import OPERATORS
from beatmatch.networks.timing import time_network
from beatmatch.networks.translate import RULES
from tb.toolchain import ROOT

PAGE = (ROOT / "docs/networks.md").read_text()


def between(name: str) -> list[str]:
    """Lines of the page between two markers."""
    return re.search(rf"<!-- {name} -->\n(.*?)\n<!-- {name}: end -->", PAGE, re.S).group(1).splitlines()


def test_the_table_of_operators():
    rows = [f"| `{name}` | {op.where} | {op.what} |" for name, op in OPERATORS.items()]
    assert between("operators") == ["| operator | where | what |", "|---|---|---|", *rows]


def test_the_list_of_onnx_operators():
    from beatmatch.networks import onnx_import  # noqa: F401, it fills the table

    assert between("onnx") == [", ".join(sorted(RULES)) + "."]


def test_the_table_of_networks():
    rows = []
    for name in library.names():
        graph = library.load(name)
        where = placed(place(graph, preset("mxu128")))
        places = " | ".join(str(where[place]) for place in ("core", "free", "estimate"))
        rows.append(f"| `{name}` | {graph.total_macs:,} | {graph.parameters:,} | {places} |")
    head = ["| network | MACs | parameters | core | free | estimate |", "|---|---:|---:|---:|---:|---:|"]
    assert between("networks") == [*head, *rows]


def test_the_networks_that_are_exact():
    for row in between("exact")[2:]:
        name, config, cycles = re.fullmatch(r"\| `(\w+)` \| `(\w+)` \| ([\d,]+) \|", row).groups()
        result = time_network(library.load(name), preset(config))
        assert (result.fidelity, f"{result.cycles:,}") == ("exact", cycles), (name, result.reason)
