# SPDX-License-Identifier: Apache-2.0
"""Multiply-accumulates, against loops over the elements of the output and against what torch counted."""

from itertools import product

import numpy as np
import pytest

from beatmatch.networks import library
from beatmatch.networks.onnx_import import from_model
from tests.networks.build import Builder


def looped(x: tuple, weight: tuple, groups: int, strides: tuple, pads: tuple, dilations: tuple) -> int:
    """A convolution's count, one product at a time, as somebody counts who has never heard of a formula."""
    count = 0
    reach = [dilations[k] * (weight[2 + k] - 1) + 1 for k in range(2)]
    for _image in range(x[0]):
        for _filter in range(weight[0]):
            for _row in range(0, x[2] + pads[0] + pads[2] - reach[0] + 1, strides[0]):
                for _column in range(0, x[3] + pads[1] + pads[3] - reach[1] + 1, strides[1]):
                    count += sum(1 for _ in product(range(x[1] // groups), range(weight[2]), range(weight[3])))
    return count


@pytest.mark.parametrize("seed", range(12))
def test_convolutions(seed):
    rng = np.random.default_rng(seed)
    groups = int(rng.choice([1, 2, 4]))
    x = (int(rng.integers(1, 3)), 4, int(rng.integers(6, 10)), int(rng.integers(6, 10)))
    weight = (4 * int(rng.integers(1, 3)), 4 // groups, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    strides, dilations = (tuple(int(v) for v in rng.integers(1, 3, 2)) for _ in range(2))
    pads = tuple(int(v) for v in rng.integers(0, 3, 4))
    b = Builder()
    w = b.constant(np.zeros(weight))
    out = b.node("Conv", b.input("x", *x), w, group=groups, strides=strides, pads=pads, dilations=dilations)
    b.output(out)
    assert from_model(b.model()).total_macs == looped(x, weight, groups, strides, pads, dilations)


def test_products():
    b = Builder()
    x = b.input("x", 2, 3, 5, 7)
    scores = b.node("MatMul", x, b.input("y", 2, 3, 7, 4))
    shared = b.node("MatMul", scores, b.input("z", 4, 6))
    b.output(b.node("MatMul", shared, b.constant(np.zeros((6, 8)))))
    count = sum(1 for _ in product(range(2), range(3), range(5), range(4), range(7)))
    count += sum(1 for _ in product(range(2), range(3), range(5), range(6), range(4)))
    count += sum(1 for _ in product(range(2), range(3), range(5), range(8), range(6)))
    assert from_model(b.model()).total_macs == count


@pytest.mark.parametrize("name", library.names())
def test_the_library_has_the_counts_that_torch_has(name):
    graph = library.load(name)
    assert graph.total_macs == library.reference_macs()[name]
    assert sum(macs for _, macs in graph.layers()) == graph.total_macs


def test_the_library_is_whole():
    assert set(library.reference_macs()) == set(library.names())
    assert len(library.names()) >= 20
    assert all(library.path_of(name).stat().st_size < 250_000 for name in library.names())
