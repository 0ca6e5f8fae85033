# SPDX-License-Identifier: Apache-2.0
"""Read an ONNX file as far as it can be trusted: whole, of a known opset, without control flow, with its data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from beatmatch.networks.errors import GraphError
from beatmatch.networks.extra import need
from beatmatch.networks.weightless import fill_of

OLDEST = 11
"""Oldest opset that is read."""
LARGEST_FILE = 2**31 - 1
"""Protobuf's own limit."""
DOMAINS = ("", "ai.onnx", "com.microsoft")
CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")


def load(path: str | Path, dims: Mapping[str, int] | None = None) -> object:
    """A model from a file, local functions inlined and dynamic dimensions bound.

    Parameters
    ----------
    path : str or Path
    dims : mapping of str to int, optional
        Sizes by the name of a dynamic dimension, or of `input.axis` for one without a name (`x.0`).

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    GraphError
        If the file is missing, corrupt, too large, of an old opset, or lacks its external data.
    """
    onnx = need("onnx")
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise GraphError(
                f"{path} has {size:,} bytes; protobuf reads at most {LARGEST_FILE:,}: save it with external data or "
                "without its weights (tools/export_networks.py --strip)."
            )
        model = onnx.load(str(path), load_external_data=False)
    except OSError as error:
        raise GraphError(f"{path} cannot be read ({error.strerror}); give the path of an ONNX file.") from None
    except GraphError:
        raise
    except Exception as error:  # protobuf's decoders raise types of their own, one per implementation
        raise GraphError(f"{path} is no ONNX file ({type(error).__name__}); export the network again.") from None
    if not model.graph.node:
        raise GraphError(f"{path} holds no nodes, so it is no ONNX network; export the network again.")
    _load_external(onnx, model, path)
    return prepare(model, dims)


def prepare(model: object, dims: Mapping[str, int] | None = None) -> object:
    """Check a model in memory, inline its functions and bind its dynamic dimensions in place; as in `load`."""
    onnx = need("onnx")
    versions = {entry.domain: entry.version for entry in model.opset_import}
    version = versions.get("", versions.get("ai.onnx", 0))
    if not OLDEST <= version <= onnx.defs.onnx_opset_version():
        raise GraphError(
            f"The network uses opset {version}; {OLDEST} to {onnx.defs.onnx_opset_version()} are read: export it again "
            "with one of them."
        )
    if model.functions:
        model = need("onnx.inliner").inline_local_functions(model)
    for node in model.graph.node:
        label = f"Node {node.name or node.output[0]} ({node.op_type})"
        if node.op_type in CONTROL_FLOW and node.domain in DOMAINS:
            raise GraphError(
                f"{label} is control flow, which a static schedule cannot follow; export the network with its "
                "branches resolved and loops unrolled."
            )
        if node.domain not in DOMAINS:
            raise GraphError(
                f"{label} is of the domain {node.domain!r}; {', '.join(d for d in DOMAINS if d)} are read: export "
                "the network with standard operators."
            )
    _bind(model, dict(dims or {}))
    return model


def _load_external(onnx: ModuleType, model: object, path: Path) -> None:
    for tensor in model.graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL or fill_of(tensor):
            continue
        location = {entry.key: entry.value for entry in tensor.external_data}.get("location", "")
        try:
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
        except Exception as error:  # onnx raises several types for paths outside the folder, sizes and absence
            raise GraphError(
                f"Initializer {tensor.name} has its data in {location!r}, which cannot be read beside {path.name} "
                f"({type(error).__name__}); put that file there."
            ) from None
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]


def _bind(model: object, dims: dict[str, int]) -> None:
    """Replace dynamic sizes of the inputs; unused or missing names are refused."""
    for name, size in dims.items():
        if size < 1:
            raise GraphError(f"Dimension {name} is bound to {size}; it must be at least 1.")
    used = set()
    constants = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
            raise GraphError(f"Input {value.name} has no shape; export the network with the shapes of its inputs.")
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.WhichOneof("value") == "dim_value":
                if dim.dim_value < 1:
                    raise GraphError(
                        f"Input {value.name} has size {dim.dim_value} in axis {axis}; every size must be at least 1."
                    )
                continue
            key = next((k for k in (dim.dim_param, f"{value.name}.{axis}") if k in dims), None)
            if key is None:
                name = dim.dim_param or f"{value.name}.{axis}"
                raise GraphError(
                    f"Axis {axis} of input {value.name} is dynamic ({name}); give its size, for instance {name}=1."
                )
            used.add(key)
            dim.dim_value = dims[key]
    unknown = sorted(set(dims) - used)
    if unknown:
        raise GraphError(f"No input has a dynamic dimension {unknown[0]}; leave it out or correct its name.")
    # What the exporter wrote about inner shapes may be symbolic or wrong; every shape is inferred again.
    del model.graph.value_info[:]
