# SPDX-License-Identifier: Apache-2.0
"""The vectorised array against one written per processing element, register by register."""

import numpy as np
import pytest

from beatmatch.config import Config
from beatmatch.stations import array as array_module
from beatmatch.stations.array import REGISTERS, Array


class PerElement:
    """The array of docs/timing.md, one register at a time and slow."""

    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.pe = {name: np.zeros((rows, cols), np.int64) for name in REGISTERS}
        self.act_skew = [[0] * r for r in range(rows)]
        self.deskew = [[0] * (cols - 1 - c) for c in range(cols)]
        self.weight_skew = [[0] * c for c in range(cols)]
        self.swap = [0] * (rows + cols - 1)
        self.load = [[0] * cols for _ in range(rows)]

    def step(self, acts, swap, weights, row):
        rows, cols, pe = self.rows, self.cols, self.pe
        acts = [0] * rows if acts is None else [int(v) for v in acts]
        self.load = [[int(weights is not None and row == r), *self.load[r][:-1]] for r in range(rows)]
        weights = [0] * cols if weights is None else [int(v) for v in weights]
        self.swap = [int(swap), *self.swap[:-1]]
        act_in = [self.act_skew[r][-1] if r else acts[0] for r in range(rows)]
        weight_in = [self.weight_skew[c][-1] if c else weights[0] for c in range(cols)]
        new = {name: values.copy() for name, values in pe.items()}
        for r in range(rows):
            for c in range(cols):
                new["activation"][r, c] = pe["activation"][r, c - 1] if c else act_in[r]
                new["product"][r, c] = pe["activation"][r, c] * pe["weight"][r, c]
                new["sum"][r, c] = (pe["sum"][r - 1, c] if r else 0) + pe["product"][r, c]
                if self.swap[r + c]:
                    new["weight"][r, c] = pe["shadow"][r, c]
                if self.load[r][c]:
                    new["shadow"][r, c] = weight_in[c]
        shift = lambda lanes, values: [[v, *d[:-1]] if d else d for d, v in zip(lanes, values, strict=True)]  # noqa: E731
        self.deskew = shift(self.deskew, pe["sum"][-1].tolist())
        self.act_skew = shift(self.act_skew, acts)
        self.weight_skew = shift(self.weight_skew, weights)
        self.pe = new

    def digest(self):
        rows, cols = self.rows, self.cols
        cells = rows * cols
        places = [(k * cells + i, v) for k, name in enumerate(REGISTERS) for i, v in enumerate(self.pe[name].ravel())]
        first = 5 * cells
        for lanes, width in ((self.act_skew, rows), (self.deskew, cols), (self.weight_skew, cols)):
            places += [(first + i * width + d, v) for i, lane in enumerate(lanes) for d, v in enumerate(lane)]
            first += width * width
        return sum((2 * place + 1) * int(value) for place, value in places) % 2**32


@pytest.mark.parametrize(("rows", "cols"), [(4, 4), (8, 4), (4, 16), (8, 8)])
def test_every_register_of_every_cycle(rows, cols):
    rng = np.random.default_rng(rows * 100 + cols)
    array, reference = Array(Config(rows=rows, cols=cols)), PerElement(rows, cols)
    row, idle = -1, 0
    for cycle in range(900):
        phase = cycle // 75
        acts = rng.integers(-128, 128, rows).astype(np.int8) if phase % 3 and rng.random() < 0.6 else None
        swap = acts is not None and rng.random() < 0.15
        if row < 0 and phase % 4 != 3 and rng.random() < 0.3:
            row = 0
        weights = rng.integers(-128, 128, cols).astype(np.int8) if row >= 0 else None
        resting, before = array.idle() and acts is None and weights is None, array.digest
        array.step(acts, swap, weights, row == 0)
        assert not resting or array.digest == before, "it was said to be idle and moved"
        reference.step(acts, swap, weights, row)
        row = row + 1 if 0 <= row < rows - 1 else -1
        idle += array.idle()
        assert array.digest == reference.digest(), cycle
        for name, values in array.registers().items():
            assert np.array_equal(values, reference.pe[name]), (cycle, name)
        triangles = array.triangles()
        for name, lanes in (("act_skew", "act_skew"), ("sum_deskew", "deskew"), ("weight_skew", "weight_skew")):
            assert [lane.tolist() for lane in triangles[name]] == getattr(reference, lanes), (cycle, name)
    assert idle > 50  # the shortcut for a drained array was taken


def test_the_digest_sees_two_lanes_exchanged():
    array = Array(Config(rows=4, cols=4))
    acts = np.array([1, 2, 3, 4], np.int8)
    array.step(acts, False, None, False)
    first = array.digest
    array.reset()
    array.step(acts[[0, 2, 1, 3]], False, None, False)
    assert array.digest != first


def test_sums_wrap():
    """2^31 is out of reach of one pass, so the registers are set."""
    array = Array(Config(rows=4, cols=4))
    array._sum[0, 0], array._product[1, 0] = 2**31 - 1, 1
    array.step(np.zeros(4, np.int8), False, None, False)
    assert array.registers()["sum"][1, 0] == -(2**31)


def test_large_arrays_sum_the_same_digest_in_another_way(monkeypatch):
    digests = []
    for limit in (1 << 20, 0):
        monkeypatch.setattr(array_module, "_DOT_LIMIT", limit)
        rng, array, seen = np.random.default_rng(5), Array(Config(rows=8, cols=4)), []
        for cycle in range(40):
            acts, weights = (rng.integers(-128, 128, size).astype(np.int8) for size in (8, 4))
            array.step(acts, cycle % 9 == 8, weights if cycle < 8 else None, cycle == 0)
            seen.append(array.digest)
        digests.append(seen)
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == 40 and any(digest % 2 for digest in digests[0])
