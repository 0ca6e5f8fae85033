# SPDX-License-Identifier: Apache-2.0
"""A graph from whatever a user names: an ONNX file, a SCALE-Sim table, or a network of the library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from beatmatch.networks import library
from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph
from beatmatch.networks.onnx_import import read_onnx
from beatmatch.networks.scalesim import read_topology


def read_network(source: str | Path, dims: Mapping[str, int] | None = None) -> Graph:
    """The graph of a network.

    Parameters
    ----------
    source : str or Path
        A file ending in `.onnx` or `.csv`, or a name of `library.names()`.
    dims : mapping of str to int, optional
        Sizes of dynamic dimensions of an ONNX file.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        In one sentence that says what to do.
    """
    suffix = Path(source).suffix.lower()
    if suffix == ".onnx":
        return read_onnx(source, dims)
    if dims:
        raise GraphError(f"{source} has no dynamic dimensions; leave {', '.join(dims)} out.")
    if suffix == ".csv":
        return read_topology(source)
    if suffix:
        raise GraphError(f"{source} is neither .onnx nor .csv; give one of these or a network's name.")
    return library.load(str(source))
