# SPDX-License-Identifier: Apache-2.0
"""Rules of the operators that only move values."""

from __future__ import annotations

import numpy as np

from beatmatch.networks.translate import Reader, rule


@rule("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout")
def _reshape(reader: Reader, node: object) -> None:
    if any(node.output[1:]):
        raise reader.refuse(node, "gives its mask as an output", "export the network for inference")
    reader.add(node, "reshape", [node.input[0]])


@rule("Transpose")
def _transpose(reader: Reader, node: object) -> None:
    rank = len(reader.shape(node.input[0]))
    reader.add(node, "transpose", perm=tuple(reader.attribute(node, "perm") or range(rank)[::-1]))


@rule("Concat")
def _concat(reader: Reader, node: object) -> None:
    reader.add(node, "concat", axis=reader.axis(node, 0))


@rule("Split")
def _split(reader: Reader, node: object) -> None:
    axis = reader.axis(node, 0)
    sizes = tuple(reader.shape(name)[axis] for name in node.output)
    reader.add(node, "split", [node.input[0]], axis=axis, sizes=sizes)


@rule("Slice")
def _slice(reader: Reader, node: object) -> None:
    shape = reader.shape(node.input[0])
    starts, _, axes, steps = (
        reader.constant(node, k, what) for k, what in enumerate(("starts", "ends", "axes", "steps"), 1)
    )
    axes = range(len(starts)) if axes is None else axes.tolist()
    begin, step = [0] * len(shape), [1] * len(shape)
    for k, axis in enumerate(axes):
        size = shape[axis]
        step[axis] = 1 if steps is None else int(steps[k])
        start = int(starts[k]) + (size if starts[k] < 0 else 0)
        begin[axis] = min(max(start, 0), size - 1 if step[axis] < 0 else size)
    reader.add(node, "slice", [node.input[0]], starts=tuple(begin), steps=tuple(step))


@rule("Pad")
def _pad(reader: Reader, node: object) -> None:
    rank = len(reader.shape(node.input[0]))
    mode = reader.attribute(node, "mode", "constant")
    given, value, axes = (reader.constant(node, k, what) for k, what in ((1, "pads"), (2, "value"), (3, "axes")))
    pads = np.zeros((2, rank), int)
    pads[:, range(rank) if axes is None else [a % rank for a in axes.tolist()]] = given.reshape(2, -1)
    if pads.min() < 0:
        raise reader.refuse(node, f"has negative pads {given.tolist()}", "crop with a Slice instead")
    if mode not in ("constant", "reflect", "edge"):
        raise reader.refuse(node, f"has mode={mode}", "pad with constant, reflect or edge")
    value = 0.0 if value is None else float(value.reshape(-1)[0])
    reader.add(node, "pad", [node.input[0]], pads=tuple(pads.reshape(-1).tolist()), mode=mode, value=value)


@rule("GatherElements")
def _gather_elements(reader: Reader, node: object) -> None:
    reader.add(node, "gather_elements", axis=reader.axis(node, 0))


@rule("GatherND")
def _gather_nd(reader: Reader, node: object) -> None:
    if reader.attribute(node, "batch_dims", 0):
        raise reader.refuse(node, f"has batch_dims={reader.attribute(node, 'batch_dims')}", "export it with 0")
    reader.add(node, "gather_nd")


@rule("Gather")
def _gather(reader: Reader, node: object) -> None:
    rank = len(reader.shape(node.input[0]))
    reader.add(node, "gather", axis=reader.attribute(node, "axis", 0) % rank)


@rule("Resize")
def _resize(reader: Reader, node: object) -> None:
    shape, out = reader.shape(node.input[0]), reader.shape(node.output[0])
    mode = reader.attribute(node, "mode", "nearest")
    coordinates = reader.attribute(node, "coordinate_transformation_mode", "half_pixel")
    if mode not in ("nearest", "linear"):
        raise reader.refuse(node, f"has mode={mode}", "resize with nearest or linear")
    if coordinates not in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
        raise reader.refuse(node, f"has coordinate_transformation_mode={coordinates}", "export it as half_pixel")
    for name in ("antialias", "exclude_outside"):
        if reader.attribute(node, name, 0):
            raise reader.refuse(node, f"has {name}=1", "export it without")
    if reader.attribute(node, "axes") is not None:
        raise reader.refuse(node, "has axes", "export it with a scale or size for every axis")
    scales = reader.constant(node, 2, "scales") if len(node.input) > 2 else None
    if scales is None or not scales.size:
        scales = [o / s for o, s in zip(out, shape, strict=True)]
    reader.add(
        node, "resize", [node.input[0]], mode=mode, coordinates=coordinates,
        nearest=reader.attribute(node, "nearest_mode", "round_prefer_floor"), scales=tuple(float(s) for s in scales),
    )  # fmt: skip
