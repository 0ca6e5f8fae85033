# SPDX-License-Identifier: Apache-2.0
"""The prover's verdicts on a module in which the fate of every mutant is known by reasoning."""

from pathlib import Path

import pytest

from tb.mutation import elaborate, points, schemata
from tb.mutation.proof import Prover

TOY = Path(__file__).with_name("toy.sv")


@pytest.fixture(scope="module")
def verdict():
    mutants = schemata.number(points.find(points.elaborate("toy", [TOY])))
    prover = Prover(elaborate.netlist("toy", {"WIDTH": 4}, [TOY], mutants), seconds=20)

    def of(original: str, operator: str) -> str:
        (number,) = [m.number for m in mutants if (m.original, m.operator) == (original, operator)]
        return prover.prove(number).status

    return of


@pytest.mark.parametrize(
    ("original", "operator", "status"),
    [
        ("count_q == 3'd4", "to !=", "equivalent"),  # stays at 0, and only 6 and more would be seen
        ("value_q <= sum;", "left out", "open"),
        ("valid_q <= 1'b0;", "left out", "equivalent"),  # the value behind it is reset to what is shown without it
        ("valid_q", "as 1", "open"),
        ("3'd4", "plus 1", "equivalent"),  # counts modulo 6, likewise
        ("count_q >= 3'd6", "to >", "unreachable"),  # the counter stays below 5
        ("count_q >= 3'd6", "to <", "open"),
        ("value_q <= '0;", "left out", "equivalent"),  # a value is loaded before it is shown
    ],
)
def test_verdicts(verdict, original, operator, status):
    assert verdict(original, operator) == status
