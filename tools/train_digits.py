# SPDX-License-Identifier: Apache-2.0
"""Train the digits networks, quantize them to int8 and write `model/beatmatch/data/digits.npz`.

Needs numpy and scikit-learn, the latter only for the data set it ships. Seeds are fixed and one
thread is used: the same numpy on the same processor writes the same file. Elsewhere a float sum may
end in another last bit, so the committed file is the reference; quantization replays exactly from
the float weights inside it.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the order of sums depends on it

import argparse
import json
from pathlib import Path

import numpy as np
from digits_float import NETWORKS, backward, forward, initialise
from digits_quantize import calibrate, quantize

OUTPUT = Path(__file__).resolve().parents[1] / "model" / "beatmatch" / "data" / "digits.npz"

TEST_IMAGES = 360
SPLIT_SEED = 1
TRAIN_SEED = 7
BATCH = 64
EPOCHS = {"cnn": 30, "mlp": 60}
LEARNING_RATE = {"cnn": 4e-3, "mlp": 3e-3}
WEIGHT_DECAY = 1e-2
LABEL_SMOOTHING = 0.05


def load_split(split):
    """Pixels 0..16 as uint8 (N, 8, 8) and labels, for training and for testing.

    Parameters
    ----------
    split : str
        `random`: a seeded permutation, whose first 360 images are the test set. `last`: the last
        360 images in file order, largely by writers that training never saw; harder, for comparison
        only.

    Returns
    -------
    tuple of ndarray
        Training images, training labels, test images, test labels.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = digits.images.astype(np.uint8), digits.target.astype(np.uint8)
    order = np.arange(len(images))[::-1]
    if split == "random":
        order = np.random.default_rng(SPLIT_SEED).permutation(len(images))
    test, train = np.sort(order[:TEST_IMAGES]), np.sort(order[TEST_IMAGES:])
    return images[train], labels[train], images[test], labels[test]


def to_float(images, dtype=np.float32):
    """Pixels 0..16 as real values 0..1 in NHWC."""
    return (images / 16.0).astype(dtype)[..., None]


def train(nodes, images, labels, epochs, learning_rate):
    """Train with AdamW, a cosine schedule and smoothed labels; returns {layer: [weight, bias]}."""
    rng = np.random.default_rng(TRAIN_SEED)
    params = initialise(nodes, rng)
    first = {name: [np.zeros_like(p) for p in pair] for name, pair in params.items()}
    second = {name: [np.zeros_like(p) for p in pair] for name, pair in params.items()}
    batches = len(images) // BATCH
    targets = np.full((len(labels), 10), LABEL_SMOOTHING / 10, np.float32)
    targets[np.arange(len(labels)), labels] += 1 - LABEL_SMOOTHING
    for step in range(epochs * batches):
        if step % batches == 0:
            order = rng.permutation(len(images))
        chosen = order[step % batches * BATCH :][:BATCH]
        grads = gradients(nodes, params, images[chosen], targets[chosen])
        rate = learning_rate * 0.5 * (1 + np.cos(np.pi * step / (epochs * batches)))
        for name, pair in params.items():
            for i, value in enumerate(pair):
                grad, mean, square = grads[name][i], first[name][i], second[name][i]
                mean += 0.1 * (grad - mean)
                square += 0.01 * (grad**2 - square)
                update = mean / (1 - 0.9 ** (step + 1))
                update /= np.sqrt(square / (1 - 0.99 ** (step + 1))) + 1e-8
                decay = WEIGHT_DECAY * value if i == 0 else 0.0
                value -= (rate * (update + decay)).astype(np.float32)
    return params


def gradients(nodes, params, images, targets):
    """Gradients of the mean cross-entropy over one batch."""
    values = forward(nodes, params, images)
    logits = values["logits"].reshape(targets.shape)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    return backward(nodes, params, values, (probabilities - targets) / len(targets))


def accuracy(nodes, params, images, labels):
    """Fraction of `images` (pixels 0..16) that the float network labels correctly."""
    logits = forward(nodes, params, to_float(images))["logits"].reshape(len(images), -1)
    return float((logits.argmax(axis=1) == labels).mean())


def build(split):
    """Train and quantize both networks; returns the contents of the file as {key: ndarray}."""
    train_images, train_labels, images, labels = load_split(split)
    contents = {"images": images, "labels": labels}
    for name, nodes in NETWORKS.items():
        params = train(nodes, to_float(train_images), train_labels, EPOCHS[name], LEARNING_RATE[name])
        ranges = calibrate(nodes, params, to_float(train_images))
        tensors, layers, arrays = quantize(name, nodes, params, ranges)
        record = {
            "float_accuracy": accuracy(nodes, params, images, labels),
            "ranges": ranges,
            "tensors": tensors,
            "layers": layers,
        }
        contents[f"{name}/record"] = np.array(json.dumps(record))
        contents.update({f"{name}/{key}": value for key, value in arrays.items()})
        for layer, (weight, bias) in params.items():
            contents[f"{name}/{layer}/float_weight"] = weight
            contents[f"{name}/{layer}/float_bias"] = bias
        print(f"{name}: {100 * record['float_accuracy']:.2f} % of {len(images)} test images in float")
    return contents


def main():
    """Command line: train, print accuracies and write the file (`--split last` only prints)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=("random", "last"), default="random", help="test set (default: random)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="file to write (default: the packaged one)")
    arguments = parser.parse_args()
    contents = build(arguments.split)
    if arguments.split == "random":
        np.savez_compressed(arguments.output, **contents)
        print(f"wrote {arguments.output} ({arguments.output.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
