# SPDX-License-Identifier: Apache-2.0
"""The tutorial's bench works as its page says."""

import re

from beatmatch.config import preset
from tb.benches import BENCHES
from tb.toolchain import ROOT

BENCH = BENCHES["tutorial"]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
CODE = (ROOT / "tb" / "tutorial" / "tutorial_bench.py").read_text()


def test_it_multiplies_and_says_so(sim):
    log = BENCH.run(sim, preset("tiny"), seed=1).log
    cycles = re.search(r"on 4x4: (\d+) cycles, (\d+) with the array at work", log)
    assert cycles is not None
    assert int(cycles[2]) < int(cycles[1])


def test_it_can_be_read_in_five_minutes():
    assert len(CODE.splitlines()) <= 80


def test_the_page_shows_the_code_as_it_is():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    lines = [line.strip() for block in blocks for line in block.splitlines() if line.strip()]
    assert len(lines) > 15
    code = [line.strip() for line in CODE.splitlines()]
    assert [line for line in lines if line not in code] == []
