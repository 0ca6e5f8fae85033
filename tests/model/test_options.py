# SPDX-License-Identifier: Apache-2.0
"""Products and convolutions refuse what they cannot do in one sentence, and take every layout of their operands."""

import numpy as np
import pytest

from beatmatch import Config, Machine, MemoryTiming, Requant, assemble, conv2d, matmul, oracle, preset
from beatmatch.isa.asm import AssemblyError
from beatmatch.memory import MemoryTimingError

TINY = preset("tiny")
A = np.arange(16, dtype=np.int8).reshape(4, 4)
X, W = np.ones((1, 6, 6, 2), np.int8), np.ones((3, 3, 2, 3), np.int8)


def refused(call, *parts):
    with pytest.raises(ValueError) as caught:
        call()
    text = str(caught.value)
    assert all(part in text for part in parts), text
    assert "\n" not in text and text.endswith("."), text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"config": "tiny"}, "config is 'tiny'; it must be a Config"),
        ({"timing": 5}, "timing is 5; it must be a MemoryTiming"),
        ({"tier": "quick"}, "tier is 'quick'; it must be one of functional, stepped, fast"),
        ({"out": "int16"}, "out is 'int16'; it must be int8 or int32"),
        ({"a": A.astype(np.uint8)}, "must be int8; they are uint8"),
        ({"a": A[:, :3]}, "must be [M, K] and [K, N]"),
        ({"a": A[:0]}, "not empty"),
        ({"bias": [1, 2, 3]}, "bias has 3 values; it must have one, or 4"),
        ({"bias": np.zeros((2, 4), int)}, "shape (2, 4)"),
        ({"bias": [0.5] * 4}, "must hold integers from -2147483648 to 2147483647"),
        ({"bias": np.nan}, "bias is nan"),
        ({"bias": 1 << 70}, "from -2147483648 to 2147483647"),
        ({"out": "int8", "bias": 3}, "bias goes with out='int32'"),
        ({"requant": Requant()}, "requant goes with out='int8'"),
        ({"out": "int8", "requant": {"shift": 1}}, "must be a Requant or None"),
        ({"out": "int8", "requant": Requant(shift=[1, 2])}, "shift has 2 values"),
    ],
)
def test_products(options, sentence):
    options = {"a": A, "b": A, "config": TINY, "tier": "functional"} | options
    refused(lambda: matmul(**options), sentence)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"stride": 2}, "stride is 2; it must be 2 integers (down, across) from 1 to 7"),
        ({"stride": (0, 1)}, "stride is (0, 1)"),
        ({"stride": (1, 8)}, "from 1 to 7"),
        ({"stride": (1.5, 1)}, "stride is (1.5, 1)"),
        ({"dilation": (5, 1)}, "from 1 to 4"),
        ({"dilation": (1,)}, "2 integers"),
        ({"pads": (1, 1)}, "4 integers (top, left, then bottom, right) from 0 to 15, then from 0 to 4095"),
        ({"pads": (16, 0, 0, 0)}, "from 0 to 15"),
        ({"pads": (0, 0, -1, 0)}, "pads is (0, 0, -1, 0)"),
        ({"pad_value": 128}, "pad_value is 128; it must be from -128 to 127"),
        ({"pad_value": 0.5}, "an integer from -128 to 127"),
        ({"w": np.ones((16, 1, 2, 3), np.int8)}, "The kernel is 16x1; its height and width must be from 1 to 15"),
        ({"w": W[..., :1, :]}, "must be [N, H, W, C] and [KH, KW, C, F]"),
        ({"bias": [1, 2, 3]}, "bias goes with out='int32'"),
        ({"x": np.ones((1, 300, 60, 2), np.int8), "stride": (0, 1)}, "stride is (0, 1)"),
        ({"x": np.ones((1, 300, 60, 2), np.int8), "pads": (16, 0, 0, 0)}, "pads is (16"),
    ],
)
def test_convolutions(options, sentence):
    options = {"x": X, "w": W, "config": TINY, "tier": "functional"} | options
    refused(lambda: conv2d(**options), sentence)


def test_scales():
    for name, value, sentence in (
        ("multiplier", -1, "multiplier is -1; it must hold integers from 0 to 16777215"),
        ("multiplier", 0.5, "multiplier is 0.5"),
        ("shift", [1, 64], "shift is from 1 to 64; it must hold integers from 0 to 63"),
        ("zero_point", 200, "from -128 to 127"),
        ("low", [1, 2], "one value"),
        ("bias", "x", "bias is x"),
    ):
        refused(lambda name=name, value=value: Requant(**{name: value}), sentence)
    refused(lambda: Requant(low=5, high=-5), "low is 5; it must be at most high, which is -5")


def test_machines_timings_and_configurations():
    refused(lambda: Machine("x"), "must be a Config")
    for options, sentence in (
        ({"errors": 5}, "tuple of ErrorRange"),
        ({"shared": 1, "read_bandwidth": (1, 1)}, "shared is 1; it must be True or False"),
    ):
        with pytest.raises(MemoryTimingError, match=sentence):
            MemoryTiming(**options)
    refused(lambda: Config(name=5), "name must be a text")
    refused(lambda: Config.from_dict([]), "must be an object")
    refused(lambda: preset([]), "There is no preset []")


def test_mistakes_in_text_have_the_place_where_they_stand():
    """Also those that only a whole program would show, and expressions without end."""
    for line, place, sentence in (
        (".word -1", "2:7", "from 0 to 2^256 - 1"),
        (".word 1<<256", "2:7", "from 0 to 2^256 - 1"),
        (".cycle_limit 1<<32", "2:14", "from 0 to 4294967295"),
        (".address -1", "2:10", "from 0 to"),
        (".host -1 start", "2:7", "cycle of a host event"),
        (".result x int9 0 4", "2:9", "int8, uint8, int32"),
        (".result x int8 0 1<<40", "2:9", "from 0 to 1073741824"),
        (".base 0 -1 4", "2:9", "base register 0"),
        (".data -1", "2:7", "segment"),
        ('.name 99 "x"', "2:7", "from 0 to 31"),
        (".timing shared=1", "2:1", "read_bandwidth must be given"),
        (".param channels=-1", "2:8", "from 0 to"),
        (".word " + "1+" * 20000 + "1", "2:7", "at most 1000"),
        (".word " + "(" * 900 + "1", "2:7", "..."),
        (".const z 1<<512<<512<<512", "2:10", "more than 1024 bits"),
        ("load rows=5000", "2:6", "from 1 to 4095"),
    ):
        with pytest.raises(AssemblyError) as caught:
            assemble(f".config tiny\n{line}\nload\n")
        assert str(caught.value).startswith(f"{place}: ") and sentence in str(caught.value), caught.value


def test_text_without_a_configuration_knows_the_sizes_of_the_one_given():
    program = assemble(".base 0 0 ROWS*COLS*LANES*MB\nload", TINY)
    assert program.bases[0].size == 4**4


ODD = {
    "wide": Config(4, 32, 5 * 64, 5, 8 * 16, 8, 2, 1, 1024, 1, 4),
    "tall": Config(32, 4, 3 * 256, 3, 5 * 16, 5, 2, 1, 32, 1, 4),
    "widest": Config(8, 64, 8 * 64, 8, 4, 1, 3, 2, 256, 2, 8),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("tier", ["functional", "stepped", "fast"])
def test_odd_cores_with_any_layout_of_operands(name, tier):
    """Transposed, reversed and strided arrays; sizes of 1; least depths; extreme values."""
    rng = np.random.default_rng(5)
    timing = MemoryTiming(9, 5, stalls=(40,) * 5, seed=3, max_reads=1, max_writes=1)
    for m, k, n in ((1, 1, 1), (3, 70, 5), (9, 1, 33), (5, 33, 1)):
        a = rng.integers(-128, 128, (k, m)).astype(np.int8).T
        b = rng.integers(-128, 128, (k, 2 * n)).astype(np.int8)[::-1, ::2]
        run = matmul(a, b, ODD[name], tier=tier, timing=timing)
        np.testing.assert_array_equal(run.values["out"], a.astype(np.int64) @ b.astype(np.int64))
    x = rng.integers(-128, 128, (2, 4, 3, 6)).astype(np.int8)[..., ::2]
    w = rng.integers(-128, 128, (5, 3, 2, 3)).astype(np.int8).transpose(3, 2, 1, 0)
    options = {"stride": (2, 1), "pads": (1, 0, 2, 1), "dilation": (1, 2), "pad_value": -128}
    run = conv2d(x, w, ODD[name], "int32", tier=tier, timing=timing, **options)
    np.testing.assert_array_equal(run.values["out"], oracle.conv2d(x, w, **options))


@pytest.mark.parametrize("pads", [(5, 5, 4, 2), (9, 0, 0, 0), (15, 1, 30, 1), (0, 0, 20, 0)])
def test_strips_that_see_padding_only(pads):
    """Above the image as below it: the kernel ends before the first row."""
    config = Config(4, 8, 80, 5, 12, 3, 3, 1, 256, 1, 128)
    rng = np.random.default_rng(1)
    x, w = rng.integers(-128, 128, (1, 8, 6, 9)).astype(np.int8), rng.integers(-128, 128, (3, 3, 9, 17)).astype(np.int8)
    options = {"stride": (7, 2), "pads": pads, "pad_value": 78}
    run = conv2d(x, w, config, requant=Requant(shift=14), tier="functional", **options)
    np.testing.assert_array_equal(run.values["out"], oracle.requantise(oracle.conv2d(x, w, **options), shift=14))


def test_images_longer_than_a_field():
    """5,000 rows: more than the instruction counts, so that they are cut into strips."""
    x = np.arange(5000).astype(np.int8).reshape(1, 5000, 1, 1)
    run = conv2d(x, np.ones((1, 1, 1, 1), np.int8), preset("small"), "int32", tier="functional")
    np.testing.assert_array_equal(run.values["out"], x)
