# SPDX-License-Identifier: Apache-2.0
"""Fronts against the definition, point by point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beatmatch.explore import pareto
from beatmatch.explore.errors import ExploreError

COSTS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 6), min_size=width, max_size=width), max_size=40)
)
"""Small integers: many ties and equal points."""


def by_definition(costs: list[list[int]]) -> list[bool]:
    def beats(a: list[int], b: list[int]) -> bool:
        return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))

    return [not any(beats(other, one) for other in costs) for one in costs]


@given(COSTS)
def test_the_front_is_what_nothing_beats(costs):
    width = len(costs[0]) if costs else 2
    assert pareto.front(np.array(costs, float).reshape(len(costs), width)).tolist() == by_definition(costs)


def test_a_front_by_hand():
    costs = np.array([[1, 5], [2, 2], [2, 2], [3, 2], [5, 1], [5, 5]])
    assert pareto.front(costs).tolist() == [True, True, True, False, True, False]


@pytest.mark.parametrize("names", [["cycles"], ["cycles", "cycles"], ["cycles", "power"]])
def test_objectives_that_make_no_sense(names):
    with pytest.raises(ExploreError, match="objective"):
        pareto.check(names)
