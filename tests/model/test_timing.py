# SPDX-License-Identifier: Apache-2.0
"""The timing table: what it says, that docs/timing.md says the same, and that the model follows it."""

import re

import numpy as np
import pytest

from beatmatch import timing
from beatmatch.config import Config, preset
from beatmatch.stations.array import Array
from tb.toolchain import ROOT


def test_formulas_are_those_of_the_rules():
    assert timing.cycles("product_stages", preset("tiny")) == 1
    assert timing.cycles("edge_to_commit", Config(rows=4, cols=16)) == 4 + 16 + 1


def test_the_page_states_the_same_table():
    page = (ROOT / "docs/timing.md").read_text()
    stated = dict(re.findall(r"(?m)^\| `(\w+)` \| `([^`]+)` \|", page))
    assert stated == {name: row.formula for name, row in timing.TABLE.items()}
    for row in timing.TABLE.values():
        assert row.meaning in page


def test_an_unknown_row_is_refused():
    with pytest.raises(KeyError, match="no row 'skew'; it has product_stages"):
        timing.cycles("skew", preset("tiny"))


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_sums_leave_the_array_when_the_table_says(stages, monkeypatch):
    """The same sums, edge_to_commit cycles after their row stood at the edge, however many product registers."""
    monkeypatch.setitem(timing.TABLE, "product_stages", timing.Latency(str(stages), "changed"))
    config = Config(rows=4, cols=8)
    array, rng = Array(config), np.random.default_rng(5)
    tile = rng.integers(-128, 128, (config.rows, config.cols)).astype(np.int8)
    act = rng.integers(-128, 128, config.rows).astype(np.int8)
    for row in range(config.rows):
        array.step(None, False, tile[row], row == 0)
    for _ in range(config.cols):
        array.step(None, False, None, False)
    array.step(act, True, None, False)
    seen = [array.row().tolist()]
    for _ in range(timing.cycles("edge_to_commit", config) + 2):
        array.step(None, False, None, False)
        seen.append(array.row().tolist())
    expected = (act.astype(np.int32) @ tile.astype(np.int32)).tolist()
    assert seen.index(expected) == timing.cycles("edge_to_commit", config) - 1  # seen[0] is the cycle X + 1
    assert seen.count([0] * config.cols) == len(seen) - 1
    assert array.idle()
