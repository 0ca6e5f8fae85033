# SPDX-License-Identifier: Apache-2.0
"""Load a quantized digits network and its test set from the packaged file."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .layers import Add, AvgPool, Conv2D, Dense, Layer, MaxPool, Tensor

DATA = Path(__file__).resolve().parents[1] / "data" / "digits.npz"
NAMES = ("cnn", "mlp")

# Pixels 0..16 become int8 by an integer formula; float scale and zero point of the input agree with
# it.
PIXEL_MULTIPLIER, PIXEL_OFFSET = 15, -128


@dataclass(frozen=True, eq=False)
class Network:
    """A quantized network and the test set it is judged by.

    Parameters
    ----------
    name : str
        `cnn` or `mlp`.
    tensors : dict of str to Tensor
        All activation tensors; `"image"` is the input and `"logits"` the output.
    layers : tuple of Layer
        In execution order.
    images : ndarray of uint8, (360, 8, 8)
        Test images, pixels 0..16.
    labels : ndarray of uint8, (360,)
    float_accuracy : float
        Fraction of the test set that the float network labels correctly.
    """

    name: str
    tensors: dict[str, Tensor]
    layers: tuple[Layer, ...]
    images: np.ndarray
    labels: np.ndarray
    float_accuracy: float

    @staticmethod
    def quantize(images: np.ndarray) -> np.ndarray:
        """Pixels 0..16, (N, 8, 8), as the int8 input tensor (N, 8, 8, 1); exact.

        Raises
        ------
        ValueError
            If the images do not have that shape and range.
        """
        images = np.asarray(images)
        if images.ndim != 3 or images.shape[1:] != (8, 8):
            raise ValueError(f"images have shape {images.shape}; expected (N, 8, 8)")
        if images.size and not (images.min() >= 0 and images.max() <= 16):
            raise ValueError(f"pixels are {images.min()}..{images.max()}; legal are 0..16")
        values = images.astype(np.int64) * PIXEL_MULTIPLIER + PIXEL_OFFSET
        return values.astype(np.int8)[..., None]

    def accuracy(self, logits: np.ndarray) -> float:
        """Fraction of correct labels, given the logits (N, ...10) of the first N test images."""
        predicted = np.asarray(logits).reshape(len(logits), -1).argmax(axis=1)
        return float((predicted == self.labels[: len(predicted)]).mean())


def load(name: str) -> Network:
    """Load one of the packaged networks.

    Parameters
    ----------
    name : str
        `cnn` or `mlp`.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If there is no such network.
    """
    if name not in NAMES:
        raise ValueError(f"no digits network is called {name!r}; there are: {', '.join(NAMES)}")
    with np.load(DATA, allow_pickle=False) as contents:
        arrays = {key: contents[key] for key in contents.files}
    record = json.loads(str(arrays[f"{name}/record"]))
    tensors = {
        key: Tensor(key, tuple(value["shape"]), value["scale"], value["zero_point"])
        for key, value in record["tensors"].items()
    }
    return Network(
        name=name,
        tensors=tensors,
        layers=tuple(_layer(name, layer, tensors, arrays) for layer in record["layers"]),
        images=arrays["images"],
        labels=arrays["labels"],
        float_accuracy=record["float_accuracy"],
    )


def _layer(network: str, record: dict, tensors: dict[str, Tensor], arrays: dict[str, np.ndarray]) -> Layer:
    """Turn one stored record and its arrays into a typed layer."""
    common = {
        "name": record["name"],
        "inputs": tuple(tensors[key] for key in record["inputs"]),
        "output": tensors[record["name"]],
        "low": record["low"],
        "high": record["high"],
    }
    prefix = f"{network}/{record['name']}/"
    weighted = ("weight", "bias", "multiplier", "shift")
    match record["kind"]:
        case "conv":
            return Conv2D(**common, **{key: arrays[prefix + key] for key in weighted}, padding=1)
        case "dense":
            return Dense(**common, **{key: arrays[prefix + key] for key in weighted})
        case "add":
            keys = ("multiplier_a", "multiplier_b", "bias", "shift")
            return Add(**common, **{key: record[key] for key in keys})
        case "maxpool":
            return MaxPool(**common, window=2)
        case "avgpool":
            keys = ("multiplier", "shift", "bias")
            return AvgPool(**common, window=common["inputs"][0].shape[0], **{key: record[key] for key in keys})
        case kind:
            raise ValueError(f"layer {record['name']} is of unknown kind {kind!r}")
