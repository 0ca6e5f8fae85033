# SPDX-License-Identifier: Apache-2.0
"""The digits networks as programs: bit-exact against the naive reference, on presets and odd configurations."""

import numpy as np
import pytest

from beatmatch import digits
from beatmatch.compiler import CompileError, compile_digits, compile_network
from beatmatch.compiler.layers import Add, Conv, Dense, Shape
from beatmatch.compiler.requant import Requant
from beatmatch.config import PRESETS, Config
from beatmatch.functional import run
from beatmatch.isa import Opcode

ODD = {
    "tall": Config(rows=16, cols=4),
    "wide": Config(rows=4, cols=32, sp_words=2048),
    "wide beats": Config(rows=8, cols=16, mem_bits=1024),
    "one bank": Config(sp_banks=1, acc_banks=1, sp_words=2048, acc_rows=64, queue_depth=1, mem_bits=32),
}


@pytest.mark.parametrize("name", digits.NAMES)
@pytest.mark.parametrize("config", [*PRESETS, *ODD])
def test_logits_are_those_of_the_reference(name, config):
    network = digits.load(name)
    x = network.quantize(network.images[:7])
    program = compile_digits(network, x, PRESETS.get(config) or ODD[config])
    outcome = run(program)
    assert not outcome.error, outcome.text
    expected = digits.reference(network.layers, x)["logits"]
    np.testing.assert_array_equal(program.read(outcome.image)["logits"], expected, strict=True)


def test_whole_test_set_on_small():
    network = digits.load("cnn")
    x = network.quantize(network.images)
    logits = []
    for first in range(0, len(x), 90):
        program = compile_digits(network, x[first : first + 90], PRESETS["small"])
        outcome = run(program)
        logits.append(program.read(outcome.image)["logits"])
    expected = digits.reference(network.layers, x)["logits"]
    np.testing.assert_array_equal(np.concatenate(logits), expected)


def test_activations_never_leave_the_chip():
    network = digits.load("cnn")
    program = compile_digits(network, network.quantize(network.images[:8]), PRESETS["small"])
    stores = [i for i in program.decoded() if i.opcode == Opcode.STORE]
    stored = sum(i.outer * i.rows * i.row_bytes for i in stores)
    assert stored == 8 * 16  # ten logits in two words of eight
    loads = [i for i in program.decoded() if i.opcode == Opcode.LOAD]
    assert sum(i.outer * i.rows * i.row_bytes for i in loads) < 2 * 8 * 64 * 8 + 8 * 1432 + 8 * 64 * 32


def test_a_network_that_does_not_fit_is_refused_in_a_sentence():
    conv = Conv("y", ("x",), Shape(64, 64, 16), Requant(), weight=np.ones((1, 1, 16, 16), np.int8))
    with pytest.raises(CompileError, match="more than the 1024 scratchpad words"):
        compile_network([conv], "x", np.zeros((1, 64, 64, 16), np.int8), PRESETS["tiny"])
    with pytest.raises(ValueError, match="int8"):
        compile_network([conv], "x", np.zeros((1, 64, 64, 16)), PRESETS["tiny"])


def test_residual_over_the_input_and_flattening_of_images():
    """The input stays until its last reader; a dense layer takes (height, width, channel) order."""
    rng = np.random.default_rng(4)
    x = rng.integers(-128, 128, (5, 4, 4, 5)).astype(np.int8)
    w = rng.integers(-20, 20, (1, 1, 5, 5)).astype(np.int8)
    dense = rng.integers(-20, 20, (80, 3)).astype(np.int8)
    layers = [
        Conv("y", ("x",), Shape(4, 4, 5), Requant(0, 1, 5), weight=w),
        Add("z", ("y", "x"), Shape(4, 4, 5), Requant(10, 3, 2), multiplier_b=2),
        Dense("out", ("z",), Shape(1, 1, 3), Requant(0, 1, 8), weight=dense),
    ]

    def scaled(total, shift):
        return np.clip(np.rint(total / 2**shift), -128, 127).astype(np.int64)  # rint rounds ties to even

    for config in (PRESETS["small"], PRESETS["base"], *ODD.values()):
        program = compile_network(layers, "x", x, config)
        outcome = run(program)
        assert not outcome.error, outcome.text
        y = scaled(x.astype(np.int64) @ w[0, 0].astype(np.int64), 5)
        z = scaled(3 * y + 2 * x.astype(np.int64) + 10, 2)
        expected = scaled(z.reshape(5, -1) @ dense.astype(np.int64), 8).astype(np.int8)
        np.testing.assert_array_equal(program.read(outcome.image)["out"].reshape(5, 3), expected)
