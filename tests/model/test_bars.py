# SPDX-License-Identifier: Apache-2.0
"""Nothing is wasted: cycles of compiled kernels on the stepped tier against their lower bounds."""

import numpy as np
import pytest

from beatmatch import digits
from beatmatch.api import matmul
from beatmatch.compiler import compile_digits, compile_network
from beatmatch.compiler.layers import from_digits
from beatmatch.compiler.requant import fitting_requant
from beatmatch.config import PRESETS
from beatmatch.machine import run_stepped
from beatmatch.numerics import requantise

BATCH = 32


@pytest.mark.slow
@pytest.mark.parametrize("out", ["int8", "int32"])
@pytest.mark.parametrize(
    ("m", "k", "n", "bound", "factor"), [(256, 256, 256, 65536, 1.05), (1, 1024, 1024, 65600, 1.08)]
)
def test_products_on_base(m, k, n, bound, factor, out):
    """Dense row-major operands and results in memory of latency 50; 65,600 is the memory bound of the second."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (m, k)).astype(np.int8), rng.integers(-128, 128, (k, n)).astype(np.int8)
    run = matmul(a, b, PRESETS["base"], out)
    expected = a.astype(np.int64) @ b.astype(np.int64)
    if out == "int8":
        expected = requantise(expected, 0, 1, fitting_requant(k).shift)
    np.testing.assert_array_equal(run.values["out"], expected)
    assert run.cycles <= factor * bound
    assert run.accounting.useful_macs == m * k * n


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conv1", "conv2", "conv3", "conv4", "conv5"])
def test_digits_convolutions_on_small(name):
    """Within 1.15 of the rows that must be streamed (the memory's part is far smaller)."""
    config, network = PRESETS["small"], digits.load("cnn")
    layer = next(layer for layer in network.layers if layer.name == name)
    reference = digits.reference(network.layers, network.quantize(network.images[:BATCH]))
    x = reference[layer.input.name]
    result = run_stepped(compile_network(from_digits([layer]), layer.input.name, x, config))
    np.testing.assert_array_equal(result.values[name], reference[name])
    kernel_height, kernel_width, channels, filters = layer.weight.shape
    height, width, _ = layer.output.shape
    tiles = kernel_height * kernel_width * -(-channels // config.rows) * -(-filters // config.cols)
    rows = BATCH * height * width * tiles
    assert result.accounting.active == rows
    beats = (x.size + layer.weight.size) / config.mem_bytes
    assert result.cycles <= 1.15 * max(rows, beats)


@pytest.mark.slow
def test_whole_cnn_on_small_keeps_the_array_busy():
    network = digits.load("cnn")
    x = network.quantize(network.images[:8])
    result = run_stepped(compile_digits(network, x, PRESETS["small"]))
    np.testing.assert_array_equal(result.values["logits"], digits.reference(network.layers, x)["logits"])
    assert result.cycles <= 1.12 * result.accounting.active
