# SPDX-License-Identifier: Apache-2.0
"""Advice: each cause is found where it is, named with its figures, and not where it is not."""

import re
from functools import partial

import pytest

from beatmatch.networks.advice import advice
from beatmatch.networks.losses import CAUSES, losses
from tests.networks.results import layer, network, priced, random_network

CASES = {
    "groups": (partial(layer, "deep", rows=900, fill=(1 / 16, 1.0), groups=16), "844", ["1 of 16 rows", "16 groups"]),
    "rows": (partial(layer, "thin", rows=800, fill=(0.5, 1.0)), "400", ["8 of 16 rows", "an array of 8 rows"]),
    "columns": (
        partial(layer, "narrow", rows=800, fill=(1.0, 0.25), shape=(1, 4, 8, 8)), "600",
        ["4 output channels", "4 of 16 columns", "(16 here)", "an array of 4 columns"],
    ),
    "weight_shift": (
        partial(layer, "short", op="dense", shape=(3, 16), rows=100, weight_shift=500), "500",
        ["3 rows only", "A batch 6 times", "16 cycles per tile"],
    ),
    "weight_stall": (
        partial(layer, "starved", rows=100, weight_stall=300, read_bytes=6400, minimum_bytes=6400), "300",
        ["16.0 bytes per cycle", "wider one"],
    ),
    "vector": (
        partial(layer, "pool", op="maxpool", shape=(1, 24, 4, 4), raw_stall=70, other=30), "100",
        ["24 channels use 75%", "multiples of 16"],
    ),
    "results": (partial(layer, "late", rows=50, raw_stall=50), "50", ["50% of that layer's time"]),
    "inputs": (partial(layer, "hungry", rows=50, input_stall=150, read_bytes=1000), "150", ["5.0 bytes per cycle"]),
    "edges": (partial(layer, "brief", rows=50, other=150), "150", ["75% of that layer's time"]),
    "estimate": (partial(priced, "soft", 640), "640", ["softmax 100%", "elements_per_cycle 16"]),
}  # fmt: skip


def test_every_cause_has_its_case():
    assert tuple(CASES) == CAUSES


@pytest.mark.parametrize("cause", CASES)
def test_a_cause_is_found_alone_and_with_its_figures(cause):
    make, cycles, words = CASES[cause]
    (found,) = advice(network(lambda start: make(start=start)))
    assert (found.cause, found.layers) == (cause, (make.args[0],))
    assert re.search(rf"\b{cycles} cycles \(", found.text) and round(found.share * 100) > 0
    for text in (*words, make.args[0]):
        assert text in str(found)


def test_a_full_array_needs_no_advice():
    assert advice(network(lambda start: layer("full", start, rows=1000, other=10))) == []
    assert advice(network()) == []


def test_a_cause_below_the_bar_is_not_named():
    result = network(lambda start: layer("nearly", start, rows=1000, other=19))
    assert advice(result) == [] and [one.cause for one in advice(result, least=0.01)] == ["edges"]


@pytest.mark.parametrize("seed", range(5))
def test_losses_and_useful_work_are_all_cycles(seed):
    result = random_network(60, seed)
    lost = sum(loss.cycles for loss in losses(result))
    assert lost + result.shares()["useful"] * result.cycles == pytest.approx(result.cycles)


@pytest.mark.parametrize("seed", range(5))
def test_the_worst_comes_first(seed):
    found = advice(random_network(60, seed), least=0)
    cycles = [one.cycles for one in found if one.cause != "traffic"]
    assert cycles == sorted(cycles, reverse=True) and len(cycles) > 5


def test_the_worst_layer_is_named_and_the_others_are_counted():
    makers = [partial(layer, f"n{count}", rows=10 * count, fill=(0.5, 1.0)) for count in (1, 3, 2)]
    (found,) = advice(network(*(lambda start, make=make: make(start=start) for make in makers)))
    assert found.layers == ("n3", "n2", "n1")
    assert "30 cycles (50.0%) in 3 layers, the most in n3 (15)" in found.text


def test_small_images_are_told_the_batch_that_helps():
    make = partial(layer, "conv", shape=(1, 16, 2, 2), rows=100, weight_shift=500)
    (found,) = advice(network(lambda start: make(start=start)))
    assert "4 rows only" in found.text and "A batch 4 times as large hides them" in found.remedy


def test_traffic_above_the_minimum_is_named():
    make = partial(layer, "reread", rows=1000, read_bytes=9000, written_bytes=1000, minimum_bytes=2000)
    (found,) = advice(network(lambda start: make(start=start)))
    assert found.cause == "traffic" and found.layers == ("reread",)
    assert "10,000 bytes where 2,000 have to (5.0 times)" in found.text and "8,000 more" in found.text
    frugal = partial(layer, "frugal", rows=1000, read_bytes=1900, written_bytes=1000, minimum_bytes=2000)
    assert advice(network(lambda start: frugal(start=start))) == []
