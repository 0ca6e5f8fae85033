# SPDX-License-Identifier: Apache-2.0
"""SCALE-Sim's topology tables as graphs: every row is a layer of its own, with weights from a seed.

Its rules are kept: an output has `ceil((input - filter + stride) / stride)` rows, so a last window may reach beyond the
input; a name with `DP` in it is depthwise; pads are part of the stated input size.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from beatmatch.compiler.requant import fitting_requant
from beatmatch.networks.errors import GraphError
from beatmatch.networks.graph import Graph, Node, Quant, Tensor
from beatmatch.networks.weightless import Fill

CONV_COLUMNS = ("input height", "input width", "filter height", "filter width", "channels", "filters", "stride")
GEMM_COLUMNS = ("M", "N", "K")
_WEIGHTS = {"deviation": 24.0, "low": -127.0, "high": 127.0}


def read_topology(path: str | Path) -> Graph:
    """The graph of a topology table, of convolutions or of matrix products by its header.

    Parameters
    ----------
    path : str or Path
        CSV with a header and a row per layer.

    Returns
    -------
    Graph
        int8, without connections between layers, as in the table.

    Raises
    ------
    GraphError
        Naming the line and the column.
    """
    path = Path(path)
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(path.read_text().splitlines())]
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise GraphError(f"{path} is no text; give a topology table as CSV.") from None
    if not rows:
        raise GraphError(f"{path} is empty; give a header and a row per layer.")
    gemm = [cell.upper() for cell in rows[0][1:4]] == ["M", "N", "K"]
    if not gemm and len([cell for cell in rows[0] if cell]) < 1 + len(CONV_COLUMNS):
        columns = ", ".join(CONV_COLUMNS)
        raise GraphError(f"{path} has the header {','.join(rows[0])!r}; it must be of M, N, K or of {columns}.")
    graph = Graph(path.stem, {}, [], [], [], str(path))
    for line, row in enumerate(rows[1:], 2):
        if any(row):
            _add(graph, f"Line {line} of {path.name}", row, gemm)
    if not graph.nodes:
        raise GraphError(f"{path} holds no layer; give a row per layer below the header.")
    graph.check()
    return graph


def _add(graph: Graph, where: str, row: list[str], gemm: bool) -> None:
    name = row[0] or where
    if any(node.name == name for node in graph.nodes):
        name = f"{name}#{len(graph.nodes)}"
    columns = GEMM_COLUMNS if gemm else CONV_COLUMNS
    sizes = [_number(where, column, row, k) for k, column in enumerate(columns, 1)]
    rest = [cell for cell in row[1 + len(columns) :] if cell]
    if gemm:
        m, n, k = sizes
        _layer(graph, name, "dense", (m, k), (k, n), (m, n), {}, k)
    else:
        height, width, kh, kw, channels, filters, stride = sizes
        strides = (stride, int(rest.pop(0)) if rest and rest[0].isdigit() else stride)
        if kh > height or kw > width:
            raise GraphError(f"{where} has a filter of {kh} x {kw} on an input of {height} x {width}; make it fit.")
        out = tuple(math.ceil((i - k + s) / s) for i, k, s in zip((height, width), (kh, kw), strides, strict=True))
        ends = [max(0, (o - 1) * s + k - i) for o, s, k, i in zip(out, strides, (kh, kw), (height, width), strict=True)]
        groups = channels if "DP" in name else 1
        attributes = {
            "kernel": (kh, kw), "strides": strides, "dilations": (1, 1), "pads": (0, 0, *ends), "groups": groups,
        }  # fmt: skip
        weight = (filters * groups, channels // groups, kh, kw)
        output = (1, filters * groups, *out)
        _layer(graph, name, "conv", (1, channels, height, width), weight, output, attributes, math.prod(weight[1:]))
    if any(cell != "1:1" for cell in rest):
        raise GraphError(f"{where} has {rest[0]!r} behind its sizes; only dense layers (1:1) are taken.")


def _number(where: str, column: str, row: list[str], index: int) -> int:
    text = row[index] if index < len(row) else ""
    if not text.isdigit() or int(text) < 1:
        raise GraphError(f"{where} has {text!r} for {column}; give a whole number of at least 1.")
    return int(text)


def _layer(
    graph: Graph, name: str, op: str, x: tuple, weight: tuple, out: tuple, attributes: dict, length: int
) -> None:
    """One layer with unit scales, whose sums of this many products fit in int8 after its shift."""
    requant = fitting_requant(length)
    unit, zero = np.float64(1.0), np.int64(0)
    quant = Quant(np.asarray(unit), np.asarray(zero))
    names = (f"{name}/input", f"{name}/weight", f"{name}/output")
    scaled = Quant(np.asarray(2.0**requant.shift), np.asarray(zero))
    graph.tensors[names[0]] = Tensor(names[0], x, "int8", quant)
    graph.tensors[names[1]] = Tensor(names[1], weight, "int8", quant, fill=Fill(names[1], **_WEIGHTS))
    graph.tensors[names[2]] = Tensor(names[2], out, "int8", scaled)
    graph.nodes.append(Node(name, op, names[:2], names[2:], attributes, requant))
    graph.inputs.append(names[0])
    graph.outputs.append(names[2])
