# SPDX-License-Identifier: Apache-2.0
"""Lint and synthesis pass good RTL, count it right, and refuse what they are there to refuse."""

import re

import pytest

from tb import lint, toolchain
from tb.synth import ModuleCost, SynthesisError, synthesize

CLEAN = """
module cell_pe #(parameter int W = 4) (
    input logic clk_i, input logic [W-1:0] a_i, b_i, output logic [W-1:0] q_o
);
  always_ff @(posedge clk_i) q_o <= a_i & b_i;
endmodule

module row #(parameter int W = 4) (input logic clk_i, input logic [3:0][W-1:0] a_i, output logic [3:0][W-1:0] q_o);
  for (genvar i = 0; i < 4; i++) begin : gen_pe
    cell_pe #(.W(W)) i_pe (.clk_i, .a_i(a_i[i]), .b_i(a_i[3-i]), .q_o(q_o[i]));
  end
endmodule

module top #(parameter int W = 4) (
    input logic clk_i, write_i, input logic [3:0] address_i, input logic [3:0][W-1:0] a_i,
    output logic [3:0][W-1:0] q_o, r_o, output logic narrow_o, output logic [W-1:0] word_o
);
  logic [W-1:0] memory [16];
  always_ff @(posedge clk_i) begin
    if (write_i) memory[address_i] <= a_i[0];
    word_o <= memory[address_i];
  end
  row #(.W(W)) i_row_a (.clk_i, .a_i, .q_o);
  row #(.W(W)) i_row_b (.clk_i, .a_i, .q_o(r_o));
  cell_pe #(.W(1)) i_narrow (.clk_i, .a_i(a_i[0][0]), .b_i(a_i[1][0]), .q_o(narrow_o));
endmodule
"""

HEAD = "module top #(parameter int W = 4) (input logic clk_i, input logic [W-1:0] a_i, output logic [W-1:0] q_o);\n"
TAIL = "\nendmodule\n"
LATCH = (
    HEAD + "  always_ff @(posedge clk_i) q_o[0] <= a_i[0];\n  always_latch if (a_i[0]) q_o[W-1:1] = a_i[W-1:1];" + TAIL
)
INCOMPLETE = HEAD + "  always_comb if (a_i[0] & clk_i) q_o = a_i;" + TAIL
TWO_DRIVERS = HEAD + "  assign q_o = {W{clk_i}};\n  assign q_o = a_i;" + TAIL
LOOP = HEAD + "  assign q_o = (q_o ^ a_i) & {W{clk_i}};" + TAIL
UNUSED = HEAD + "  assign q_o = a_i;" + TAIL


@pytest.fixture
def source(tmp_path):
    def write(text):
        """One file per module, named after it."""
        files = []
        for module, name in re.findall(r"(?s)(module (\w+).*?endmodule\n)", text):
            files.append(tmp_path / f"{name}.sv")
            files[-1].write_text(module)
        return files

    return write


@pytest.fixture(params=["verilator", pytest.param("icarus", marks=pytest.mark.icarus)])
def linter(request):
    return lint.LINTERS[request.param]


def test_lint_passes_clean_rtl(linter, source):
    assert linter("top", source(CLEAN), {"W": 8}) == []


def test_lint_finds_two_drivers(linter, source):
    assert linter("top", source(TWO_DRIVERS), {"W": 8})


@pytest.mark.parametrize(
    ("text", "warning"), [(INCOMPLETE, "LATCH"), (UNUSED, "UNUSEDSIGNAL"), (LOOP, "UNOPTFLAT")], ids=lambda x: x[:12]
)
def test_verilator_names_the_warning(source, text, warning):
    assert any(warning in finding for finding in lint.verilator("top", source(text), {"W": 8}))


def test_synthesis_counts_every_instance_and_every_bit(source):
    costs = {cost.module: cost for cost in synthesize("top", source(CLEAN), {"W": 8})}
    # Two rows of four cells of 8 bits, which are equal, and one cell of 1 bit, which is not.
    assert costs["cell_pe"] == ModuleCost("cell_pe", instances=9, gates=65, flip_flops=65)
    assert costs["row"].instances == 2
    assert costs["top"].memory_bits == 16 * 8


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (LATCH, "Latch in top"),
        (INCOMPLETE, "logic loop"),
        (TWO_DRIVERS, "multiple conflicting drivers"),
        (LOOP, "logic loop"),
        (HEAD + "  assign q_o = missing_i;" + TAIL, "missing_i"),
    ],
    ids=["latch", "incomplete", "two drivers", "loop", "undeclared"],
)
def test_synthesis_refuses(source, text, problem):
    with pytest.raises(SynthesisError, match=problem):
        synthesize("top", source(text), {"W": 8})


@pytest.mark.parametrize("config", lint.DEFAULT)
def test_the_core_is_lint_clean(linter, config):
    assert linter(lint.TOP, toolchain.rtl_sources(), lint.parameters(config)) == []


def test_the_core_synthesizes_without_latches_or_conflicting_drivers():
    costs = synthesize(lint.TOP, toolchain.rtl_sources(), lint.parameters("untraced"))
    assert {cost.module for cost in costs} >= {lint.TOP}
