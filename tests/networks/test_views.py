# SPDX-License-Identifier: Apache-2.0
"""Views of a buffer hold what numpy's operators give, whatever was viewed before."""

import numpy as np

from beatmatch.config import Config
from beatmatch.networks.lowering import views
from beatmatch.networks.lowering.layout import Value, fresh

CONFIG = Config(rows=4, cols=4, mem_bits=32)


def gather(value: Value, memory: np.ndarray) -> np.ndarray:
    """The tensor that a value looks at, byte by byte."""
    found = np.full((*(n for axis, n in enumerate(value.shape) if axis != value.axis), value.channels), -1)
    for piece in value.pieces:
        for index in np.ndindex(*piece.dims):
            word = piece.offset + sum(i * s for i, s in zip(index, piece.strides, strict=True))
            for byte, channel in enumerate(piece.channels):
                if channel >= 0:
                    found[(*index, channel)] = memory[word * CONFIG.lanes + byte]
    return np.moveaxis(found, -1, value.axis)


def shape_of(rng: np.random.Generator, size: int) -> tuple[int, ...]:
    """A random factorization."""
    sizes = []
    while size > 1 and len(sizes) < 4:
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        sizes.append(int(rng.choice(divisors)))
        size //= sizes[-1]
    return (*sizes, size)


def test_chains_of_views_equal_numpys():
    kinds = dict.fromkeys(("reshape", "transpose", "cut", "concat"), 0)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        shape = tuple(int(n) for n in rng.choice([1, 2, 3, 4, 6, 8], int(rng.integers(2, 5))))
        value = fresh(shape, int(rng.integers(len(shape))), "x", CONFIG)
        memory = np.arange(value.pieces[0].buffer.words * CONFIG.lanes)
        array = gather(value, memory)
        for _ in range(4):
            kind = str(rng.choice(list(kinds)))
            if kind == "reshape":
                new = shape_of(rng, array.size)
                found, wanted = views.reshape(value, new, CONFIG), array.reshape(new)
            elif kind == "transpose":
                perm = tuple(int(axis) for axis in rng.permutation(array.ndim))
                found, wanted = views.transpose(value, perm), array.transpose(perm)
            elif kind == "cut":
                axis = int(rng.integers(array.ndim))
                start, step = int(rng.integers(array.shape[axis])), int(rng.integers(1, 3))
                wanted = array[(slice(None),) * axis + (slice(start, None, step),)]
                found = views.cut(value, axis, start, step, wanted.shape, CONFIG)
            else:
                axis = value.axis
                wanted = np.concatenate([array, array], axis)
                found = views.concat([value, value], axis, wanted.shape, CONFIG) if wanted.size < 600 else None
            if found is None:
                continue
            assert found.shape == wanted.shape
            assert np.array_equal(gather(found, memory), wanted), (seed, kind)
            value, array = found, wanted
            kinds[kind] += 1
    assert min(kinds.values()) > 60
