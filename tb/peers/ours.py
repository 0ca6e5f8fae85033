# SPDX-License-Identifier: Apache-2.0
"""Beatmatch itself, as a process of its own: ``python -m tb.peers.ours resnet50 --out FILE``.

It also writes the same layers in the words of the other tools: ``--topology FILE`` for SCALE-Sim, ``--layers FILE`` for
ZigZag. A workload is a network of the package by its name, or a product as `MxNxK`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from beatmatch.config import preset
from beatmatch.networks import library
from beatmatch.networks.graph import Graph
from beatmatch.networks.products import products
from beatmatch.networks.scalesim import read_topology
from beatmatch.networks.scalesim_write import write_topology
from beatmatch.networks.timing import time_network

PRODUCT = re.compile(r"(\d+)x(\d+)x(\d+)")
"""M, N and K."""


def graph_of(workload: str, folder: Path) -> Graph:
    """The graph of a workload; a product goes through a table of one line, which is written to the folder."""
    found = PRODUCT.fullmatch(workload)
    if not found:
        return library.load(workload)
    path = folder / f"{workload}.csv"
    path.write_text(f"Layer,M,N,K,\n{workload},{','.join(found.groups())},\n")
    return read_topology(path)


def layers(graph: Graph) -> list[dict]:
    """Every layer with multiply-accumulates: its products, and the windows of a convolution."""
    nodes = {node.name: node for node in graph.nodes}
    found = []
    for product in products(graph):
        node = nodes[product.layer]
        layer = asdict(product)
        if node.op == "conv":
            shape = graph.tensors[node.inputs[0]].shape
            layer |= {key: list(node.attributes[key]) for key in ("kernel", "strides", "dilations", "pads")}
            layer |= {"input": list(shape[2:]), "channels": shape[1] // product.count}
            layer["pixels"] = list(graph.tensors[node.outputs[0]].shape[2:])
        found.append(layer)
    return found


def timed(graph: Graph, config: str) -> dict:
    """What the bench keeps of a timed network."""
    result = time_network(graph, preset(config))
    known = {product.layer for product in products(graph)}
    return {
        "matrix_cycles": sum(layer.cycles for layer in result if layer.name in known),
        "macs": result.macs,
        "cycles": result.cycles,
        "fidelity": result.fidelity,
        "shares": result.shares(),
        "layers": [
            {"layer": layer.name, "op": layer.op, "macs": layer.macs, "cycles": layer.cycles} for layer in result
        ],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tb.peers.ours", description=__doc__)
    parser.add_argument("workload")
    parser.add_argument("--config", default="mxu128", help="preset (mxu128)")
    parser.add_argument("--out", type=Path, help="time it, and write cycles here")
    parser.add_argument("--topology", type=Path, help="write SCALE-Sim's table here")
    parser.add_argument("--layers", type=Path, help="write the layers here")
    options = parser.parse_args(argv)
    written = [path for path in (options.out, options.topology, options.layers) if path]
    if not written:
        parser.error("nothing to write; give --out, --topology or --layers")
    graph = graph_of(options.workload, written[0].parent)
    if options.topology:
        write_topology(graph, options.topology)
    if options.layers:
        options.layers.write_text(json.dumps(layers(graph)))
    if options.out:
        options.out.write_text(json.dumps(timed(graph, options.config)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
