# SPDX-License-Identifier: Apache-2.0
"""Quantize a float ONNX network with onnxruntime's static quantizer, once per content."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from beatmatch.networks.errors import GraphError
from beatmatch.networks.extra import need
from beatmatch.networks.onnx_file import prepare
from beatmatch.networks.weightless import fill_of, regenerate

SETTINGS = {
    "per_channel": True,
    "weights": "int8 symmetric",
    "activations": "int8",
    "method": "MinMax",
    "format": "QDQ",
}
"""What the quantizer is told; part of the cache's key."""


def cache_folder() -> Path:
    """Where quantized networks are kept: `$BEATMATCH_CACHE`, or a folder below the user's cache."""
    own = os.environ.get("BEATMATCH_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "beatmatch"


def sample_inputs(model: object, count: int = 4, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """Random inputs in place of calibration data, for weightless networks: floats are normal, integers are 0 or 1.

    Parameters
    ----------
    model : onnx.ModelProto
        With static input shapes.
    count, seed : int
    """
    helper = need("onnx").helper
    constants = {tensor.name for tensor in model.graph.initializer}
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        feeds = {}
        for value in model.graph.input:
            if value.name in constants:
                continue
            kind = value.type.tensor_type
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            shape = [dim.dim_value for dim in kind.shape.dim]
            values = rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, 2, shape)
            feeds[value.name] = values.astype(dtype)
        samples.append(feeds)
    return samples


def quantized(
    model: object,
    samples: Iterable[Mapping[str, np.ndarray]] | None = None,
    dims: Mapping[str, int] | None = None,
    folder: Path | None = None,
) -> object:
    """An int8 QDQ model; the same file for the same content.

    Parameters
    ----------
    model : onnx.ModelProto
        Float; a weightless one gets its values first.
    samples : iterable of mappings from input names to arrays, optional
        Calibration data; random ones if left out, which only a weightless network should do.
    dims : mapping of str to int, optional
        Sizes of dynamic dimensions.
    folder : Path, optional
        Cache, `cache_folder()` if left out.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    GraphError
        If onnxruntime cannot quantize the network, or real weights lack calibration data.
    """
    onnx, runtime = need("onnx"), need("onnxruntime")
    bare = type(model)()
    bare.CopyFrom(model)
    bare = prepare(bare, dims)
    if samples is None:
        if not any(fill_of(tensor) for tensor in bare.graph.initializer):
            raise GraphError("A network with real weights needs calibration data; give some of its inputs.")
        samples = sample_inputs(bare)
    samples = [dict(feeds) for feeds in samples]
    folder = folder or cache_folder()
    path = folder / f"{_key(bare, samples, onnx.__version__, runtime.__version__)}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            result = _quantize(regenerate(bare), samples, Path(scratch))
            os.replace(result, path)
    return onnx.load(str(path))


def _key(model: object, samples: list[dict], *versions: str) -> str:
    digest = hashlib.sha256(repr((SETTINGS, versions)).encode())
    digest.update(model.SerializeToString(deterministic=True))
    for feeds in samples:
        for name in sorted(feeds):
            array = np.ascontiguousarray(feeds[name])
            digest.update(f"{name}:{array.dtype}:{array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _quantize(model: object, samples: list[dict], scratch: Path) -> Path:
    """Prepare (fuse batch norms, infer shapes), calibrate, quantize; the path of the result."""
    onnx, quantization = need("onnx"), need("onnxruntime.quantization")
    preprocess = need("onnxruntime.quantization.shape_inference").quant_pre_process
    given, ready, result = (scratch / f"{name}.onnx" for name in ("given", "ready", "result"))

    class Reader(quantization.CalibrationDataReader):
        """The samples, one after the other."""

        def __init__(self) -> None:
            self.left = iter(samples)

        def get_next(self) -> dict | None:
            return next(self.left, None)

    try:
        onnx.save(model, str(given))
        preprocess(str(given), str(ready), skip_symbolic_shape=True)
        quantization.quantize_static(
            str(ready), str(result), Reader(), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
            activation_type=quantization.QuantType.QInt8, weight_type=quantization.QuantType.QInt8,
            calibrate_method=quantization.CalibrationMethod.MinMax, extra_options={"WeightSymmetric": True},
        )  # fmt: skip
    except Exception as error:  # onnxruntime raises types of its own for models and for data
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise GraphError(
            f"onnxruntime cannot quantize the network ({reason}); quantize it with its own tools."
        ) from None
    return result
