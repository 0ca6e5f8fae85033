# SPDX-License-Identifier: Apache-2.0
"""Modules of a netlist are shared if they are equal, and only then."""

from tb.netlist import share

AND = """module \\leaf$top.{path}
  attribute \\src "{path}.sv:1"
  wire input 1 \\a_i
  wire output 2 \\q_o
{cells}end
"""
NOT = "  cell $not $procmux${0}\n    connect \\A {1}\n    connect \\Y $procmux${0}_Y\n  end\n"
OUT = "  connect \\q_o $procmux${0}_Y\n"
TOP = "module \\top\n{cells}end\n"
INSTANCE = "  cell \\leaf$top.{0} \\{0}\n    connect \\a_i \\a_i\n  end\n"


def leaf(path, *cells):
    return AND.format(path=path, cells="".join(cells))


def chain(first, second, start="\\a_i"):
    """Two inverters in a row, numbered as told; the one that comes last is written first."""
    cells = [NOT.format(first, start), NOT.format(second, f"$procmux${first}_Y")]
    return [*sorted(cells, key=len, reverse=True), OUT.format(second)]


def shared(*leaves):
    top = TOP.format(cells="".join(INSTANCE.format(path) for path in "abc"[: len(leaves)]))
    return share("".join(leaves) + top, "top")


def test_numbers_order_and_source_lines_make_no_difference():
    text, instances = shared(leaf("a", *chain(7, 8)), leaf("b", *reversed(chain(31, 12))), leaf("c", *chain(9, 5)))
    assert instances == {"\\top": 1, "\\leaf$top.a": 3}
    assert text.count("module \\leaf") == 1
    assert text.count("cell \\leaf$top.a ") == 3


def test_another_connection_makes_another_module():
    _, instances = shared(leaf("a", *chain(7, 8)), leaf("b", *chain(7, 8, start="1'0")))
    assert instances == {"\\top": 1, "\\leaf$top.a": 1, "\\leaf$top.b": 1}


def test_another_place_in_the_chain_makes_another_module():
    swapped = [cell.replace("\\q_o $procmux$8", "\\q_o $procmux$7") for cell in chain(7, 8)]
    _, instances = shared(leaf("a", *chain(7, 8)), leaf("b", *swapped))
    assert len(instances) == 3
