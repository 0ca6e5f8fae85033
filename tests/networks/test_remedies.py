# SPDX-License-Identifier: Apache-2.0
"""What advice says would not waste cycles does not waste them, in the model."""

import pytest

from beatmatch.config import Config, preset
from beatmatch.networks.advice import advice
from beatmatch.networks.timing import time_network
from tests.networks.chains import Chain

TINY = preset("tiny")
NARROW = Config.from_dict({**TINY.to_dict(), "rows": 8, "cols": 8, "name": "custom"})


def convolutions(channels, size=8, groups=1, batch=1, kernel=3, config=TINY):
    """Two convolutions one after the other."""
    chain = Chain(1)
    x = chain.input((batch, channels, size, size))
    window = {"kernel": (kernel, kernel), "strides": (1, 1), "pads": (kernel // 2,) * 4, "dilations": (1, 1)}
    for _ in range(2):
        weight = chain.constant((channels, channels // groups, kernel, kernel))
        requant = chain.requant(channels, channels)
        x = chain.node("conv", (x, weight), [(batch, channels, size, size)], requant, groups=groups, **window)
    return time_network(chain.finish(), config)


def dense(batch):
    chain = Chain(1)
    x = chain.input((batch, 64))
    for _ in range(2):
        x = chain.node("dense", (x, chain.constant((64, 64))), [(batch, 64)], chain.requant(64, 64))
    return time_network(chain.finish(), preset("base"))


def causes(result):
    return {one.cause: one for one in advice(result)}


def test_channels_in_multiples_of_the_array_fill_it():
    wasteful = causes(convolutions(6))
    assert {"rows", "columns"} <= wasteful.keys() and "multiples of 4 (8 here)" in wasteful["columns"].remedy
    assert not {"rows", "columns"} & causes(convolutions(8)).keys()


def test_a_smaller_array_is_filled_where_a_larger_one_is_not():
    wasteful = causes(convolutions(4, config=NARROW))
    assert "or an array of 4 rows" in wasteful["rows"].remedy
    assert "or an array of 4 columns" in wasteful["columns"].remedy
    assert not {"rows", "columns"} & causes(convolutions(4)).keys()


def test_groups_as_wide_as_the_array_fill_it():
    wasteful = causes(convolutions(8, groups=8))
    assert "Groups of 4 input channels" in wasteful["groups"].remedy and "1 of 4 rows" in wasteful["groups"].text
    assert "groups" not in causes(convolutions(8, groups=2)) and "groups" not in causes(convolutions(8))


def test_a_batch_hides_weights_of_dense_layers():
    assert "A batch 16 times" in causes(dense(1))["weight_shift"].remedy
    assert "weight_shift" not in causes(dense(16))


@pytest.mark.parametrize("kernel", [1, 3])
def test_a_batch_hides_weights_of_convolutions(kernel):
    assert "A batch 4 times" in causes(convolutions(8, size=1, kernel=kernel))["weight_shift"].remedy
    assert "weight_shift" not in causes(convolutions(8, size=1, kernel=kernel, batch=4))
    assert "weight_shift" not in causes(convolutions(8, size=4, kernel=kernel))


@pytest.mark.parametrize("channels", [5, 8])
def test_losses_of_real_networks_are_all_cycles(channels):
    from beatmatch.networks.losses import losses

    result = convolutions(channels)
    lost = sum(loss.cycles for loss in losses(result))
    assert lost + result.shares()["useful"] * result.cycles == pytest.approx(result.cycles)
