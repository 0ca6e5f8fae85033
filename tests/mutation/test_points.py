# SPDX-License-Identifier: Apache-2.0
"""Which places of a source are mutated, and that the selector turns on one mutant and no other."""

from pathlib import Path

import pytest

from tb.mutation import points, schemata

TOY = Path(__file__).with_name("toy.sv")


@pytest.fixture(scope="module")
def mutants():
    return schemata.number(points.find(points.elaborate("toy", [TOY])))


def changes(mutants, line: str) -> set[tuple[str, str]]:
    """Original and operator of the mutants in the line that contains a text."""
    number = next(n for n, text in enumerate(TOY.read_text().splitlines(), 1) if line in text)
    return {(mutant.original, mutant.operator) for mutant in mutants if mutant.line == number}


def test_operators_conditions_values_and_constants_are_mutated(mutants):
    assert changes(mutants, "sixth_o = ") == {
        ("count_q >= 3'd6", "to >"),
        ("count_q >= 3'd6", "to <"),
        ("count_q", "plus 1"),
        ("3'd6", "plus 1"),
    }
    assert changes(mutants, "value_o = ") == {
        ("valid_q", "as 0"),
        ("valid_q", "as 1"),
        ("value_q", "plus 1"),
        ("'0", "to '1"),
    }
    assert {("!rst_ni", "always"), ("!rst_ni", "never"), ("!rst_ni", "no !")} <= changes(mutants, "(!rst_ni)")


def test_registers_assignments_are_left_out(mutants):
    assert changes(mutants, "valid_q <= step_i") == {
        ("valid_q <= step_i;", "left out"),
        ("step_i", "as 0"),
        ("step_i", "as 1"),
    }


def test_what_is_no_hardware_stays(mutants):
    assert changes(mutants, "assert") == set()
    assert changes(mutants, "parameter") == set()
    loop = changes(mutants, "for (int i")
    assert ("sum + WIDTH'(value_i[i])", "to -") in loop
    assert not {original for original, _ in loop} & {"0", "i", "i < WIDTH", "WIDTH"}


def test_each_mutant_has_its_own_number_and_key(mutants):
    assert [mutant.number for mutant in mutants] == list(range(1, len(mutants) + 1))
    assert len({mutant.key for mutant in mutants}) == len(mutants)


def test_the_text_holds_the_original_behind_the_selector(mutants, tmp_path):
    package, copy = schemata.write(tmp_path, [TOY], mutants)
    text = copy.read_text()
    assert "selected" in package.read_text()
    numbers = [mutant.number for mutant in mutants]
    assert all(text.count(f"16'd{number} ") + text.count(f"16'd{number})") == 1 for number in numbers)
    schemata.write(tmp_path / "none", [TOY], [])
    assert (tmp_path / "none" / TOY.name).read_text() == TOY.read_text()


def test_a_source_with_an_error_is_refused(tmp_path):
    broken = tmp_path / "toy.sv"
    broken.write_text("module toy (input logic a_i, output logic b_o);\n  assign b_o = unknown;\nendmodule\n")
    with pytest.raises(points.SourceError, match="1 errors in toy"):
        points.elaborate("toy", [broken])
