# SPDX-License-Identifier: Apache-2.0
"""Compiled convolutions on the functional tier against the naive oracle."""

import numpy as np
import pytest

from beatmatch import oracle
from beatmatch.api import conv2d
from beatmatch.compiler import Requant, compile_conv2d
from beatmatch.config import PRESETS, Config

ODD = {
    "tall": Config(rows=16, cols=4, sp_words=2048, acc_rows=64),
    "wide": Config(rows=4, cols=16, sp_words=1024, acc_rows=128, mem_bits=256),
    "one bank": Config(sp_banks=1, acc_banks=1, sp_words=2048, acc_rows=32, queue_depth=1, mem_bits=32),
    "three banks": Config(sp_banks=3, sp_words=1536, acc_banks=3, acc_rows=96, mem_bits=1024, fifo_tiles=2),
}
CONFIGS = {**{name: PRESETS[name] for name in ("tiny", "small", "base")}, **ODD}

CASES = {
    "plain": {"image": (2, 6, 5, 3), "kernel": (3, 3, 3, 5)},
    "padded with a value": {"image": (3, 8, 8, 8), "kernel": (3, 3, 8, 16), "pads": (1, 1, 1, 1), "pad_value": -128},
    "strided": {"image": (2, 9, 7, 10), "kernel": (3, 2, 10, 12), "stride": (2, 3), "pads": (1, 0, 2, 1)},
    "dilated": {"image": (1, 9, 9, 4), "kernel": (3, 3, 4, 4), "dilation": (2, 3), "pads": (2, 3, 2, 3)},
    "rows of padding": {"image": (1, 5, 6, 3), "kernel": (1, 2, 3, 9), "stride": (3, 1), "pads": (2, 9, 9, 9)},
    "one by one": {"image": (5, 4, 4, 24), "kernel": (1, 1, 24, 9)},
    "one channel": {"image": (1, 12, 40, 1), "kernel": (5, 5, 1, 2), "pads": (2, 2, 2, 2)},
}


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("out", ["int8", "int32"])
def test_against_the_oracle(config, case, out):
    rng = np.random.default_rng(len(config) + 10 * len(case))
    options = dict(CASES[case])
    x = rng.integers(-128, 128, options.pop("image")).astype(np.int8)
    w = rng.integers(-128, 128, options.pop("kernel")).astype(np.int8)
    filters = w.shape[3]
    bias = rng.integers(-20000, 20000, filters)
    requant = Requant(bias, rng.integers(1 << 22, 1 << 24, filters), rng.integers(31, 36, filters), 5, -90, 127)
    # The call cuts images that do not fit on the chip into strips of rows.
    scaling = {"requant": requant} if out == "int8" else {"bias": bias}
    got = conv2d(x, w, CONFIGS[config], out, tier="functional", **scaling, **options)
    total = oracle.conv2d(x, w, **options)
    if out == "int8":
        expected = oracle.requantise(total, bias, requant.multiplier, requant.shift, 5, -90, 127)
    else:
        expected = (total + bias).astype(np.int32)
    np.testing.assert_array_equal(got.values["out"], expected, strict=True)


def test_what_does_not_match_or_fit_is_refused():
    x, w = np.zeros((1, 8, 8, 4), np.int8), np.zeros((3, 3, 4, 4), np.int8)
    for args, options, text in (
        ((x, w[:, :, :3]), {}, "must be"),
        ((x.astype(np.int32), w), {}, "int8"),
        ((x, w), {"out": "float"}, "int8 or int32"),
        ((x[:, :2], w), {}, "larger than"),
        ((np.zeros((1, 200, 200, 4), np.int8), w), {}, "scratchpad words"),
    ):
        with pytest.raises(ValueError, match=text):
            compile_conv2d(*args, PRESETS["tiny"], **options)
