# SPDX-License-Identifier: Apache-2.0
"""The digits networks in float: their graphs, and forward and backward passes in numpy.

A network is a list of `Node` in execution order. The output tensor of a node carries the node's
name, and `"image"` is the network's input, so a skip connection is simply a name used twice. The
same list drives training, calibration and quantization: no second description of the topology
exists. Tensors are NHWC, convolution weights [kh, kw, cin, cout], dense weights [cin, cout].
"""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

IMAGE_SHAPE = (8, 8, 1)


@dataclass(frozen=True)
class Node:
    """One layer of a float network.

    Parameters
    ----------
    name : str
        Name of the layer and of its output tensor.
    kind : str
        `conv` (3x3, same padding), `dense` (flattens its input in H, W, C order), `add`, `maxpool`
        (2x2) or `avgpool` (over the whole image).
    inputs : tuple of str
        Names of the input tensors.
    channels : int
        Output channels of `conv` and `dense`; unused otherwise.
    relu : bool
        Whether the output passes a ReLU.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    channels: int = 0
    relu: bool = False


CNN = (
    Node("conv1", "conv", ("image",), 8, relu=True),
    Node("conv2", "conv", ("conv1",), 16, relu=True),
    Node("conv3", "conv", ("conv2",), 16, relu=True),
    Node("conv4", "conv", ("conv3",), 16),
    Node("add", "add", ("conv4", "conv2"), relu=True),
    Node("maxpool", "maxpool", ("add",)),
    Node("conv5", "conv", ("maxpool",), 32, relu=True),
    Node("avgpool", "avgpool", ("conv5",)),
    Node("logits", "dense", ("avgpool",), 10),
)

MLP = (
    Node("dense1", "dense", ("image",), 64, relu=True),
    Node("dense2", "dense", ("dense1",), 32, relu=True),
    Node("logits", "dense", ("dense2",), 10),
)

NETWORKS = {"cnn": CNN, "mlp": MLP}


def shapes(nodes):
    """Shape (H, W, C) of every tensor, dense outputs being (1, 1, C)."""
    known = {"image": IMAGE_SHAPE}
    for node in nodes:
        height, width, channels = known[node.inputs[0]]
        known[node.name] = {
            "conv": (height, width, node.channels),
            "dense": (1, 1, node.channels),
            "add": (height, width, channels),
            "maxpool": (height // 2, width // 2, channels),
            "avgpool": (1, 1, channels),
        }[node.kind]
    return known


def initialise(nodes, rng):
    """He-initialised float32 weights and zero biases, as {layer: [weight, bias]}."""
    known = shapes(nodes)
    params = {}
    for node in nodes:
        height, width, channels = known[node.inputs[0]]
        if node.kind == "conv":
            shape = (3, 3, channels, node.channels)
        elif node.kind == "dense":
            shape = (height * width * channels, node.channels)
        else:
            continue
        deviation = np.sqrt(2.0 / np.prod(shape[:-1]))
        weight = rng.normal(0.0, deviation, shape).astype(np.float32)
        params[node.name] = [weight, np.zeros(node.channels, np.float32)]
    return params


def _columns(x):
    """The 3x3 neighbourhoods of NHWC `x` as rows in (kh, kw, C) order, padded with zero."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = sliding_window_view(padded, (3, 3), axis=(1, 2)).transpose(0, 1, 2, 4, 5, 3)
    return windows.reshape(-1, 9 * x.shape[3])


def forward(nodes, params, images):
    """Run a network and keep every tensor.

    Parameters
    ----------
    nodes : sequence of Node
    params : dict
        `{layer: [weight, bias]}`; computation happens in the precision of `images`.
    images : ndarray of float, (N, 8, 8, 1)

    Returns
    -------
    dict
        `{tensor: ndarray (N, H, W, C)}`, the input and the logits included.
    """
    values = {"image": images}
    for node in nodes:
        x = values[node.inputs[0]]
        count, height, width, channels = x.shape
        if node.kind == "conv":
            weight, bias = params[node.name]
            y = _columns(x) @ weight.reshape(-1, node.channels) + bias
            y = y.reshape(count, height, width, node.channels)
        elif node.kind == "dense":
            weight, bias = params[node.name]
            y = (x.reshape(count, -1) @ weight + bias).reshape(count, 1, 1, -1)
        elif node.kind == "add":
            y = x + values[node.inputs[1]]
        elif node.kind == "maxpool":
            y = x.reshape(count, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))
        else:
            y = x.mean(axis=(1, 2), keepdims=True)
        values[node.name] = np.maximum(y, 0) if node.relu else y
    return values


def backward(nodes, params, values, grad_logits):
    """Gradients of weights and biases, as {layer: [weight, bias]}, from that of the logits."""
    grads, flow = {}, {nodes[-1].name: grad_logits.reshape(values[nodes[-1].name].shape)}
    for node in reversed(nodes):
        dy, y, x = flow.pop(node.name), values[node.name], values[node.inputs[0]]
        if node.relu:
            dy = dy * (y > 0)
        if node.kind in ("conv", "dense"):
            weight = params[node.name][0]
            rows = _columns(x) if node.kind == "conv" else x.reshape(len(x), -1)
            flat = dy.reshape(-1, node.channels)
            grads[node.name] = [(rows.T @ flat).reshape(weight.shape), flat.sum(axis=0)]
        if node.kind == "conv":
            # A convolution's input gradient is a convolution with the kernel turned by 180 degrees.
            turned = params[node.name][0][::-1, ::-1].transpose(0, 1, 3, 2)
            dx = (_columns(dy) @ turned.reshape(-1, x.shape[3])).reshape(x.shape)
        elif node.kind == "dense":
            dx = (flat @ params[node.name][0].T).reshape(x.shape)
        elif node.kind == "add":
            dx = dy
            flow[node.inputs[1]] = flow.get(node.inputs[1], 0) + dy
        elif node.kind == "maxpool":
            dx = (x == _spread(y, 2)) * _spread(dy, 2)
        else:
            dx = np.broadcast_to(dy / (x.shape[1] * x.shape[2]), x.shape)
        flow[node.inputs[0]] = flow.get(node.inputs[0], 0) + dx
    return grads


def _spread(x, factor):
    """Repeat every pixel `factor` times in height and width."""
    return x.repeat(factor, axis=1).repeat(factor, axis=2)
