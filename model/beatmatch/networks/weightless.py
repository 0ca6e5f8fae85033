# SPDX-License-Identifier: Apache-2.0
"""Networks without their bulk: a constant is its shape, its type and four statistics, and its values come from a seed.

In an ONNX file such a constant is an initializer whose data are declared external at the location `weightless`, with
mean, deviation, minimum and maximum as further entries; the file stays valid protobuf and a few kilobytes long.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from beatmatch.networks.extra import need

LOCATION = "weightless"
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Fill:
    """How the values of a constant are made.

    Parameters
    ----------
    name : str
        The constant's name; with `seed` it selects the random stream.
    mean, deviation, low, high : float
        Of a normal distribution and of the bounds that it is clipped to.
    seed : int
    """

    name: str
    mean: float = 0.0
    deviation: float = 0.02
    low: float = -1.0
    high: float = 1.0
    seed: int = 0

    def values(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """The values; the same for the same fill, shape and type."""
        key = hashlib.sha256(f"{self.seed}:{self.name}".encode()).digest()
        rng = np.random.Generator(np.random.PCG64(int.from_bytes(key[:16], "little")))
        values = np.empty(int(np.prod(shape, dtype=np.int64)), dtype)
        for start in range(0, values.size, _CHUNK):
            part = rng.standard_normal(min(_CHUNK, values.size - start), np.float32)
            part = np.clip(part * np.float32(self.deviation) + np.float32(self.mean), self.low, self.high)
            values[start : start + part.size] = np.rint(part) if values.dtype.kind in "iu" else part
        return values.reshape(shape)


def strip(model: object, smallest: int = 64) -> object:
    """A copy of an ONNX model without the data of its large floating-point and int8 initializers.

    Parameters
    ----------
    model : onnx.ModelProto
    smallest : int
        Constants with fewer elements keep their values; shapes, axes and scales keep them at any size.

    Returns
    -------
    onnx.ModelProto
    """
    onnx = need("onnx")
    TensorProto, numpy_helper = onnx.TensorProto, onnx.numpy_helper
    stripped = type(model)()
    stripped.CopyFrom(model)
    bulk = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.UINT8}
    scales = _scales(stripped)
    for tensor in stripped.graph.initializer:
        if tensor.data_type not in bulk or np.prod(tensor.dims, dtype=np.int64) < smallest or tensor.name in scales:
            continue
        values = numpy_helper.to_array(tensor).astype(np.float64)
        entries = {"mean": values.mean(), "deviation": values.std(), "low": values.min(), "high": values.max()}
        declare(tensor, **entries)
    return stripped


def _scales(model: object) -> set[str]:
    """Names of scales and zero points, which say how integers are to be read."""
    kept = set()
    for node in model.graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            kept.update(node.input[1:])
        elif node.op_type.startswith("QLinear") or node.op_type == "QGemm":
            vectors = {tensor.name for tensor in model.graph.initializer if len(tensor.dims) < 2}
            kept.update(vectors.intersection(node.input))
    return kept


def declare(tensor: object, **statistics: float) -> None:
    """Make an ONNX initializer weightless, in place; the statistics are those of `Fill`."""
    TensorProto = need("onnx").TensorProto
    bare = TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
    bare.data_location = TensorProto.EXTERNAL
    for key, value in {"location": LOCATION, **{k: f"{v:.6g}" for k, v in statistics.items()}}.items():
        bare.external_data.add(key=key, value=value)
    tensor.CopyFrom(bare)


def fill_of(tensor: object) -> Fill | None:
    """The fill that an ONNX initializer declares, or None if it holds or points to real data."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if entries.pop("location", None) != LOCATION:
        return None
    return Fill(tensor.name, **{key: float(value) for key, value in entries.items()})


def regenerate(model: object) -> object:
    """A copy of a stripped ONNX model with values in every initializer, for tools that need some."""
    onnx = need("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    whole = type(model)()
    whole.CopyFrom(model)
    for tensor in whole.graph.initializer:
        fill = fill_of(tensor)
        if fill is not None:
            dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type).name
            tensor.CopyFrom(numpy_helper.from_array(fill.values(tuple(tensor.dims), dtype), tensor.name))
    return whole
