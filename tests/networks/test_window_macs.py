# SPDX-License-Identifier: Apache-2.0
"""Multiply-accumulates count in the window in which the array made them, not in that of the layer they belong to."""

from beatmatch.config import preset
from beatmatch.networks.library import load
from beatmatch.networks.timing import time_network, window_macs


def test_a_layer_that_begins_in_the_window_before_counts_there():
    assert window_macs([(10, 100), (0, 0), (4, 80)], [12, 0, 2]) == [140.0, 0.0, 40.0]


def test_no_share_is_negative_and_all_macs_are_somewhere():
    result = time_network(load("resnet18"), preset("mxu128"))
    assert min(min(layer.shares(result.config).values()) for layer in result) >= -1e-9
    assert round(sum(layer.window_macs or 0 for layer in result)) == result.macs
    assert any(layer.window_macs and layer.window_macs > 1.01 * layer.macs for layer in result)  # layers do overlap
