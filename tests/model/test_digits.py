# SPDX-License-Identifier: Apache-2.0
"""The packaged digits networks: legal fields, accuracy in int8, replay from float weights."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from beatmatch import digits
from beatmatch.digits.network import DATA

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import digits_float
import digits_quantize

LEAST_FLOAT_ACCURACY = {"cnn": 0.97, "mlp": 0.96}


@pytest.fixture(scope="module", params=digits.NAMES)
def network(request):
    return digits.load(request.param)


@pytest.fixture(scope="module")
def contents():
    with np.load(DATA, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def stored_float(contents, name):
    """Record and float weights of one network, straight from the file."""
    record = json.loads(str(contents[f"{name}/record"]))
    params = {
        node.name: [contents[f"{name}/{node.name}/float_{field}"] for field in ("weight", "bias")]
        for node in digits_float.NETWORKS[name]
        if node.kind in ("conv", "dense")
    }
    return record, params


def test_test_set_holds_real_digits(network):
    assert network.images.dtype == np.uint8 and network.images.shape == (360, 8, 8)
    assert network.labels.dtype == np.uint8 and network.labels.shape == (360,)
    assert network.images.max() == 16
    assert (np.bincount(network.labels, minlength=10) >= 20).all()


def test_int8_accuracy_is_within_one_percent_of_float(network):
    logits = digits.reference(network.layers, network.quantize(network.images))["logits"]
    assert network.float_accuracy >= LEAST_FLOAT_ACCURACY[network.name]
    assert abs(network.accuracy(logits) - network.float_accuracy) <= 0.01


def test_float_accuracy_is_that_of_the_stored_weights(network, contents):
    _, params = stored_float(contents, network.name)
    images = (network.images / 16.0)[..., None]
    logits = digits_float.forward(digits_float.NETWORKS[network.name], params, images)["logits"]
    assert network.accuracy(logits) == network.float_accuracy


def test_quantizer_reproduces_the_file(network, contents):
    name = network.name
    record, params = stored_float(contents, name)
    nodes = digits_float.NETWORKS[name]
    tensors, layers, arrays = digits_quantize.quantize(name, nodes, params, record["ranges"])
    assert json.loads(json.dumps(tensors)) == record["tensors"]
    assert json.loads(json.dumps(layers)) == record["layers"]
    floats = {f"{layer}/float_{field}" for layer in params for field in ("weight", "bias")}
    stored = {key.split("/", 1)[1] for key in contents if key.startswith(f"{name}/")}
    assert stored == set(arrays) | floats | {"record"}
    for key, value in arrays.items():
        np.testing.assert_array_equal(value, contents[f"{name}/{key}"], strict=True)


def test_every_int8_tensor_is_close_to_its_float_value(network, contents):
    _, params = stored_float(contents, network.name)
    images = (network.images / 16.0)[..., None]
    exact = digits_float.forward(digits_float.NETWORKS[network.name], params, images)
    integer = digits.reference(network.layers, network.quantize(network.images))
    assert set(exact) == set(integer) == set(network.tensors)
    for name, tensor in network.tensors.items():
        assert integer[name].shape[1:] == tensor.shape
        real = tensor.scale * (integer[name].astype(np.int64) - tensor.zero_point)
        error = np.sqrt(np.mean((real - exact[name]) ** 2)) / exact[name].std()
        assert error < 0.04, f"{name}: relative error {error}"


def test_graph_is_explicit(network):
    known = {"image"}
    for layer in network.layers:
        assert {tensor.name for tensor in layer.inputs} <= known
        assert layer.output.name == layer.name
        known.add(layer.name)
    assert network.layers[-1].name == "logits"


def test_cnn_has_the_skip_and_the_mlp_the_other_relu():
    cnn, mlp = digits.load("cnn"), digits.load("mlp")
    (add,) = [layer for layer in cnn.layers if isinstance(layer, digits.Add)]
    assert [tensor.name for tensor in add.inputs] == ["conv4", "conv2"]
    assert {tensor.zero_point for tensor in cnn.tensors.values()} > {-128}
    assert [layer.low for layer in mlp.layers if layer.relu] == [0, 0]


def test_fields_are_in_range(network):
    for tensor in network.tensors.values():
        assert -128 <= tensor.zero_point <= 127 and tensor.scale > 0
    for layer in network.layers:
        assert -128 <= layer.low <= layer.high <= 127
        match layer:
            case digits.Conv2D() | digits.Dense():
                cin = layer.input.shape[-1] if isinstance(layer, digits.Conv2D) else np.prod(layer.input.shape)
                cout = layer.output.shape[-1]
                kernel = (3, 3) if isinstance(layer, digits.Conv2D) else ()
                assert layer.weight.dtype == np.int8 and layer.weight.shape == (*kernel, cin, cout)
                assert layer.weight.min() >= -127
                assert layer.bias.dtype == np.int32 and layer.bias.shape == (cout,)
                assert layer.multiplier.dtype == np.int32 and layer.multiplier.shape == (cout,)
                assert (layer.multiplier >= 2**23).all() and (layer.multiplier < 2**24).all()
                assert layer.shift.dtype == np.uint8 and layer.shift.shape == (cout,)
                assert layer.shift.max() <= 63
                largest = np.abs(layer.weight.astype(np.int64)).reshape(-1, cout).sum(axis=0) * 128
                assert (largest + np.abs(layer.bias.astype(np.int64)) < 2**31).all()
            case digits.Add():
                assert 0 < layer.multiplier_a < 2**15 and 0 < layer.multiplier_b < 2**15
                assert abs(layer.bias) < 2**31 and 0 <= layer.shift <= 63
            case digits.AvgPool():
                assert 2**23 <= layer.multiplier < 2**24 and 0 <= layer.shift <= 63
                assert layer.bias == -(layer.window**2) * layer.input.zero_point
            case digits.MaxPool():
                assert layer.output.zero_point == layer.input.zero_point
                assert layer.output.scale == layer.input.scale


def test_round_half_even_agrees_with_exact_fractions():
    rng = np.random.default_rng(5)
    for shift in range(64):
        ties = (2 * rng.integers(-8, 8, 16) + 1) << max(shift - 1, 0) if shift < 60 else []
        for value in [0, 1, -1, 2**55, -(2**55), *ties, *rng.integers(-(2**55), 2**55, 16)]:
            assert digits.round_half_even(value, shift) == round(Fraction(int(value), 2**shift))


def test_reference_convolution_agrees_with_real_arithmetic():
    """Padding with the zero point is padding with a real zero: the border proves it."""
    conv = digits.load("cnn").layers[1]
    rng = np.random.default_rng(6)
    x = rng.integers(-128, 128, (2, *conv.input.shape)).astype(np.int8)
    out = digits.reference([conv], x)[conv.name]
    for n, i, j, c in [(0, 0, 0, 0), (0, 7, 7, 3), (1, 0, 7, 5), (1, 3, 4, 15)]:
        total = 0
        for di in range(3):
            for dj in range(3):
                if 0 <= i + di - 1 < 8 and 0 <= j + dj - 1 < 8:
                    real = x[n, i + di - 1, j + dj - 1].astype(int) - conv.input.zero_point
                    total += int(real @ conv.weight[di, dj, :, c].astype(int))
        bias = int(conv.bias[c]) + conv.input.zero_point * int(conv.weight[..., c].astype(int).sum())
        factor = Fraction(int(conv.multiplier[c]), 2 ** int(conv.shift[c]))
        expected = round((total + bias) * factor) + conv.output.zero_point
        assert out[n, i, j, c] == min(max(expected, conv.low), conv.high)


@pytest.mark.parametrize("images", [np.full((1, 8, 8), 17), np.full((1, 8, 8), -1), np.zeros((8, 8))])
def test_illegal_images_are_refused(images):
    with pytest.raises(ValueError, match=r"legal are 0\.\.16|expected"):
        digits.Network.quantize(images)


def test_unknown_network_and_wrong_input_are_refused():
    with pytest.raises(ValueError, match="there are: cnn, mlp"):
        digits.load("vgg")
    with pytest.raises(ValueError, match="expected int8"):
        digits.reference(digits.load("cnn").layers, np.zeros((1, 8, 8, 1)))
